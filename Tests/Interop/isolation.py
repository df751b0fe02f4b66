"""curl, busybox, Python, Node, Java, Go, git, pip, apt without proxy settings, in a network of their own; and what is refused there."""
import contextlib
import ctypes
import fcntl
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import socketserver
import ssl
import struct
import subprocess
import threading
import urllib.parse
import urllib.request
import zipfile

from harness import Handler, free_port, stop, wait_for

NEEDS = ("bash:bash curl:curl busybox:busybox-static node:nodejs javac:default-jdk-headless go:golang-go git:git unshare:util-linux openssl:openssl "
         "ping:iputils-ping ssh:openssh-client dpkg-deb:dpkg apt-get:apt")
PYPI = ["aioquic==1.7.2"]

BARE = "env -u http_proxy -u https_proxy -u all_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u JAVA_TOOL_OPTIONS -u NODE_USE_ENV_PROXY"
# The origins' address and name in the network that the scenario runs in.
ADDRESS, NAME = "203.0.113.5", "site.test"
# Another address, of a name that has both.
SECOND = "203.0.113.6"
# A program of another user than root, in the same network.
AS_USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
# A network without routes, even to this machine: nothing leaves, even if the isolation fails. As an unprivileged user, and as root.
OUTSIDE = {"user": ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--net"], "root": ["unshare", "--user", "--map-root-user", "--net"]}

GO = """
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
)

func main() {
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "own", r.URL.Path) }))
	defer own.Close()
	for _, url := range append([]string{own.URL + "/inside"}, os.Args[1:]...) {
		r, err := http.Get(url)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		io.Copy(os.Stdout, r.Body)
	}
}
"""

JAVA = """
import java.net.*; import java.net.http.*;
public class Client { public static void main(String[] urls) throws Exception {
  for (String url : urls) System.out.print(HttpClient.newHttpClient()
    .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString()).body()); } }
"""

NODE = """
const http = require("http");
const own = http.createServer((request, response) => response.end("own\\n")).listen(0, "127.0.0.1", () =>
  http.get(`http://localhost:${own.address().port}/`, response => {
    response.pipe(process.stdout);
    response.on("end", () => { own.close(); fetch(process.argv[1]).then(r => r.text()).then(text => process.stdout.write(text)); });
  }));
"""

# Opens all connections before it sends the first request.
MANY = """
import asyncio, sys
async def main(host, port, count):
    pairs = await asyncio.gather(*(asyncio.open_connection(host, port) for _ in range(count)))
    async def get(number, reader, writer):
        writer.write(f"GET /{number} HTTP/1.1\\r\\nHost: {host}:{port}\\r\\nConnection: close\\r\\n\\r\\n".encode())
        answer = await reader.read()
        writer.close()
        return answer.endswith(f" /{number}\\n".encode())
    print(sum(await asyncio.gather(*(get(number, *pair) for number, pair in enumerate(pairs)))), "answers")
asyncio.run(main(sys.argv[1], int(sys.argv[2]), 1000))
"""

# Asks a server of its own, which answers with the word that it is started with, by several names.
OWN = """
import http.server, socket, sys, threading, urllib.request
class Own(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(sys.argv[1].encode())
    def log_message(self, *_): pass
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET
threading.Thread(target=Server((sys.argv[2], int(sys.argv[3])), Own).serve_forever, daemon=True).start()
for host in sys.argv[4:]:
    answer = urllib.request.urlopen(f"http://{host}:{sys.argv[3]}/").read().decode()
    print("current" if answer == sys.argv[1] else f"{answer} instead of {sys.argv[1]}")
"""

# Asks a server of its own through the proxy: with HTTP, in a tunnel, and by SOCKS.
OWN_TUNNELS = """
import http.server, os, socket, subprocess, sys, threading
class Own(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(sys.argv[1].encode() + b"\\n")
    def log_message(self, *_): pass
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
port = int(sys.argv[2])
for server in (Server(("::1", port), Own), http.server.ThreadingHTTPServer(("127.0.0.1", port), Own)):
    threading.Thread(target=server.serve_forever, daemon=True).start()
proxy = os.environ["http_proxy"].split("//")[1]
for host in ("127.0.0.1", "[::1]", "localhost", "api.localhost"):
    for way in ([], ["-p"], ["--socks5-hostname", proxy]):
        words = ["curl", "-sS", "--noproxy", "", *way, f"http://{host}:{port}/"]
        answer = subprocess.run(words, capture_output=True, text=True).stdout.strip()
        print("current" if answer == sys.argv[1] else f"{words}: {answer}")
"""

# Looks a name up itself, and asks for its addresses.
BY_ADDRESS = """
import socket, sys, urllib.request
for family in (socket.AF_INET, socket.AF_INET6):
    host = socket.getaddrinfo(sys.argv[1], 80, family)[0][4][0]
    for url in sys.argv[2:]:
        # Python asks a proxy for a malformed tunnel to an address of IPv6.
        own_way = [] if family == socket.AF_INET6 and url.startswith("https:") else [()]
        for handlers in own_way + [(urllib.request.ProxyHandler({}),)]:
            opener = urllib.request.build_opener(*handlers)
            print(opener.open(url.replace("HOST", f"[{host}]" if ":" in host else host), timeout=60).read())
"""

# Each line: an attempt and how it ends.
REFUSED = """
import socket
def attempt(name, act):
    try: print(name, act() or b"closed", flush=True)
    except OSError as error: print(name, type(error).__name__, flush=True)
def datagram(address, family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_DGRAM); s.settimeout(60); s.connect(address); s.send(b"x"); return s.recv(1)
def stream(address, first):
    s = socket.create_connection(address, timeout=60); s.sendall(first); return s.recv(1)
attempt("quic", lambda: datagram(("198.51.100.1", 443)))
attempt("ntp", lambda: datagram(("2001:db8::1", 123), socket.AF_INET6))
attempt("smtp", lambda: stream(("mail.test", 25), b""))
attempt("redis", lambda: stream(("cache.test", 6379), b"PING\\r\\n"))
attempt("probe", lambda: socket.create_connection(("db.test", 5432)).close())
attempt("no dns", lambda: datagram(("203.0.113.9", 53)))
attempt("http on the port of dns", lambda: stream(("db.test", 53), b"GET / HTTP/1.1\\r\\n\\r\\n"))
attempt("a blank line", lambda: stream(("db.test", 70), b"\\r\\n"))
def leave(address, first):
    s = socket.create_connection(address); s.sendall(first)
attempt("not http", lambda: leave(("db.test", 80), b"leak"))
"""

# A child connects and ends at once, after another attempt has been answered.
ENDS_AT_ONCE = """
import os, socket
if not (child := os.fork()):
    s = socket.create_connection(("db.test", 6379))
    try: socket.create_connection(("mail.test", 25), timeout=60).recv(1)
    except OSError: pass
    os._exit(0)
os.waitpid(child, 0)
"""

# Sends many datagrams at once: to a host, to a group, and to a name server in no form of a query.
MANY_DATAGRAMS = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(20000):
    try: s.sendto(b"x" * 100, (sys.argv[1], int(sys.argv[2])))
    except PermissionError: pass
"""

# Sends something in many connections, and ends at once.
ENDS_WITH_BYTES = """
import os, socket, struct, sys
for number in range(int(sys.argv[1])):
    s = socket.create_connection((sys.argv[2], int(sys.argv[3])))
    if sys.argv[4] == "reset": s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.sendall(sys.argv[5].encode().decode("unicode_escape").encode()); s.close()
os._exit(0)
"""

# Asks the proxy for a tunnel to a mail server, and ends with the answer.
MAIL_TUNNEL = """
import os, socket
host, port = os.environ["http_proxy"].split("//")[1].split(":")
for number in range(10):
    if not (child := os.fork()):
        s = socket.create_connection((host, int(port)))
        s.sendall(b"CONNECT mail.test:25 HTTP/1.1\\r\\nHost: mail.test:25\\r\\n\\r\\n"); s.recv(1000)
        os._exit(0)
    os.waitpid(child, 0)
"""

# Speaks in TLS, with or without a protocol offered.
IN_TLS = """
import socket, ssl, sys
context = ssl._create_unverified_context()
if sys.argv[3]: context.set_alpn_protocols([sys.argv[3]])
try:
    with context.wrap_socket(socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60)) as s:
        s.sendall(sys.argv[4].encode().decode("unicode_escape").encode("latin1"))
        while s.recv(1000): pass
    print("closed")
