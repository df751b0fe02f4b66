#!/usr/bin/env python3
"""Languages: one small program for each HTTP client, recorded and replayed byte for byte, in clear and over HTTPS.

Says of each client whether the environment of `wiretape record` and `replay` is enough for it, and tries the way that docs/ecosystems.md names if
it is not. A client that is not installed is skipped with the reason.
"""
import argparse
import dataclasses
import http.server
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading

PACKAGES = [
    "libwww-perl", "liblwp-protocol-https-perl", "libmojolicious-perl", "php-cli", "php-curl", "php-guzzlehttp-guzzle", "ruby", "ruby-faraday",
    "ruby-httparty", "ruby-typhoeus", "r-base-core", "r-cran-curl", "r-cran-httr", "lua5.3", "lua5.1", "lua-socket", "lua-sec", "lua-http", "lua-lpeg-patterns",
    "libcohttp-lwt-unix-ocaml-dev", "liblwt-ssl-ocaml-dev", "ocaml-findlib", "ocaml-nox", "erlang-nox", "elixir", "openjdk-17-jdk-headless",
    "libhttpclient-java", "golang-go", "python3-requests", "python3-httpx", "python3-aiohttp", "ghc", "libghc-http-conduit-dev", "rustc", "cargo",
    "librust-reqwest-dev", "librust-ureq-dev", "tcl", "tcl-tls", "tcllib", "nodejs", "curl", "wget", "aria2", "emacs-nox", "python3-gi",
    "gir1.2-soup-3.0", "glib-networking",
]

HERE = pathlib.Path(__file__).resolve().parent / "ecosystems"
BODY = bytes(range(256)) * 1200 + b"end\n"
BUILD_BOUND = 180
# Debian's own interpreter, which has the packages of Debian.
PYTHON = "/usr/bin/python3"
JARS = ":".join(f"/usr/share/java/{name}.jar" for name in ("httpclient", "httpcore", "commons-logging", "commons-codec"))

# How a client comes to the proxy by the environment alone.
ALWAYS, NOT_LOOPBACK, NEVER = "yes", "but not for loopback", "no"
# How it trusts the authority: by the environment, by the system's roots as in a mount namespace, or by neither.
ENVIRONMENT, NAMESPACE, NO_HTTPS = "env", "namespace", "none"


@dataclasses.dataclass
class Client:
    """One HTTP client.

    run     its command, to which the URL is added; {here} is the folder of the programs, {made} that of what is built.
    build   a command that builds it.
    host    the name of this machine that it asks for.
    version prints its version: a text for sh.
    """
    name: str
    run: str
    version: str
    proxy: str = ALWAYS
    trust: str = ENVIRONMENT
    build: str = ""
    probe: str = ""
    host: str = "127.0.0.1"


def interpreted(name, interpreter, file, version, **more):
    return Client(name, f"{interpreter} {{here}}/{file}", version, **more)


def perl(name, file, module, **more):
    return interpreted(name, "perl", file, f"perl -M{module} -e 'print ${module}::VERSION'", **more)


def ruby(name, file, library, version, **more):
    return interpreted(name, "/usr/bin/ruby", file, f"/usr/bin/ruby -r{library} -e 'print {version}'", **more)


def python(name, file, module=None, **more):
    version = f"import {module}; print({module}.__version__)" if module else "import platform; print(platform.python_version())"
    return interpreted(name, PYTHON, file, f"{PYTHON} -c '{version}'", **more)


def r(name, file, package, **more):
    return interpreted(name, "Rscript --vanilla", file, f"Rscript --vanilla -e 'cat(format(packageVersion(\"{package}\")))'", **more)


def java(name, file, jars="", **more):
    path = "{made}" + (f":{jars}" if jars else "")
    return Client(name, f"java -cp {path} {file}", "java -version 2>&1 | head -1 | cut -d'\"' -f2", build=f"javac -cp {path} -d {{made}} {{here}}/{file}.java",
                  probe=f"ls {jars.replace(':', ' ')}" if jars else "", **more)


def rust(name, crate, features="", **more):
    package = f'[package]\\nname = "client"\\nversion = "0.1.0"\\nedition = "2021"\\n[[bin]]\\nname = "client"\\npath = "{{here}}/rust-{crate}/main.rs"\\n[dependencies]\\n'
    build = (f"mkdir -p {{made}}/{crate}/.cargo && cd {{made}}/{crate} && printf '{package}{crate} = {{{{ version = \"*\"{features} }}}}\\n' >Cargo.toml && "
             "printf '[source.crates-io]\\nreplace-with = \"debian\"\\n[source.debian]\\ndirectory = \"/usr/share/cargo/registry\"\\n' >.cargo/config.toml && "
             f"/usr/bin/cargo build --offline --quiet")
    return Client(name, f"{{made}}/{crate}/target/debug/client", f"ls /usr/share/cargo/registry | sed -n 's/^{crate}-\\([0-9]\\)/\\1/p'", build=build, **more)


