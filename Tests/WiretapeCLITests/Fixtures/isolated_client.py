#!/usr/bin/env python3
"""Ignores its proxy settings, and reaches names, an address, a server of its own, one of the machine, and what is no HTTP."""
import http.server
import os
import socket
import sys
import threading
import urllib.request


class Own(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"own\n")

    def log_message(self, *_):
        pass


opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url):
    print(opener.open(url, timeout=30).read().decode(), end="")


own = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Own)
threading.Thread(target=own.serve_forever, daemon=True).start()
get(f"http://127.0.0.1:{own.server_port}/")
# The same through the proxy, which has to find it inside. The settings ask for it directly.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""
for host in ("localhost", socket.gethostname()):
    print(urllib.request.urlopen(f"http://{host}:{own.server_port}/through", timeout=30).read().decode(), end="")
get("http://a.test/by-name")
get("http://203.0.113.5/by-address")
get("http://localhost:9000/of-the-machine")
# Its own server on the same port comes first, although localhost leads to the other family of loopback as well.
first = http.server.ThreadingHTTPServer(("127.0.0.1", 9000), Own)
threading.Thread(target=first.serve_forever, daemon=True).start()
get("http://localhost:9000/own")
# The address of a name is the name.
get(f"http://{socket.gethostbyname('a.test')}/by-address-of-the-name")
for name, act in {
    "closed port": lambda: socket.create_connection(("127.0.0.1", 9001)),
    "udp": lambda: (s := socket.socket(socket.AF_INET, socket.SOCK_DGRAM)).connect(("198.51.100.1", 443)) or s.send(b"x") and s.recv(1),
    "ssh": lambda: socket.create_connection(("b.test", 22)).recv(1) or print("closed"),
    "redis": lambda: (s := socket.create_connection(("b.test", 6379))).sendall(b"PING\r\n") or s.recv(1) or print("closed"),
}.items():
    try:
        act()
        print(name, "worked")
    except OSError as error:
        print(name, type(error).__name__)
if "--silent" in sys.argv:
    get("http://a.test/not-recorded")