except OSError as error:
    print("closed")
"""

# A server at the address that the machine's name has.
AT_THE_NAME = """
import socket
name = socket.gethostname()
with socket.create_server((socket.gethostbyname(name), 0)) as server:
    client = socket.create_connection((name, server.getsockname()[1]), timeout=60)
    server.accept()[0].sendall(b"current"); print(client.recv(100).decode())
"""

# Waits for the server to speak, inside TLS.
WAITS_IN_TLS = """
import socket, ssl, sys
context = ssl._create_unverified_context()
try:
    with context.wrap_socket(socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=100)) as s: print(s.recv(1))
except OSError as error: print(type(error).__name__)
"""

# Asks the proxy for a tunnel, and speaks another protocol in it.
IN_A_TUNNEL = """
import os, socket, sys, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["http_proxy"])
s = socket.create_connection((proxy.hostname, proxy.port), timeout=60)
s.sendall(f"CONNECT {sys.argv[1]} HTTP/1.1\\r\\nHost: {sys.argv[1]}\\r\\n\\r\\n".encode())
answer = b""
while b"\\r\\n\\r\\n" not in answer:
    answer += s.recv(1000)
s.sendall(sys.argv[2].encode())
print(s.recv(1000).decode())
"""

# Opens two tunnels one after the other, and uses them when the first has been silent for more than two seconds.
LATE_TUNNELS = """
import os, socket, ssl, sys, time
host, port = os.environ["http_proxy"].split("//")[1].split(":")
def tunnel():
    s = socket.create_connection((host, int(port)), timeout=60)
    s.sendall(f"CONNECT {sys.argv[1]} HTTP/1.1\\r\\nHost: {sys.argv[1]}\\r\\n\\r\\n".encode())
    answer = b""
    while b"\\r\\n\\r\\n" not in answer: answer += s.recv(1000)
    return s
first = tunnel(); time.sleep(1.5); second = tunnel(); time.sleep(1.4)
for s in (first, second):
    with ssl._create_unverified_context().wrap_socket(s) as s:
        s.sendall(f"GET /late HTTP/1.1\\r\\nHost: {sys.argv[1]}\\r\\nConnection: close\\r\\n\\r\\n".encode())
        answer = b""
        while piece := s.recv(1000): answer += piece
        print(answer.endswith(b" /late\\n"))
# A spare one of a server that speaks HTTP.
tunnel().close()
"""

# Sends something, ends its output, and reads the answer.
ENDS_ITS_OUTPUT = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60) as s:
    s.sendall(b"PING"); s.shutdown(socket.SHUT_WR)
    print(s.recv(100).decode())
"""

QUIC = """
import asyncio
from aioquic.asyncio import connect
from aioquic.quic.configuration import QuicConfiguration
async def main():
    try:
        async with connect("shop.test", 443, configuration=QuicConfiguration(is_client=True, alpn_protocols=["h3"], idle_timeout=1.0)):
            print("connected")
    except ConnectionError:
        print("refused")
asyncio.run(main())
"""

# Prints the error of curl or ssh as its exit code.
PROGRAMS = """
code() { "$@" >/dev/null 2>&1 </dev/null && echo "$1 0" || echo "$1 $?"; }
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
code curl -sS smtp://mail.test --mail-from a@a.test
code curl -sS ftp://files.test/
code ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null git@git.test
code ssh -p 2222 -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null git@git.test
code git ls-remote git://git.test/pets.git
code ping -c 1 203.0.113.1
code ping -c 1 -6 2001:db8::1
"""

# Sends a command of Redis inside TLS.
REDISS = """
import socket, ssl, sys
context = ssl._create_unverified_context()
try:
    with context.wrap_socket(socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60)) as s:
        s.sendall(b"*1\\r\\n$4\\r\\nPING\\r\\n")
        print(s.recv(1))
except OSError as error:
    print(type(error).__name__)
"""

# Forbids unshare(2), as the filter of a container.
FILTER = """
import ctypes, os, platform, struct, sys
number = {"x86_64": 272, "aarch64": 97}[platform.machine()]
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
"""

SUITE = """
import os, subprocess, unittest, urllib.request
class Tests(unittest.TestCase):
    def test_without_a_proxy(self):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for origin, path in ((os.environ["ORIGIN"], "/suite"), (os.environ["ORIGIN"].replace("127.0.0.1", "localhost"), "/local")):
            self.assertTrue(opener.open(origin + path).read().endswith(f" {path}\\n".encode()))
    def test_a_program(self):
        self.assertIn(b" /curl", subprocess.run(["curl", "-sS", "--noproxy", "*", os.environ["ORIGIN"] + "/curl"], capture_output=True).stdout)
"""


class Echo(Handler):
    def do_GET(self):
        self.answer(200, f"{self.headers['Host']} {self.path}\n")


class Other(Handler):
    def do_GET(self):
        self.answer(200, f"other {self.path}\n")