CLIENTS = [
    Client("curl", "curl --silent --show-error --fail", "curl --version | cut -d' ' -f2 | head -1"),
    Client("wget", "wget --quiet --tries=1 --output-document=-", "wget --version | head -1 | cut -d' ' -f3"),
    Client("aria2", "sh {here}/aria2.sh", "aria2c --version | head -1 | cut -d' ' -f3", trust=NAMESPACE),
    perl("Perl, LWP", "perl-lwp.pl", "LWP"),
    perl("Perl, HTTP::Tiny", "perl-http-tiny.pl", "HTTP::Tiny"),
    perl("Perl, Mojo::UserAgent", "perl-mojo.pl", "Mojolicious"),
    interpreted("PHP, curl", "php", "php-curl.php", "php -r 'echo PHP_VERSION, extension_loaded(\"curl\") ? \"\" : exit(1);'"),
    interpreted("PHP, streams", "php", "php-streams.php", "php -r 'echo PHP_VERSION;'", proxy=NEVER),
    interpreted("PHP, Guzzle", "php", "php-guzzle.php", "php -r 'require \"GuzzleHttp/autoload.php\"; echo GuzzleHttp\\Client::MAJOR_VERSION;'"),
    ruby("Ruby, Net::HTTP", "ruby-net-http.rb", "net/http", "RUBY_VERSION", proxy=NOT_LOOPBACK),
    ruby("Ruby, open-uri", "ruby-open-uri.rb", "open-uri", "RUBY_VERSION", proxy=NOT_LOOPBACK),
    ruby("Ruby, Faraday", "ruby-faraday.rb", "faraday", "Faraday::VERSION", proxy=NOT_LOOPBACK),
    ruby("Ruby, HTTParty", "ruby-httparty.rb", "httparty", "HTTParty::VERSION", proxy=NOT_LOOPBACK),
    ruby("Ruby, Typhoeus", "ruby-typhoeus.rb", "typhoeus", "Typhoeus::VERSION", trust=NAMESPACE),
    r("R, download.file", "r-base.R", "base"),
    r("R, curl", "r-curl.R", "curl", trust=NAMESPACE),
    r("R, httr", "r-httr.R", "httr", trust=NAMESPACE),
    interpreted("Lua, LuaSocket", "lua5.3", "lua-socket.lua", "lua5.3 -e 'print(require(\"socket\")._VERSION)'", proxy=NEVER),
    # Debian 12 has a part of it only for this Lua.
    interpreted("Lua, lua-http", "lua5.1", "lua-http.lua", "lua5.1 -e 'print(require(\"http.version\").version)'"),
    Client("OCaml, Cohttp", "{made}/ocaml_client", "ocamlfind query -format %v cohttp-lwt-unix", proxy=NEVER,
           build="cp {here}/ocaml-cohttp.ml {made}/ocaml_client.ml && "
                 "ocamlfind ocamlopt -thread -package cohttp-lwt-unix -linkpkg {made}/ocaml_client.ml -o {made}/ocaml_client"),
    interpreted("Erlang, httpc", "escript", "erlang-httpc.escript", "erl -noshell -eval 'io:put_chars(erlang:system_info(otp_release)), halt().'", proxy=NEVER),
    interpreted("Elixir, httpc", "elixir", "elixir-httpc.exs", "elixir --version | tail -1 | cut -d' ' -f2", proxy=NEVER),
    java("Java, HttpURLConnection", "JavaURLConnection"),
    java("Java, HttpClient", "JavaHttpClient"),
    java("Java, Apache HttpClient, createSystem()", "JavaApacheSystem", JARS),
    java("Java, Apache HttpClient, createDefault()", "JavaApacheDefault", JARS, proxy=NEVER),
    Client("Go, net/http", "{made}/go", "go version | cut -d' ' -f3", proxy=NOT_LOOPBACK,
           build="cd {made} && GOCACHE={made}/go-cache GO111MODULE=off go build -o {made}/go {here}/go-net-http.go"),
    python("Python, urllib", "python-urllib.py"),
    python("Python, http.client", "python-http-client.py", proxy=NEVER),
    python("Python, requests", "python-requests.py", "requests"),
    python("Python, httpx", "python-httpx.py", "httpx"),
    python("Python, aiohttp, trust_env=True", "python-aiohttp-env.py", "aiohttp"),
    python("Python, aiohttp", "python-aiohttp-plain.py", "aiohttp", proxy=NEVER),
    # Its TLS looks for no addresses in a certificate.
    Client("Haskell, http-conduit", "{made}/conduit", "ghc-pkg field http-conduit version --simple-output", host="localhost",
           build="ghc -v0 -outputdir {made}/conduit-objects -o {made}/conduit {here}/haskell-http-conduit.hs"),
    rust("Rust, reqwest", "reqwest", ', features = ["blocking"]'),
    rust("Rust, ureq", "ureq", proxy=NEVER),
    interpreted("Tcl, http", "tclsh", "tcl-http.tcl", "echo 'puts [package require http]' | tclsh", proxy=NEVER),
    interpreted("Tcl, autoproxy", "tclsh", "tcl-autoproxy.tcl", "echo 'package require autoproxy; puts [package require http]' | tclsh"),
    interpreted("Node, fetch", "node", "node-fetch.js", "node --version"),
    interpreted("Node, http", "node", "node-http.js", "node --version"),
    interpreted("libsoup 3", PYTHON, "soup.py", f"{PYTHON} -c 'import gi; gi.require_version(\"Soup\", \"3.0\"); from gi.repository import Soup; "
                "print(Soup.get_major_version(), Soup.get_minor_version(), sep=\".\")'", trust=NAMESPACE),
    Client("Emacs, url", "emacs --quick --batch --load {here}/emacs-url.el", "emacs --version | head -1 | cut -d' ' -f3", trust=NAMESPACE),
]


