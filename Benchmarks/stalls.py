#!/usr/bin/env python3
"""How long others wait beside hostile traffic: stalls.py --wiretape PROGRAM [--seconds N] [NAME ...]

Small requests go through a recording proxy on several connections, first alone and then beside one hostile message, body, edit, filter or
page client after the other. Prints the waits' median, 99th percentile and maximum in milliseconds. The mark is 300 ms over quiet.
"""
import argparse
import base64
import gzip
import hashlib
import json
import pathlib
import re
import socket
import struct
import tempfile
import threading
import time
import urllib.request
import zlib

from processes import SUBJECT_CORE, Process, free_port

MARK = 300
CLIENTS = 4


def deflated(size, wbits):
    """Zeros that inflate to `size` bytes."""
    packer, made = zlib.compressobj(9, zlib.DEFLATED, wbits), []
    for _ in range(size >> 20):
        made.append(packer.compress(bytes(1 << 20)))
    return b"".join(made) + packer.flush(zlib.Z_SYNC_FLUSH if wbits < 0 else zlib.Z_FINISH)


def frame(opcode, payload, compressed=False):
    first = bytes([0x80 | (0x40 if compressed else 0) | opcode])
    if len(payload) < 126:
        return first + bytes([len(payload)]) + payload
    if len(payload) < 65536:
        return first + b"\x7e" + struct.pack(">H", len(payload)) + payload
    return first + b"\x7f" + struct.pack(">Q", len(payload)) + payload


def small_secret():
    return b"\xff\xfepassword=hunter2\x00token=0123456789abcdef\x00\xff\xfe"


BODIES = {
    "/body-bomb": lambda: (deflated(1 << 30, 31), "Content-Encoding: gzip\r\nContent-Type: application/octet-stream\r\n"),
    "/body-secrets": lambda: (b"".join(b"password=a%07db " % number for number in range(60_000)), "Content-Type: text/plain\r\n"),
    "/body-binary": lambda: (small_secret() * 2000, "Content-Type: application/octet-stream\r\n"),
    "/body-flags": lambda: (b"curl -u a:b -p " * 70_000, "Content-Type: text/plain\r\n"),
}
MESSAGES = {
    "/ws-bomb": lambda: frame(2, deflated(1 << 30, -15)[:-4], compressed=True),
    "/ws-empty": lambda: frame(1, b"") * 500_000,
    "/ws-pings": lambda: frame(9, b"") * 500_000,
    "/ws-secrets": lambda: frame(1, b'{"password":"hunter2hunter2"}') * 30_000,
}


# Requests that a rule of EDITS changes on their way.
UPLOADS = {
    "/edit-places": lambda: (b'{"items":[' + b",".join(b'{"p":%d}' % number for number in range(1_200_000)) + b"]}", "Content-Type: application/json\r\n"),
    "/edit-matches": lambda: (b"x" * (15 << 20), "Content-Type: text/plain\r\n"),
    "/edit-coded": lambda: (gzip.compress(b'{"p":"%s"}' % (b"0123456789abcdef" * (3 << 20)), 9), "Content-Encoding: gzip\r\nContent-Type: application/json\r\n"),
}
EDITS = """- { when: ~u /edit-places, request: { set: { "json:/items/*/p": 1 } } }
- { when: ~u /edit-matches, request: { replace: { in: body, match: (x+x+)+y, with: z } } }
- { when: ~u /edit-coded, request: { set: { "json:/q": 1 } }, response: { replace: { in: body, match: ok, with: OK } } }
"""


