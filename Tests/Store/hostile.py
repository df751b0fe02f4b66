#!/usr/bin/env python3
"""Tests the store against servers that lie: each must cost a bounded amount and be named, and none may see or spill credentials.

  hostile.py --wiretape PROGRAM [NAME ...]

The server is honest until a case twists one of its answers.
"""
import argparse
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run  # noqa: E402

MIB = 1 << 20
# A debug build takes minutes for a million.
KEYS = 100_000
KEY, SECRET, TOKEN = "AKIDHOSTILETEST", "s3cretS3cretS3cretS3cret", "t0kenT0kenT0kenT0kenT0ken"
DATE = "2026-11-21T08:00:00.000Z"


class Server:
    """A small store in memory, on a port of its own."""

    def __init__(self):
        self.objects, self.twist, self.sent, self.requests, self.lock = {}, None, 0, [], threading.Lock()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_one(self):
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query))
                key = urllib.parse.unquote(url.path).removeprefix("/tape").lstrip("/")
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with server.lock:
                    server.requests.append((self.command, self.path, str(self.headers)))
                twist = server.twist
                if twist and twist(self, key, query):
                    return None
                if self.command == "PUT":
                    source = self.headers.get("x-amz-copy-source")
                    server.objects[key] = server.objects.get(key, b"") if source else body
                    return self.answer(200, b"<CopyObjectResult/>" if source else b"")
                if self.command == "DELETE":
                    server.objects.pop(key, None)
                    return self.answer(204)
                if not key:
                    return self.list(query)
                if key not in server.objects:
                    return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
                return self.answer(200, server.objects[key])

            do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = handle_one

            def list(self, query):
                keys = [key for key in sorted(server.objects) if key.startswith(query["prefix"]) and key > query.get("continuation-token", "")]
                page = [(key, len(server.objects[key])) for key in keys[:1000]]
                self.page(page, page[-1][0] if len(keys) > 1000 else None)

            def page(self, entries, token):
                text = "".join(
                    f"<Contents><Key>{key}</Key><LastModified>{DATE}</LastModified><Size>{size}</Size></Contents>" for key, size in entries)
                more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>" if token else ""
                self.answer(200, f"<ListBucketResult>{more}{text}</ListBucketResult>".encode())

            def answer(self, status, data=b"", **fields):
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), "Last-Modified": "Sat, 21 Nov 2026 08:00:00 GMT", **fields}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                if self.command != "HEAD":
                    self.send(data)

            def send(self, data):
                self.wfile.write(data)
                with server.lock:
                    server.sent += len(data)

            def endless(self, data, status=200, **fields):
                """Sends `data` until the client has enough."""
                self.close_connection = True
                self.send_response(status)
                for name, value in fields.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                if self.command != "HEAD":
                    while True:
                        self.send(data)

            def handle(self):
                with contextlib.suppress(OSError):
                    super().handle()

        class Threads(http.server.ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, *_):
                pass

        self.server = Threads(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Case:
    """What a case needs: the server, one that nobody may ask, and two machines."""

    def __init__(self, wiretape, folder):
        self.server, self.foreign = Server(), Server()
        self.folder = pathlib.Path(folder)
        environment = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.server.port}", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": TOKEN,
        }
        self.one = run.Machine(wiretape, self.folder / "one", environment, "s3://tape/x")
        self.two = run.Machine(wiretape, self.folder / "two", environment, "s3://tape/x")
        run.cassette(self.one.work / "c.json", 3, seed=1)
        self.one.run("push", "c.json")
        self.pointer = self.one.work / "c.json.tape"
        (self.two.work / "c.json.tape").write_bytes(self.pointer.read_bytes())
        self.keys = {kind: [key for key in self.server.objects if key.endswith(f".{kind}")] for kind in ["bin", "json.zst", "json"]}
        assert [len(keys) for keys in self.keys.values()] == [3, 1, 1]

    def manifest(self):
        return json.loads(self.server.objects[self.keys["json"][0]])

    def publish(self, manifest, objects=()):
        """Lets the pointer of the second machine name a cassette that somebody has made by hand."""
        for key, data in objects:
            self.server.objects[f"x/{key}"] = data
        text = json.dumps(manifest).encode()
        digest = hashlib.sha256(text).hexdigest()
        self.server.objects[f"x/manifests/{digest[:2]}/{digest[2:]}.json"] = text
        pointer = re.sub("digest .*", f"digest {digest}", self.pointer.read_text())
        (self.two.work / "c.json.tape").write_text(pointer)

    def fails(self, machine, *words, saying, twist=None, bytes_sent=MIB, memory=200 * MIB, seconds=60, code=1, **environment):
        """Runs a command that must end with an error of one line, after a bounded cost."""
        self.server.twist, self.server.sent, self.server.requests = twist, 0, []
        started = time.monotonic()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                [machine.wiretape, *words], cwd=machine.work, env={**machine.environment, **environment}, stdout=output, stderr=output)
            # Twice the time that it may take: one that never ends must not hold up the others.
            end = threading.Timer(2 * seconds, process.kill)
            end.start()
            _, status, usage = os.wait4(process.pid, 0)
            end.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read().decode()
        spent = time.monotonic() - started
        assert code in (None, process.returncode), f"ended with {process.returncode}: {text[:2000]}"
        assert saying in text and len(text) < 4000, f"the error does not say {saying!r}: {text[:2000]}"
        assert self.server.sent <= bytes_sent, f"read {self.server.sent} bytes: {text}"
        assert usage.ru_maxrss * 1024 <= memory, f"took {usage.ru_maxrss >> 10} MiB of memory"
        assert spent <= seconds, f"took {spent:.0f} s"
        self.clean(text)
        return f"{spent:.1f} s, {self.server.sent >> 10} KiB read, {usage.ru_maxrss >> 10} MiB memory, {len(self.server.requests)} requests"

    def clean(self, text):
        """No credentials in the output and in any file, and nobody else was asked."""
        for secret in [SECRET, TOKEN]:
            assert secret not in text, f"a secret is in the output: {text}"
            for path in self.folder.rglob("*"):
                assert not path.is_file() or secret.encode() not in path.read_bytes(), f"a secret is in {path}"
        assert not any(SECRET in part for request in self.server.requests for part in request), "the secret key was sent"
        assert not self.foreign.requests, "a server was asked that nobody named"

    def nothing_pulled(self):
        """Nothing can be read, and the next pull begins with an empty cache."""
        self.server.twist = None
        self.two.run("verify", "c.json.tape", codes=[2])
        shutil.rmtree(self.two.folder / ".cache")

    def cost(self):
        """The bytes in the cache of the second machine."""
        return sum(path.lstat().st_size for path in (self.two.folder / ".cache").rglob("*") if path.is_file())


