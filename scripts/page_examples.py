"""Runs the commands that the pages in docs show, and compares what they print with what the pages show.

`problems(program)` runs the blocks of each page in order, in a folder that `PAGES` prepares, with a local server in place of the rest of the
world. A block with a wiretape command that is neither on such a page nor in `ELSEWHERE` is also a problem.
"""
import contextlib
import http.server
import json
import os
import pathlib
import pty
import random
import re
import socket
import ssl
import subprocess
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Blocks that other tests run, or that need what a test does not have, recognised by a part of their text.
ELSEWHERE = {
    "-linux-x86_64.tar.gz": "packaging/test.sh installs it",
    "docker ": "there is no container engine here: packaging/test.sh runs the image's files",
    "wiretape import FILE": "a synopsis",
    "wiretape export FILE": "a synopsis",
    "--web": "make test-inspector drives the page in Chromium",
    "--browser": "the suite BrowserTests",
    "--isolate": "the suite IsolationTests",
    "wiretape isolate": "the suite IsolationTests",
    "sudo ": "changes the rules of the machine's firewall: the suite TransparentTests",
    "calls.json": "the suite GRPCTests",
    "chat.": "the suite WebSocketTests",
    "socks5h": "the suite SOCKSTests",
    "wiretape push": "make test-store runs it against real servers",
    "wiretape pull": "make test-store runs it against real servers",
    "--push --shard": "make test-store merges the run of two machines",
    "wiretape git install": "make test-store merges branches with it",
    "python chat.py Tokyo": "Tests/Interop/agents.py runs it with the real client",
    "python chat.py Seoul": "Tests/Interop/agents.py runs it with the real client",
    "--ndjson": "make test-store reads it with DuckDB",
    "--upstream-proxy http://proxy.example.com": "the suite UpstreamProxyTests",
}
# Exit codes other than 0, by the start of the command.
EXITS = {"wiretape replay pets.json -- ./client --page 3": 3, "wiretape diff pets.json": 1}
# The ports on the pages are replaced by free ones, because other programs may use them.
PORTS = ["7070", "7071", "8080", "9105", "8000", "3128", "18991"]
NAMES = ["example.test", "example.com", "api.example.com", "shop.test", "localhost"]


class Server(http.server.BaseHTTPRequestHandler):
    """An origin, and a proxy that answers for every host itself."""

    protocol_version = "HTTP/1.1"
    context = None
    bodies = {}

    def do_CONNECT(self):
        self.send_response(200)
        self.end_headers()
        self.connection = self.context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def do_GET(self):
        path = re.sub(r"^http://[^/]*", "", self.path)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, kind, body = self.bodies.get(path, (200, "application/json", b'{"id":1}'))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *arguments):
        pass


def free_ports():
    """Free ports below the range from which systems choose ports for connections, so that none is taken before its use."""
    for port in random.sample(range(20000, 32000), 12000):
        with contextlib.suppress(OSError), socket.socket() as holder:
            holder.bind(("127.0.0.1", port))
            yield str(port)


