"""vcrpy, betamax, mitmproxy, Playwright and nock write recordings: imported, verified, and replayed to the same answers."""
import http.server
import json
import subprocess
import urllib.parse

NEEDS = "/usr/bin/chromium:chromium node:nodejs /usr/share/nodejs/nock:node-nock"
PYPI = ["betamax==0.9.0", "mitmproxy==11.0.2", "playwright==1.65.2", "requests==2.34.2", "vcrpy==9.4.2"]
BOUND = 900

# What the clients ask, in order. Each line is one request: method, path, body.
REQUESTS = [
    ("GET", "/json?page=1", None),
    ("GET", "/json?page=2&q=a%20b", None),
    ("POST", "/echo", '{"name":"Zoë","tags":["a","b"]}'),
    ("GET", "/binary", None),
    ("GET", "/gzip", None),
    ("GET", "/missing", None),
    ("DELETE", "/item/7", None),
]

REQUESTS_CLIENT = """
import hashlib, json, sys
def ask(session, url):
    for method, path, body in json.loads(sys.argv[2]):
        headers = {"Content-Type": "application/json"} if body else {}
        answer = session.request(method, url + path, data=body.encode() if body else None, headers=headers)
        print(method, path, answer.status_code, answer.headers.get("X-Kind"), hashlib.sha256(answer.content).hexdigest(), flush=True)
"""

WRITERS = {
    "vcrpy": REQUESTS_CLIENT + """
import requests, vcr
with vcr.use_cassette(sys.argv[3]):
    ask(requests.Session(), sys.argv[1])
""",
    "betamax": REQUESTS_CLIENT + """
import betamax, os, requests
session = requests.Session()
folder, file = os.path.split(sys.argv[3])
with betamax.Betamax(session, cassette_library_dir=folder).use_cassette(os.path.splitext(file)[0], record="all", preserve_exact_body_bytes=True):
    ask(session, sys.argv[1])
""",
    "mitmproxy": REQUESTS_CLIENT + """
import os, requests, socket, subprocess, time
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
process = subprocess.Popen([os.path.join(os.path.dirname(sys.executable), "mitmdump"), "--quiet", "--listen-host", "127.0.0.1", "--listen-port", str(port), "--save-stream-file", sys.argv[3]])
try:
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            if process.poll() is not None:
                raise
            time.sleep(0.05)
    session = requests.Session()
    session.trust_env, session.proxies = False, {"http": "http://127.0.0.1:%d" % port}
    ask(session, sys.argv[1])
finally:
    process.terminate()
    process.wait()
""",
    "playwright": """
import hashlib, json, sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    context = browser.new_context(record_har_path=sys.argv[3], record_har_content="embed")
    page = context.new_page()
    page.goto(sys.argv[1] + "/page")
    for method, path, body in json.loads(sys.argv[2]):
        kind, status, text = page.evaluate('''async ([method, path, body]) => {
            const answer = await fetch(path, {method, body, headers: body ? {"Content-Type": "application/json"} : {}})
            return [answer.headers.get("X-Kind"), answer.status, Array.from(new Uint8Array(await answer.arrayBuffer()))]
        }''', [method, path, body])
        print(method, path, status, kind, hashlib.sha256(bytes(text)).hexdigest(), flush=True)
    context.close()
    browser.close()
""",
    "nock": """
const nock = require("nock"), http = require("http"), zlib = require("zlib"), fs = require("fs"), crypto = require("crypto");
const [url, requests, file] = process.argv.slice(2);
const ask = (method, path, body) => new Promise((done, failed) => {
  const request = http.request(url + path, { method, headers: body ? { "Content-Type": "application/json" } : {} }, answer => {
    const pieces = [];
    answer.on("data", piece => pieces.push(piece)).on("end", () => {
      const bytes = Buffer.concat(pieces), content = answer.headers["content-encoding"] ? zlib.gunzipSync(bytes) : bytes;
      done([method, path, answer.statusCode, answer.headers["x-kind"], crypto.createHash("sha256").update(content).digest("hex")].join(" "));
    });
  }).on("error", failed);
  request.end(body ?? undefined);
});
(async () => {
  nock.recorder.rec({ output_objects: true, dont_print: true });
  for (const [method, path, body] of JSON.parse(requests)) console.log(await ask(method, path, body));
  fs.writeFileSync(file, JSON.stringify(nock.recorder.play()));
})();
""",
}