def on(kind, action, methods=("GET",)):
    """A twist for the keys of one kind."""

    def twist(handler, key, query):
        if handler.command not in methods or (not key.endswith(f".{kind}") if kind else key):
            return False
        action(handler, key, query)
        return True

    return twist


CASES, OPEN = {}, set()


def case(function):
    CASES[function.__name__] = function
    return function


def not_yet(function):
    """A case that the program does not pass yet, or that takes minutes: it is run by its name only."""
    OPEN.add(function.__name__)
    return function


def changed(server):
    return lambda handler, key, query: handler.answer(200, bytes([server.objects[key][0] ^ 1]) + server.objects[key][1:])


@case
def wrong_bytes(it):
    """Other bytes than the name says, of the same length."""
    for kind, saying in [("json", "is not what its name says"), ("json.zst", "came with other bytes"), ("bin", "came with other bytes")]:
        yield it.fails(it.two, "pull", saying=saying, twist=on(kind, changed(it.server)))
        it.nothing_pulled()


@case
def longer_bytes(it):
    """Endless bodies, with and without a length."""
    piece = bytes(1 << 16)
    for kind, limit in [("json", 40 * MIB), ("json.zst", 4 * MIB), ("bin", 20 * MIB)]:
        shutil.rmtree(it.two.folder / ".cache", ignore_errors=True)
        yield it.fails(it.two, "pull", saying="not read any further", twist=on(kind, lambda h, k, q: h.endless(piece)), bytes_sent=limit)
        yield it.fails(
            it.two, "pull", saying="not read any further", twist=on(kind, lambda h, k, q: h.endless(piece, Content_Length=str(1 << 50))),
            bytes_sent=limit)
        it.nothing_pulled()
    yield it.fails(it.two, "store", "ls", saying="not read any further", twist=on("", lambda h, k, q: h.endless(piece)), bytes_sent=10 * MIB)
    yield it.fails(it.two, "pull", saying="an error's text", twist=on("json", lambda h, k, q: h.endless(piece, status=403)), bytes_sent=4 * MIB)


