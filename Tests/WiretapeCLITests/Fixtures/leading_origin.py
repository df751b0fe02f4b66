#!/usr/bin/env python3
"""An origin that leads its clients about: leading_origin.py [FOLDER], over HTTPS with what certificates.sh has put there, else in clear. Prints its URL.

  /start   redirects with a path, and sets a cookie for a domain, by TLS alone
  /hop     redirects with dots, if the cookie came back; sets one without a path
  /made    a redirect of POST (303) with a whole URL
  others   one line: method, path, Host, Cookie, length of the body
"""
import http.server
import ssl
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        host, cookie = self.headers["Host"], self.headers.get("Cookie", "no cookie")
        path = self.path.partition("?")[0]
        if path == "/start":
            return self.send(302, b"", [("Location", "/hop?x=1"), ("Set-Cookie", "a=1; Domain=localhost; Secure; Path=/")])
        if path == "/hop" and cookie == "a=1":
            return self.send(302, b"", [("Location", "./../../deep/end"), ("Set-Cookie", "b=2")])
        if path == "/made":
            return self.send(303, b"", [("Location", f"{'https' if context else 'http'}://{host}/made/7")])
        text = f"{self.command} {self.path} {host} {'; '.join(sorted(cookie.split('; ')))} {len(body)}\n"
        self.send(200, text.encode(), [("Content-Type", "text/plain")])

    do_GET = do_POST = do_PUT = answer

    def send(self, status, body, fields):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    def finish_request(self, request, address):
        try:
            super().finish_request(context.wrap_socket(request, server_side=True) if context else request, address)
        except OSError:
            pass


context = None
if len(sys.argv) > 1:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{sys.argv[1]}/good.pem", f"{sys.argv[1]}/good.key")
with Server(("127.0.0.1", 0), Handler) as server:
    print(f"{'https' if context else 'http'}://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