FILES = {"vcrpy": "vcrpy.yaml", "betamax": "betamax.json", "mitmproxy": "mitmproxy.flow", "playwright": "playwright.har", "nock": "nock.json"}

# Asks again through the replay, and prints what the writer's client printed.
READER = REQUESTS_CLIENT + "import requests\nask(requests.Session(), sys.argv[1])\n"

# Reads the imported cassette by the rules of its documentation, without wiretape.
JUDGE = """
import json, sys, urllib.parse
for interaction in json.load(open(sys.argv[1]))["interactions"]:
    url = urllib.parse.urlsplit(interaction["request"]["url"])
    print(interaction["request"]["method"], url.path + ("?" + url.query if url.query else ""), interaction["response"]["status"])
"""


class Origin(http.server.BaseHTTPRequestHandler):
    """Answers with JSON, bytes, a coded body, and what it was sent."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        import gzip
        path = urllib.parse.urlsplit(self.path)
        if path.path == "/json":
            # As JSON.stringify spells it: nock keeps values, and not how they were spelled.
            text = json.dumps({"query": path.query, "name": "Zoë"}, separators=(",", ":"), ensure_ascii=False)
            self.answer(200, "application/json", text.encode())
        elif path.path == "/binary":
            self.answer(200, "application/octet-stream", bytes(range(256)) * 4)
        elif path.path == "/gzip":
            self.answer(200, "text/plain; charset=utf-8", gzip.compress("größer und größer\n".encode() * 50, mtime=0), [("Content-Encoding", "gzip")])
        elif path.path == "/page":
            self.answer(200, "text/html", b"<!doctype html><link rel='icon' href='data:,'><title>page</title>")
        else:
            self.answer(404, "text/plain", b"there is nothing")

    def do_POST(self):
        self.answer(201, "application/json", self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def do_DELETE(self):
        self.answer(204, "", b"")

    def answer(self, status, kind, body, fields=()):
        self.send_response(status)
        for name, value in [("X-Kind", f"k{status}"), *fields, *([("Content-Type", kind)] if kind else [])]:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def run(lab):
    origin = lab.serve(Origin)
    python = lab.tools / "bin" / "python"
    asked = json.dumps(REQUESTS)
    environment = lab.environment | {"no_proxy": "", "PYTHONDONTWRITEBYTECODE": "1", "NODE_PATH": "/usr/share/nodejs"}

    def command(words, **settings):
        return subprocess.run([str(word) for word in words], env=environment, cwd=lab.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=180, check=False, **settings)

    written = {}
    for tool, script in WRITERS.items():
        file = lab.path("written", FILES[tool])
        file.parent.mkdir(exist_ok=True)
        program, suffix = ("node", "cjs") if tool == "nock" else (python, "py")
        written[tool] = (file, command([program, lab.write(f"write-{tool}.{suffix}", script), origin, asked, file]))
    lab.stop_origins()
    reader, judge = lab.write("reader.py", READER), lab.write("judge.py", JUDGE)
    for tool, (file, result) in written.items():
        log = lab.write(f"{tool}.log", result.stdout + result.stderr)
        if not lab.check(result.returncode == 0 and len(result.stdout.splitlines()) == len(REQUESTS) and file.exists(), f"{tool}: its recording ended with {result.returncode}", log):
            continue
        cassette = lab.path(f"{tool}.tape.json")
        imported = command([lab.wiretape, "import", file, "--output", cassette])
        log = lab.write(f"{tool}.import.log", imported.stdout + imported.stderr)
        lab.check(imported.returncode == 0, f"{tool}: the import ended with {imported.returncode}", log)
        verified = command([lab.wiretape, "verify", cassette])
        lab.check(verified.returncode == 0, f"{tool}: the imported cassette is not sound: {verified.stdout}{verified.stderr}", log)
        judged = command([python, judge, cassette]).stdout.splitlines()
        expected = [" ".join(line.split(" ")[:3]) for line in result.stdout.splitlines()]
        lab.check([line for line in judged if " /page " not in line] == expected, f"{tool}: the cassette has {judged} instead of {expected}", log)
        replayed = command([lab.wiretape, "replay", cassette, "--", python, reader, origin, asked])
        log = lab.write(f"{tool}.replay.log", replayed.stdout + replayed.stderr)
        # A browser's recording has the page as well, which the reader does not ask for.
        lab.check(replayed.returncode == 0, f"{tool}: the replay ended with {replayed.returncode}", log)
        lab.check(replayed.stdout == result.stdout, f"{tool}: the replay answers otherwise", log)
