"""Chromium: aborted fetches, media with seeks, event streams, CORS, integrity, misses, answers by Accept."""
import base64
import hashlib
import io
import json
import struct
import threading
import urllib.parse
import wave

from harness import FileHandler

NEEDS = "chromium:chromium"
PYPI = ["playwright==1.65.2"]
BOUND = 900
SECRET = "hunter2hunter2"
TOKENS = [hashlib.sha256(b"token %d" % n).hexdigest()[:40] for n in range(5)]
# An origin that holds an answer back lets it go after this time at the latest.
HELD = 30

# Opens the page through the proxy and prints its log once the page says that it is done.
DRIVER = """
import os, sys
from playwright.sync_api import sync_playwright
# Chromium asks its maker for updates whatever its settings: these hosts do not come to the proxy, and are not found elsewhere.
MAKERS = "<-loopback>,*.googleapis.com,*.google.com,*.gvt1.com,*.gstatic.com"
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", proxy={"server": os.environ["http_proxy"], "bypass": MAKERS},
                                         args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--disable-background-networking", "--disable-component-update", "--disable-sync",
                                               "--disable-domain-reliability", "--disable-client-side-phishing-detection", "--no-first-run",
                                               "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"])
    page = browser.new_page()
    page.goto(sys.argv[1], wait_until="commit")
    page.wait_for_function("window.done", timeout=60000)
    print(page.inner_text("#log"))
    browser.close()
"""

PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>{name}</title><pre id="log"></pre>
<script>
const other = "{other}";
const log = (...words) => document.getElementById("log").append(words.join(" ") + "\\n");
const seen = path => fetch("/seen?" + encodeURIComponent(path), {{cache: "no-store"}}).then(answer => answer.text());
const text = async (url, options) => {{
  try {{ const answer = await fetch(url, options); return answer.status + " " + (await answer.text()).trim(); }}
  catch (error) {{ return error.name; }}
}};
(async () => {{ {script} }})().catch(error => log("failed", error.name, error.message)).finally(() => window.done = true);
</script>"""

# Each page's script; a request that is aborted before its answer waits until the origin has it.
PAGES = {
    "typeahead": """
        let last, waiting = [];
        for (const typed of ["w", "wi", "wir", "wire"]) {
          last?.abort();
          last = new AbortController();
          waiting.push(text("/search?q=" + typed, {signal: last.signal}));
          if (typed !== "wire") await seen("/search?q=" + typed);
        }
        for (const answer of await Promise.all(waiting)) log(answer);
        log(await text("/search?q=wire"));""",
    "aborted-body": """
        for (let turn = 0; turn < 2; turn++) {
          const abort = new AbortController();
          const answer = await fetch("/trickle?" + turn, {signal: abort.signal});
          const reader = answer.body.getReader();
          log(new TextDecoder().decode((await reader.read()).value));
          abort.abort();
          log(await reader.read().then(() => "went on", error => error.name));
        }
        log(await text("/plain?after"));""",
    "double-effect": """
        const effect = () => { const abort = new AbortController(); return [text("/data?held-once", {signal: abort.signal}), () => abort.abort()]; };
        const [first, clean] = effect();
        await seen("/data?held-once");
        clean();
        const [second] = effect();
        log(await first); log(await second);""",
    "audio": """
        const audio = new Audio("/tone.wav"), wait = name => new Promise(done => audio.addEventListener(name, done, {once: true}));
        audio.preload = "auto";
        await wait("loadedmetadata");
        log("duration", audio.duration);
        for (const time of [50, 5, 95, 20]) { const sought = wait("seeked"); audio.currentTime = time; await sought; log("at " + audio.currentTime + (audio.error ? " failed" : "")); }
        log("range", await text("/plain.txt", {headers: {Range: "bytes=0-4"}}), await text("/plain.txt", {headers: {Range: "bytes=5-9"}}));""",
    "cancelled-download": """
        const answer = await fetch("/endless");
        const reader = answer.body.getReader();
        const first = await reader.read();
        log(answer.status, first.value.length > 0);
        await reader.cancel();
        log(await text("/plain?after"));""",
    "events": """
        const source = new EventSource("/events"), got = [];
        await new Promise(done => source.onmessage = event => { got.push(event.lastEventId + "=" + event.data); if (got.length === 6) done(); });
        source.close();
        log(got.join(" "));""",
    "lines": """
        const abort = new AbortController();
        const answer = await fetch("/lines", {signal: abort.signal});
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let all = "";
        while (all.split("\\n").length < 4) all += (await reader.read()).value;
        abort.abort();
        log(all.split("\\n").slice(0, 3).join(" "));
        log(await text("/plain?after"));""",
    "cors": """
        const post = n => text(other + "/data?" + n, {method: "POST", headers: {"Content-Type": "application/json", "X-Turn": String(n)}, body: JSON.stringify({n})});
        log(await post(1)); log(await post(2)); log(await text(other + "/data?cached"));
        log((await Promise.all([post(3), post(4), post(5)])).join(" | "));
        log(await text(other + "/data?put", {method: "PUT", body: "a"}));
        log(await text(other + "/closed", {method: "PUT", body: "a"}));""",
    "miss": """
        const asked = location.hash.slice(1);
        log(await text("/plain?known"));
        log((await text("/plain?" + asked)).slice(0, 3));
        log((await text(other + "/data?" + asked)).slice(0, 3));
        log((await text(other + "/data?" + asked, {method: "PUT", body: "a"})).slice(0, 3));""",
    "accept": """
        for (const kind of ["application/json", "text/html", "text/csv"]) log(await text("/kind", {headers: {Accept: kind}, cache: "no-store"}));
        log((await Promise.all(["text/csv", "application/json", "text/html"].map(kind => text("/kind", {headers: {Accept: kind}, cache: "no-store"})))).join(" | "));""",
    "integrity": """
        await new Promise(done => { const script = document.createElement("script"); script.src = "/script.js"; script.integrity = "{integrity}"; script.onload = () => { log("ran", window.ran); done(); };
          script.onerror = () => { log("refused"); done(); }; document.head.append(script); });
        log(await text("/plain.txt", {integrity: "{plain_integrity}"}));""",
    "images": """
        const tokens = JSON.parse((await text("/tokens")).slice(4));
        const load = n => new Promise(done => { const image = new Image(); image.onload = () => done(n + ":" + image.naturalWidth); image.onerror = () => done(n + ": none"); image.src = "/image?token=" + tokens[n]; });
        const loaded = [];
        for (const n of location.hash.slice(1).split("")) loaded.push(await load(n));
        log(loaded.sort().join(" "));
        log((await Promise.all(location.hash.slice(1).split("").map(load))).sort().join(" "));""",
    "forms": """
        const form = new FormData();
        form.append("name", "value"); form.append("file", new Blob(["content"], {type: "text/plain"}), "name.txt");
        log(await text("/upload", {method: "POST", body: form}));
        log(await text("/upload", {method: "POST", body: new URLSearchParams({a: 1, b: "ü"})}));
        log(navigator.sendBeacon("/beacon", "left"));
        log(await text("/redirect"));
        log(await text("/plain.txt", {cache: "no-cache"}), await text("/plain.txt", {cache: "no-cache"}));""",
}


class Origin(FileHandler):
    """What the pages ask for. `state` has the requests that came, so that an answer can wait for another request."""

    pages, state, is_other = {}, None, False

    def do_GET(self):
        content = self.body()
        path, _, query = self.path.partition("?")
        with self.state:
            self.state.came[self.path] = self.state.came.get(self.path, 0) + 1
            turn = self.state.came[self.path]
            self.state.notify_all()
        if path.startswith("/page/"):
            return self.answer(200, self.pages[path.removeprefix("/page/")], "text/html; charset=utf-8", Cache_Control="no-store")
        if path == "/seen":
            self.wait(lambda: self.state.came.get(urllib.parse.unquote(query)))
            return self.answer(200, "seen\n")
        if path == "/search":
            if query != "q=wire":
                self.leave_open()
                return None
            return self.answer(200, f"results for {query} {turn}\n", Cache_Control="no-store")
        if path == "/data" and query == "held-once":
            if turn == 1:
                self.leave_open()
                return None
            return self.answer(200, "the second one\n", Cache_Control="no-store")
        if path in ("/trickle", "/endless", "/lines", "/events"):
            return self.stream(path, query)
        if path == "/kind":
            kind = self.headers.get("Accept", "")
            return self.answer(200, f"as {kind}\n", kind if "," not in kind else "text/plain", Vary="Accept", Cache_Control="max-age=60")
        if path in ("/data", "/closed") and self.is_other:
            return self.cross(path, query, content)
        if path == "/tokens":
            return self.answer(200, json.dumps(TOKENS), "application/json", Cache_Control="no-store")
        if path == "/image":
            return self.answer(200, bitmap(TOKENS.index(query.removeprefix("token=")) + 1), "image/bmp", Cache_Control="no-store")
        if path == "/upload":
            return self.answer(200, f"{len(content) > 0} {self.headers['Content-Type'].split(';')[0]}\n")
        if path == "/beacon":
            return self.answer(204)
        if path == "/redirect":
            return self.answer(302, "", Location="/plain.txt?redirected")
        if path == "/plain":
            return self.answer(200, f"plain {query}\n", Cache_Control="no-store")
        super().do_GET()

    do_POST = do_PUT = do_OPTIONS = do_GET

    def wait(self, condition):
        with self.state:
            self.state.wait_for(condition, HELD)

    def leave_open(self):
        """No answer: waits until the client leaves."""
        self.connection.settimeout(HELD)
        try:
            self.connection.recv(1)
        except OSError:
            pass
        self.close_connection = True

    def stream(self, path, query):
        last = int(self.headers.get("Last-Event-ID") or 0)
        pieces = {"/trickle": [f"first piece of {query}"], "/endless": [bytes(70_000)] * 3,
                  "/lines": [json.dumps({"line": n}) + "\n" for n in range(3)],
                  "/events": [f"id: {n}\ndata: event {n} after {last}\n\n" for n in range(last + 1, last + 4)]}[path]
        self.send_response(200)
        self.send_header("Content-Type", {"/events": "text/event-stream", "/lines": "application/x-ndjson"}.get(path, "application/octet-stream"))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if path == "/events":
            pieces.insert(0, "retry: 10\n\n")
        for piece in pieces:
            piece = piece.encode() if isinstance(piece, str) else piece
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if path == "/events" and last < 3:
            return self.wfile.write(b"0\r\n\r\n")
        return self.leave_open()

    def cross(self, path, query, content):
        allowed = {"Access_Control_Allow_Origin": self.headers.get("Origin", "*"), "Vary": "Origin"} if path != "/closed" else {}
        if self.command == "OPTIONS":
            if path == "/closed":
                return self.answer(403, "closed\n")
            return self.answer(204, Access_Control_Allow_Methods="POST, PUT", Access_Control_Allow_Headers="content-type, x-turn", Access_Control_Max_Age="600", **allowed)
        return self.answer(200, f"{self.command} {query} {content.decode()}\n", Cache_Control="no-store", **allowed)


def run(lab):
    files = {"/tone.wav": ("audio/wav", tone(100)), "/plain.txt": ("text/plain", b"the plain text\n"),
             "/script.js": ("text/javascript", f'window.config = {{password: "{SECRET}"}};\nwindow.ran = "to the end";\n'.encode())}
    pages, state = {}, State()
    second = lab.serve(Origin, files=files, state=state, is_other=True)
    origin = lab.serve(Origin, files=files, pages=pages, state=state)
    for name, script in PAGES.items():
        script = script.replace("{integrity}", integrity(files["/script.js"][1])).replace("{plain_integrity}", integrity(files["/plain.txt"][1]))
        pages[name] = PAGE.format(name=name, other=second, script=script)
    driver = lab.write("driver.py", DRIVER)
    python = lab.tools / "bin" / "python"
    for name, expected in EXPECTED.items():
        # The player decides by time how far it reads ahead, so a replay may lack a range. The answers that it has are the right ones.
        lab.record(name, [python, driver, f"{origin}/page/{name}"], unused=True, expect=expected, lenient=name == "audio",
                   normalize=left_or_answered if name == "double-effect" else None)
    # A script without its secret does not have the digest that the page names: the browser refuses it, and the recording has to say so, and how
    # to keep the script.
    checked = [python, driver, f"{origin}/page/integrity"]
    keep = ["--keep", f"body:sha256:{hashlib.sha256(files['/script.js'][1]).hexdigest()}"]
    ran = ["ran to the end\n200 the plain text"]
    lab.record("integrity", checked, unused=True, expect=ran, secrets=[(SECRET, "password")], normalize=refused,
               record_says=["contains the SHA-384 digest of a body", " ".join(keep)])
    lab.record("integrity-kept", checked, unused=True, expect=ran, record_options=keep)
    miss = lab.record("miss", [python, driver, f"{origin}/page/miss#known"], replayed=[python, driver, f"{origin}/page/miss#unknown"], unused=True, wiretape=3,
                      expect=["200\n200\n200"], compare=False)
    lab.record("images", [python, driver, f"{origin}/page/images#01234"], replayed=[python, driver, f"{origin}/page/images#31402"], unused=True,
               expect=["0:1 1:2 2:3 3:4 4:5\n"])
    lab.replay()
    output = miss.folder / "replayed" / "stdout"
    lab.check(output.exists() and output.read_text().split("\n")[1:4] == ["424"] * 3, f"miss: the page does not see the status of a miss: {output.read_bytes()!r}", miss.folder)


EXPECTED = {
    "typeahead": ["AbortError\nAbortError\nAbortError\n200 results for q=wire 1\n200 results for q=wire 2"],
    "aborted-body": ["first piece of 0\nAbortError\nfirst piece of 1\nAbortError\n200 plain after"],
    "double-effect": ["AbortError\n200 the second one"],
    "audio": ["duration 100", "at 95\nat 20", "range 206 the p 206 lain"],
    "cancelled-download": ["200 true\n200 plain after"],
    "events": ["1=event 1 after 0 2=event 2 after 0 3=event 3 after 0 4=event 4 after 3"],
    "lines": ['{"line": 0} {"line": 1} {"line": 2}\n200 plain after'],
    "cors": ['200 POST 1 {"n":1}\n200 POST 2 {"n":2}\n200 GET cached', '200 POST 4 {"n":4}', "200 PUT put a\nTypeError"],
    "accept": ["200 as application/json\n200 as text/html\n200 as text/csv\n200 as text/csv | 200 as application/json | 200 as text/html"],
    "forms": ["200 True multipart/form-data\n200 True application/x-www-form-urlencoded", "true\n200 the plain text\n200 the plain text 200 the plain text"],
}


def left_or_answered(name, content):
    """A replay answers at once, so its page may have the answer before it aborts the first of its two requests."""
    return content.replace(b"200 the second one\n" * 2, b"AbortError\n200 the second one\n") if name == "stdout" else content


def refused(name, content):
    """The browser refuses the redacted script, and nothing else."""
    return content.replace(b"ran to the end\n", b"refused\n") if name == "stdout" else content


class State(threading.Condition):
    def __init__(self):
        super().__init__()
        self.came = {}


def integrity(content):
    return "sha384-" + base64.b64encode(hashlib.sha384(content).digest()).decode()


def tone(seconds):
    """A WAV file of noise that does not compress, long enough that a player seeks with ranges."""
    import random
    output = io.BytesIO()
    with wave.open(output, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(44100)
        file.writeframes(random.Random(1).randbytes(seconds * 44100 * 4))
    return output.getvalue()


def bitmap(size):
    """A square picture in the format BMP, whose size says which one it is."""
    row = b"\x10\x20\x30" * size + bytes(-3 * size % 4)
    pixels = row * size
    return b"BM" + struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, size, size, 1, 24, 0, len(pixels), 2835, 2835, 0, 0) + pixels