class Page:
    """One page with its folder, its ports, and the programs that it has started."""

    def __init__(self, name, program, folder, authority):
        self.name, self.folder, self.started, self.learnt = name, folder, [], {}
        self.ports = dict(zip(PORTS, free_ports()))
        (folder / "bin").mkdir()
        (folder / "bin/wiretape").symlink_to(program)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=world",
             "-addext", "subjectAltName=" + ",".join(f"DNS:{name}" for name in NAMES), "-keyout", folder / "key.pem", "-out", folder / "world.pem"],
            check=True, capture_output=True)
        Server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        Server.context.load_cert_chain(folder / "world.pem", folder / "key.pem")
        Server.bodies = {}
        self.servers = [http.server.ThreadingHTTPServer(("127.0.0.1", int(self.ports[port])), Server) for port in ("9105", "8000", "18991")]
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        world = f"http://127.0.0.1:{self.ports['9105']}"
        self.environment = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder), "LANG": "C.UTF-8", "http_proxy": world, "https_proxy": world,
            "WIRETAPE_CA_DIR": authority}
        self.write("wiretape.yaml", "upstreamCA: world.pem\n")
        self.write("client", "#!/bin/sh\n[ \"$1\" = --page ] || set -- --page '1 2'\nfor page in $2; do curl -q -s -o /dev/null \"http://127.0.0.1:9105/pets?page=$page\"; done\n")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.here(text))
        path.chmod(0o755)

    def here(self, text):
        """A text of the page with the ports, folder and tokens of this run."""
        text = re.sub(rf"(?<=:)({'|'.join(PORTS)})\b", lambda match: self.ports[match[1]], text).replace("/work/pets", str(self.folder))
        for shown, real in self.learnt.items():
            text = text.replace(shown, real)
        return text

    def run(self, command):
        """(exit code, output with errors); a proxy without a command runs until the end of the page."""
        command = self.here(command)
        if re.match(r"wiretape (serve|\w+ .*--listen [^&]*$)", command) and " -- " not in command:
            log = tempfile.NamedTemporaryFile("w+", dir=self.folder)
            process = subprocess.Popen(command, shell=True, cwd=self.folder, env=self.environment, stderr=log, start_new_session=True)
            self.started.append(process)
            while "http://127.0.0.1:" not in pathlib.Path(log.name).read_text():
                if process.poll() is not None:
                    return process.returncode, pathlib.Path(log.name).read_text()
                threading.Event().wait(0.05)
            return 0, pathlib.Path(log.name).read_text()
        if "--review" in command:
            return self.on_terminal(command)
        done = subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        return done.returncode, done.stdout

    def on_terminal(self, command):
        """Runs the command on a terminal and answers its question with Return."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execvpe("sh", ["sh", "-c", command], self.environment)
        output = b""
        with contextlib.suppress(OSError):
            while piece := os.read(terminal, 4096):
                output += piece
                if b"keeps both:" in piece:
                    os.write(terminal, b"\n")
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), output.decode().replace("\r", "")

    def stop_proxies(self):
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 15)
            process.wait()
        self.started = []

    def end(self):
        self.stop_proxies()
        for server in self.servers:
            server.shutdown()
            server.server_close()


# These functions prepare the folder in which a page's blocks run.


def prepare_care(page):
    token = "-H 'Authorization: Bearer 8f2kd0s1-not-a-real-one'"
    page.write("old", f"#!/bin/sh\ncurl -q -s -o /dev/null http://127.0.0.1:9105/pets {token}\ncurl -q -s -o /dev/null 'http://127.0.0.1:9105/pets?ts=2&page=2'\n")
    page.run("wiretape record pets.json -- ./old")
    page.run("wiretape replay pets.json --report report.json -- curl -s http://127.0.0.1:9105/none")
    page.write("client", f"#!/bin/sh\ncurl -q -s -o /dev/null http://127.0.0.1:9105/pets {token}\ncurl -q -s -o /dev/null http://127.0.0.1:9105/cats\n")


def prepare_ci(page):
    page.write("Makefile", "test:\n\t@curl -q -s http://example.test/pets\n")
    page.run("mkdir Cassettes && wiretape record Cassettes/tests.json -- make test")


def prepare_configuration(page):
    page.write("client.py", "import urllib.request\nurllib.request.urlopen('http://example.test/pets').read()\n")
    page.write("bin/python", '#!/bin/sh\nexec python3 "$@"\n')
    page.run("wiretape record pets.json -- python3 client.py")
    page.write("wiretape.yaml", re.search(r"^```yaml\n(.*?)^```", (ROOT / page.name).read_text(), re.M | re.S)[1])


def prepare_control(page):
    page.environment["no_proxy"] = "127.0.0.1"
    (page.folder / "Cassettes").mkdir()
    page.write("Cassettes/shop.json", json.dumps({"wiretape": 2, "recorder": "by hand", "redaction": {}, "interactions": []}))


def prepare_inspect(page):
    Server.bodies = {"/pets": (200, "application/json", b'{"id":1,"a":2}'[:13]), "/404": (404, "text/plain", b"none")}
    origin = "http://127.0.0.1:18991"
    page.run(f"wiretape record pets.json -- sh -c 'curl -q -s {origin}/; curl -q -s {origin}/pets -d a=b; curl -q -s {origin}/404'")


def prepare_protocols(page):
    page.run("wiretape record other.json --listen 127.0.0.1:7070")


def prepare_redaction(page):
    import base64
    import hashlib

    script = b'const api_key = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";\n'
    digest = base64.b64encode(hashlib.sha384(script).digest()).decode()
    html = f'<script src="/app.js" integrity="sha384-{digest}"></script>\n'.encode()
    Server.bodies = {"/": (200, "text/html", html), "/app.js": (200, "text/javascript", script)}
    page.write("browse", "#!/bin/sh\ncurl -q -s -o /dev/null http://shop.test/ -o /dev/null http://shop.test/app.js\n")


def prepare_reverse(page):
    (page.folder / "Cassettes").mkdir()


def prepare_running(page):
    page.write("bin/your-program", "#!/bin/sh\ncurl -q -s -o /dev/null https://example.test/pets\n")


def prepare_ways_in(page):
    page.environment["http_proxy"] = page.here("http://127.0.0.1:3128")
    page.run("wiretape record far.json --listen 127.0.0.1:8080")
    page.environment["http_proxy"] = page.here("http://127.0.0.1:8080")


PAGES = {
    "docs/care.md": prepare_care, "docs/ci.md": prepare_ci, "docs/configuration.md": prepare_configuration, "docs/control-api.md": prepare_control,
    "docs/inspect.md": prepare_inspect, "docs/install.md": lambda page: None, "docs/matching.md": lambda page: None, "docs/protocols.md": prepare_protocols,
    "docs/redaction.md": prepare_redaction, "docs/reverse.md": prepare_reverse, "docs/running.md": prepare_running,
    "docs/ways-in.md": prepare_ways_in,
}


def blocks(text):
    """Blocks of shell lines, fenced or indented, without their indentation."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```|(?:^    [^\n]*\n)+", text, re.M | re.S):
        if match[1] is None:
            yield re.sub(r"^    ", "", match[0], flags=re.M)
        elif match[1] == "sh":
            yield match[2]


