"""curl, busybox, Python, Node, Java, Go, git without proxy settings, in a network of their own; and what is refused there."""
import http.server
import re
import subprocess

from harness import Handler

NEEDS = "curl:curl busybox:busybox-static node:nodejs javac:default-jdk-headless go:golang-go git:git unshare:util-linux"

BARE = "env -u http_proxy -u https_proxy -u all_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u JAVA_TOOL_OPTIONS -u NODE_USE_ENV_PROXY"

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

# Each line: an attempt and how it ends.
REFUSED = """
import socket
def attempt(name, act):
    try: print(name, act() or b"closed")
    except OSError as error: print(name, type(error).__name__)
def datagram(address, family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_DGRAM); s.settimeout(60); s.connect(address); s.send(b"x"); return s.recv(1)
def stream(address, first):
    s = socket.create_connection(address, timeout=60); s.sendall(first); return s.recv(1)
attempt("quic", lambda: datagram(("198.51.100.1", 443)))
attempt("ntp", lambda: datagram(("2001:db8::1", 123), socket.AF_INET6))
attempt("smtp", lambda: stream(("mail.test", 25), b""))
attempt("redis", lambda: stream(("cache.test", 6379), b"PING\\r\\n"))
"""


class Echo(Handler):
    def do_GET(self):
        self.answer(200, f"{self.headers['Host']} {self.path}\n")


class Files(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


def run(lab):
    origin = lab.serve(Echo)
    port = origin.rsplit(":", 1)[1]
    named = f"http://shop.localhost:{port}"
    go, java, node, refused = lab.write("client.go", GO), lab.write("Client.java", JAVA), lab.write("client.js", NODE), lab.write("refused.py", REFUSED)
    environment = {"GO111MODULE": "off", "GOCACHE": str(lab.path("go"))}
    for name, more in (("linked", {}), ("static", {"CGO_ENABLED": "0"})):
        subprocess.run(["go", "build", "-o", lab.path(f"go-{name}"), go], env=lab.environment | environment | more, check=True)
    subprocess.run(["javac", "-d", lab.path("java"), java], env=lab.environment, check=True)
    work, bare = lab.path("work"), lab.path("served", "pets.git")
    for words in (
        ["init", "-q", work], ["-C", work, "-c", "user.name=a", "-c", "user.email=a@a.test", "commit", "-q", "--allow-empty", "-m", "first"],
        ["clone", "-q", "--bare", work, bare], ["-C", bare, "update-server-info"],
    ):
        subprocess.run(["git", *map(str, words)], env=lab.environment, check=True)
    files = lab.serve(Files, __init__=lambda self, *words: http.server.SimpleHTTPRequestHandler.__init__(self, *words, directory=lab.path("served")))
    cases = {
        "curl": f"{BARE} curl -sS {origin}/a {named}/b",
        "busybox": f"{BARE} busybox wget -q -O - {named}/c",
        "python": f"{BARE} python3 -c 'import urllib.request as u; print(u.urlopen(\"{origin}/d\").read())'",
        "node": f"{BARE} node -e \"$(cat {node})\" {named}/e",
        "java": f"{BARE} java -cp {lab.path('java')} Client {origin}/f {named}/g",
        "go": f"{BARE} {lab.path('go-linked')} {origin}/h {named}/i",
        "go-static": f"{BARE} {lab.path('go-static')} {origin}/h {named}/i",
        "git": f"{BARE} git clone -q {files}/pets.git clone && git -C clone log --format=%s",
    }
    expected = {"git": "first", "go": "own /inside", "go-static": "own /inside", "node": "own"}
    for name, command in cases.items():
        lab.record(name, command, options=("--isolate", "--repeat", "last", "--fail-on", "miss,escapes") if name == "git" else ("--isolate", "--fail-on", "miss,escapes"),
                   record_options=("--isolate",), expect=[expected.get(name, "/")], normalize=without_git)
    lab.replay()
    # In a namespace without routes: nothing leaves the machine, even if the isolation fails.
    end = lab.client(["unshare", "--user", "--map-root-user", "--net", lab.wiretape, "isolate", "--json", "--fail-on", "escapes", "--", "python3", refused])
    lines = end.stdout.decode().splitlines()
    lab.check(lines == ["quic ConnectionRefusedError", "ntp ConnectionRefusedError", "smtp ConnectionResetError", "redis ConnectionResetError"], f"refused: {lines}")
    lab.check(end.returncode == 10, f"refusals ended with {end.returncode}: {end.stderr}")
    lab.check(len(re.findall(rb'"program": "[^"]*python', end.stderr)) >= 3, f"refusals lack their program: {end.stderr}")


def without_git(name, content):
    return None if "/.git/" in f"/{name}" else content