class Version6(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6


class Files(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


class Pong(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(100)
        self.request.sendall(b"+PONG")


def move(lab):
    """Puts this process into a network without routes, so that nothing leaves the machine, whatever fails. All origins are in it."""
    library = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()

    def call(status):
        if status != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    new_user, new_mounts, new_network, private, bind = 0x10000000, 0x20000, 0x40000000, 0x44000, 0x1000
    call(library.unshare(new_mounts | new_network | (0 if user == 0 else new_user)))
    if user != 0:
        for name, text in (("setgroups", "deny"), ("gid_map", f"{group} {group} 1"), ("uid_map", f"{user} {user} 1")):
            pathlib.Path("/proc/self", name).write_text(text)
    call(library.mount(None, b"/", None, private, None))
    hosts = lab.write("hosts", f"127.0.0.1 localhost\n::1 localhost\n{ADDRESS} {NAME} {socket.gethostname()}\n{ADDRESS} several.test\n{SECOND} several.test\n")
    call(library.mount(str(hosts).encode(), b"/etc/hosts", None, bind, None))
    set_address, set_flags, up = 0x8916, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, set_flags, struct.pack("16sh22x", b"lo", up))
        for number, address in enumerate((ADDRESS, SECOND), start=1):
            fcntl.ioctl(control, set_address, struct.pack("16sHH4s16x", f"lo:{number}".encode(), socket.AF_INET, 0, socket.inet_aton(address)))
    # As in a container, where every user may listen on every port.
    pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")


def run(lab):
    move(lab)
    origin = lab.serve(Echo)
    port = origin.rsplit(":", 1)[1]
    named = f"http://shop.localhost:{port}"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3", "-subj", "/CN=origin",
                    "-addext", f"subjectAltName=DNS:shop.localhost,DNS:{NAME},IP:127.0.0.1,IP:::1", "-keyout", lab.path("origin.key"), "-out", lab.path("origin.pem")],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(lab.path("origin.pem"), lab.path("origin.key"))
    secure, version6 = lab.serve(Echo, tls=context), lab.serve(Echo, host="::1")
    site, secure_site = lab.serve(Echo, host=ADDRESS), lab.serve(Echo, tls=context, host=ADDRESS)
    site_port, secure_port = (url.rsplit(":", 1)[1] for url in (site, secure_site))
    go, java, node, refused = lab.write("client.go", GO), lab.write("Client.java", JAVA), lab.write("client.js", NODE), lab.write("refused.py", REFUSED)
    environment = {"GO111MODULE": "off", "GOCACHE": str(lab.path("go"))}
    for name, more in (("linked", {}), ("static", {"CGO_ENABLED": "0"})):
        subprocess.run(["go", "build", "-o", lab.path(f"go-{name}"), go], env=lab.environment | environment | more, check=True)
    subprocess.run(["javac", "-d", lab.path("java"), java], env=lab.environment, check=True)
    make_served(lab)
    serves = {"__init__": lambda self, *words: http.server.SimpleHTTPRequestHandler.__init__(self, *words, directory=lab.path("served"))}
    files, secure_files = lab.serve(Files, **serves), lab.serve(Files, tls=context, **serves)
    apt = " ".join(f"-o {option}" for option in (
        "Dir::State=$PWD/state", "Dir::State::status=$PWD/status", "Dir::Cache=$PWD/cache", "Dir::Etc::sourcelist=$PWD/list", "Dir::Etc::sourceparts=/nowhere",
        "Dir::Etc::parts=/nowhere", "Dir::Log=$PWD", "APT::Sandbox::User=", "Debug::NoLocking=1")) + " -qq"
    many = lab.write("many.py", MANY)
    cases = {
        "curl": f"{BARE} curl -sS {origin}/a {named}/b {secure}/c https://shop.localhost:{secure.rsplit(':', 1)[1]}/d",
        "busybox": f"{BARE} busybox wget -q -O - {named}/c",
        "python": f"{BARE} python3 -c 'import urllib.request as u; print(u.urlopen(\"{origin}/d\").read())'",
        "version6": f"{BARE} curl -sS '{version6}/six'",
        "node": f"{BARE} node -e \"$(cat {node})\" {named}/e",
        "java": f"{BARE} java -cp {lab.path('java')} Client {origin}/f {named}/g",
        "go": f"{BARE} {lab.path('go-linked')} {origin}/h {named}/i",
        "go-static": f"{BARE} {lab.path('go-static')} {origin}/h {named}/i",
        "git": f"{BARE} git clone -q {files}/pets.git clone && git -C clone log --format=%s",
        "git-https": f"{BARE} git clone -q {secure_files}/pets.git clone && git -C clone log --format=%s",
        "pip": f"{BARE} {lab.tools}/bin/pip -q download --no-deps --no-cache-dir --disable-pip-version-check --index-url {secure_files}/simple tiny && ls *.whl",
        "apt": f"mkdir -p state/lists/partial cache/archives/partial && touch status && echo 'deb [trusted=yes] {files}/deb ./' >list\n"
               f"{BARE} apt-get {apt} update && {BARE} apt-get {apt} download tiny && dpkg-deb --field *.deb Version",
        # The parent ends before its child has asked.
        "orphan": f"mkfifo pipe\nsh -c '(cat pipe >&2; {BARE} curl -sS {origin}/orphan >answer; echo >&2 asked; echo end >pipe) &'\necho go >pipe; cat pipe; cat answer; rm pipe",
        "many": f"{BARE} python3 {many} 127.0.0.1 {port}",
        "java-https": f"{BARE} java -cp {lab.path('java')} Client https://{NAME}:{secure_port}/j",
        "by-address": f"python3 {lab.write('by-address.py', BY_ADDRESS)} {NAME} http://HOST:{site_port}/who https://HOST:{secure_port}/who",
    }
    expected = {"git": "first", "git-https": "first", "go": "own /inside", "go-static": "own /inside", "node": "own", "version6": " /six", "many": "1000 answers",
                "pip": "tiny-1.0-py3-none-any.whl", "apt": "1.0", "orphan": " /orphan", "java-https": f"{NAME}:{secure_port} /j"}
    wiretape, lab.wiretape = lab.wiretape, lab.write("wiretape-here", f"#!/bin/sh\nexec {' '.join(AS_USER)} {lab.wiretape} \"$@\"\n")
    lab.wiretape.chmod(0o755)
    for name, command in cases.items():
        repeats = ("--repeat", "last") if name in ("git", "git-https", "apt", "pip") else ()
        lab.record(name, command, options=("--isolate", *repeats, "--fail-on", "miss,escapes"), record_options=("--isolate", "--upstream-ca", lab.path("origin.pem")),
                   expect=[expected.get(name, "/")], normalize=without_state)
    own = lab.write("own.py", OWN)
    machine = socket.gethostname()
    for name, server, asked, start in (
        # Its proxy settings stay.
        ("own", f"127.0.0.1 {free_port()}", "127.0.0.1 localhost", ""),
        ("own-names", f"0.0.0.0 {free_port()}", f"0.0.0.0 127.0.0.1 localhost 198.18.0.2 {machine}", ""),
        ("own-version6", f":: {free_port()}", f"localhost {machine}", ""),
        ("own-proxied", f"127.0.0.1 {free_port()}", "127.0.0.1 localhost 0.0.0.0", "NO_PROXY= no_proxy="),
        ("own-proxied-6", f"::1 {free_port()}", "[::1] localhost", "NO_PROXY= no_proxy="),
        ("own-proxied-first", f"127.0.0.1 {port}", "127.0.0.1 localhost [::1]", "NO_PROXY= no_proxy="),
        # A server of the machine has the same port, in the same family or in the other.
        ("own-first", f"127.0.0.1 {port}", "127.0.0.1 localhost", BARE),
        ("own-first-all", f"0.0.0.0 {port}", "127.0.0.1 localhost", BARE),
        ("own-first-6", f"::1 {port}", "localhost", BARE),
        ("own-first-than-6", f"127.0.0.1 {version6.rsplit(':', 1)[1]}", "127.0.0.1 localhost", BARE),
    ):
        first = f"{BARE} curl -sS {origin}/before '{version6}/before'\n{start} python3 {own}"
        lab.record(name, f"{first} old {server} {asked}", replayed=f"{first} new {server} {asked}", options=("--isolate", "--fail-on", "miss,escapes"),
                   record_options=("--isolate",), expect=["current\n" * len(asked.split())])
    tunnels = f"{BARE} curl -sS {origin}/before '{version6}/before'\nNO_PROXY= no_proxy= python3 {lab.write('own-tunnels.py', OWN_TUNNELS)}"
    lab.record("own-tunnels", f"{tunnels} old {port}", replayed=f"{tunnels} new {port}", options=("--isolate", "--fail-on", "miss,escapes,unused"),
               record_options=("--isolate",), expect=["current\n" * 12])
    lab.wiretape = wiretape
    recorded = {urllib.parse.urlsplit(entry["request"]["url"]).path
                for name in ("own-proxied-first", "own-tunnels") for entry in exchanges(lab.path("cases", name, "cassette", "tape.json"))}
    lab.check(recorded == {"/before"}, f"own servers were recorded: {recorded}")
    named = {urllib.parse.urlsplit(entry["request"]["url"]).hostname for entry in exchanges(lab.path("cases", "by-address", "cassette", "tape.json"))}
    lab.check(named == {NAME}, f"addresses of a name are recorded under {named}")
    record_session(lab, origin)
    check_differences(lab, port, secure)
    check_names(lab, site_port, secure_port, own)
    check_proof(lab, site_port)
    replay_without_network(lab, origin)
    check_refusals(lab, refused)
    check_ends(lab)
    check_forbidden(lab)


def make_served(lab):
    """A repository of git, an index of pip and one of apt."""
    work, bare = lab.path("work"), lab.path("served", "pets.git")
    for words in (
        ["init", "-q", work], ["-C", work, "-c", "user.name=a", "-c", "user.email=a@a.test", "commit", "-q", "--allow-empty", "-m", "first"],
        ["clone", "-q", "--bare", work, bare], ["-C", bare, "update-server-info"],
    ):
        subprocess.run(["git", *map(str, words)], env=lab.environment, check=True)
    wheel = lab.write("served/simple/tiny/tiny-1.0-py3-none-any.whl", "")
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: lab\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    control = "Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@a.test>\nDescription: tiny\n"
    lab.write("package/DEBIAN/control", control)
    package = lab.path("served", "deb", "tiny_1.0_all.deb")
    package.parent.mkdir()
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", lab.path("package"), package], env=lab.environment, check=True, capture_output=True)
    lab.write("served/deb/Packages", f"{control}Filename: ./{package.name}\nSize: {package.stat().st_size}\n"
              f"SHA256: {hashlib.sha256(package.read_bytes()).hexdigest()}\n")


def exchanges(cassette):
    return json.loads(cassette.read_bytes())["interactions"]


def without_state(name, content):
    return None if "/.git/" in f"/{name}" or name.split("/")[0] in ("state", "cache") else content


def apart(lab, user):
    """wiretape on a machine without any network."""
    return lab.write(f"wiretape-{user}", f"#!/bin/sh\nexec {' '.join(OUTSIDE[user])} {lab.wiretape} \"$@\"\n")


def replay_without_network(lab, origin):
    wiretape, user = lab.wiretape, apart(lab, "user")
    user.chmod(0o755)
    lab.wiretape = user
    lab.replay()
    lab.wiretape = wiretape
    for case in (case for case in lab.cases if case.ready):
        report = json.loads((case.folder / "report.json").read_bytes())
        lab.check(report["isolation"]["offline"] and report["isolation"]["refusals"] == 0, f"{case.name}: the report has {report['isolation']}")
    replay_session(lab, origin)


# Sessions


def record_session(lab, origin):
    code, session = in_session(lab, "once", {"ORIGIN": origin}, [])
    lab.check(code == 0 and session["recording"]["recorded"] == 3, f"the session's suite ended with {code}: {session}")
    check_session_protocols(lab)


def check_session_protocols(lab):
    """Another protocol in a session's TLS reaches no origin and is listed, in a recording and in a replay. Names are looked up in the former only."""
    received = []

    class Secret(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError), context.wrap_socket(self.request, server_side=True) as stream:
                received.append(stream.recv(100))

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(lab.path("origin.pem"), lab.path("origin.key"))
    context.set_alpn_protocols(["redis", "h2"])
    client = lab.write("in-tls.py", IN_TLS)
    with socketserver.ThreadingTCPServer((ADDRESS, 0), Secret) as server, sessions(lab, "protocols", "--upstream-ca", lab.path("origin.pem")) as call:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        port = server.server_address[1]
        for mode, misses in (("all", 0), ("none", 4)):
            if mode == "none":
                shutil.copy(lab.path("cases", "curl", "cassette", "tape.json"), lab.path("sessions", "protocols.json"))
            session = call("POST", "/sessions", {"cassette": "protocols.json", "mode": mode, "failOn": ["miss"]})
            for protocol, first in (("redis", "PING"), ("h2", r"PING\r\n"), ("", r"*1\r\n$4\r\nPING\r\n"), ("", "")):
                end = lab.client([*AS_USER, lab.wiretape, "isolate", "--session", session["id"], "--fail-on", "escapes", "--", "python3", client, NAME, port, protocol, first],
                                 **session["env"])
                lab.check(end.returncode == 10 and end.stdout == b"closed\n" and f"{NAME}:{port} \xd7 1 by python".encode() in end.stderr,
                          f"{protocol or first} in the TLS of a session, mode {mode}: {end}")
            end = lab.client([*AS_USER, lab.wiretape, "isolate", "--session", session["id"], "--real-addresses", "--", "getent", "ahostsv4", NAME], **session["env"])
            lab.check(end.stdout.startswith(ADDRESS.encode() if mode == "all" else b"11.18."), f"a real address in a session, mode {mode}: {end}")
            report = call("DELETE", f"/sessions/{session['id']}")
            lab.check(report["verdict"]["misses"] == misses, f"protocols in a session, mode {mode}: {report}")
        server.shutdown()
    # The preface of HTTP/2 is that of the session itself, which learns the names in the certificate.
    lab.check(not any(b"PING" in part for part in received), f"an origin got {received}")


def replay_session(lab, origin):
    code, session = in_session(lab, "none", {"ORIGIN": origin}, ["--reach", origin.rsplit(":", 1)[1]])
    lab.check(code == 0 and session["exit"] == 0 and session["verdict"]["hits"] == 3, f"the session's suite ended with {code}: {session}")
    # Programs that use the system's roots, and no variables.
    shutil.copy(lab.path("cases", "java-https", "cassette", "tape.json"), lab.path("sessions", "java.json"))
    with sessions(lab, "roots") as call:
        session = call("POST", "/sessions", {"cassette": "java.json", "mode": "none", "failOn": ["miss", "unused"]})
        url = exchanges(lab.path("sessions", "java.json"))[0]["request"]["url"]
        end = lab.client([lab.wiretape, "isolate", "--session", session["id"], "--fail-on", "escapes", "--", *BARE.split(), "java", "-cp", lab.path("java"), "Client", url],
                         **session["env"])
        lab.check(end.returncode == 0 and end.stdout.endswith(b" /j\n"), f"Java in a session: {end}")
        ended = call("DELETE", f"/sessions/{session['id']}")
        lab.check(ended["exit"] == 0, f"Java's session: {ended}")


@contextlib.contextmanager
def sessions(lab, name, *options):
    """A server of sessions. Gives a function for its requests."""
    lab.path("sessions").mkdir(exist_ok=True)
    with open(lab.path(f"session-{name}.log"), "wb") as log:
        server = subprocess.Popen([lab.wiretape, "serve", "--folder", lab.path("sessions"), "--json", "--until-eof", *options], env=lab.environment, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=log)
    try:
        info = json.loads(server.stdout.readline())

        def call(method, path, body=None):
            fields = {"Authorization": f"Bearer {info['token']}", "Content-Type": "application/json"}
            request = urllib.request.Request(info["control"].removesuffix("/sessions") + path, method=method, data=body and json.dumps(body).encode(), headers=fields)
            return json.loads(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).read())

        yield call
    finally:
        server.stdin.close()
        stop(server)


