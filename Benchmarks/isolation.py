#!/usr/bin/env python3
"""What an isolation costs an unprivileged program: isolation.py WIRETAPE [--rounds COUNT]

The same program, isolated, asks each time through its proxy settings and without them, in turns: new names with and without TLS, and bodies
of 10 MiB, whose bytes are compared. Everything runs in a network without routes.
"""
import argparse
import fcntl
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import socket
import ssl
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ADDRESS, NAMES, SIZE = "203.0.113.5", 200, 10 << 20
# First contacts may cost this many milliseconds more, and downloads have at least this share of the speed.
MOST_MILLISECONDS, LEAST_SHARE = 2.0, 0.9
BODY = hashlib.shake_256(b"isolation").digest(SIZE)


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        body = BODY if self.path.startswith("/body") else b"hello"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


# The isolated program


def connection(way, secure, host, context):
    kind, more = (http.client.HTTPSConnection, {"context": context}) if secure else (http.client.HTTPConnection, {})
    if way == "direct":
        return kind(host, **more), ""
    proxy = urllib.parse.urlsplit(os.environ["http_proxy"])
    made = kind(proxy.hostname, proxy.port, **more)
    if secure:
        made.set_tunnel(host)
    return made, "" if secure else f"http://{host}"


def get(way, secure, host, path, context):
    began = time.perf_counter()
    made, prefix = connection(way, secure, host, context)
    made.request("GET", prefix + path, headers={"Host": host})
    body = made.getresponse().read()
    seconds = time.perf_counter() - began
    made.close()
    return seconds, body


def client(rounds):
    context = ssl.create_default_context()
    results = {}
    for secure in (False, True):
        names = iter(range(NAMES))
        contacts, speeds = {"proxy": [], "direct": []}, {"proxy": [], "direct": []}
        for turn in range(NAMES // 2):
            for way in ("proxy", "direct") if turn % 2 else ("direct", "proxy"):
                contacts[way].append(get(way, secure, f"h{next(names)}.bench.test", "/first", context)[0] * 1000)
        for turn in range(rounds):
            for way in ("proxy", "direct") if turn % 2 else ("direct", "proxy"):
                seconds, body = get(way, secure, "h0.bench.test", f"/body-{way}-{turn}", context)
                if body != BODY:
                    sys.exit(f"{way}: the body differs")
                speeds[way].append(SIZE / seconds / 1e6)
        results["https" if secure else "http"] = {"contact_ms": contacts, "megabytes_per_second": speeds}
    print(json.dumps(results))


# The machine


def prepare(folder):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sh22x", b"lo", 1))
        fcntl.ioctl(control, 0x8916, struct.pack("16sHH4s16x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(ADDRESS)))
    hosts = folder / "hosts"
    hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{ADDRESS} h{number}.bench.test\n" for number in range(NAMES)))
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3", "-subj", "/CN=origin", "-addext",
         "subjectAltName=DNS:*.bench.test", "-keyout", folder / "key.pem", "-out", folder / "root.pem"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "root.pem", folder / "key.pem")
    for port in (80, 443):
        server = http.server.ThreadingHTTPServer((ADDRESS, port), Origin)
        if port == 443:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()


def inside(wiretape, rounds):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        command = [wiretape, "record", folder / "tape.json", "--quiet", "--isolate", "--ca-dir", folder / "ca", "--upstream-ca", folder / "root.pem", "--", sys.executable,
                   os.path.abspath(__file__), "--client", "--rounds", str(rounds)]
        end = subprocess.run(command, capture_output=True, text=True)
        if end.returncode != 0:
            sys.exit(f"{end.stderr}{end.stdout}")
        results = json.loads(end.stdout.splitlines()[-1])
    return 0 if all([report(scheme, values) for scheme, values in results.items()]) else 1


def report(scheme, values):
    contacts = {way: statistics.median(times) for way, times in values["contact_ms"].items()}
    shares = [direct / proxy for direct, proxy in zip(values["megabytes_per_second"]["direct"], values["megabytes_per_second"]["proxy"])]
    more, share = contacts["direct"] - contacts["proxy"], statistics.median(shares)
    verdicts = ["hit" if more <= MOST_MILLISECONDS else "MISS", "hit" if share >= LEAST_SHARE else "MISS"]
    print(f"{scheme}: first contact {contacts['proxy']:.2f} ms through the proxy, {contacts['direct']:.2f} ms without it, {more:+.2f} ms (at most {MOST_MILLISECONDS}): {verdicts[0]}")
    print(f"{scheme}: 10 MiB at {share:.2f} of the speed through the proxy ({min(shares):.2f} to {max(shares):.2f}, at least {LEAST_SHARE}): {verdicts[1]}")
    return "MISS" not in verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wiretape", nargs="?")
    parser.add_argument("--rounds", type=int, default=15, help="downloads of each kind")
    parser.add_argument("--client", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.client:
        return client(arguments.rounds)
    if not arguments.wiretape:
        parser.error("the program is missing")
    if arguments.inside:
        return inside(os.path.abspath(arguments.wiretape), arguments.rounds)
    return subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "--net", sys.executable, *sys.argv, "--inside"]).returncode


if __name__ == "__main__":
    sys.exit(main())
