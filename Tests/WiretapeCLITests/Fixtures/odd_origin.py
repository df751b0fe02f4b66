#!/usr/bin/env python3
"""An origin whose answers are legal and seldom seen, octet by octet. Prints its URL.

/CASE        the answer of that name; `odd_origin.py --list` prints the names
/echo        the request as it came in, without its Connection field
/item?n=N    the body with that number
/sized?n=N   N octets that do not compress
/stall       half an answer, and then nothing until the peer leaves
"""
import gzip
import random
import socketserver
import struct
import sys
import urllib.parse
import zlib

import items

OK = b"HTTP/1.1 200 OK\r\n"
TEXT = OK + b"Content-Type: text/plain\r\n"


def sized(body, *fields):
    return OK + b"".join(field + b"\r\n" for field in fields) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def dated_gzip(body, level):
    squeezer = zlib.compressobj(level, zlib.DEFLATED, -15)
    header = b"\x1f\x8b\x08\x08" + struct.pack("<L", 1_700_000_000) + b"\x00\x03pets.json\x00"
    return header + squeezer.compress(body) + squeezer.flush() + struct.pack("<LL", zlib.crc32(body), len(body))


def foreign_gzip(body):
    """A stored block between deflated ones: no encoder with one set of parameters makes it."""
    squeezer = zlib.compressobj(6, zlib.DEFLATED, -15)
    first = squeezer.compress(body[:100]) + squeezer.flush(zlib.Z_SYNC_FLUSH)
    stored = b"\x00" + struct.pack("<HH", 50, 50 ^ 0xFFFF) + body[100:150]
    last = zlib.compressobj(9, zlib.DEFLATED, -15)
    rest = last.compress(body[150:]) + last.flush()
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + first + stored + rest + struct.pack("<LL", zlib.crc32(body), len(body))


PETS = '{"pets": [{"name": "보리", "weight": 1.50e1, "note": "\\u00e9\\/"}],  "more" :\tnull}\n'.encode()
LOG = b"".join(b"%d some line that comes again and again\n" % number for number in range(200))
ALL = bytes(range(256))

CASES = {
    "empty-reason": b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok",
    "reason": b"HTTP/1.1 299 Sort of: (fine)\tis it?\r\nContent-Length: 2\r\n\r\nok",
    "latin1-reason": b"HTTP/1.1 200 Sch\xf6n\r\nContent-Length: 2\r\n\r\nok",
    "utf8-reason": "HTTP/1.1 200 좋아\r\nContent-Length: 2\r\n\r\nok".encode(),
    "tight-fields": OK + b"X-Tight:value\r\ncontent-length:2\r\nx-LOUD:YES\r\n\r\nok",
    "wide-fields": sized(b"ok", b"X-Wide: \t value  in \t two \t "),
    "empty-field": sized(b"ok", b"X-Empty:", b"X-Blank:   "),
    "duplicate-fields": sized(b"ok", b"Set-Cookie: a=1", b"X-A: 1", b"Set-Cookie: b=2; Path=/", b"x-a: 2", b"X-A: 1"),
    "latin1-field": sized(b"ok", b"X-Place: caf\xe9", "X-Both: 보리".encode(), b"X-High: \x80\xff"),
    "long-field": sized(b"ok", b"X-Long: " + b"0123456789" * 1500),
    "many-fields": sized(b"ok", *[b"X-%d: %d" % (number, number) for number in range(90)]),
    "http10": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "http10-until-close": b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end",
    "until-close": TEXT + b"\r\nuntil the end",
    "empty-until-close": TEXT + b"\r\n",
    "empty-length": OK + b"Content-Length: 0\r\n\r\n",
    "empty-chunked": OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked": TEXT + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
    "chunk-spelling": TEXT + b"Transfer-Encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0000b\r\n0123456789a\r\n000\r\n\r\n",
    "chunk-extensions": TEXT + b'Transfer-Encoding: chunked\r\n\r\n5;a=b;c="d e"\r\nhello\r\n5 ; x\r\nworld\r\n0;last=1\r\n\r\n',
    "trailers": TEXT + b"Trailer: X-Sum, X-End\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\nx-sum:2\r\nX-End: caf\xe9\r\n\r\n",
    "one-octet-chunks": TEXT + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"1\r\n%c\r\n" % octet for octet in LOG[:500]) + b"0\r\n\r\n",
    "early-hints": b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 102 \r\n\r\n" + sized(b"ok"),
    "no-content": b"HTTP/1.1 204 No Content\r\nETag: \"x\"\r\n\r\n",
    "not-modified": b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 1234\r\n\r\n",
    "status-599": b"HTTP/1.1 599 Odd\r\nContent-Length: 2\r\n\r\nno",
    "octets": sized(ALL * 20, b"Content-Type: application/octet-stream"),
    "false-text": sized(b"caf\xe9 " + ALL, b"Content-Type: text/plain; charset=utf-8"),
    "text-lines": sized("one\r\ntwo\rthree\n\n보리 \u2028 \ufeff\x7f end".encode(), b"Content-Type: text/plain"),
    "bom": sized(b"\xef\xbb\xbfpets", b"Content-Type: text/plain; charset=utf-8"),
    "json": sized(PETS, b"Content-Type: application/json"),
    "json-compact": sized(b'{"a":[1,2.50,1e5,{"b":null}],"a":"twice"}', b"Content-Type: application/json"),
    "json-indented": sized(b'{\n  "a": [\n    1,\n    -0.0\n  ],\n  "b": {}\n}\n', b"Content-Type: application/json"),
    "false-json": sized(b'{"a": 1', b"Content-Type: application/json"),
    "gzip": sized(gzip.compress(LOG, 6, mtime=0), b"Content-Type: text/plain", b"Content-Encoding: gzip"),
    "gzip-dated": sized(dated_gzip(PETS, 3), b"Content-Type: application/json", b"Content-Encoding: gzip"),
    "gzip-foreign": sized(foreign_gzip(LOG), b"Content-Type: text/plain", b"Content-Encoding: gzip"),
    "gzip-chunked": TEXT + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [gzip.compress(LOG, 9, mtime=0)[at : at + 90] for at in range(0, 5000, 90)] if part)
    + b"0\r\n\r\n",
    "deflate": sized(zlib.compress(LOG, 1), b"Content-Type: text/plain", b"Content-Encoding: deflate"),
    "false-gzip": sized(LOG, b"Content-Type: text/plain", b"Content-Encoding: gzip"),
    "cut-gzip": sized(gzip.compress(LOG, 6, mtime=0)[:-30], b"Content-Type: text/plain", b"Content-Encoding: gzip"),
    "unknown-coding": sized(LOG, b"Content-Type: text/plain", b"Content-Encoding: x-none"),
    "empty-gzip": sized(b"", b"Content-Type: text/plain", b"Content-Encoding: gzip"),
    "cut-length": TEXT + b"Content-Length: 100\r\n\r\nten octets",
    "cut-chunk": TEXT + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n20\r\nten octets",
    "cut-between-chunks": TEXT + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    "large": sized(random.Random(1).randbytes(3 << 20), b"Content-Type: application/octet-stream"),
    "large-text": sized(LOG * 300, b"Content-Type: text/plain"),
}
# Nobody else can tell the end of these.
CLOSING = {"http10-until-close", "until-close", "empty-until-close", "cut-length", "cut-chunk", "cut-between-chunks"}