def in_session(lab, mode, variables, options):
    """Runs a test suite in a session of `wiretape serve`, and returns its exit code and the session's report."""
    suite = lab.write("suite/test_suite.py", SUITE)
    with sessions(lab, mode) as call:
        session = call("POST", "/sessions", {"cassette": "suite.json", "mode": mode, "failOn": ["miss", "unused"]})
        end = lab.client([lab.wiretape, "isolate", "--session", session["id"], "--fail-on", "escapes", *options, "--", "python3", "-B", "-m", "unittest", suite],
                         **session["env"], **variables)
        lab.write(f"suite-{mode}.log", end.stdout + end.stderr)
        # With another password, nothing is answered, and the reason is said.
        wrong = {name: value.replace(f"{session['id']}:", f"{session['id']}:x") for name, value in session["env"].items()}
        refused = lab.client([lab.wiretape, "isolate", "--session", session["id"], *options, "--", *BARE.split(), "curl", "-sS", variables["ORIGIN"]], **wrong)
        lab.check(refused.returncode != 0 and b"password" in refused.stderr, f"a wrong password of a session: {refused.returncode}, {refused.stderr}")
        return end.returncode, call("DELETE", f"/sessions/{session['id']}")


# Connections and requests that name different servers


def check_differences(lab, port, secure):
    other = lab.serve(Other).rsplit(":", 1)[1]

    def run(name, command, *options):
        words = [*OUTSIDE["root"]] if options[0] == "replay" else []
        end = lab.client([*words, lab.wiretape, options[0], lab.path(f"{name}.json"), "--isolate", *options[1:], "--", "sh", "-c", command])
        return end.returncode, end.stdout.decode(), end.stderr.decode()

    # One name, two servers.
    curl = BARE + " curl -sS --connect-to shop.test:80:127.0.0.1:{} http://shop.test/x"
    both = run("ports", f"{curl.format(port)}; {curl.format(other)}", "record")
    lab.check(both[:2] == (0, "shop.test /x\nother /x\n"), f"two servers of one name: {both}")
    second = run("ports", curl.format(other), "replay", "--reach", other, "--fail-on", "miss,escapes")
    lab.check(second[:2] == (0, "other /x\n"), f"the second of two servers: {second}")

    # Another host than that of the connection.
    vhost = f"{BARE} curl -sS -o /dev/null -w '%{{http_code}}' -H 'Host: pay.test' http://shop.test/"
    recorded = run("vhost", f"{vhost}; {BARE} curl -sS http://shop.localhost:{port}/", "record")
    lab.check(recorded[0] == 0 and recorded[1].startswith("421") and "answered with 421 and not forwarded" in recorded[2], f"another host: {recorded}")
    replayed = run("vhost", vhost, "replay", "--fail-on", "miss,escapes")
    lab.check(replayed[0] == 3 and '"GET pay.test" was asked for in a connection to' in replayed[2], f"another host in a replay: {replayed}")

    # An address in another notation, and two servers of one port.
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo) as four, Version6(("::1", four.server_address[1]), Other) as six:
        for server in (four, six):
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        for hosts, others in ((("127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]"), 0), (("[::1]", "[::]"), 2)):
            urls = " ".join(f"'http://{host}:{four.server_address[1]}/x'" for host in hosts)
            twin = run("twins", f"{BARE} curl -sS {urls}", "record")
            lab.check(twin[0] == 0 and twin[1].count("other") == others and twin[1].count(" /x\n") == len(hosts),
                      f"one of two servers of a port, {hosts}: {twin}")
        for server in (four, six):
            server.shutdown()
    # Two servers under one name, which a replay asks in another order.
    swapped = "for p in {} {}; do " + BARE + " curl -sS --connect-to shop.test:8080:$p:8080 http://shop.test:8080/x; done"
    with contextlib.ExitStack() as stack:
        for address, handler in ((ADDRESS, Echo), (SECOND, Other)):
            server = stack.enter_context(http.server.ThreadingHTTPServer((address, 8080), handler))
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
            stack.callback(server.shutdown)
        live = run("swapped", swapped.format(ADDRESS, SECOND), "record")
    for order, code in (((ADDRESS, SECOND), 0), ((SECOND, ADDRESS), 3)):
        end = run("swapped", swapped.format(*order), "replay", "--fail-on", "miss,escapes")
        lab.check(end[0] == code and (code == 3 or end[1] == live[1]), f"two servers of one name in the order {order}: {end}, recorded {live}")

    # Requests that nobody can read: a recording says so, and a replay misses them.
    for name, request in (("hosts", "GET / HTTP/1.1\\r\\nHost: shop.test\\r\\nHost: pay.test"), ("version", "SOURCE /live ICE/1.0"), ("line", "GET /")):
        broken = f"printf '{request}\\r\\n\\r\\n' | {BARE} busybox nc shop.test 80 | head -n 1 | cut -d ' ' -f 2"
        recorded = run(f"broken-{name}", f"{broken}; {BARE} curl -sS http://shop.localhost:{port}/", "record")
        lab.check(recorded[0] == 0 and recorded[1][:1] in ("4", "5") and 'a malformed request to "shop.test' in recorded[2], f"a malformed request, {name}: {recorded}")
        replayed = run(f"broken-{name}", broken, "replay", "--fail-on", "miss")
        lab.check(replayed[0] == 3 and 'a malformed request to "shop.test' in replayed[2], f"a malformed request in a replay, {name}: {replayed}")

    # Another protocol inside TLS.
    redis = run("rediss", f"{BARE} python3 {lab.write('rediss.py', REDISS)} shop.localhost {secure.rsplit(':', 1)[1]}", "record", "--fail-on", "escapes",
                "--upstream-ca", lab.path("origin.pem"))
    lab.check(redis[0] == 10 and redis[1] in ("b''\n", "ConnectionResetError\n") and f":{secure.rsplit(':', 1)[1]} × 1 by python" in redis[2], f"Redis inside TLS: {redis}")


    # One name, two ports: their URLs differ.
    two = run("two-ports", f"{BARE} curl -sS http://localhost:{port}/x http://localhost:{other}/x", "record")
    lab.check(two[0] == 0 and "does not tell" not in two[2], f"two ports of one name: {two}")

    # A client that waits in TLS, and one that offers another protocol there.
    port = secure.rsplit(":", 1)[1]
    silent = run("waits", f"{BARE} python3 {lab.write('waits.py', WAITS_IN_TLS)} shop.localhost {port}", "record", "--fail-on", "escapes",
                 "--upstream-ca", lab.path("origin.pem"))
    lab.check(silent[0] == 10 and silent[1] in ("b''\n", "ConnectionResetError\n") and f":{port} × 1 by python" in silent[2], f"silence inside TLS: {silent}")
    # Tunnels that are opened before they are used, as by pools.
    late = run("late", f"python3 {lab.write('late.py', LATE_TUNNELS)} shop.localhost:{port}", "record", "--fail-on", "escapes", "--upstream-ca", lab.path("origin.pem"))
    lab.check(late[:2] == (0, "True\nTrue\n"), f"tunnels that are used late: {late}")
    # Bytes that are no request, and a client that leaves.
    for name, sent in (("part", "GE"), ("blank", "\\r\\n"), ("word", "ruok")):
        part = run("part", f"(printf '{sent}'; sleep 1) | {BARE} timeout 20 openssl s_client -quiet -connect shop.localhost:{port} >&2 || true", "record",
                   "--fail-on", "escapes", "--upstream-ca", lab.path("origin.pem"))
        lab.check(part[0] == 10 and f":{port} × 1 by openssl" in part[2], f"{name} inside TLS: {part}")
    imap = run("imap", f"{BARE} openssl s_client -alpn imap -connect shop.localhost:{port} </dev/null >&2 || true", "record", "--fail-on", "escapes")
    lab.check(imap[0] == 10 and "passed through" not in imap[2] and f":{port} × 1 by openssl" in imap[2], f"another protocol of TLS: {imap}")


