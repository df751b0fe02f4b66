"""Runs every command against damaged, locked, linked, read-only, full, huge and oddly named cassettes, and kills commands at random moments.

After each run it checks: the command ended by itself in time; a failure is described on standard error and names a file; the old cassette or
a new one is whole, with its bodies; nothing half written has a final name.

    stress_files.py PROGRAM [--seconds N] [--seed N] [--share N] [--only TEXT] [--verbose]

--share runs every Nth combination of cassette and command and no kill, so that it is the same on each machine.
"""

import argparse
import contextlib
import fcntl
import gzip
import hashlib
import http.server
import json
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unicodedata
import urllib.request

# Seconds for a command that is not killed, and for one to end after SIGTERM: far more than any takes on a busy machine.
PATIENCE = 120
SECRET = "hunter2-correct-horse"
# Exit codes of the documentation; a command of the user's own has 0 here.
EXITS = {0, 1, 2, 3, 4, 5, 6, 7, 64}


# An origin and a client ------------------------------------------------------------------------------------------------------------------

class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name = self.path.split("?")[0].rsplit("/", 1)[-1]
        fields = {"Content-Type": "application/json"}
        body = json.dumps({"path": self.path, "password": SECRET}).encode()
        if name == "large":
            fields["Content-Type"], body = "application/octet-stream", random.Random(self.path).randbytes(150_000)
        if name == "text":
            fields["Content-Type"], body = "text/plain", ("a line of text, " * 8000).encode()
        if name == "gzip":
            fields["Content-Encoding"], body = "gzip", gzip.compress(body * 500, mtime=0)
        self.send_response(200)
        for field in fields.items():
            self.send_header(*field)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # clients are killed, too
            self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def client(port, count):
    for number in range(count):
        for name in ("json", "large", "text", "gzip"):
            data = b'{"password": "%s"}' % SECRET.encode() if name == "json" else None
            urllib.request.urlopen(f"http://127.0.0.1:{port}/{number}/{name}", data, timeout=60).read()


# Looking at cassettes --------------------------------------------------------------------------------------------------------------------

class Broken(Exception):
    pass