class Origin:
    """A server in clear and one over TLS on all addresses of this machine."""

    def __init__(self, folder):
        self.authority = folder / "origin.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3", "-subj", "/CN=origin",
                        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:0.0.0.0", "-keyout", folder / "origin.key", "-out", self.authority],
                       check=True, capture_output=True)
        self.servers = {"http": self._serve(None)}
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority, folder / "origin.key")
        self.servers["https"] = self._serve(context)

    @staticmethod
    def _serve(context):
        server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        server.daemon_threads = True
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return server

    def url(self, scheme, host):
        return f"{scheme}://{host}:{self.servers[scheme].server_address[1]}/body"

    def stop(self):
        for server in self.servers.values():
            server.shutdown()
            server.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(BODY)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


class Trial:
    """One client by one way to one kind of origin."""

    def __init__(self, lab, client, scheme, host=None, reverse=False, trust="env", expected=True):
        self.lab, self.client, self.scheme, self.reverse, self.expected = lab, client, scheme, reverse, expected
        self.trust = trust
        self.url = lab.origin.url(scheme, host or client.host)
        self.folder = lab.folder / "trials" / f"{len(lab.trials):03}"
        self.folder.mkdir(parents=True)
        self.cassette = self.folder / "tape.json"
        self.way = "URL in the path" if reverse else f"--trust {trust}" if scheme == "https" else "environment"
        self.title = f"{client.name}, {scheme}{f' at {host}' if host else ''}, {self.way}"

    def record(self):
        done = self._run("record", ["--upstream-ca", str(self.lab.origin.authority)])
        self.recorded = done.returncode == 0 and done.stdout == BODY and self.cassette.exists()
        return self.recorded

    def replay(self):
        done = self._run("replay", [])
        self.lab.check(done.returncode == 0 and done.stdout == BODY, f"{self.title}: the replay ended with {done.returncode} and gave "
                       f"{len(done.stdout)} bytes of {len(BODY)}{'' if done.stdout == BODY else ', not the same'}, see {self.folder}")

    def _run(self, verb, options):
        words = self.lab.words(self.client.run)
        words = ["sh", "-c", f'exec {words} "${{WIRETAPE_REVERSE}}{self.url}"' if self.reverse else f'exec {words} "{self.url}"']
        command = [self.lab.wiretape, verb, self.cassette, "--trust", self.trust, *options, "--", *words]
        try:
            done = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.lab.environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=BUILD_BOUND, check=False)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(command, "no end", b"", b"")
        (self.folder / f"{verb}.log").write_bytes(f"{self.title}: {done.returncode}\n".encode() + done.stderr)
        return done


