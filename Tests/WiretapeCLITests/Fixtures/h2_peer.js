// Node's own HTTP/2: h2_peer.js serve CERTIFICATE KEY FOLDER, or h2_peer.js get URL..., which goes through the proxy that https_proxy names.
const fs = require("fs");
const http = require("http");
const http2 = require("http2");
const tls = require("tls");

function serve(certificate, key, folder) {
  const server = http2.createSecureServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) });
  server.on("stream", (stream, headers) => {
    const body = fs.readFileSync(folder + headers[":path"]);
    stream.respond({ ":status": 200, "content-type": "application/octet-stream" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-size": String(body.length) }));
    stream.end(body);
  });
  server.listen(0, "127.0.0.1", () => console.log(`https://127.0.0.1:${server.address().port}`));
}

function socket(target) {
  const options = { host: target.hostname, port: target.port, servername: target.hostname, ALPNProtocols: ["h2"] };
  if (process.env.SSL_CERT_FILE) options.ca = fs.readFileSync(process.env.SSL_CERT_FILE);
  return new Promise((resolve, reject) => {
    const secured = (more) => {
      const secure = tls.connect({ ...options, ...more }, () => resolve(secure));
      secure.once("error", reject);
    };
    if (!process.env.https_proxy) return secured({});
    const proxy = new URL(process.env.https_proxy);
    http
      .request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: target.host })
      .once("connect", (response, tunnel) => secured({ socket: tunnel }))
      .once("error", reject)
      .end();
  });
}

/** All at once on one connection; printed in order. */
async function get(urls) {
  const secure = await socket(new URL(urls[0]));
  const session = http2.connect(urls[0], { createConnection: () => secure });
  const answers = urls.map((url) => new Promise((resolve, reject) => {
    const pieces = [];
    const stream = session.request({ ":path": new URL(url).pathname });
    let status, trailers;
    stream.on("response", (headers) => (status = headers[":status"]));
    stream.on("trailers", (headers) => (trailers = headers["x-size"]));
    stream.on("data", (piece) => pieces.push(piece));
    stream.on("end", () => resolve([status, trailers, Buffer.concat(pieces).toString("latin1")]));
    stream.on("error", reject);
  }));
  for (const answer of await Promise.all(answers)) console.log(JSON.stringify(answer));
  session.close();
}

const [kind, ...rest] = process.argv.slice(2);
if (kind === "serve") serve(...rest);
else get(rest).catch((error) => { console.error(error); process.exit(1); });