@case
def endless_head(it):
    """Header fields without an end, and heads without an answer."""

    def fields(handler, key, query):
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            handler.send(b"X-A: " + b"b" * 1000 + b"\r\n")

    def interim(handler, key, query):
        handler.close_connection = True
        while True:
            handler.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    yield it.fails(it.two, "pull", saying="header fields of more than", twist=on("json", fields), bytes_sent=8 * MIB)
    yield it.fails(it.two, "pull", saying="", twist=on("json", interim), bytes_sent=80 * MIB)
    for text, saying in [(b"SSH-2.0-OpenSSH_9.2\r\n", ""), (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", ""), (b"\0" * 100, "")]:

        def garbage(handler, key, query, text=text):
            handler.close_connection = True
            handler.send(text)

        yield it.fails(it.two, "pull", saying=saying, twist=on("json", garbage))
    it.nothing_pulled()


@case
def bombs(it):
    """A little zstd that unpacks to a lot: to more than its manifest says, and to what it says, which is more than the cache may have."""
    bomb = subprocess.run("head -c 2G /dev/zero | zstd -q", shell=True, capture_output=True, check=True).stdout
    digest = hashlib.sha256(bomb).hexdigest()
    honest = it.manifest()
    objects = [(f"objects/{digest[:2]}/{digest[2:]}.json.zst", bomb)]
    it.publish({**honest, "object": digest, "size": len(bomb)}, objects)
    yield it.fails(it.two, "pull", saying="unpacks to more than", bytes_sent=2 * MIB)
    assert it.cost() < 4 * MIB, it.cost()
    it.publish({**honest, "object": digest, "size": len(bomb), "bytes": 1 << 62}, objects)
    yield it.fails(it.two, "pull", saying="is not what its name says")
    # Its text is as long as it says, which is more than the cache may have.
    it.publish({**honest, "object": digest, "size": len(bomb), "bytes": 2 << 30}, objects)
    yield it.fails(it.two, "pull", saying="WIRETAPE_CACHE_LIMIT", bytes_sent=2 * MIB, WIRETAPE_CACHE_LIMIT="100MB")
    it.nothing_pulled()


@case
def manifests(it):
    """Manifests with right digests, and wrong contents."""
    honest = it.manifest()
    body = honest["bodies"][0]
    for change in [
        {"bodies": [{**body, "path": "../../../.bashrc"}]}, {"bodies": [{**body, "path": "/etc/x.bodies/y"}]}, {"name": "../x.json"},
        {"bodies": [body, body]}, {"bodies": [{**body, "size": -1}]}, {"bytes": -1}, {"object": "x"}, {"bodies": "[" * 100_000}, {"size": (1 << 63) - 1},
    ]:
        it.publish({**honest, **change})
        yield it.fails(it.two, "pull", saying="is not what its name says", bytes_sent=2 * MIB)
    it.publish({**honest, "sha256": "0" * 64})
    yield it.fails(it.two, "pull", saying="does not unpack to the cassette")
    it.publish({**honest, "bodies": [{**body, "size": 5 << 30}]})
    yield it.fails(it.two, "pull", saying="came with other bytes")
    it.nothing_pulled()


@case
def redirects(it):
    """Redirects, to this server and to others, for all methods."""
    run.cassette(it.one.work / "d.json", 2, seed=2)
    for status in [301, 302, 303, 307, 308]:
        for place in [f"http://127.0.0.1:{it.foreign.port}/tape/x", "http://169.254.169.254/latest/meta-data/", "file:///etc/passwd", "/tape/x/y"]:
            for kind, methods, machine, words in [
                ("json", ["GET"], it.two, ["pull"]), ("", ["GET"], it.two, ["store", "ls"]),
                ("bin", ["PUT", "HEAD"], it.one, ["push", "d.json"]),
            ]:
                answer = on(kind, lambda h, k, q: h.answer(status, b"moved", Location=place), methods)
                line = it.fails(machine, *words, saying="redirects to another address, which is never followed", twist=answer)
    yield line
    assert not (it.one.work / "d.json.tape").exists()
    it.nothing_pulled()


@case
def endpoints(it):
    """Endpoints that would send something in clear, or elsewhere."""
    for endpoint, saying in [
        ("http://example.com", "not encrypted"), ("http://127.0.0.1.example.com", "not encrypted"), ("http://localhost.example.com", "not encrypted"),
        ("http://127.0.0.1@example.com", "not a plain address"), ("https://user:password@example.com", "not a plain address"),
        ("ftp://127.0.0.1", "is not an endpoint"), ("file:///etc/passwd", "is not an endpoint"), ("127.0.0.1", "is not an endpoint"),
        ("http://0x7f.1", "not encrypted"), ("http://2130706433", "not encrypted"), ("http://127.0.0.1#@example.com", "not a plain address"),
    ]:
        line = it.fails(it.two, "store", "ls", saying=saying, AWS_ENDPOINT_URL=endpoint)
    # A proxy of the environment never carries what goes to this machine.
    it.server.twist, proxy = None, f"http://127.0.0.1:{it.foreign.port}"
    it.two.run("store", "ls", http_proxy=proxy, HTTP_PROXY=proxy, all_proxy=proxy, ALL_PROXY=proxy)
    it.clean("")
    yield line
    # TLS is never left out, and a certificate that nobody trusts is refused.
    key = it.folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2", "-keyout", key, "-out", key.with_suffix(".crt")],
        check=True, capture_output=True)
    import ssl
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(key.with_suffix(".crt"), key)
    secure = Server()
    secure.server.socket = context.wrap_socket(secure.server.socket, server_side=True)
    yield it.fails(it.two, "store", "ls", saying="cannot prove who it is", AWS_ENDPOINT_URL=f"https://localhost:{secure.port}")
    yield it.fails(it.two, "store", "ls", saying="cannot prove who it is", AWS_ENDPOINT_URL=f"https://127.0.0.1:{it.server.port}")
    assert not secure.requests


@not_yet
@case
def many_keys(it):
    """Many keys in a listing: all of them cost little, and foreign ones are refused."""

    def listing(keys):
        def page(handler, key, query):
            begin = int(query.get("continuation-token", 0))
            handler.page([(keys(query["prefix"], number), 1) for number in range(begin, begin + 1000)], str(begin + 1000) if begin + 1000 < KEYS else None)

        return on("", page)

    honest = listing(lambda prefix, number: f"{prefix}{number:07}")
    yield it.fails(it.two, "store", "ls", saying=f"{KEYS} objects", code=0, bytes_sent=30 * MIB, seconds=300, twist=honest)
    run.cassette(it.one.work / "many.json", 70, seed=3)
    # A push of many bodies looks at a few pages, and asks for each object then.
    yield it.fails(it.one, "push", "many.json", saying="stored 72", code=0, bytes_sent=40 * MIB, twist=honest)
    for keys in [lambda prefix, number: f"elsewhere/{number:07}", lambda prefix, number: f"{prefix}same", lambda prefix, number: f"{prefix}{-number:08}"]:
        yield it.fails(it.two, "store", "ls", saying="not in order", bytes_sent=MIB, twist=listing(keys))
    for text in [b"", b"<ListBucketResult>", b"<html><body>login</body></html>", b"<a>" * 1_000_000]:
        yield it.fails(it.two, "store", "ls", saying="the server's list is not one", bytes_sent=4 * MIB, twist=on("", lambda h, k, q: h.answer(200, text)))
    entities = b"".join(b'<!ENTITY a%d "%s">' % (number, b"&a%d;" % (number - 1) * 20 if number else b"ha") for number in range(20))
    laughs = b"<!DOCTYPE r [" + entities + b"]><ListBucketResult><Contents><Key>&a19;</Key></Contents></ListBucketResult>"
    yield it.fails(it.two, "store", "ls", saying="", code=None, twist=on("", lambda h, k, q: h.answer(200, laughs)))


@not_yet
@case
def lists_without_end(it):
    """Each page names another one."""

    def page(handler, key, query):
        begin = int(query.get("continuation-token", 0))
        handler.page([(f"{query['prefix']}{begin:020}", 1)], str(begin + 1))

    def empty(handler, key, query):
        handler.page([], str(int(query.get("continuation-token", 0)) + 1))

    yield it.fails(it.two, "store", "ls", saying="no end", twist=on("", empty))
    yield it.fails(it.two, "store", "ls", saying="no end", twist=on("", page), bytes_sent=600 * MIB, seconds=300)


@case
def forgetful(it):
    """A server that takes objects and loses them: no pointer is written."""
    run.cassette(it.one.work / "e.json", 3, seed=4)
    yield it.fails(
        it.one, "push", "e.json", saying="does not keep what is stored", twist=lambda h, k, q: h.command == "PUT" and (h.answer(200) or True))
    yield it.fails(
        it.one, "push", "e.json", saying="does not keep what is stored", twist=on("bin", lambda h, k, q: h.answer(404), ["HEAD"]))
    assert not (it.one.work / "e.json.tape").exists()


@case
def refusals(it):
    """Every status, for each command: an error that names the server's answer, in bounded time, and no secret."""
    run.cassette(it.one.work / "f.json", 2, seed=5)
    text = f"<Error><Code>\x1b[31mAccessDenied</Code><Message>{KEY} {TOKEN}</Message></Error>".encode()
    for status in [204, 206, 304, 400, 401, 403, 404, 405, 411, 412, 416, 418, 501, 505, 599]:
        for machine, words in [(it.two, ["pull"]), (it.two, ["store", "ls"]), (it.one, ["push", "f.json"]), (it.two, ["store", "check"])]:
            code = 2 if words[-1] == "check" else 1
            line = it.fails(machine, *words, saying="", twist=lambda h, k, q: h.answer(status, text) or True, code=code, seconds=120)
    yield line
    for status in [500, 503]:
        yield it.fails(it.two, "pull", saying=f"({status}", twist=lambda h, k, q: h.answer(status, text) or True, seconds=60)
    assert not (it.one.work / "f.json.tape").exists()


@case
def processes(it):
    """Credentials are in no argument of a process, and a process that has them leaves no core."""
    seen = []

    def look(handler, key, query):
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit():
                    assert SECRET.encode() not in (entry / "cmdline").read_bytes(), "the secret is in a process list"
                    if os.readlink(entry / "cwd") == str(it.two.work):
                        limits = (entry / "limits").read_text()
                        seen.append(re.search(r"Max core file size +(\S+) +(\S+)", limits).groups())
        return False

    it.server.twist = look
    it.two.run("pull")
    assert seen and set(seen) == {("0", "0")}, seen
    it.clean("")
    yield f"core limit {seen[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wiretape", required=True)
    parser.add_argument("names", nargs="*", help=f"default: all of {', '.join(CASES)}")
    options = parser.parse_args()
    wiretape = pathlib.Path(options.wiretape).absolute()
    failed = []
    for name in options.names or [name for name in CASES if name not in OPEN]:
        with tempfile.TemporaryDirectory() as folder:
            it = Case(wiretape, folder)
            try:
                for line in CASES[name](it):
                    print(f"{name}: {line}", flush=True)
            except AssertionError as error:
                failed.append(name)
                print(f"{name}: FAILED: {error}", flush=True)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
