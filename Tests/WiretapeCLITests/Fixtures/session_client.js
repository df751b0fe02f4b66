// Fetches one URL again and again through a session's proxy, over one connection, and prints the bodies.
//
//   session_client.js http://NAME:TOKEN@HOST:PORT URL COUNT
const http = require("http");

const [proxy, url, count] = [new URL(process.argv[2]), process.argv[3], Number(process.argv[4])];
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const authorization = "Basic " + Buffer.from(`${proxy.username}:${proxy.password}`).toString("base64");

function fetchNext(left) {
  if (left === 0) return agent.destroy();
  const options = {
    host: proxy.hostname, port: proxy.port, path: url, agent,
    headers: { Host: new URL(url).host, "Proxy-Authorization": authorization },
  };
  http.get(options, (answer) => {
    let body = "";
    answer.on("data", (piece) => (body += piece));
    answer.on("end", () => {
      process.stdout.write(answer.statusCode === 200 ? body : `status ${answer.statusCode}\n`);
      fetchNext(left - 1);
    });
  });
}

fetchNext(count);
