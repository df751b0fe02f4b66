#!/usr/bin/env python3
"""An origin for the tests, until its standard input ends: HTTP/1.1 in clear, over TLS, over TLS with a client's certificate, and nginx with HTTP/2.

Prints one line of JSON: the ports, the files of certificates, and the pin of the server's key.
"""
import base64
import gzip
import hashlib
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

FOLDER = tempfile.mkdtemp()


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], cwd=FOLDER, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def certificates():
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test CA", "-addext", "basicConstraints=critical,CA:TRUE")
    for name in ["server", "client"]:
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-out", f"{name}.pem", "-days", "2", "-copy_extensions", "copy")
    openssl("x509", "-in", "server.pem", "-pubkey", "-noout", "-out", "server.pub")
    openssl("pkey", "-pubin", "-in", os.path.join(FOLDER, "server.pub"), "-outform", "der", "-out", "server.der")


def path(name):
    return os.path.join(FOLDER, name)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, body, *fields, status=200):
        self.send_response_only(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def chunked(self, chunks, trailers, *fields):
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + b"".join(field + b"\r\n" for field in fields) + b"\r\n"
        text = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n"
        self.wfile.write(head + text + b"".join(trailer + b"\r\n" for trailer in trailers) + b"\r\n")

    def web_socket(self):
        """Echoes messages, and the code of a close; "push N" is answered with N messages of 64 KiB (RFC 6455)."""
        accept = hashlib.sha1(self.headers["Sec-WebSocket-Key"].encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        chosen = self.headers.get("Sec-WebSocket-Protocol", "").split(",")[0].strip()
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Accept: {base64.b64encode(accept).decode()}"]
        lines += [f"Sec-WebSocket-Protocol: {chosen}"] if chosen else []
        self.wfile.write("".join(line + "\r\n" for line in lines).encode() + b"\r\n")
        self.close_connection = True
        while head := self.rfile.read(2):
            size = head[1] & 127
            size = int.from_bytes(self.rfile.read(2 if size == 126 else 8), "big") if size > 125 else size
            mask = self.rfile.read(4)
            data = self.rfile.read(size)
            data = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data)) if size < 1 << 17 else data
            for data in [b"x" * 65536] * int(data[5:]) if data.startswith(b"push ") else [data]:
                length = bytes([len(data)]) if len(data) < 126 else b"\x7f" + len(data).to_bytes(8, "big")
                self.wfile.write(head[:1] + length + data)
            if head[0] & 15 == 8:
                return

    def do_GET(self):
        if self.path.startswith("/talk"):
            self.web_socket()
        elif self.path == "/trailers":
            self.chunked([b"hel", b"lo"], [b"X-Sum: 5", b"X-Sum: 6"])
        elif self.path == "/announced":
            self.chunked([b"hello"], [b"X-Sum: 5"], b"Trailer: X-Sum")
        elif self.path == "/duplicates":
            self.answer(b"two", ("Set-Cookie", "a=1"), ("set-cookie", "b=2"), ("X-a", "1"), ("x-A", "2"))
        elif self.path == "/gzip":
            self.answer(gzip.compress(b"hello " * 100), ("Content-Encoding", "gzip"), ("X-Accepted", self.headers.get("Accept-Encoding", "")))
        elif self.path == "/corrupt":
            self.answer(b"no gzip", ("Content-Encoding", "gzip"))
        elif self.path == "/empty":
            self.answer(b"", ("Content-Encoding", "gzip"))
        elif self.path == "/cut-gzip":
            self.answer(gzip.compress(b"hello " * 100)[:-9], ("Content-Encoding", "gzip"))
        elif self.path == "/unchanged":
            self.send_response_only(304)
            self.send_header("Content-Encoding", "gzip")
            self.end_headers()
        elif self.path == "/truncated":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            self.close_connection = True
        elif self.path == "/silent":
            self.close_connection = True
        elif self.path == "/malformed":
            self.wfile.write(b"HTTP/1.1 what\r\n\r\n")
            self.close_connection = True
        elif self.path == "/endless":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
            try:
                while True:
                    self.wfile.write(chunk)
            except OSError:
                self.close_connection = True
        elif self.path == "/moved":
            self.answer(b"", ("Location", "/duplicates"), status=302)
        else:
            self.answer(self.path.encode())

    def do_HEAD(self):
        self.send_response_only(304 if self.path == "/unchanged" else 200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(gzip.compress(b"hello " * 100))))
        self.end_headers()

    def do_POST(self):
        body = self.body()
        self.answer(f"{len(body)} {hashlib.sha256(body).hexdigest()}".encode())


def serve(context=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.request_queue_size = 256
    if context:
        # The handshake is the connection's own thread's: one that fails must not end the server.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def tls(asks):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path("server.pem"), path("server.key"))
    if asks:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(path("ca.pem"))
    return context


def nginx():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(path("nginx.conf"), "w") as file:
        file.write(
            f"""daemon off; master_process off; pid {path("nginx.pid")}; error_log {path("nginx.log")}; events {{}}
http {{ access_log off; client_body_temp_path {path("b")}; proxy_temp_path {path("p")}; fastcgi_temp_path {path("f")}; uwsgi_temp_path {path("u")};
scgi_temp_path {path("s")}; server {{ listen 127.0.0.1:{port} ssl http2; ssl_certificate {path("server.pem")}; ssl_certificate_key {path("server.key")};
location / {{ default_type text/plain; return 200 "$server_protocol"; }} }} }}"""
        )
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    process = subprocess.Popen([program, "-c", path("nginx.conf"), "-p", FOLDER], stderr=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return process, port
        except OSError:
            pass
    sys.exit(f"nginx did not start: {open(path('nginx.log')).read()}")


def main():
    # Among what is inherited may be the other end of the standard input, which would never end then.
    os.closerange(3, 256)
    certificates()
    process, http2 = nginx()
    digest = hashlib.sha256(open(path("server.der"), "rb").read()).digest()
    print(json.dumps({
        "clear": serve(), "tls": serve(tls(False)), "mutual": serve(tls(True)), "http2": http2, "roots": path("ca.pem"),
        "certificate": path("client.pem"), "key": path("client.key"), "pin": "sha256/" + base64.b64encode(digest).decode(),
    }), flush=True)
    sys.stdin.read()
    process.send_signal(signal.SIGTERM)
    process.wait()
    shutil.rmtree(FOLDER, ignore_errors=True)


main()
