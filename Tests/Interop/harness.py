"""Runs real clients through `wiretape record`, again through `wiretape replay` with the origin gone, and compares.

A scenario is a module with a function `run(lab)`. It starts an origin, records some cases, stops the origin, and calls
`lab.replay()`. Whatever differs becomes a failure with the place of the files; nothing stops at the first failure.
"""
import contextlib
import functools
import hashlib
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

PLACEHOLDER = re.compile(rb"\{\{([a-zA-Z0-9_-]+):0*[0-9]+\}\}")
# A client that takes longer than this hangs: none of them does more than a few seconds of work.
CLIENT_BOUND = 120


class Lab:
    """A folder, a program, the origins that run, the cases that are recorded, and the failures so far."""

    def __init__(self, name, wiretape, folder, tools):
        self.name, self.wiretape = name, pathlib.Path(wiretape).resolve()
        self.folder = pathlib.Path(folder).resolve()
        self.tools = tools
        self.failures, self.checks, self.cases = [], 0, []
        self._origins = contextlib.ExitStack()
        home = self.path("home")
        home.mkdir(parents=True)
        self.environment = {
            "HOME": str(home), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "USER": "tester", "TMPDIR": str(self.path("tmp")),
            "PATH": f"{tools}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "WIRETAPE_CA_DIR": str(self.path("ca")),
            # The runner finds the processes that a scenario leaves behind by this variable.
            "INTEROP_FOLDER": os.environ.get("INTEROP_FOLDER", str(self.folder)),
        }
        self.path("tmp").mkdir()

    def path(self, *parts):
        return self.folder.joinpath(*parts)

    def write(self, name, content):
        """Writes a file of the scenario's own, text or bytes, and returns its path."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def check(self, holds, problem, *logs):
        """Counts one check, and keeps the problem if it does not hold."""
        self.checks += 1
        if not holds:
            places = "".join(f"\n      see {log}" for log in logs)
            self.failures.append(f"{problem}{places}")
            print(f"  FAIL {problem}{places}", flush=True)
        return bool(holds)

    # Origins

    def start(self, name, command, port=None, environment=None, folder=None):
        """Starts an origin that is a program, and waits until its port takes connections."""
        log = self.path(f"{name}.log")
        with open(log, "wb") as output:
            process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                       env=self.environment | (environment or {}), cwd=folder or self.folder)
        self._origins.callback(stop, process)
        if port:
            wait_for_port(port, process, log)
        return process

    def serve(self, handler, tls=None, host="127.0.0.1", **attributes):
        """Starts an origin that is a handler of http.server in a thread of this process, and returns its URL; with TLS if there is a context for it."""
        kind = type("Handler", (handler,), attributes)
        server = Server((host, 0), kind)
        if tls:
            # The handshake is done by the thread of the connection.
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self._origins.callback(server.stop)
        return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{server.server_address[1]}"

    def stop_origins(self):
        self._origins.close()

    # Cases

    def record(self, name, command, **settings):
        """Records one case; the settings are those of Case."""
        case = Case(self, name, command, **settings)
        self.cases.append(case)
        case.record()
        return case

    def replay(self):
        """Stops the origins, replays every recorded case, and compares."""
        self.stop_origins()
        for case in self.cases:
            case.replay()

    def proxy(self, mode, cassette, *options):
        """Runs `wiretape MODE CASSETTE` without a command, for clients that the scenario starts itself."""
        return Proxy(self, mode, cassette, options)

    def client(self, command, **environment):
        """Runs a client directly and returns what came of it."""
        return subprocess.run([str(word) for word in command], env=self.environment | environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=CLIENT_BOUND, check=False)


class Case:
    """One command, recorded and replayed in a folder of the same path, so that a client that prints paths prints equal ones.

    command     what runs: words, or a text for `sh -eu`.
    replayed    what runs in the replay instead, for another order or other settings.
    setup       is called with the run's folder before each run.
    secrets     pairs of a secret and its kind: the secret must not be in the cassette, and the replay has {{kind:N}} in its place.
    normalize   maps (name, bytes) to the bytes that are compared, or None to leave the file out.
    expect      texts that the recorded client has to print: it did do what it was to do.
    exit        the client's exit code, in the recording and in the replay.
    wiretape    exit code of the replay, if it is not the client's.
    lenient     the replay may fail, and say so by its exit code; if it is green, everything has to be equal all the same.
    direct      the command runs as wiretape's own child, without a shell that keeps its output apart.
    """

    def __init__(self, lab, name, command, replayed=None, setup=None, secrets=(), normalize=None, expect=(), exit=0, wiretape=None, options=(),
                 record_options=(), environment=None, direct=False, unused=False, compare=True, lenient=False, record_says=(), record_exit=None, bound=CLIENT_BOUND):
        self.lab, self.name, self.command, self.replayed = lab, name, command, replayed if replayed is not None else command
        self.setup, self.secrets, self.normalize, self.expect = setup, secrets, normalize, expect
        self.exit, self.wiretape = exit, exit if wiretape is None else wiretape
        self.record_exit = exit if record_exit is None else record_exit
        self.options, self.record_options, self.environment = options, record_options, environment or {}
        self.direct, self.unused, self.compare, self.lenient, self.record_says, self.bound = direct, unused, compare, lenient, record_says, bound
        self.folder = lab.path("cases", name)
        self.cassette = self.folder / "cassette" / "tape.json"
        self.ready = False

    def record(self):
        self.cassette.parent.mkdir(parents=True)
        code, text = self._run("record", self.command, ["record", self.cassette, "--json", *self.record_options])
        log = self.folder / "record.log"
        self.ready = self._check(code == self.record_exit, f"the recording ended with {code} instead of {self.record_exit}", log, self.folder / "recorded")
        for said in self.record_says:
            self._check(said in text, f"the recording does not say {said!r}", log)
        output = self._output("recorded")
        for expected in self.expect:
            self._check(expected.encode() in output, f"the recorded client did not print {expected!r}", self.folder / "recorded")
        if self.ready and self.cassette.exists():
            self._look_for_secrets()

    def replay(self):
        if not self.ready:
            return
        report = self.folder / "report.json"
        code, _ = self._run("replay", self.replayed, ["replay", self.cassette, "--report", report, *self.options])
        log = self.folder / "replay.log"
        if self.lenient and isinstance(code, int) and code != 0:
            self._check("wiretape: " in log.read_text(errors="replace"), "the replay failed without a word", log)
            return
        self._check(code == self.wiretape, f"the replay ended with {code} instead of {self.wiretape}", log)
        if self._check(report.exists(), "the replay wrote no report", log):
            self._judge(json.loads(report.read_bytes()), log, report)
        if self.compare:
            self._compare()

    def _check(self, holds, problem, *logs):
        return self.lab.check(holds, f"{self.name}: {problem}", *logs)

    def _judge(self, report, log, place):
        if self.wiretape in (3, 4, 5):
            return
        first = next((f"{miss['request']} ({miss['reason']})" for miss in report["missed"]), "")
        self._check(report["misses"] == 0, f"{report['misses']} requests were missed, first {first}", log, place)
        self._check(report["unserved"] == 0, f"{report['unserved']} answers were not served", log, place)
        self._check(report["hits"] > 0, "no request was answered", log, place)
        if not self.unused:
            first = next((exchange["request"] for exchange in report["unusedExchanges"]), "")
            self._check(report["unused"] == 0, f"{report['unused']} exchanges were not used, first {first}", log, place)

    def _run(self, verb, command, arguments):
        run, done = self.folder / "run", self.folder / {"record": "recorded", "replay": "replayed"}[verb]
        run.mkdir(parents=True)
        # The same state before each run: configuration and caches of a client are part of what it does.
        shutil.rmtree(self.lab.path("home"), ignore_errors=True)
        self.lab.path("home").mkdir()
        if self.setup:
            self.setup(run)
        words = ["sh", "-eu", "-c", command] if isinstance(command, str) else [str(word) for word in command]
        if not self.direct:
            # The client's own output in files of the run, so that wiretape's lines are apart from it.
            words = ["sh", "-c", 'exec "$@" >stdout 2>stderr', "sh", *words]
        words = [str(self.lab.wiretape), *(str(word) for word in arguments), "--", *words]
        log = self.folder / f"{verb}.log"
        with open(log, "wb") as output:
            process = subprocess.Popen(words, cwd=run, env=self.lab.environment | self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT)
            try:
                code = process.wait(self.bound)
            except subprocess.TimeoutExpired:
                stop(process)
                code = f"no end within {self.bound} s"
        run.rename(done)
        return code, log.read_text(errors="replace")

    def _output(self, run):
        files = [self.folder / run / name for name in ("stdout", "stderr")]
        return b"".join(file.read_bytes() for file in files if file.exists()) + (self.folder / "record.log").read_bytes()

    def _look_for_secrets(self):
        for file in sorted(self.cassette.parent.rglob("*")):
            content = file.read_bytes() if file.is_file() else b""
            for secret, kind in self.secrets:
                self._check(secret.encode() not in content, f"the cassette has the secret of {kind} in {file.name}", file)

    def _compare(self):
        recorded, replayed = tree(self.folder / "recorded"), tree(self.folder / "replayed")
        self._check(recorded.keys() == replayed.keys(), f"files differ: {sorted(recorded.keys() ^ replayed.keys())[:5]}", self.folder)
        for name in sorted(recorded.keys() & replayed.keys()):
            first, second = self._normal(name, recorded[name], True), self._normal(name, replayed[name], False)
            self._check(first == second, f"{name} differs: {difference(first, second)}" if first != second else "",
                        self.folder / "recorded" / name, self.folder / "replayed" / name)

    def _normal(self, name, content, recorded):
        if self.secrets:
            if recorded:
                for secret, kind in self.secrets:
                    content = content.replace(secret.encode(), b"{{%s}}" % kind.encode())
            content = PLACEHOLDER.sub(rb"{{\1}}", content)
        return self.normalize(name, content) if self.normalize else content


class Proxy:
    """`wiretape record` or `replay` at a port of its own, until it is stopped."""

    def __init__(self, lab, mode, cassette, options):
        self._lab, self.log, self.code = lab, lab.path(f"{mode}-{pathlib.Path(cassette).stem}.log"), None
        command = [str(lab.wiretape), mode, str(cassette), "--listen", "127.0.0.1:0", *(str(option) for option in options)]
        with open(self.log, "wb") as output:
            self._process = subprocess.Popen(command, env=lab.environment, cwd=lab.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        lab._origins.callback(stop, self._process)
        self.url = wait_for(lambda: self._address(), f"the address in {self.log}", self._process)
        self.port = int(self.url.rsplit(":", 1)[1])

    def _address(self):
        found = re.search(r"listening on (http://127\.0\.0\.1:[0-9]+)", self.log.read_text(errors="replace"))
        return found and found[1]

    def stop(self):
        """Ends it as Ctrl-C does, and returns its exit code."""
        if self.code is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self.code = self._process.wait(30)
            except subprocess.TimeoutExpired:
                stop(self._process)
                self.code = "no end within 30 s"
        return self.code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Server(http.server.ThreadingHTTPServer):
    """An origin in this process that can be stopped for good: its open connections end, too."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, address, handler):
        self._open, self._lock = set(), threading.Lock()
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, handler)

    def process_request(self, request, address):
        with self._lock:
            self._open.add(request)
        super().process_request(request, address)

    def shutdown_request(self, request):
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request, address):
        pass  # a client that leaves is part of some scenarios

    def stop(self):
        self.shutdown()
        self.server_close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class Handler(http.server.BaseHTTPRequestHandler):
    """What the origins in this process share: HTTP/1.1, a fixed date, bodies of either framing, and no log."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "origin", ""

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return "Wed, 01 Jan 2025 00:00:00 GMT"

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            content = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return content
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status, content=b"", kind="text/plain", **fields):
        content = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        if status not in (204, 304):
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD" and status not in (204, 304):
            self.wfile.write(content)


class FileHandler(Handler):
    """Serves `files`, a mapping of paths to (type, content), with ranges, validators and If-Range."""

    files = {}

    def do_GET(self):
        path = self.path.split("?")[0]
        if path not in self.files:
            return self.answer(404, f"there is no {path}\n")
        kind, content = self.files[path]
        tag, modified = entity_tag(content), "Tue, 31 Dec 2024 00:00:00 GMT"
        fields = {"ETag": tag, "Last_Modified": modified, "Accept_Ranges": "bytes"}
        matches = self.headers.get("If-None-Match")
        if matches is not None and (matches == "*" or tag in matches):
            return self.answer(304, **fields)
        if matches is None and self.headers.get("If-Modified-Since") == modified:
            return self.answer(304, **fields)
        wanted = re.fullmatch(r"bytes=([0-9]*)-([0-9]*)", self.headers.get("Range", ""))
        if not wanted or self.headers.get("If-Range", tag) not in (tag, modified):
            return self.answer(200, content, kind, **fields)
        size = len(content)
        first = int(wanted[1]) if wanted[1] else max(0, size - int(wanted[2]))
        last = min(int(wanted[2]), size - 1) if wanted[1] and wanted[2] else size - 1
        if first >= size:
            return self.answer(416, Content_Range=f"bytes */{size}", **fields)
        self.answer(206, content[first:last + 1], kind, Content_Range=f"bytes {first}-{last}/{size}", **fields)

    do_HEAD = do_GET


@functools.cache
def entity_tag(content):
    return f'"{hashlib.sha256(content).hexdigest()[:16]}"'


def stop(process):
    """Ends a process that a scenario started: politely, then not."""
    for send in (process.terminate, process.kill):
        if process.poll() is not None:
            return
        send()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(condition, what, process=None, bound=60):
    """Polls until the condition holds something, for a bounded time."""
    end = time.monotonic() + bound
    while time.monotonic() < end:
        if found := condition():
            return found
        if process and process.poll() is not None:
            raise RuntimeError(f"{what}: the process ended with {process.returncode}")
        time.sleep(0.02)
    raise RuntimeError(f"{what}: nothing within {bound} s")


def wait_for_port(port, process, log):
    def connects():
        with socket.socket() as client:
            client.settimeout(1)
            return client.connect_ex(("127.0.0.1", port)) == 0
    wait_for(connects, f"port {port}, see {log}", process)


def tree(folder):
    """The files below a folder by name; links by their target."""
    return {str(path.relative_to(folder)): os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_symlink() or path.is_file()}


def difference(first, second):
    """Where two texts or bytes first differ, in one line."""
    at = next((i for i, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))
    start = max(0, at - 20)
    return (f"{len(first)} and {len(second)} bytes, first at {at}: {first[start:at + 60]!r} became {second[start:at + 60]!r}")


def noise(size, seed=1):
    """Bytes that do not compress and are the same in each run."""
    return random.Random(seed).randbytes(size)