class Lab:
    def __init__(self, wiretape, folder):
        self.wiretape, self.folder = wiretape, folder
        self.made = folder / "made"
        self.made.mkdir()
        (folder / "home").mkdir()
        self.environment = {"HOME": str(folder / "home"), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "TMPDIR": str(folder),
                            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "WIRETAPE_CA_DIR": str(folder / "ca")}
        self.origin = Origin(folder)
        self.trials, self.failures, self.notes, self.rows = [], [], [], []

    def words(self, command):
        return command.format(here=HERE, made=self.made)

    def shell(self, command):
        return subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=900,
                              check=False, text=True)

    def check(self, holds, problem):
        if not holds:
            self.failures.append(problem)
            print(f"  FAIL {problem}", flush=True)
        return holds

    def trial(self, client, *arguments, expected=True, **more):
        """Records one way. A way that the table says is closed, and is open, is a note: another version may open it."""
        one = Trial(self, client, *arguments, expected=expected, **more)
        self.trials.append(one)
        found = one.record()
        if expected:
            self.check(found, f"{one.title}: nothing was recorded, or another body, see {one.folder}")
        elif found:
            self.notes.append(f"{one.title}: works, though the table says no")
        return found

    def try_client(self, client):
        version = self.shell(f"set -e; {client.version}")
        tool = self.words(client.run).split()[0]
        if version.returncode != 0 or not version.stdout.strip() or not tool.startswith(str(self.made)) and not shutil.which(tool, path=self.environment["PATH"]):
            return self.skip(client, "not installed")
        if client.probe and self.shell(client.probe).returncode != 0:
            return self.skip(client, "its libraries are not installed")
        if client.build and (built := self.shell(self.words(client.build))).returncode != 0:
            last = (built.stderr.strip().splitlines() or ["no message"])[-1]
            return self.skip(client, f"it cannot be built: {last}")
        proxy, trust = self.expectations(client)
        clear = self.trial(client, "http", expected=proxy == ALWAYS)
        elsewhere = clear or self.trial(client, "http", "0.0.0.0", expected=proxy == NOT_LOOPBACK)
        if not clear:
            self.trial(client, "http", reverse=True)
            self.trial(client, "https", reverse=True)
        secure = None
        if elsewhere:
            host = None if clear else "0.0.0.0"
            secure = next((way for way in (ENVIRONMENT, NAMESPACE) if self.trial(client, "https", host, trust=way, expected=trust == way)), NO_HTTPS)
            if clear and secure == NO_HTTPS:
                self.trial(client, "https", reverse=True)
        self.rows.append((client.name, version.stdout.strip().splitlines()[0], ALWAYS if clear else NOT_LOOPBACK if elsewhere else NEVER, secure))
        print(f"  {client.name} {self.rows[-1][1]}: proxy {self.rows[-1][2]}, trust {secure or '-'}", flush=True)

    def expectations(self, client):
        if client.name.startswith("Node"):
            numbers = self.shell("node -p process.versions.node").stdout.split(".")
            reads = len(numbers) > 1 and (int(numbers[0]) >= 24 or numbers[0] == "22" and int(numbers[1]) >= 21)
            return (ALWAYS if reads else NEVER), client.trust
        return client.proxy, client.trust

    def skip(self, client, reason):
        self.notes.append(f"{client.name}: skipped, {reason}")
        print(f"  {client.name}: skipped, {reason}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="the start of a client's name; all by default")
    parser.add_argument("--wiretape", default=pathlib.Path(__file__).resolve().parents[2] / ".build" / "debug" / "wiretape")
    parser.add_argument("--folder", help="where the files stay; by default they are removed if all holds")
    arguments = parser.parse_args()
    wiretape = pathlib.Path(arguments.wiretape).resolve()
    if not os.access(wiretape, os.X_OK):
        parser.error(f"there is no program {wiretape}: build it, or name one with --wiretape")
    folder = pathlib.Path(arguments.folder or tempfile.mkdtemp(prefix="ecosystems-")).resolve()
    folder.mkdir(exist_ok=True)
    lab = Lab(wiretape, folder)
    chosen = [client for client in CLIENTS if not arguments.names or any(client.name.lower().startswith(name.lower()) for name in arguments.names)]
    if not chosen:
        parser.error(f"no client has a name that begins with {' or '.join(arguments.names)}")
    for client in chosen:
        lab.try_client(client)
    lab.origin.stop()
    replays = [trial for trial in lab.trials if trial.recorded]
    for trial in replays:
        trial.replay()
    for note in lab.notes:
        print(f"  note: {note}")
    print(f"  {len(lab.rows)} clients, {len(replays)} replays, {len(lab.failures)} failures", flush=True)
    lab.check(replays, "no client was tried")
    if lab.failures:
        sys.exit(f"ecosystems: {len(lab.failures)} failures, see {folder}")
    if not arguments.folder:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
