"""An HTTPS server of one page with a script, an image and a fetch: browser_origin.py CERTIFICATE KEY. Prints its URL."""
import http.server
import ssl
import struct
import sys
import zlib


def png() -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


PAGES = {
    "/": ("text/html", b'<!doctype html><link rel=icon href="data:,"><p>nothing</p><img src=/i.png><script src=/s.js></script>'),
    "/s.js": (
        "text/javascript",
        b"const shown = ['script'];"
        b"addEventListener('load', async () => {"
        b" if (document.querySelector('img').naturalWidth === 1) shown.push('image');"
        b" shown.push(await (await fetch('/f')).text());"
        b" document.querySelector('p').textContent = shown.join(', '); });",
    ),
    "/i.png": ("image/png", png()),
    "/f": ("text/plain", b"fetch"),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        kind, body = PAGES.get(self.path, ("text/plain", b"none"))
        self.send_response(200 if self.path in PAGES else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(f"https://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
