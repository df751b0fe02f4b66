// The uploads of uploads.py, as Node spells them. Arguments: the origin's URL. Sends through the proxy named in HTTP_PROXY.
const http = require("node:http");
const zlib = require("node:zlib");

const origin = process.argv[2];
const proxy = new URL(process.env.HTTP_PROXY ?? process.env.http_proxy);

async function send(path, body, type, { method = "POST", ...headers } = {}) {
  const encoded = new Response(body);
  const octets = Buffer.from(await encoded.arrayBuffer());
  const kind = type ?? encoded.headers.get("content-type");
  await new Promise((resolve, reject) => {
    const options = { host: proxy.hostname, port: proxy.port, path: origin + path, method };
    const request = http.request({ ...options, headers: { Host: new URL(origin).host, "content-type": kind, ...headers } }, (answer) => {
      if (answer.statusCode !== 200) process.exitCode = 1;
      answer.on("data", (piece) => process.stdout.write(piece)).on("end", resolve);
    });
    request.on("error", reject).end(octets);
  });
}

(async () => {
  const octets = Buffer.alloc(1000, Buffer.from([0, 255]));
  const form = new FormData();
  form.set("f", new Blob([octets], { type: "application/octet-stream" }), "f.bin");
  form.set("a", "1");
  await send("/parts", form);
  const value = JSON.stringify({ a: [1, "é"], z: 1 });
  await send("/json?a=1&b=~", value, "application/json");
  await send("/form", new URLSearchParams({ x: "é", q: "a b" }));
  await send("/put", octets, "application/octet-stream", { method: "PUT", "transfer-encoding": "chunked" });
  await send("/coded", zlib.gzipSync(JSON.stringify({ z: 1.0, a: [1, "é"] })), "application/json", { "content-encoding": "gzip" });
  await send("/text", "grüße", "text/plain");
})();
