#!/usr/bin/env python3
"""Measures how exactly traffic rules keep latencies and rates: rules.py PROGRAM

Starts an origin and one recording for each rule on loopback, measures five requests each, and prints the median beside what the rule says.
Exits with 1 if a rate is more than 5 % off or a latency more than 5 ms. Measure on an idle machine.
"""
import http.server
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROUNDS = 5
BODY = os.urandom(256 << 10)


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = BODY if self.path.startswith("/large") else b"ok"
        if self.path.startswith("/events"):
            body = b"".join(b"data: %0100d\n\n" % number for number in range(500))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if self.path.startswith("/events") else "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def exchange(port, origin, path, body=None):
    """Returns the times of the first and of the last byte in seconds, and the size of the answer's body."""
    method = "GET" if body is None else "POST"
    head = f"{method} http://127.0.0.1:{origin}{path} HTTP/1.1\r\nHost: 127.0.0.1:{origin}\r\nConnection: close\r\n"
    if body is not None:
        head += f"Content-Length: {len(body)}\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start = time.perf_counter()
        connection.sendall(head.encode() + b"\r\n" + (body or b""))
        received = connection.recv(65536)
        first = time.perf_counter() - start
        while piece := connection.recv(65536):
            received += piece
        return first, time.perf_counter() - start, len(received.split(b"\r\n\r\n", 1)[1])


class Proxy:
    def __init__(self, program, folder, rules):
        path = os.path.join(folder, "rules.yaml")
        with open(path, "w") as file:
            file.write(rules)
        self.process = subprocess.Popen(
            [program, "record", os.path.join(folder, f"{time.time_ns()}.json"), "--listen", "127.0.0.1:0", "--modify", path, "--no-config"],
            stderr=subprocess.PIPE, text=True)
        self.port = None
        for line in self.process.stderr:
            if "127.0.0.1:" in line:
                self.port = int(line.split("127.0.0.1:")[1].split()[0].strip("/,."))
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)


def main():
    program = os.path.abspath(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = server.server_address[1]
    misses = 0

    def row(name, wanted, found, unit, limit):
        nonlocal misses
        off = found - wanted
        is_off = abs(off) > limit
        misses += is_off
        print(f"{name:34} {wanted:10.1f} {found:10.1f} {unit:5} {off:+8.1f}{'  MISS' if is_off else ''}", flush=True)

    print(f"{'rule':34} {'wanted':>10} {'found':>10} {'':5} {'off by':>8}")
    with tempfile.TemporaryDirectory() as folder:
        with Proxy(program, folder, "- name: none\n  when: \"~u /nothing\"\n  block: 403\n") as proxy:
            base = statistics.median(exchange(proxy.port, origin, "/")[0] for _ in range(ROUNDS)) * 1000
        for latency in (20, 100, 500):
            with Proxy(program, folder, f"- pace: {{ latency: {latency}ms }}\n") as proxy:
                found = statistics.median(exchange(proxy.port, origin, "/")[0] for _ in range(ROUNDS)) * 1000 - base
                row(f"latency {latency} ms", latency, found, "ms", 5)
        for rate in ("500kbit", "4Mbit", "32Mbit"):
            bits = float(rate.rstrip("Mkbit")) * (1e6 if "M" in rate else 1e3)
            for path, name in (("/large", "download"), ("/events", "events")):
                with Proxy(program, folder, f"- pace: {{ down: {rate}, burst: 1460B }}\n") as proxy:
                    rates = []
                    for _ in range(ROUNDS if bits > 1e6 else 1):
                        first, last, size = exchange(proxy.port, origin, path)
                        rates.append((size - 1460) * 8 / (last - base / 1000) / 1000)
                    row(f"{name} at {rate}", bits / 1000, statistics.median(rates), "kbit", bits / 1000 * 0.05)
            with Proxy(program, folder, f"- pace: {{ up: {rate}, burst: 1460B }}\n") as proxy:
                size = len(BODY) if bits > 1e6 else len(BODY) // 8
                rates = []
                for _ in range(ROUNDS if bits > 1e6 else 1):
                    first, last, _ = exchange(proxy.port, origin, "/up", BODY[:size])
                    rates.append((size - 1460) * 8 / (last - base / 1000) / 1000)
                row(f"upload at {rate}", bits / 1000, statistics.median(rates), "kbit", bits / 1000 * 0.05)
        with Proxy(program, folder, "- pace: { down: 8Mbit, burst: 1460B, each: session }\n") as proxy:
            threads = [threading.Thread(target=exchange, args=(proxy.port, origin, f"/large?{number}")) for number in range(4)]
            start = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            row("4 downloads sharing 8Mbit", 8000, 4 * len(BODY) * 8 / (time.perf_counter() - start) / 1000, "kbit", 400)
    server.shutdown()
    sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()
