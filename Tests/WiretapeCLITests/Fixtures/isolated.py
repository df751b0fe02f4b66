#!/usr/bin/env python3
"""Runs a program where the only origin is a server at 203.0.113.5, and no route leads out: unshare --user --map-root-user --mount --net isolated.py FOLDER COMMAND..."""
import fcntl
import http.server
import os
import socket
import struct
import subprocess
import sys
import threading

SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1
ADDRESS = "203.0.113.5"


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        text = f"{self.headers['Host']} {self.path}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
    address = struct.pack("16sHH4s16x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(ADDRESS))
    fcntl.ioctl(control, SIOCSIFADDR, address)

hosts = os.path.join(sys.argv[1], "hosts")
with open(hosts, "w") as file:
    file.write(f"127.0.0.1 localhost\n::1 localhost\n{ADDRESS} a.test b.test {socket.gethostname()}\n")
subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
for place in ((ADDRESS, 80), ("127.0.0.1", 9000)):
    threading.Thread(target=http.server.ThreadingHTTPServer(place, Origin).serve_forever, daemon=True).start()
sys.exit(subprocess.run(sys.argv[2:]).returncode)