def commands(block):
    """(command, its output or None) of a block. Output follows lines with "$ "; an open quote or a final backslash continues a command."""
    if not re.search(r"^\$ ", block, re.M):
        yield block, None
        return
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        lines = part.splitlines()
        count = 1
        while lines[count - 1].endswith("\\") or "\n".join(lines[:count]).count("'") % 2:
            count += 1
        yield "\n".join(lines[:count]), "\n".join(lines[count:]) or None


def pattern(shown):
    """A pattern for what a page shows: matches any size, time or bar, any whitespace, and anything in place of "…" and "..."."""
    text = re.escape(" ".join(shown.split()))
    # A page shows only the first digits of digests and tokens.
    text = re.sub(r"(?:\b[0-9a-f]{4,12})?(?:…|\\\.\\\.\\\.)", ".*", text)
    text = re.sub(r"\d+(?:\\\.\d+)?\\ (k?B|KB|ms|s)\b", r"[\\d.]+ (k?B|KB|ms|s)", text)
    return re.sub(r"[░▒▓█]{8}", "[░▒▓█ ]+", text).replace(r"\ ", r"\s+")


def problems(program):
    """At least one line for each command that does not do what its page shows."""
    with tempfile.TemporaryDirectory() as authority:
        yield from all_problems(program, authority)


def all_problems(program, authority):
    for path in [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "Drivers").glob("*/README.md"))]:
        name = str(path.relative_to(ROOT))
        shown = [block for block in blocks(path.read_text()) if re.search(r"^(?:\$ |sudo |\w+=\S+ )*(?:wiretape|curl) ", block, re.M)]
        shown = [block for block in shown if name != "docs/cli.md" and not any(part in block for part in ELSEWHERE)]
        if name not in PAGES:
            for block in shown:
                yield f"{name}: \"{block.splitlines()[0]}\" is run by no test: prepare the page in scripts/page_examples.py"
            continue
        with tempfile.TemporaryDirectory() as folder:
            page = Page(name, os.path.abspath(program), pathlib.Path(folder), authority)
            try:
                PAGES[name](page)
                for block in shown:
                    yield from block_problems(page, block)
            finally:
                page.end()


def block_problems(page, block):
    for command, shown in commands(block):
        lines = [command] if shown or "&\n" in command or "'" in command else [line for line in command.splitlines() if line]
        for line in lines:
            if line.startswith("wiretape record pets.json"):
                page.stop_proxies()
            code, output = page.run(line)
            wanted = next((code for start, code in EXITS.items() if line.startswith(start)), 0)
            if code != wanted:
                yield f"{page.name}: \"{line}\" exits with {code}: {output.strip()}"
            elif shown and not re.search(pattern(page.here(shown)), output.strip() if "\n" not in shown else " ".join(output.split())):
                yield f"{page.name}: \"{line}\" prints\n{output.strip()}\nand the page shows\n{shown.strip()}"
            found = re.search(r'"proxy": "(http://s1:[^"]+)"', output)
            if found:
                page.learnt["http://s1:2cbf9f1144e3...@127.0.0.1:" + page.ports["7070"]] = found[1]
