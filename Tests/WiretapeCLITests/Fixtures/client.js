// Node's own HTTP client, through the proxy that http_proxy names or without one: client.js FOLDER URL
const fs = require("fs");
const http = require("http");

const [folder, url] = process.argv.slice(2);
const target = new URL(url);
const proxy = process.env.http_proxy ? new URL(process.env.http_proxy) : null;
const { hostname, port } = proxy ?? target;
const options = { hostname, port, path: proxy ? url : target.pathname + target.search, headers: { Host: target.host, "Accept-Encoding": "gzip" } };
http.get(options, (response) => {
  const pieces = [];
  response.on("data", (piece) => pieces.push(piece));
  response.on("end", () => {
    let head = `HTTP/${response.httpVersion} ${response.statusCode} ${response.statusMessage}\r\n`;
    for (let at = 0; at < response.rawHeaders.length; at += 2) head += `${response.rawHeaders[at]}: ${response.rawHeaders[at + 1]}\r\n`;
    fs.writeFileSync(`${folder}/head`, head + "\r\n", "latin1");
    fs.writeFileSync(`${folder}/body`, Buffer.concat(pieces));
  });
});