class Origin:
    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.made = {}
        threading.Thread(target=self.run, daemon=True).start()

    def prepare(self, path):
        maker = BODIES.get(path) or MESSAGES.get(path) or UPLOADS.get(path)
        if maker and path not in self.made:
            self.made[path] = maker()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        held = b""
        try:
            while True:
                while b"\r\n\r\n" not in held:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    held += piece
                head, held = held.split(b"\r\n\r\n", 1)
                path = head.split(b" ")[1].decode()
                if path in MESSAGES:
                    key = re.search(rb"(?i)sec-websocket-key: *(\S+)", head)[1]
                    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
                    connection.sendall(
                        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n").encode())
                    connection.sendall(self.made[path])
                    connection.sendall(frame(8, b"\x03\xe8"))
                    return
                length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
                left = int(length[1]) - len(held) if length else 0
                held = b"" if length else held
                while left > 0:
                    left -= len(connection.recv(1 << 20)) or left
                body, fields = self.made[path] if path in BODIES else (b"ok", "")
                connection.sendall(f"HTTP/1.1 200 OK\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        except OSError:
            pass
        finally:
            connection.close()


class Waits:
    """The small requests of several connections, one after the other on each."""

    def __init__(self, port, origin):
        self.port, self.origin = port, origin
        self.request = f"GET http://127.0.0.1:{origin}/small HTTP/1.1\r\nHost: 127.0.0.1:{origin}\r\n\r\n".encode()

    def during(self, action, seconds):
        """Runs the action meanwhile; measures for some seconds at least, and until the action has ended."""
        waits, stop = [], threading.Event()
        threads = [threading.Thread(target=self.ask, args=(waits, stop)) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        begun = time.monotonic()
        try:
            action()
            time.sleep(max(0, seconds - (time.monotonic() - begun)))
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        return sorted(waits)

    def ask(self, waits, stop):
        with socket.create_connection(("127.0.0.1", self.port)) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while not stop.is_set():
                begun = time.perf_counter()
                client.sendall(self.request)
                answer = b""
                while not answer.endswith(b"\r\n\r\nok"):
                    piece = client.recv(65536)
                    if not piece:
                        raise RuntimeError("the proxy closed a connection")
                    answer += piece
                waits.append(1000 * (time.perf_counter() - begun))
                time.sleep(0.005)


def drain(port, origin, path, websocket=False):
    fields = ("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
              "Sec-WebSocket-Extensions: permessage-deflate\r\n") if websocket else "Connection: close\r\n"
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(f"GET http://127.0.0.1:{origin}{path} HTTP/1.1\r\nHost: 127.0.0.1:{origin}\r\n{fields}\r\n".encode())
        while client.recv(1 << 20):
            pass


def upload(port, origin, path):
    body, fields = origin.made[path]
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(
            f"POST http://127.0.0.1:{origin.port}{path} HTTP/1.1\r\nHost: 127.0.0.1:{origin.port}\r\nConnection: close\r\n"
            f"{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        if b" 200 " not in client.recv(1 << 20):
            raise RuntimeError(f"{path}: the upload failed")
        while client.recv(1 << 20):
            pass


def filters(page, token):
    """Four at once that backtrack without end in other engines."""
    def one():
        body = json.dumps({"filter": '~u "(a+)+b(a|aa)+c"', "sort": "", "descends": False}).encode()
        request = urllib.request.Request(f"{page}api/views", body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        try:
            urllib.request.urlopen(request, timeout=20).read()
        except OSError:
            pass
    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def half_open(page):
    port = int(re.search(r":(\d+)/", page)[1])
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(70)]
    time.sleep(1)
    for connection in held:
        connection.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--wiretape", required=True)
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    origin = Origin()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        program = str(pathlib.Path(arguments.wiretape).resolve())
        pathlib.Path(folder, "edits.yaml").write_text(EDITS)
        process = Process([program, "record", "tape.json", "--modify", "edits.yaml", "--listen", f"127.0.0.1:{port}", "--web", "--grace", "5"], port, SUBJECT_CORE, folder)
        try:
            page, token = re.search(r"(http://127\.0\.0\.1:\d+/)#token=(\S+)", process.log.read_text()).groups()
            actions = {path[1:]: (lambda path=path: drain(port, origin.port, path)) for path in BODIES}
            actions |= {path[1:]: (lambda path=path: drain(port, origin.port, path, websocket=True)) for path in MESSAGES}
            actions |= {path[1:]: (lambda path=path: upload(port, origin, path)) for path in UPLOADS}
            actions |= {"page-filters": lambda: filters(page, token), "page-half-open": lambda: half_open(page)}
            waits, misses = Waits(port, origin.port), 0
            print(f"{'':16}{'p50':>8}{'p99':>8}{'max':>8}   ms")
            quiet = None
            for name, action in {"quiet": lambda: None, **actions}.items():
                if arguments.names and name != "quiet" and name not in arguments.names:
                    continue
                origin.prepare("/" + name)
                found = waits.during(action, arguments.seconds)
                p99 = found[int(len(found) * 0.99)]
                quiet = p99 if quiet is None else quiet
                is_over = p99 > quiet + MARK
                misses += is_over
                print(f"{name:16}{found[len(found) // 2]:8.1f}{p99:8.1f}{found[-1]:8.1f}{'   over the mark' if is_over else ''}", flush=True)
        finally:
            process.stop()
    print(f"{misses} over the mark of {MARK} ms over quiet")


main()