class Exchange(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        try:
            while self.serve():
                pass
        except (ConnectionError, TimeoutError):
            pass

    def serve(self):
        lines = []
        while (line := self.rfile.readline()) not in (b"\r\n", b""):
            lines.append(line)
        if not lines or not line:
            return False
        fields = [line.split(b":", 1) for line in lines[1:]]
        named = {name.lower(): value.strip() for name, value in fields}
        if named.get(b"expect") == b"100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n")
        body = self.body(named)
        method, target, _ = lines[0].split(b" ", 2)
        if target == b"/stall":
            self.wfile.write(TEXT + b"Content-Length: 100\r\n\r\nfirst octets")
            self.rfile.read(1)
            return False
        answer, closes = self.answer(method, target.decode(), lines, body)
        self.wfile.write(answer)
        return not closes and named.get(b"connection", b"").lower() != b"close"

    def body(self, named):
        if named.get(b"transfer-encoding", b"").lower() != b"chunked":
            return self.rfile.read(int(named.get(b"content-length", 0)))
        raw = b""
        while True:
            line = self.rfile.readline()
            size = int(line.split(b";")[0], 16)
            raw += line
            if size == 0:
                break
            raw += self.rfile.read(size + 2)
        while True:
            line = self.rfile.readline()
            raw += line
            if line in (b"\r\n", b""):
                return raw

    def answer(self, method, target, lines, body):
        url = urllib.parse.urlsplit(target)
        name = url.path[1:]
        number = int(urllib.parse.parse_qs(url.query).get("n", ["0"])[0])
        if name == "echo" or target == "*":
            seen = b"".join(line for line in lines if not line.lower().startswith(b"connection:")) + b"\r\n" + body
            answer, closes = sized(seen, b"Content-Type: text/plain"), False
        elif name == "item":
            kind, octets = items.item(number)
            answer, closes = sized(octets, b"Content-Type: " + kind.encode()), False
        elif name == "sized":
            answer, closes = sized(random.Random(number).randbytes(number), b"Content-Type: application/octet-stream"), False
        elif name in CASES:
            answer, closes = CASES[name], name in CLOSING
        else:
            answer, closes = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", False
        if method == b"HEAD":
            answer = answer[: answer.index(b"\r\n\r\n") + 4]
        return answer, closes


class Origin(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return
    with Origin(("127.0.0.1", 0), Exchange) as origin:
        print(f"http://127.0.0.1:{origin.server_address[1]}", flush=True)
        origin.serve_forever(poll_interval=3600)


if __name__ == "__main__":
    main()
