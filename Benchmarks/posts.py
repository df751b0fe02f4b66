#!/usr/bin/env python3
"""POSTs whose head and body are two sends: posts.py --wiretape PROGRAM [--other PROGRAM] [--count N]

urllib3 leaves TCP_NODELAY off towards a proxy. The kernel then holds the body back until the head is acknowledged (RFC 9293, 3.7.4), and the
other side's kernel delays that acknowledgement by some 40 ms. Prints the median of a POST straight to the origin, and through each program,
in one run.
"""
import argparse
import pathlib
import socket
import statistics
import tempfile
import threading
import time

from processes import SUBJECT_CORE, Process, free_port

BODY = b"x" * 100


def serve(listener):
    """Answers each POST at once; has no delay of its own, since it acknowledges with its answer."""
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    held = b""
    while True:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        piece = connection.recv(65536)
        if not piece:
            return
        held += piece
        while (end := held.find(b"\r\n\r\n")) >= 0 and len(held) >= end + 4 + len(BODY):
            held = held[end + 4 + len(BODY):]
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def measure(port, origin, count):
    """The median of one POST after another on one connection, in milliseconds."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        head = f"POST http://127.0.0.1:{origin}/ HTTP/1.1\r\nHost: 127.0.0.1:{origin}\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
        times = []
        for _ in range(count):
            begun = time.perf_counter()
            client.sendall(head)
            client.sendall(BODY)
            answered = b""
            while not answered.endswith(b"\r\n\r\nok"):
                answered += client.recv(65536)
            times.append(time.perf_counter() - begun)
    return 1000 * statistics.median(times[count // 10:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--wiretape", required=True)
    parser.add_argument("--other", help="another build of it, to compare with")
    parser.add_argument("--count", type=int, default=200)
    arguments = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    origin = listener.getsockname()[1]
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    print(f"{'direct':10}{measure(origin, origin, arguments.count):8.2f} ms")
    for name, program in (("wiretape", arguments.wiretape), ("other", arguments.other)):
        if not program:
            continue
        with tempfile.TemporaryDirectory() as folder:
            port = free_port()
            command = [str(pathlib.Path(program).resolve()), "record", "tape.json", "--listen", f"127.0.0.1:{port}", "--quiet"]
            process = Process(command, port, SUBJECT_CORE, folder)
            try:
                print(f"{name:10}{measure(port, origin, arguments.count):8.2f} ms")
            finally:
                process.stop()


main()