def check_names(lab, port, secure_port, own):
    """Names, addresses and certificates that differ."""

    def run(name, command, verb, *options):
        words = AS_USER if verb == "record" else OUTSIDE["user"]
        end = lab.client([*words, lab.wiretape, verb, lab.path(f"{name}.json"), "--isolate", *options, "--", "sh", "-c", command])
        return end.returncode, end.stdout.decode(), end.stderr.decode()

    curl = f"{BARE} curl -sSk"
    # A hard-coded address that a looked-up name has as well.
    real = f"getent hosts {NAME} >/dev/null; {curl} http://{ADDRESS}:{port}/x"
    for verb in ("record", "replay"):
        end = run("real", real, verb, "--real-addresses")
        lab.check(end[:2] == (0, f"{ADDRESS}:{port} /x\n"), f"a hard-coded address in {verb}: {end}")
    # One of several addresses, and one that answers nowhere.
    with http.server.ThreadingHTTPServer((SECOND, 0), Other) as second:
        threading.Thread(target=second.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        number = second.server_address[1]
        asked = f"getent ahosts several.test >/dev/null; for ip in {SECOND} {ADDRESS}; do {curl} -w ' %{{http_code}}' --resolve several.test:{number}:$ip http://several.test:{number}/x; done"
        several = run("several", asked, "record", "--real-addresses")
        lab.check(several[1].startswith("other /x\n 200") and several[1].endswith(" 502"), f"the second of several addresses: {several}")
        second.shutdown()
    own_name = run("at-the-name", f"python3 {lab.write('at-the-name.py', AT_THE_NAME)}", "record", "--fail-on", "escapes")
    lab.check(own_name[:2] == (0, "current\n"), f"a server at the address of the machine's name: {own_name}")
    # Addresses that mean nothing outside are not asked for there.
    foreign = run("foreign", f"{curl} http://198.18.9.9:{port}/ http://198.18.0.2:{port}/ 'http://[fd77:7474::9]:{port}/'; curl -sS http://198.18.9.9:{port}/", "record")
    lab.check(foreign[1].count("an address that only the resolver of an isolated network hands out") == 3, f"addresses of the resolver: {foreign}")
    # The machine's own name, through the proxy: it has another address outside.
    machine = socket.gethostname()
    proxied = run("machine", f"no_proxy= NO_PROXY= python3 {own} word 0.0.0.0 {free_port()} {machine} localhost 127.0.0.1", "record")
    lab.check(proxied[:2] == (0, "current\n" * 3), f"own servers through the proxy: {proxied}")

    # What every user may do outside, also if /proc/sys cannot be written, as in many containers.
    low = run("low", f"python3 {own} word 127.0.0.1 81 127.0.0.1", "record")
    lab.check(low[1] == "current\n", f"a server on a low port: {low}")
    hide = 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec "$@"'
    end = lab.client(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", hide, "sh", *AS_USER, lab.wiretape, "record", lab.path("low.json"), "--isolate", "--",
                      "python3", own, "word", "127.0.0.1", "81", "127.0.0.1"])
    lab.check(end.stdout == b"current\n", f"a server on a low port with a read-only /proc: {end}")
    if os.geteuid() == 0:
        ports = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
        before = ports.read_text()
        ports.write_text("40000 40999")
        end = lab.client(["unshare", "--mount", "sh", "-c", hide, "sh", lab.wiretape, "isolate", "--", "cat", ports])
        lab.check(end.stdout.split() == [b"40000", b"40999"], f"the range of ports with a read-only /proc, as root: {end}")
        ports.write_text(before)

    run("plain", f"{curl} http://{NAME}:{port}/x", "record")
    # The server name of TLS is another one than that of the connection.
    other = run("plain", f"{curl} --connect-to other.test:{secure_port}:{NAME}:{secure_port} https://other.test:{secure_port}/x", "replay", "--fail-on", "miss,escapes")
    lab.check(other[0] == 3 and 'asked for "other.test" (SNI)' in other[2], f"another server name: {other}")
    # Another host in HTTP/2, with TLS and without.
    for options in (f"--http2 -H 'Host: other.test' https://{NAME}:{secure_port}/x", f"--http2-prior-knowledge -H 'Host: other.test' http://{NAME}:{port}/x"):
        end = run("plain", f"{curl} -o /dev/null -w '%{{http_code}} %{{http_version}}' {options}; {curl} http://{NAME}:{port}/x", "replay", "--fail-on", "miss,escapes")
        lab.check(end[0] == 3 and end[1].startswith("421 2") and "0 requests through the proxy, 2 seen without it" in end[2], f"another host in HTTP/2: {end}")

    # Passages, directly and through the proxy.
    with socketserver.ThreadingTCPServer((ADDRESS, 0), Pong) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        target = f"{NAME}:{server.server_address[1]}"
        tunnel = f"python3 {lab.write('tunnel.py', IN_A_TUNNEL)} {target} PING"
        for verb in ("record", "replay"):
            cassette = lab.path("plain.json" if verb == "replay" else "passage.json")
            end = lab.client([*AS_USER, lab.wiretape, verb, cassette, "--isolate", "--allow", f"tcp:{target}", "--json", "--fail-on", "miss,escapes", "--",
                              "sh", "-c", f"{tunnel}; curl -sS http://{NAME}:{port}/x"])
            report = json.loads(end.stderr.splitlines()[-1])["isolation"]
            lab.check(end.returncode == 0 and end.stdout.startswith(b"+PONG\n") and not report["offline"] and [entry["count"] for entry in report["passed"]] == [1],
                      f"a passage through the proxy in {verb}: {end}")
        for _ in range(3):
            end = lab.client([*AS_USER, lab.wiretape, "isolate", "--allow", f"tcp:{target}", "--", "python3", lab.write("ends-output.py", ENDS_ITS_OUTPUT), *target.split(":")])
            lab.check(end.stdout == b"+PONG\n", f"a passage of a client that ends its output: {end}")
        server.shutdown()


