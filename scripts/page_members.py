"""Compares the names in machine-readable output with the pages that describe them: members of JSON, error codes, settings.

`problems(program)` runs each command that prints JSON, and yields a line for each name that its page does not have as code.
"""
import http.server
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging"))
import settings_table  # noqa: E402


def problems(program):
    yield from code_problems()
    yield from setting_problems(program)
    with tempfile.TemporaryDirectory() as folder:
        yield from shape_problems(program, pathlib.Path(folder))


def named(page):
    """Every word in the code spans and code blocks of a page."""
    code = re.finditer(r"```.*?```|`[^`\n]+`", (ROOT / page).read_text(), re.S)
    return {word for match in code for word in re.findall(r"[\w-]+", match[0])}


def missing(page, names, what):
    known = named(page)
    for name in sorted(set(names) - known):
        yield f"{page}: the {what} `{name}` is not on the page"


def code_problems():
    """Checks error codes as the sources spell them."""

    def codes(pattern, *folders):
        for folder in folders:
            for path in (ROOT / "Sources" / folder).rglob("*.swift"):
                yield from re.findall(pattern, path.read_text())

    code = r'\bcode: "([a-z-]+)"'
    yield from missing("docs/control-api.md", codes(code, "TapeProxy/Control"), "error code")
    yield from missing("docs/inspector.md", codes(code, "TapeInspector"), "error code")
    gate = set(codes(code, "LocalHTTP"))
    yield from missing("docs/control-api.md", gate - {"range"}, "error code")
    own = {*codes(r'\berror: "([a-z-]+)"', "TapeProxy"), *codes(r"case (dns[^\n]*)", "CassetteModel")}
    yield from missing("docs/running.md", {word for text in own for word in re.split(r"[, ]+", text)}, "value of Wiretape-Error")


def setting_problems(program):
    schema = json.loads((ROOT / "docs/wiretape.schema.json").read_text())
    settings = set(properties(schema))
    yield from missing("docs/configuration.md", settings, "setting")
    printed = subprocess.run([program, "config", "--schema"], check=True, capture_output=True, text=True).stdout
    if json.loads(printed) != schema:
        yield "docs/wiretape.schema.json: not what the table of settings says; run make cli-reference"
    for name, make in settings_table.PAGES.items():
        page = (ROOT / "docs" / name).read_text()
        if settings_table.replaced(page, make(schema)) != page:
            yield f"docs/{name}: its table of settings is not that of the schema; run make cli-reference"
    rows = json.loads(subprocess.run([program, "config", "--no-config", "--json"], check=True, capture_output=True).stdout)
    for name in sorted({row["name"] for row in rows} - settings):
        yield f"docs/wiretape.schema.json: the setting {name} of wiretape config is not in it"


def properties(schema):
    """The names of all properties, at any depth of a schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for inner in schema.values():
            yield from properties(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from properties(inner)


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = json.dumps({"path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def members(value, deep=True):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if deep:
                yield from members(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner, deep)


def shape_problems(program, folder):
    """Runs the commands that print JSON, with an error wherever that adds members."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"

    def run(*words, errors=False, statuses=(0,)):
        done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
        if done.returncode not in statuses:
            raise SystemExit(f"page_members.py: wiretape {' '.join(words)} exits with {done.returncode}: {done.stderr}")
        return done.stderr if errors else done.stdout

    def last_line(text):
        return json.loads(next(line for line in reversed(text.splitlines()) if line.startswith("{")))

    curl = ["curl", "-s", "-o", "/dev/null"]
    recorded = run("record", "a.json", "--json", "--", *curl, f"{url}/1", "-o", "/dev/null", f"{url}/2", errors=True)
    replayed = run(
        "replay", "a.json", "--json", "--report", "r.json", "--fail-on", "miss,unused", "--", *curl, f"{url}/1?page=2", errors=True, statuses=(3,))
    yield from missing("docs/running.md", {*members(last_line(recorded)), *members(last_line(replayed))}, "member")
    yield from missing("docs/replay-report.md", members(json.loads((folder / "r.json").read_text())), "member")

    run("record", "b.json", "--", *curl, f"{url}/1", "-o", "/dev/null", f"{url}/3")
    yield from missing("docs/care.md", members(json.loads(run("diff", "a.json", "b.json", "--json", statuses=(1,)))), "member of diff")
    (folder / "torn.json").write_bytes((folder / "a.json").read_bytes()[:-150])
    yield from missing("docs/care.md", members(json.loads(run("verify", "torn.json", "--json", statuses=(1,)))), "member of verify")
    yield from missing("docs/inspect.md", members(json.loads(run("inspect", "a.json", "--json"))), "member")
    yield from missing("docs/configuration.md", members(json.loads(run("config", "a.json", "--json"))), "member of config")
    run("export", "a.json", "--har", "-o", "a.har")
    yield from missing("docs/import.md", members(json.loads(run("import", "a.har", "-o", "c.json", "--json"))), "member")
    yield from missing("docs/trust.md", members(json.loads(run("doctor", "--json", statuses=(0, 1)))), "member of doctor")
    yield from control_problems(program, folder, url)
    server.shutdown()


def control_problems(program, folder, url):
    process = subprocess.Popen(
        [program, "serve", "--json", "--until-eof", "--web", "--folder", str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        ready = json.loads(process.stdout.readline())
        yield from missing("docs/drivers.md", members(ready), "member of the ready line")

        def ask(method, path, body=None):
            request = urllib.request.Request(
                ready["control"] + path, method=method, data=None if body is None else json.dumps(body).encode(),
                headers={"Authorization": f"Bearer {ready['token']}", "Content-Type": "application/json"})
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
                return json.load(answer)

        page = "docs/control-api.md"
        session = ask("POST", "/sessions", {"cassette": "a.json", "label": "a test", "mode": "none", "port": True})
        yield from missing(page, {*members(session, deep=False), *members(session["trust"])}, "member")
        recording = ask("POST", "/sessions", {"cassette": "new.json", "mode": "once"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": recording["proxy"]}))
        opener.open(url + "/4").close()
        for session_id in (session["id"], recording["id"]):
            report = ask("DELETE", f"/sessions/{session_id}")
            details = report.pop("report", {})
            yield from missing(page, members(report), "member of a report")
            yield from missing("docs/replay-report.md", members(details), "member")
        description = ask("GET", "/openapi.json")
        for kind in ("Order", "Session", "Report"):
            yield from missing(page, description["components"]["schemas"][kind]["properties"], f"member of {kind} in /openapi.json")
    finally:
        process.stdin.close()
        process.wait(30)
