#!/usr/bin/env python3
"""An origin with a login, whose answers hold its secrets in all the ways they travel. Prints its URL.

login_origin.py TOKEN COOKIE

/early     the token in plain text, where nothing says what it is
/login     takes a form, answers with a cookie and a token
/me        JSON with the token in it, compressed
/chunks    the token across two chunks
/upload    takes anything, answers with its SHA-256
"""
import base64
import gzip
import hashlib
import http.server
import json
import sys

TOKEN, COOKIE = sys.argv[1:3]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def answer(self, body, *fields):
        self.send_response(200)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path.startswith("/early"):
            self.answer(("remember " + TOKEN + ".\n").encode(), ("Content-Type", "text/plain"))
        elif self.path.startswith("/me"):
            content = json.dumps({"id": 7, "seen": "token " + TOKEN, "again": base64.b64encode(b"x" + TOKEN.encode()).decode()})
            self.answer(gzip.compress(content.encode(), mtime=0), ("Content-Type", "application/json"), ("Content-Encoding", "gzip"))
        else:
            text = ("a line with " + TOKEN + " in it\n").encode()
            cut = 12 + len(TOKEN) // 2
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in (text[:cut], text[cut:], b""):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()

    def do_POST(self):
        body = self.body()
        if self.path.startswith("/login"):
            content = json.dumps({"access_token": TOKEN, "token_type": "Bearer"}).encode()
            self.answer(content, ("Content-Type", "application/json"), ("Set-Cookie", "sid=" + COOKIE + "; Path=/; HttpOnly"))
        else:
            self.answer((hashlib.sha256(body).hexdigest() + "\n").encode(), ("Content-Type", "text/plain"))


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print("http://127.0.0.1:%d" % server.server_address[1], flush=True)
server.serve_forever()