def check_proof(lab, port):
    """What a green replay says is so."""
    plain = lab.path("plain.json")
    curl = f"{BARE} curl -sS http://{NAME}:{port}/x"
    # A connection from before the isolation.
    script = f'exec 3<>/dev/tcp/{ADDRESS}/{port}; exec "$@"'
    for failing, code in (("miss", 0), ("miss,escapes", 10)):
        report, junit = lab.path("inherited.json"), lab.path("inherited.xml")
        end = lab.client(["bash", "-c", script, "bash", *AS_USER, lab.wiretape, "replay", plain, "--isolate", "--fail-on", failing, "--report", report, "--report", junit,
                          "--", "sh", "-c", f'{curl}; printf "GET /leak HTTP/1.0\\r\\n\\r\\n" >&3 && cat <&3 || true'])
        lab.check(end.returncode == code and b"leak" not in end.stdout and f"descriptor 3 (tcp {ADDRESS}:{port}), a socket".encode() in end.stderr,
                  f"an inherited connection with --fail-on {failing}: {end}")
        judged = json.loads(report.read_bytes())
        wanted = {"protocol": "tcp", "host": ADDRESS, "port": int(port), "descriptor": 3, "reason": "inherited", "count": 1}
        lab.check([wanted | entry == entry for entry in judged["isolation"]["refused"]] == [True] and judged["isolation"]["refusals"] == 1
                  and judged["flaws"] == (["escapes"] if code else []) and (b"<failure" in junit.read_bytes()) == (code != 0),
                  f"the reports of an inherited connection: {judged}, {junit.read_text()}")
    # One that takes connections, and one of UDP.
    with socket.create_server((ADDRESS, 0)) as listening, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        numbers = {listening.fileno(): f"tcp {ADDRESS}:{listening.getsockname()[1]}", datagrams.fileno(): "udp"}
        end = subprocess.run([str(word) for word in (*AS_USER, lab.wiretape, "isolate", "--fail-on", "escapes", "--", "true")], env=lab.environment, pass_fds=numbers,
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60)
        lab.check(end.returncode == 10 and all(f"descriptor {number} ({text})" in end.stderr for number, text in numbers.items()), f"inherited sockets: {end}")
    with socket.create_connection((ADDRESS, int(port))) as connection:
        for words in (["replay", plain, "--isolate"], ["isolate"]):
            process = subprocess.run([str(word) for word in (lab.wiretape, *words, "--", "touch", lab.path("started"))], env=lab.environment, stdin=connection,
                                     stderr=subprocess.PIPE, timeout=60)
            lab.check(process.returncode == 1 and b"standard input (" in process.stderr and not lab.path("started").exists(), f"a connection as standard input: {process}")
    # The proof without an isolation.
    flag = lab.client([lab.wiretape, "replay", plain, "--fail-on", "miss,escapes", "--", "true"])
    lab.check(flag.returncode == 64 and b"belongs to --isolate" in flag.stderr, f"escapes without an isolation: {flag}")
    configuration = lab.write("escapes.yaml", "failOn: [miss, escapes]\n")
    file = lab.client([lab.wiretape, "replay", plain, "--config", configuration, "--", "true"])
    lab.check(file.returncode not in (0, 3) and b"pass --isolate" in file.stderr, f"escapes in a configuration without an isolation: {file}")
    # Its page, for a user without rights.
    page = free_port()
    end = lab.client([*AS_USER, lab.wiretape, "replay", plain, "--web", "--web-port", page, "--", "sh", "-c",
                      f"{curl}; {BARE} curl -sS -o /dev/null -w '%{{http_code}}' http://127.0.0.1:{page}/"])
    lab.check(end.stdout.endswith(b"200"), f"the page of another user: {end}")
    # Its report.
    report = lab.path("proof.json")
    end = lab.client([*OUTSIDE["user"], lab.wiretape, "replay", plain, "--isolate", "--fail-on", "miss,escapes", "--report", report, "--",
                      "sh", "-c", f"{curl}; {BARE} curl -sS smtp://mail.test; true"])
    judged = json.loads(report.read_bytes())
    lab.check(end.returncode == 10 and judged["clean"] is False and judged["flaws"] == ["escapes"], f"the report of a replay with escapes: {end.returncode}, {judged}")


