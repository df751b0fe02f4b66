// HTTPS with what a Node program would use: https_client.js agent|dispatcher|fetch URL... Writes the bodies to standard output, one after the other.
//
//   agent        https.get with an agent that goes through the proxy, as https-proxy-agent does
//   dispatcher   fetch with a dispatcher that goes through the proxy: Node's own fetch before 22.21 has no other way
//   fetch        fetch as it is, which goes through the proxy where NODE_USE_ENV_PROXY says so
const http = require("http");
const https = require("https");
const tls = require("tls");

/** A connection to the proxy that is a tunnel to the host. */
function tunnel(host, port, done) {
  const proxy = new URL(process.env.https_proxy);
  http
    .request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: `${host}:${port}` })
    .once("connect", (response, socket) => (response.statusCode === 200 ? done(null, socket) : done(new Error(`CONNECT: ${response.statusCode}`))))
    .once("error", done)
    .end();
}

/** TLS inside a tunnel, with Node's own judgement of the certificate. */
function secured(host, port, options, done) {
  tunnel(host, port, (error, socket) => {
    if (error) return done(error);
    const secure = tls.connect({ ...options, socket, servername: host }, () => done(null, secure));
    secure.once("error", done);
  });
}

class TunnelAgent extends https.Agent {
  createConnection(options, done) {
    secured(options.host, options.port, {}, done);
  }
}

function getter(kind) {
  if (kind === "agent") {
    const agent = new TunnelAgent({ keepAlive: true });
    const get = (url) =>
      new Promise((resolve, reject) => {
        const request = https.get(url, { agent }, (response) => {
          const pieces = [];
          response.on("data", (piece) => pieces.push(piece));
          response.on("end", () => resolve(Buffer.concat(pieces)));
        });
        request.on("error", reject);
      });
    return { get, close: () => agent.destroy() };
  }
  const body = async (response) => Buffer.from(await response.arrayBuffer());
  if (kind === "fetch") return { get: async (url) => body(await fetch(url)), close: () => {} };
  // Node does not name its copy of undici's Agent: the one that is in use knows its class.
  const Agent = globalThis[Symbol.for("undici.globalDispatcher.1")].constructor;
  const connect = ({ hostname, port }, done) => secured(hostname, port || 443, { ALPNProtocols: ["http/1.1"] }, done);
  const dispatcher = new Agent({ connect });
  return { get: async (url) => body(await fetch(url, { dispatcher })), close: () => dispatcher.close() };
}

async function main([kind, ...urls]) {
  // The first fetch puts the dispatcher in its place.
  await fetch("data:,");
  const { get, close } = getter(kind);
  for (const url of urls) process.stdout.write(await get(url));
  await close();
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