def files_of(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "file" and isinstance(inner, str) and ".bodies/" in inner:
                yield inner
            else:
                yield from files_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from files_of(inner)


def check_whole(path, bodies=True):
    """The exchanges of a cassette that is whole JSON, whose bodies are there and are what their names say."""
    try:
        with open(path, "rb") as file:
            document = json.loads(file.read())
        exchanges = document["interactions"]
    except (OSError, ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise Broken(f"{path!r} is not whole: {error}")
    if bodies:
        folder = os.path.dirname(os.path.realpath(path))
        for name in set(files_of(exchanges)):
            place = os.path.join(folder, name)
            try:
                digest = hashlib.sha256(open(place, "rb").read()).hexdigest()
            except OSError as error:
                raise Broken(f"{path!r} names a body that is not there: {error}")
            stem = os.path.basename(name).split(".")[0]
            if len(stem) == 64 and digest != stem:
                raise Broken(f"{path!r} names {name!r}, which has other bytes")
    return exchanges


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        return error.errno


# The cassettes ---------------------------------------------------------------------------------------------------------------------------

class Cassette:
    """A cassette in a folder of its own, and what is known of it."""

    def __init__(self, folder, name="pets.json"):
        self.folder = folder
        self.path = os.path.join(folder, name)
        self.isWhole = True
        self.limits = []
        self.lock = None

    def copy(self, base):
        shutil.copyfile(base, self.path)
        stem = self.path[:-5] if self.path.endswith(".json") and len(os.path.basename(self.path)) > 5 else self.path
        bodies = os.path.splitext(base)[0] + ".bodies"
        # The cassette's text names the folder of the base.
        target = os.path.join(self.folder, os.path.basename(bodies))
        shutil.copytree(bodies, target)
        return self

    @property
    def bodies(self):
        return os.path.join(self.folder, "base.bodies")

    def edit(self, change):
        data = bytearray(contents(self.path))
        change(data)
        with open(self.path, "wb") as file:
            file.write(data)
        self.isWhole = False
        return self

    def first_body(self):
        return os.path.join(self.bodies, sorted(os.listdir(self.bodies))[0])


def variants(base, generator):
    """Names and makers; a maker gets an empty folder."""

    def copied(name="pets.json"):
        return lambda folder: Cassette(folder, name).copy(base)

    yield "plain", copied()

    def huge(folder):
        cassette = Cassette(folder).copy(base)
        document = json.loads(contents(cassette.path))
        exchanges = document["interactions"]
        document["interactions"] = [dict(exchanges[index % len(exchanges)], id=index + 1) for index in range(2000)]
        with open(cassette.path, "w") as file:
            json.dump(document, file)
        return cassette

    yield "huge", huge
    size = os.path.getsize(base)
    for _ in range(4):
        cut = generator.randrange(size)
        yield f"torn at {cut}", lambda folder, cut=cut: copied()(folder).edit(lambda data: data.__delitem__(slice(cut, None)))
    for _ in range(4):
        place, bit = generator.randrange(size), 1 << generator.randrange(8)
        yield f"bit {bit} at {place}", lambda folder, p=place, b=bit: copied()(folder).edit(lambda d: d.__setitem__(p, d[p] ^ b))
    for name, data in [
        ("empty", b""), ("garbage", bytes(range(256)) * 20), ("other JSON", b'{"log": {"entries": []}}\n'), ("a list", b"[]\n"),
        ("newer", b'{\n  "wiretape": 99,\n  "interactions": []\n}\n'), ("zeros", bytes(5000)), ("deep", b"[" * 100_000),
        ("no exchanges", b'{\n  "wiretape": 2,\n  "recorder": "wiretape 1",\n  "interactions": []\n}\n'),
    ]:
        yield name, lambda folder, data=data: copied()(folder).edit(lambda d: d.__setitem__(slice(None), data))

    def body(change):
        def make(folder):
            cassette = copied()(folder)
            change(cassette, cassette.first_body())
            cassette.isWhole = False
            return cassette
        return make

    def replaced(cassette, path, make):
        os.rename(path, path + ".old")
        make(path)

    yield "no bodies", body(lambda c, p: shutil.rmtree(c.bodies))
    yield "a body missing", body(lambda c, p: os.remove(p))
    yield "a body cut", body(lambda c, p: os.truncate(p, 10))
    yield "a body longer", body(lambda c, p: open(p, "ab").write(b"more"))
    yield "a body changed", body(lambda c, p: open(p, "r+b").write(b"\0changed\0"))
    yield "a body is a folder", body(lambda c, p: replaced(c, p, os.mkdir))
    yield "a body is a pipe", body(lambda c, p: replaced(c, p, os.mkfifo))
    yield "a body is unreadable", body(lambda c, p: os.chmod(p, 0))
    yield "a body links out", body(lambda c, p: replaced(c, p, lambda path: os.symlink("/etc/hostname", path)))
    yield "a body links to nothing", body(lambda c, p: replaced(c, p, lambda path: os.symlink("nowhere", path)))
    yield "the bodies are a file", body(lambda c, p: (shutil.rmtree(c.bodies), open(c.bodies, "w").close()))
    yield "the bodies are a link", body(lambda c, p: (os.rename(c.bodies, c.bodies + "2"), os.symlink("base.bodies2", c.bodies)))

    def inner_link(folder):
        cassette = copied()(folder)
        path = cassette.first_body()
        replaced(cassette, path, lambda new: os.symlink(os.path.basename(new) + ".old", new))
        return cassette

    yield "a body links inside", inner_link

    def leftovers(folder):
        # Under the name of its bodies: what a command leaves is in the folder of the cassette that it was writing.
        cassette = copied("base.json")(folder)
        for name in ("undeveloped.raw", "0" * 64 + ".bin", ".part-1-1"):
            open(os.path.join(cassette.bodies, name), "w").write("left")
        shutil.copyfile(cassette.path, os.path.join(folder, "base.new.json"))
        open(os.path.join(folder, ".base.json.rewrite"), "w").write("half")
        return cassette

    yield "with leftovers", leftovers

    def linked(*links, folder_of_links="links"):
        def make(folder):
            os.mkdir(os.path.join(folder, "real"))
            os.mkdir(os.path.join(folder, folder_of_links))
            cassette = Cassette(os.path.join(folder, "real")).copy(base)
            path = "../real/pets.json"
            for name in links:
                os.symlink(path, os.path.join(folder, folder_of_links, name))
                path = name
            cassette.path = os.path.join(folder, folder_of_links, links[-1])
            return cassette
        return make

    yield "a link", linked("pets.json")
    yield "links to links", linked("a.json", "b.json", "other.json")

    def dangling(target):
        def make(folder):
            cassette = Cassette(folder)
            os.symlink(target, cassette.path)
            cassette.isWhole = False
            return cassette
        return make

    yield "a link to nothing", dangling("there/nowhere.json")
    yield "a circle of links", dangling("pets.json")
    yield "a link to a folder", dangling("/")
    yield "a link to a device", dangling("/dev/zero")

    def special(make):
        def variant(folder):
            cassette = Cassette(folder)
            make(cassette.path)
            cassette.isWhole = False
            return cassette
        return variant

    yield "a folder", special(os.mkdir)
    yield "a pipe", special(os.mkfifo)
    yield "nothing", special(lambda path: None)

    def mode(file=None, folder=None):
        def make(place):
            inner = os.path.join(place, "inner")
            os.mkdir(inner)
            cassette = copied()(inner)
            if file is not None:
                os.chmod(cassette.path, file)
            if folder is not None:
                os.chmod(cassette.bodies, folder)
                os.chmod(inner, folder)
            return cassette
        return make

    yield "a read-only file", mode(file=0o444)
    yield "an unreadable file", mode(file=0)
    yield "a read-only folder", mode(folder=0o555)

    def locked(folder):
        cassette = copied()(folder)
        cassette.lock = os.open(cassette.path, os.O_RDWR)
        fcntl.flock(cassette.lock, fcntl.LOCK_EX)
        return cassette

    yield "locked", locked

    def limited(*limits):
        def make(folder):
            cassette = copied()(folder)
            cassette.limits = list(limits)
            return cassette
        return make

    for size in (0, 1000, 100_000):
        yield f"full beyond {size} bytes", limited((resource.RLIMIT_FSIZE, size))
    for count in (16, 48, 80):
        yield f"{count} open files", limited((resource.RLIMIT_NOFILE, count))
    for name in [
        "with blanks .json", "new\nline.json", "back\\slash.json", "quote'\"$(x)`.json", "\u202e\u0085odd.json", "\u00e9\u4e2d\U0001f408.json",
        "tab\t.json", "noextension", ".json", "pets.new.json", "%41?a=b#c.json", "semi;colon&and.json", "~.json", "a" * 240 + ".json",
        "b" * 241 + ".json", "c" * 250 + ".json", "*.json",
    ]:
        yield f"named {name[:30]!r}", copied(name)


# The commands ----------------------------------------------------------------------------------------------------------------------------

def commands(client):
    """Name, arguments, and what the command does to its cassette: None, "changes" or "records".

    client: the command line of a program that makes requests.
    """
    run = ["--"] + client
    return [
        ("inspect", ["inspect", "{c}"], None), ("inspect 1", ["inspect", "{c}", "1"], None), ("list", ["inspect", "{c}", "--json"], None),
        ("filter", ["inspect", "{c}", "--filter", "~b line & !~m POST"], None), ("body", ["inspect", "{c}", "2", "--body", "response"], None),
        ("extract", ["inspect", "{c}", "--extract", "{o}.files"], None), ("lint", ["inspect", "{c}", "--lint"], None),
        ("show", ["show", "{c}", "1", "--curl"], None), ("verify", ["verify", "{c}"], None),
        ("verify json", ["verify", "{c}", "--json"], None), ("diff", ["diff", "{c}", "{base}"], None),
        ("har", ["export", "{c}", "--har", "-o", "{o}"], None), ("raw", ["export", "{c}", "--raw"], None),
        ("postman", ["export", "{c}", "--postman", "-o", "{o}"], None), ("wiremock", ["export", "{c}", "--wiremock", "-o", "{o}"], None),
        ("curl", ["export", "{c}", "--curl"], None), ("swift", ["export", "{c}", "--swift"], None),
        ("merge", ["merge", "{o}", "{c}", "{base}"], None), ("replay", ["replay", "{c}", "--fail-on", "none", "--", "true"], None),
        ("redact dry", ["redact", "{c}", "--dry-run"], None), ("redact", ["redact", "{c}", "--redact", "header:host"], "changes"),
        ("decode", ["decode", "{c}"], "changes"), ("prune", ["prune", "{c}", "--unused-from", "{report}"], "changes"),
        ("record", ["record", "{c}", "--quiet"] + run, "records"),
        ("append", ["run", "{c}", "--mode", "new-episodes", "--fail-on", "none"] + run, "records"),
        ("import", ["import", "{har}", "-o", "{o}"], None), ("import itself", ["import", "{c}", "-o", "{o}"], None),
    ]


def visible(name):
    """Whether a name can be looked for in a message as it is."""
    return all(character.isprintable() and unicodedata.category(character) != "Cf" for character in name)


class Stress:
    def __init__(self, options):
        self.options = options
        self.problems = []
        self.runs = 0
        self.kills = 0
        self.work = tempfile.mkdtemp(prefix="wiretape-stress-")
        # Modes bind nobody who is root.
        self.user = 65534 if os.getuid() == 0 else None
        self.program = os.path.join(self.work, "wiretape")
        shutil.copy(options.program, self.program)
        os.chmod(self.program, 0o755)
        os.mkdir(os.path.join(self.work, "home"))
        script = os.path.join(self.work, "client.py")
        shutil.copy(os.path.abspath(__file__), script)
        self.give(self.work)
        self.client = [self.interpreter(), script, "--client"]
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": os.path.join(self.work, "home"), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
            "WIRETAPE_CA_DIR": os.path.join(self.work, "home", "ca"),
        }
        for name in ("LD_LIBRARY_PATH", "SWIFT_BACKTRACE"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    def interpreter(self):
        """A Python that the other user may run."""
        places = [sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"]
        for place in places:
            if self.user is None:
                return place
            try:
                subprocess.run([place, "-c", ""], user=self.user, group=self.user, check=True, capture_output=True)
                return place
            except (OSError, subprocess.CalledProcessError):
                pass
        sys.exit(f"none of {places} can be run by another user than root: run this as another user")

    def give(self, folder):
        os.chmod(folder, 0o755)
        if self.user is None:
            return
        os.chown(folder, self.user, self.user)
        for place, folders, files in os.walk(folder):
            for name in folders + files:
                os.lchown(os.path.join(place, name), self.user, self.user)

    def start(self, arguments, cassette=None):
        def limit():
            for kind, value in cassette.limits if cassette else []:
                resource.setrlimit(kind, (value, value))
            # A test harness blocks or ignores some of them.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            if self.user is not None:
                os.setgroups([])
                os.setgid(self.user)
                os.setuid(self.user)

        # Pipes: a limit on the sizes of files is not one for them.
        return subprocess.Popen(
            [self.program] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment,
            cwd=self.work, preexec_fn=limit, start_new_session=True)

    def end(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def run(self, arguments, cassette=None):
        process = self.start(arguments, cassette)
        try:
            output, errors = process.communicate(timeout=PATIENCE)
            return process.returncode, output, errors.decode(errors="replace")
        except subprocess.TimeoutExpired:
            return None, b"", ""
        finally:
            self.end(process)

    def must(self, arguments):
        status, _, errors = self.run(arguments)
        if status != 0:
            sys.exit(f"the samples cannot be made: {arguments}: {errors}")

    def prepare(self, port):
        samples = os.path.join(self.work, "samples")
        os.mkdir(samples)
        self.give(samples)
        self.base = os.path.join(samples, "base.json")
        self.must(["record", self.base, "--no-redaction", "--"] + self.client + [str(port)])
        self.har, self.report = os.path.join(samples, "base.har"), os.path.join(samples, "report.json")
        self.must(["export", self.base, "--har", "-o", self.har])
        # One round of requests is not made, so that there is something to prune.
        self.must(["replay", self.base, "--report", self.report, "--fail-on", "none", "--"] + self.client + [str(port), "2"])
        self.count = len(check_whole(self.base))

    def place(self, number):
        folder = os.path.join(self.work, f"run-{number}")
        os.mkdir(folder)
        return folder

    def remove(self, folder):
        for place, folders, _ in os.walk(folder):
            for name in folders:
                path = os.path.join(place, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o755)
        shutil.rmtree(folder)

    def arguments(self, template, cassette, out):
        values = {"{c}": cassette.path, "{o}": out, "{base}": self.base, "{har}": self.har, "{report}": self.report}
        return [self.replaced(word, values) for word in template]

    def replaced(self, word, values):
        for name, value in values.items():
            word = word.replace(name, value)
        return word

    def report_problem(self, title, problem, errors=""):
        self.problems.append(title)
        print(f"{title}: {problem}\n    {errors.strip()[:600]!r}", flush=True)

    # A run that nobody interrupts

    def check(self, title, command, make, number):
        name, template, effect = command
        folder = self.place(number)
        cassette = make(folder)
        if cassette.lock is None:
            self.give(folder)
        out = os.path.join(self.work, f"out-{number}.json")
        old = self.read(cassette.path)
        status, _, errors = self.run(self.arguments(template, cassette, out), cassette)
        self.runs += 1
        try:
            self.judge(cassette, effect, old, out, status, errors)
        except Broken as problem:
            self.report_problem(title, f"{problem} (exit {status})", errors)
        if cassette.lock is not None:
            os.close(cassette.lock)
        self.remove(folder)
        self.clear(out)

    def read(self, path):
        """The bytes of a regular file, or an error number; None for what never ends."""
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            return error.errno
        return contents(path) if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else None

    def clear(self, out):
        for name in os.listdir(self.work):
            if name.startswith(os.path.basename(out)[:-5]):
                path = os.path.join(self.work, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def judge(self, cassette, effect, old, out, status, errors):
        if status is None:
            raise Broken("it did not end")
        if status not in EXITS:
            raise Broken(f"it ended with {status}")
        if re.search(r"Fatal error|Crash|AddressSanitizer|Illegal instruction", errors):
            raise Broken("it crashed")
        if status not in (0, 64) and not re.search(r"^(wiretape|Error): .*\S", errors, re.MULTILINE) and status == 1:
            # diff and verify tell what they found on standard output.
            if "differ" not in errors and effect is not None:
                raise Broken("it does not say what went wrong")
        self.judge_cassette(cassette, effect, old, status, errors)
        if os.path.exists(out) and status == 0:
            json.loads(contents(out))
        if os.path.exists(out) and status not in (0, 6):
            raise Broken("it failed and left an output")

    def judge_cassette(self, cassette, effect, old, status, errors):
        if old is None:
            return
        new = contents(cassette.path)
        if effect is None and new != old:
            raise Broken("it changed the cassette")
        if effect is None or new == old:
            return
        if cassette.isWhole or status == 0:
            exchanges = check_whole(cassette.path, bodies=cassette.isWhole)
            if effect == "changes" and cassette.isWhole and not exchanges:
                raise Broken("the exchanges are gone")
        folder = os.path.dirname(os.path.realpath(cassette.path))
        for place in (folder, os.path.join(folder, "base.bodies")):
            for name in os.listdir(place) if os.path.isdir(place) else []:
                if (name.endswith(".rewrite") or name.startswith(".part-")) and status == 0 and not cassette.limits:
                    raise Broken(f"it left {name!r}")
        if os.path.islink(cassette.path) is False and cassette.folder.endswith("real"):
            raise Broken("it replaced the link")

    # A run that is killed

    def kill(self, title, command, make, number, generator):
        name, template, effect = command
        folder = self.place(number)
        cassette = make(folder)
        self.give(folder)
        out = os.path.join(self.work, f"out-{number}.json")
        old = contents(cassette.path)
        before = len(check_whole(cassette.path))
        process = self.start(self.arguments(template, cassette, out), cassette)
        how = generator.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        moment = generator.uniform(0, self.durations.get((title.split(",")[0], name), 1.0) * 1.1)
        try:
            process.communicate(timeout=moment)
        except subprocess.TimeoutExpired:
            process.send_signal(how)
        try:
            process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.report_problem(title, f"it did not end after {how.name} at {moment:.2f} s")
        self.end(process)
        self.kills += 1
        try:
            new = contents(cassette.path)
            if effect is None and new != old:
                raise Broken("it changed the cassette")
            if effect == "records" and new != old:
                # What was being written may be torn; what was there before is not.
                status, _, said = self.run(["decode", cassette.path], cassette)
                if status != 0:
                    raise Broken(f"the cassette cannot be repaired: {said}")
            exchanges = check_whole(cassette.path)
            if name == "append" and len(exchanges) < before:
                raise Broken(f"{before - len(exchanges)} exchanges are gone")
            if os.path.exists(out):
                json.loads(contents(out))
            if name in ("import", "merge"):
                self.judge_next(template, cassette, out, number)
        except (Broken, ValueError) as problem:
            self.report_problem(title, f"{problem} (after {how.name} at {moment:.3f} s)")
        self.remove(folder)
        self.clear(out)

    def judge_next(self, template, cassette, out, number):
        """The same command succeeds afterwards, and removes what the killed one left."""
        if os.path.exists(out):
            os.remove(out)
        status, _, said = self.run(self.arguments(template, cassette, out), cassette)
        if status != 0:
            raise Broken(f"the same command fails afterwards: {said}")
        check_whole(out)
        left = [name for name in os.listdir(self.work) if f"out-{number}" in name and name not in (f"out-{number}.json", f"out-{number}.bodies")]
        if left:
            raise Broken(f"the next command leaves {left}")

    # All of it

    def all(self, port):
        self.prepare(port)
        generator = random.Random(self.options.seed)
        made = list(variants(self.base, generator))
        self.commands = commands(self.client + [str(port)])
        chosen = [(variant, command) for variant in made for command in self.commands]
        if self.options.share:
            chosen = chosen[:: self.options.share]
        if self.options.only:
            chosen = [(v, c) for v, c in chosen if self.options.only in f"{v[0]}, {c[0]}"]
        end = time.monotonic() + self.options.seconds
        self.durations = {}
        number = 0
        # A bounded run sees different combinations each time that its seed differs.
        if not self.options.share:
            generator.shuffle(chosen)
        for (variant, make), command in chosen:
            if time.monotonic() > end:
                print(f"{len(chosen) - number} of {len(chosen)} combinations were not run: there was no more time")
                break
            number += 1
            began = time.monotonic()
            title = f"{variant}, {command[0]}"
            if self.options.verbose:
                print(title, flush=True)
            self.check(title, command, make, number)
            self.durations[variant, command[0]] = time.monotonic() - began
        by_name = dict(made)
        while not self.options.share and time.monotonic() < end + self.options.seconds / 2:
            variant = generator.choice(["plain", "huge", "a link", "with leftovers"])
            command = generator.choice([c for c in self.commands if c[2] or c[0] in ("har", "merge", "postman")])
            number += 1
            self.kill(f"{variant}, {command[0]}", command, by_name[variant], number, generator)

    def close(self):
        self.remove(self.work)


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--client":
        return client(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stress = Stress(options)
    try:
        stress.all(server.server_address[1])
    finally:
        server.shutdown()
        stress.close()
    print(f"{stress.runs} runs and {stress.kills} kills: {len(stress.problems)} problems (seed {options.seed})")
    sys.exit(1 if stress.problems else 0)


main()
