#!/usr/bin/env python3
"""Holds event streams open through a recording proxy, and looks whether its memory grows.

A stream holds up to 64 KiB that are not in a file yet, and the times of its first 4,096 reads: with ten events a second both are reached in
seven minutes, so that the second half of twenty tells. Prints the memory of each minute and its slope over the second half. Exit code 1 when the slope is more than what an hour may cost.
"""
import argparse
import os
import pathlib
import resource
import selectors
import socket
import sys
import tempfile
import time

from processes import LOAD_CORE, SUBJECT_CORE, Process, free_port

HERE = pathlib.Path(__file__).resolve().parent
EVENT = b"data: " + b"x" * 200 + b"\n\n"
# KiB an hour: what is left to chance of the system's pages.
MARK = 1024


def serve(listener, rate):
    """The origin: answers each request with a stream, and writes to every stream so many times a second."""
    listener.settimeout(min(0.05, 0.2 / rate))
    streams, due = [], time.monotonic()
    while True:
        try:
            connection, _ = listener.accept()
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            streams.append(connection)
        except TimeoutError:
            pass
        if time.monotonic() < due:
            continue
        due += 1 / rate
        for connection in streams:
            connection.sendall(EVENT)


def ask(port, origin):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(f"GET http://127.0.0.1:{origin}/events HTTP/1.1\r\nHost: 127.0.0.1:{origin}\r\n\r\n".encode())
    return connection


def slope(samples):
    """KiB an hour, by least squares over (seconds, MiB)."""
    count = len(samples)
    middle = sum(at for at, _ in samples) / count, sum(size for _, size in samples) / count
    spread = sum((at - middle[0]) ** 2 for at, _ in samples)
    return sum((at - middle[0]) * (size - middle[1]) for at, size in samples) / spread * 3600 * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wiretape", default=os.environ.get("WIRETAPE", str(HERE.parent / ".build/release/wiretape")), metavar="PATH")
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--rate", type=float, default=10, help="events a second on each stream (default 10)")
    parser.add_argument("--minutes", type=float, default=20)
    chosen = parser.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    origin = listener.getsockname()[1]
    child = os.fork()
    if child == 0:
        os.sched_setaffinity(0, {LOAD_CORE})
        try:
            serve(listener, chosen.rate)
        except OSError:  # the proxy has gone first
            os._exit(0)
    try:
        return soak(os.path.abspath(chosen.wiretape), origin, chosen.streams, chosen.minutes)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def soak(wiretape, origin, streams, minutes):
    with tempfile.TemporaryDirectory(prefix="wiretape-soak-") as work:
        os.environ["WIRETAPE_CA_DIR"] = f"{work}/authority"
        port = free_port()
        command = [wiretape, "record", f"{work}/tape.json", "--listen", f"127.0.0.1:{port}", "--quiet"]
        with Process(command, port, SUBJECT_CORE, work) as process, selectors.DefaultSelector() as selector:
            for _ in range(streams):
                connection = ask(port, origin)
                connection.setblocking(False)
                selector.register(connection, selectors.EVENT_READ)
            begun, samples, received, told = time.monotonic(), [], 0, 0
            while (elapsed := time.monotonic() - begun) < minutes * 60:
                for key, _ in selector.select(0.2):
                    got = key.fileobj.recv(65536)
                    if not got:
                        print(f"a stream ended after {elapsed:.0f} s")
                        return 1
                    received += len(got)
                if not samples or elapsed - samples[-1][0] >= 1:
                    samples.append((elapsed, process.memory()[0]))
                if elapsed >= told * 60:
                    print(f"{elapsed:6.0f} s  {samples[-1][1]:7.2f} MiB  {received / len(EVENT):9.0f} events", flush=True)
                    told += 1
            half = [sample for sample in samples if sample[0] >= minutes * 30]
            kib = slope(half)
            disk = sum(file.stat().st_size for file in pathlib.Path(work).rglob("*") if file.is_file()) / 1e6
            print(f"{streams} streams, {minutes:g} minutes, {received / len(EVENT):.0f} events: {half[0][1]:.2f} MiB at half the time, "
                  f"{half[-1][1]:.2f} at the end, {kib:.0f} KiB an hour; {disk:.1f} MB on the disk")
            return 1 if kib > MARK else 0


if __name__ == "__main__":
    sys.exit(main())
