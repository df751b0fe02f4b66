#!/usr/bin/env python3
"""The memory of open HTTP/2 streams whose origin needs a TLS connection each, and of a gRPC call with many empty messages.

streams.py --wiretape PROGRAM [--streams N] [--messages N] [NAME ...]

A client opens streams in HTTP/2 connections through CONNECT tunnels; the origin speaks HTTP/1.1 only, inside TLS, so that each stream has
a connection of its own. Prints KiB of resident memory for each stream: `waiting` has no answer yet, `answered` an event stream that has
begun, `stalled` a large answer that its client does not take. `grpc` records a request and an answer of empty messages over one HTTP/2
stream, and prints the growth in MiB while the call is open and the peak until the proxy has ended; `replay` prints the peak of a replay of
it. Exit code 1 if a mark is missed.
"""
import argparse
import contextlib
import os
import pathlib
import resource
import selectors
import socket
import ssl
import struct
import sys
import tempfile
import threading
import time

import certificates
from processes import LOAD_CORE, SUBJECT_CORE, Process, free_port
from subjects import among_names

# KiB for each stream, and MiB of a call's peak.
MARKS = {"waiting": 60, "answered": 60, "stalled": 95, "grpc": 15, "replay": 25}
STREAMS_PER_CONNECTION = 100
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, DATA, HEADERS = 4, 0, 1
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A field that no table gets (RFC 7541, 6.2.2), without Huffman codes."""
    def text(string):
        return (bytes([len(string)]) if len(string) < 127 else bytes([127, len(string) - 127])) + string
    return b"\0" + text(name.encode()) + text(value.encode())


def fields(**pairs):
    return b"".join(literal(name, value) for name, value in pairs.items())


def serve_events(listener, context):
    """The origin: answers `/answered` with the beginning of an event stream, and other requests never."""
    held, selector = [], selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                raw, _ = listener.accept()
                raw.settimeout(20)
                with contextlib.suppress(OSError):
                    connection = context.wrap_socket(raw, server_side=True)
                    received = b""
                    while b"\r\n\r\n" not in received:
                        received += connection.recv(4096)
                    if received.startswith(b"GET /answered"):
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: first\n\n")
                    held.append(connection)


def serve_large(listener, context):
    """The origin: answers everything with 10 MB, as far as they are taken."""
    def answer(raw):
        with contextlib.suppress(OSError):
            connection = context.wrap_socket(raw, server_side=True)
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 10000000\r\n\r\n" + bytes(10_000_000))
    while True:
        raw, _ = listener.accept()
        threading.Thread(target=answer, args=(raw,), daemon=True).start()


def tls_client(alpn):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([alpn])
    return context


def connect(port, origin):
    """A connection of HTTP/2 in a tunnel to the origin."""
    raw = socket.create_connection(("127.0.0.1", port))
    raw.sendall(f"CONNECT {certificates.ORIGIN}:{origin} HTTP/1.1\r\nHost: {certificates.ORIGIN}:{origin}\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += raw.recv(4096)
    if b" 200 " not in answer.split(b"\r\n")[0]:
        raise RuntimeError(answer.decode(errors="replace"))
    connection = tls_client("h2").wrap_socket(raw, server_hostname=certificates.ORIGIN)
    if connection.selected_alpn_protocol() != "h2":
        raise RuntimeError("the proxy did not choose h2")
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0))
    return connection


def request(connection, number, origin, path):
    head = fields(**{":method": "GET", ":scheme": "https", ":authority": f"{certificates.ORIGIN}:{origin}", ":path": path,
                     "accept": "text/event-stream", "user-agent": "streams.py"})
    connection.sendall(frame(HEADERS, END_STREAM | END_HEADERS, 2 * number + 1, head))


class Work:
    """Keys, an origin in a process of its own, and the recording proxy."""

    def __init__(self, wiretape):
        self.wiretape, self.stack = wiretape, contextlib.ExitStack()

    def __enter__(self):
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="wiretape-streams-")))
        certificates.make(self.folder)
        return self

    def __exit__(self, *_):
        self.stack.close()

    def origin(self, serve, alpn=None):
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "origin.pem", self.folder / "origin.key")
        context.num_tickets = 0
        if alpn:
            context.set_alpn_protocols([alpn])
        child = os.fork()
        if child == 0:
            os.sched_setaffinity(0, {LOAD_CORE})
            try:
                serve(listener, context)
            finally:
                os._exit(0)
        port = listener.getsockname()[1]
        listener.close()

        def end():
            os.kill(child, 9)
            os.waitpid(child, 0)
        self.stack.callback(end)
        return port

    def proxy(self, command="record", tape=None):
        port = free_port()
        tape = tape or self.folder / f"{port}.json"
        options = ["--upstream-ca", str(self.folder / "ca.pem")] if command == "record" else []
        command = [self.wiretape, command, str(tape), "--listen", f"127.0.0.1:{port}", "--quiet", "--grace", "2", "--loops", "1",
                   "--ca-dir", str(self.folder / "authority"), *options]
        return Process(among_names(command, self.folder), port, SUBJECT_CORE, self.folder)


def settled(process):
    """MiB, once the memory has stayed the same for half a second."""
    last, still = process.memory()[1], 0
    while still < 5:
        time.sleep(0.1)
        now = process.memory()[1]
        still = still + 1 if abs(now - last) < 0.05 else 0
        last = now
    return last


def open_streams(work, name, count):
    origin = work.origin(serve_large if name == "stalled" else serve_events)
    with work.proxy() as process:
        held = []

        def add(number):
            if number % STREAMS_PER_CONNECTION == 0:
                held.append(connect(process.port, origin))
            request(held[-1], number % STREAMS_PER_CONNECTION, origin, f"/{name}")
        for number in range(STREAMS_PER_CONNECTION):  # what the first ones cost once
            add(number)
        before = settled(process)
        for number in range(STREAMS_PER_CONNECTION, STREAMS_PER_CONNECTION + count):
            add(number)
        after = settled(process)
        for connection in held:
            connection.close()
    kib = (after - before) * 1024 / count
    print(f"{name:10}{count:8} streams{kib:8.0f} KiB each   (mark {MARKS[name]})", flush=True)
    return kib


def receive(connection, until):
    """Frames of a connection: answers settings, and gives each frame to `until` until that is true."""
    held = b""
    while True:
        piece = connection.recv(1 << 16)
        if not piece:
            raise RuntimeError("the connection ended")
        held += piece
        while len(held) >= 9 and len(held) >= 9 + int.from_bytes(held[:3], "big"):
            length = int.from_bytes(held[:3], "big")
            kind, flags, stream = held[3], held[4], int.from_bytes(held[5:9], "big") & 0x7FFFFFFF
            payload, held = held[9:9 + length], held[9 + length:]
            if kind == SETTINGS and not flags & ACK:
                connection.sendall(frame(SETTINGS, ACK, 0))
            if until(kind, flags, stream, payload):
                return


def windows(size):
    """Settings with a stream's window, and the connection's raised by as much."""
    return frame(SETTINGS, 0, 0, struct.pack(">HI", 4, size)) + frame(8, 0, 0, struct.pack(">I", size))


MESSAGE = bytes(5)
GRPC_WINDOW = 1 << 24


def serve_grpc(listener, context):
    """The origin: answers as many empty messages as it gets, and its status when the request has ended."""
    while True:
        raw, _ = listener.accept()
        with contextlib.suppress(OSError, RuntimeError):
            connection = context.wrap_socket(raw, server_side=True)
            got = b""
            while len(got) < len(PREFACE):
                got += connection.recv(len(PREFACE) - len(got))
            connection.sendall(windows(GRPC_WINDOW))

            def answer(kind, flags, stream, payload, connection=connection):
                if kind == HEADERS:
                    connection.sendall(frame(HEADERS, END_HEADERS, stream, fields(**{":status": "200", "content-type": "application/grpc"})))
                if kind == DATA and payload:
                    credit = struct.pack(">I", len(payload))
                    connection.sendall(frame(DATA, 0, stream, payload) + frame(8, 0, 0, credit) + frame(8, 0, stream, credit))
                if kind == DATA and flags & END_STREAM:
                    connection.sendall(frame(HEADERS, END_HEADERS | END_STREAM, stream, fields(**{"grpc-status": "0"})))
                return False
            receive(connection, answer)


def call_head(origin):
    return fields(**{":method": "POST", ":scheme": "https", ":authority": f"{certificates.ORIGIN}:{origin}", ":path": "/bench.Empty/Echo",
                     "content-type": "application/grpc", "te": "trailers"})


def grpc(work, count):
    origin = work.origin(serve_grpc, "h2")
    with work.proxy() as process:
        def call(messages):
            connection = connect(process.port, origin)
            connection.sendall(windows(GRPC_WINDOW))
            connection.sendall(frame(HEADERS, END_HEADERS, 1, call_head(origin)))
            got = sent = 0

            def count_data(kind, flags, stream, payload):
                nonlocal got
                got += len(payload) if kind == DATA else 0
                return got >= sent
            while sent < messages * 5:
                piece = MESSAGE * min(1000, messages - sent // 5)
                connection.sendall(frame(DATA, 0, 1, piece))
                sent += len(piece)
                receive(connection, count_data)
            return connection

        def end(connection):
            connection.sendall(frame(DATA, END_STREAM, 1))
            receive(connection, lambda kind, flags, *_: kind == HEADERS and flags & END_STREAM)
        end(call(100))
        before = settled(process)
        process.reset_peak()
        connection = call(count)
        during = settled(process) - before
        end(connection)
        ended = settled(process) - before
        peak = process.memory()[2]
        os.kill(process.child.pid, 15)
        with contextlib.suppress(OSError):
            while process.child.poll() is None:
                peak = max(peak, process.memory()[2])
                time.sleep(0.002)
    print(f"{'grpc':10}{count:8} messages{during:7.1f} MiB open, {ended:.1f} ended, {peak - before:.1f} peak   (mark {MARKS['grpc']})", flush=True)
    return peak - before


def replay(work, count):
    """Sends all messages of a recorded call in one go, as far as the windows permit, and reads the answer."""
    origin, tape = work.origin(serve_grpc, "h2"), work.folder / "call.json"

    def call(process):
        connection, room, sent, got = connect(process.port, origin), [65_535, 65_535], 0, 0
        connection.sendall(windows(GRPC_WINDOW) + frame(HEADERS, END_HEADERS, 1, call_head(origin)))

        def push():
            nonlocal sent
            while sent < 5 * count and min(room) > 0:
                size = min(*room, 16_000, 5 * count - sent)
                connection.sendall(frame(DATA, END_STREAM if sent + size == 5 * count else 0, 1, bytes(size)))
                sent, room[0], room[1] = sent + size, room[0] - size, room[1] - size

        def take(kind, flags, stream, payload):
            nonlocal got
            got += len(payload) if kind == DATA else 0
            if kind == 8:
                room[1 if stream else 0] += int.from_bytes(payload, "big")
                push()
            return kind == HEADERS and flags & END_STREAM
        push()
        receive(connection, take)
        if got != 5 * count:
            raise RuntimeError(f"{got} of {5 * count} bytes were answered")
    with work.proxy(tape=tape) as process:
        call(process)
    with work.proxy("replay", tape) as process:
        before = settled(process)
        process.reset_peak()
        call(process)
        peak = process.memory()[2] - before
    print(f"{'replay':10}{count:8} messages{peak:7.1f} MiB peak   (mark {MARKS['replay']})", flush=True)
    return peak


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wiretape", required=True, metavar="PROGRAM")
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--messages", type=int, default=50_000)
    parser.add_argument("names", nargs="*", help="waiting, answered, stalled, grpc, replay (default all)")
    chosen = parser.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    misses = 0
    with Work(os.path.abspath(chosen.wiretape)) as work:
        for name in chosen.names or MARKS:
            if name in ("grpc", "replay"):
                figure = (grpc if name == "grpc" else replay)(work, chosen.messages)
            else:
                figure = open_streams(work, name, chosen.streams)
            misses += figure > MARKS[name]
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