# Refusals


def check_refusals(lab, refused):
    end = lab.client([*OUTSIDE["root"], lab.wiretape, "isolate", "--json", "--fail-on", "escapes", "--", "python3", refused])
    lines = end.stdout.decode().splitlines()
    lab.check(lines == ["quic ConnectionRefusedError", "ntp ConnectionRefusedError", "smtp ConnectionResetError", "redis ConnectionResetError", "probe b'closed'",
                        "no dns ConnectionRefusedError", "http on the port of dns b'closed'", "a blank line ConnectionResetError", "not http b'closed'"], f"refused: {lines}")
    lab.check(end.returncode == 10, f"refusals ended with {end.returncode}: {end.stderr}")
    lab.check(b'"host": "db.test", "port": 5432, "reason": "silent"' in end.stderr, f"a probe is not listed: {end.stderr}")
    lab.check(len(re.findall(rb'"program": "[^"]*python', end.stderr)) >= 3, f"refusals lack their program: {end.stderr}")
    listed = {(entry["protocol"], entry["host"], entry["port"], entry["reason"]) for entry in json.loads(end.stderr.splitlines()[-1])["refused"]}
    wanted = {("udp", "203.0.113.9", 53, "datagram"), ("tcp", "db.test", 53, "not-http"), ("tcp", "db.test", 70, "not-http"), ("tcp", "db.test", 80, "not-http")}
    lab.check(wanted <= listed, f"refusals lack {wanted - listed}: {listed}")
    once = lab.client([*OUTSIDE["user"], lab.wiretape, "isolate", "--json", "--", "python3", lab.write("ends.py", ENDS_AT_ONCE)])
    entries = [entry for entry in json.loads(once.stderr.splitlines()[-1])["refused"] if entry["port"] == 6379]
    lab.check(len(entries) == 1 and "python" in entries[0].get("program", ""), f"a program that ended at once is not named: {entries}")
    for address, port in (("203.0.113.9", 4444), ("224.0.0.251", 5353), ("203.0.113.9", 53)):
        flood = lab.client([*OUTSIDE["user"], lab.wiretape, "isolate", "--json", "--", "python3", lab.write("flood.py", MANY_DATAGRAMS), address, port])
        lab.check(json.loads(flood.stderr.splitlines()[-1])["refusals"] == 20000, f"many datagrams to {address}:{port}: {flood.stderr}")
    ends = lab.write("ends-with-bytes.py", ENDS_WITH_BYTES)
    for count, port, end in ((1, 6379, ""), (300, 6379, ""), (20, 6379, "reset"), (20, 80, "reset")):
        last = lab.client([*OUTSIDE["user"], lab.wiretape, "isolate", "--json", "--", "python3", ends, count, "203.0.113.9", port, end, "PING"])
        lab.check(json.loads(last.stderr.splitlines()[-1])["refusals"] == count, f"{count} connections to {port} before the end, {end}: {last.stderr}")
    for _ in range(5):
        last = lab.client([*OUTSIDE["user"], lab.wiretape, "replay", lab.path("plain.json"), "--isolate", "--", "python3", ends, 1, "203.0.113.9", 80, "",
                           r"POST /last HTTP/1.1\r\nHost: 203.0.113.9\r\nContent-Length: 0\r\n\r\n"])
        lab.check(last.returncode == 3 and b"/last" in last.stderr, f"a request right before the end: {last}")
    mail = lab.client([*OUTSIDE["user"], lab.wiretape, "record", lab.path("mail.json"), "--isolate", "--", "python3", lab.write("mail.py", MAIL_TUNNEL)])
    lab.check(b"mail.test:25 \xc3\x97 10 by python" in mail.stderr, f"tunnels to a mail server lack their program: {mail.stderr}")
    for user, outside in OUTSIDE.items():
        end = lab.client([*outside, lab.wiretape, "isolate", "--json", "--fail-on", "escapes", "--", "sh", "-c", f'{lab.tools}/bin/python "$0"; {PROGRAMS}', lab.write("quic.py", QUIC)])
        lines = end.stdout.decode().splitlines()
        lab.check(end.returncode == 10 and lines == ["refused", "curl 56", "curl 56", "ssh 255", "ssh 255", "git 128", "ping 1", "ping 1"], f"{user}: {end.returncode}, {lines}")
        entries = json.loads(end.stderr.splitlines()[-1])["refused"]
        found = {(entry["protocol"], entry["host"], entry.get("port"), pathlib.Path(entry.get("program", "")).name) for entry in entries}
        named = {("tcp", "mail.test", 25, "curl"), ("tcp", "files.test", 21, "curl"), ("tcp", "git.test", 22, "ssh"), ("tcp", "git.test", 2222, "ssh")}
        lab.check(named <= found, f"{user}: refusals of TCP lack {named - found}: {entries}")
        lab.check(("tcp", "git.test", 9418, "not-http") in {(entry["protocol"], entry["host"], entry.get("port"), entry["reason"]) for entry in entries},
                  f"{user}: git:// is not refused by its first bytes: {entries}")
        # The senders of these may have ended.
        kinds = {("udp", "shop.test", 443), ("icmp", "203.0.113.1", None), ("icmp", "2001:db8::1", None)}
        lab.check(kinds <= {entry[:3] for entry in found}, f"{user}: refusals lack {kinds - {entry[:3] for entry in found}}: {entries}")


