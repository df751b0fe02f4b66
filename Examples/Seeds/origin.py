#!/usr/bin/env python3
"""A small server on the loopback that the recordings of Seeds are made with: origin.py [PORT], 0 for a free one.

Answers with names, tokens and times that differ in each run, as servers do. Prints its URL, and serves until it is killed."""

import hashlib
import json
import plistlib
import secrets
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

PETS = [{"id": 1, "name": "Miso", "kind": "cat"}, {"id": 2, "name": "보리", "kind": "dog"}]
ALBUM = b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(512))
attempts = {}
tokens = set()


def parts(body, boundary):
    """As forgiving as servers are: what stands before the first boundary and after the last does not count."""
    found = []
    for piece in (b"\r\n" + body).split(b"\r\n--" + boundary)[1:]:
        if piece.startswith(b"--"):
            break
        head, _, content = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        part = {"name": None, "filename": None, "type": None, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for line in head.decode().split("\r\n"):
            name, _, value = line.partition(":")
            if name.lower() == "content-type":
                part["type"] = value.strip()
            elif name.lower() == "content-disposition":
                for item in value.split(";")[1:]:
                    key, _, text = item.strip().partition("=")
                    part[key] = text.strip('"')
        found.append(part)
    return found


class Origin(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200, kind="application/json", **fields):
        body = json.dumps(body, ensure_ascii=False).encode() if isinstance(body, (dict, list)) else body
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def any(self):
        url = urlsplit(self.path)
        query = parse_qsl(url.query, keep_blank_values=True)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind = self.headers.get("Content-Type") or ""
        name = url.path.rpartition("/")[2]
        if url.path == "/upload":
            boundary = kind.partition("boundary=")[2].strip('"').encode()
            self.answer({"receipt": secrets.token_hex(8), "at": time.time(), "parts": parts(body, boundary)}, 201)
        elif url.path == "/echo":
            self.answer({"method": self.command, "query": query, "type": kind, "size": len(body), "text": body.decode(errors="replace")})
        elif url.path == "/pets":
            self.answer(PETS)
        elif url.path == "/pets.plist":
            self.answer(plistlib.dumps(PETS), kind="application/x-plist")
        elif url.path == "/pets.csv":
            self.answer("1,Miso\n2,보리\n".encode(), kind="text/csv; charset=utf-8")
        elif url.path == "/pets.guarded":
            self.answer(b")]}',\n" + json.dumps(PETS).encode())
        elif url.path == "/pets.latin":
            self.answer("Zoë".encode("latin-1"), kind="text/plain; charset=iso-8859-1")
        elif url.path == "/nothing":
            self.answer(b"", 204)
        elif url.path == "/old":
            self.answer(b"", 302, Location="/pets")
        elif url.path.startswith("/pet/"):
            self.answer({"id": int(name), "name": f"pet {name}", "seen": time.time()})
        elif url.path.startswith("/flaky/"):
            attempts[name] = attempts.get(name, 0) + 1
            if attempts[name] % 3:
                self.answer({"error": "busy"}, 503, Retry_After="1")
            else:
                self.answer({"attempts": 3})
        elif url.path == "/token":
            tokens.add(token := secrets.token_urlsafe(24))
            self.answer({"access_token": token, "expires": time.time() + 3600})
        elif url.path == "/me":
            if self.headers.get("Authorization", "").removeprefix("Bearer ") in tokens:
                self.answer({"name": "보리 집사"})
            else:
                self.answer({"error": "token expired"}, 401, WWW_Authenticate="Bearer")
        elif url.path == "/key":
            self.answer({"key": self.headers.get("X-Key") == "demo"}, 200 if self.headers.get("X-Key") else 403)
        elif url.path == "/album":
            self.album()
        elif url.path == "/slow":
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in (b"one\n", b"two\n", b"three\n"):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
                time.sleep(0.05)
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.answer({"error": "no such page"}, 404)

    def album(self):
        start, _, end = (self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")
        first, last = int(start), int(end) if end else len(ALBUM) - 1
        piece = ALBUM[first : last + 1]
        fields = {"Accept_Ranges": "bytes", "ETag": '"album"', "Content_Disposition": 'attachment; filename="album.bin"'}
        if "Range" in self.headers:
            self.answer(piece, 206, "application/octet-stream", Content_Range=f"bytes {first}-{last}/{len(ALBUM)}", **fields)
        else:
            self.answer(piece, 200, "application/octet-stream", **fields)

    do_GET = do_POST = do_PUT = do_DELETE = any


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Origin)
server.daemon_threads = True
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
