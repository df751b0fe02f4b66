"""Scenarios of bodies: what a gzip body costs the event loop, a large upload, and which compressors' bodies come back without a sidecar."""
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time

import producers
from client import load, missing

MiB = 1 << 20


def loop_seconds(process):
    """CPU seconds of the event loop's thread so far, to the nanosecond."""
    for task in pathlib.Path(f"/proc/{process.child.pid}/task").iterdir():
        if (task / "comm").read_text().startswith("NIO-ELT"):
            return int((task / "schedstat").read_text().split()[0]) / 1e9
    raise RuntimeError("the program has no thread NIO-ELT")


def loop(bench, name):
    """gzip-coded JSON beside as many octets that are not coded, on 16 connections: CPU of the event loop's thread per request"""
    pages, count, spent, answers, bad = ("/64k.json", "/same.bin"), 3000, {}, 0, 0
    with bench.subject(name) as process:
        for page in pages:
            answers, bad = answers + 200, bad + load(bench, name, process, "-P", page, "-c", 8, "-n", 200, "-d", 10)["bad"]
        for turn in range(8):
            page = pages[turn % 2]
            process.settled_cpu()  # what the recorder still has to do competes for the core
            before = loop_seconds(process)
            bad += load(bench, name, process, "-P", page, "-c", 16, "-n", count, "-d", 60)["bad"]
            spent.setdefault(page, []).append((loop_seconds(process) - before) / count * 1e6)
            answers += count
        code = process.stop()[1]
    coded, plain = (sorted(spent[page]) for page in pages)
    middle = len(plain) // 2
    ratio = sum(coded[1:-1]) / sum(plain[1:-1])
    return dict(coded_us=coded[middle], plain_us=plain[middle], coded_to_plain=ratio,
                bad=bad + missing(bench, answers) + (code != 0))


class Drain(threading.Thread):
    """An origin that reads one request with a Content-Length to its end and answers it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.received = self.listener.getsockname()[1], 0

    def run(self):
        connection, _ = self.listener.accept()
        with connection, self.listener:
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(65536)
            head, _, rest = head.partition(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length:")[2].split()[0])
            self.received, buffer = len(rest), bytearray(MiB)
            while self.received < size:
                taken = connection.recv_into(buffer)
                if not taken:
                    return
                self.received += taken
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def upload(bench, name):
    """one multipart upload with a part of 2 GiB: peak of the resident size, also while the cassette closes; whether the part lies alone"""
    size, block = 2 << 30, random.Random(2).randbytes(MiB)
    head = b'--b0undary\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n'
    tail = b"\r\n--b0undary--\r\n"
    origin = Drain()
    origin.start()
    with bench.subject(name) as process:
        process.reset_peak()
        begun = time.perf_counter()
        with socket.create_connection(("127.0.0.1", process.port)) as client:
            client.sendall(b"POST http://127.0.0.1:%d/upload HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n"
                           b"Content-Type: multipart/form-data; boundary=b0undary\r\nConnection: close\r\n\r\n" %
                           (origin.port, origin.port, len(head) + size + len(tail)) + head)
            for _ in range(size // MiB):
                client.sendall(block)
            client.sendall(tail)
            client.settimeout(120)
            answer = client.recv(64)
        seconds = time.perf_counter() - begun
        peak = process.memory()[2]
        os.kill(process.child.pid, signal.SIGTERM)
        while process.child.poll() is None:
            peak = max(peak, process.memory()[2])
            time.sleep(0.05)
        code = process.child.returncode
    sizes = [file.stat().st_size for file in bench.tape.parent.rglob("*") if file.is_file()]
    return dict(MBps=size / seconds / 1e6, peak_MiB=peak, close_s=time.perf_counter() - begun - seconds, part_alone=int(size in sizes),
                bad=int(not answer.startswith(b"HTTP/1.1 200")) + int(origin.received < size) + missing(bench, 1) + (code != 0))


def restored(bench, name):
    """gzip bodies of several programs: the share that comes back octet by octet without a sidecar of the coded octets"""
    asked, left_out = producers.write(bench), []
    with bench.subject(name) as process:
        for paths in asked.values():
            connection = http.client.HTTPConnection("127.0.0.1", process.port, timeout=30)
            for path in paths:
                connection.request("GET", f"http://127.0.0.1:{bench.origin_port}{path}", headers={"Accept-Encoding": "gzip"})
                if connection.getresponse().read()[:2] != b"\x1f\x8b":
                    left_out.append(path)
            connection.close()
        code = process.stop()[1]
    whole = {}
    for interaction in json.loads(bench.tape.read_bytes())["interactions"]:
        body = interaction["response"]["body"]
        producer = interaction["request"]["url"].split("/")[4]
        whole.setdefault(producer, []).append("codings" in body and "original" not in body)
    figures = {f"{producer}": sum(each) / len(each) for producer, each in sorted(whole.items())}
    every = [one for each in whole.values() for one in each]
    return dict(figures, share=sum(every) / len(every), bodies=len(every), bad=len(left_out) + (code != 0))