# The ends of both sides


def check_ends(lab):
    """Nothing stays after either side has been killed."""
    for killed in ("wiretape", "command"):
        ready = lab.path(f"ready-{killed}")
        os.mkfifo(ready)
        words = [*OUTSIDE["root"], lab.wiretape, "isolate", "--", "sh", "-c", f"echo $$ $(stat -Lc %i /proc/self/ns/net) >{ready}; exec cat {ready}"]
        process = subprocess.Popen([str(word) for word in words], env=lab.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            command, namespace = map(int, ready.read_text().split())
            members = within(namespace)
            # The process that opens sockets inside shows its network to root only.
            lab.check(command in members and len(members) == (2 if os.geteuid() == 0 else 1), f"{killed}: the network of the command {command} has {members}")
            os.kill(process.pid if killed == "wiretape" else command, signal.SIGKILL)
            process.wait(60)
            if killed == "wiretape":
                wait_for(lambda: within(namespace) == {command}, "only the command in its network", bound=30)
                os.kill(command, signal.SIGKILL)
            wait_for(lambda: not within(namespace), "nobody in the network", bound=30)
        finally:
            stop(process)
    lab.check(not [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if str(lab.folder) in line and str(lab.path("hosts")) not in line],
              "mounts stay behind")


def within(namespace):
    """The processes in a network namespace."""
    found = set()
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "ns" / "net").stat().st_ino == namespace:
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def check_forbidden(lab):
    end = lab.client(["python3", lab.write("filter.py", FILTER), lab.wiretape, "record", lab.path("forbidden.json"), "--isolate", "--", "touch", lab.path("started")])
    lab.check(end.returncode == 1 and b"a seccomp filter is in force" in end.stderr, f"a filter: {end.returncode}, {end.stderr}")
    lab.check(not lab.path("started").exists() and not lab.path("forbidden.json").exists(), "the command started without its isolation")
    shutil.rmtree(lab.path("sessions"), ignore_errors=True)
