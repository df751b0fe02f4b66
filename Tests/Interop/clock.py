"""`--clock recorded`: requests with an expired token, curl, Node and git run at the time of a recording that is ten months old, over HTTPS."""
import subprocess

from harness import free_port

NEEDS = "curl:curl node:nodejs git:git openssl:openssl"
PYPI = ["PyJWT==2.11.0", "requests==2.34.2"]

# In seconds. The origin and the recorder run that long ago, by the same library as the replayed clients.
OFFSET = -26_000_000

ORIGIN = """
import base64, functools, http.server, json, ssl, sys, time
def part(value): return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
class Origin(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.path != "/token":
            return super().do_GET()
        now = int(time.time())
        body = json.dumps({"ticket": f'{part({"alg": "none"})}.{part({"sub": "cat", "iat": now, "exp": now + 300})}.'}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), functools.partial(Origin, directory=sys.argv[2]))
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[3])
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
"""

# The client checks the token's time, and sleeps: a moved clock must not break waits.
REQUESTS = """
import datetime, jwt, requests, sys, time
ticket = requests.get(sys.argv[1] + "/token").json()["ticket"]
time.sleep(0.01)
claims = jwt.decode(ticket, options={"verify_signature": False, "verify_exp": True, "verify_iat": True})
print(sorted(claims), datetime.date.today().strftime("%Y-%m"))
"""

NODE = """
const http = require("http"), tls = require("tls"), url = new URL(process.argv[2]), proxy = new URL(process.env.https_proxy);
http.request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: url.host }).on("connect", (_, socket) => {
  const secure = tls.connect({ socket, servername: url.hostname }, () => secure.write(`GET /pets HTTP/1.1\\r\\nHost: ${url.host}\\r\\nConnection: close\\r\\n\\r\\n`));
  let text = "";
  secure.on("data", data => text += data);
  secure.on("end", () => setTimeout(() => console.log(text.split("\\r\\n")[0], secure.authorized, new Date().toISOString().slice(0, 7)), 10));
}).end();
"""


def run(lab):
    library = lab.wiretape.parent / "libwiretape-clock.so"
    if not lab.check(library.exists(), f"there is no {library}: \"swift build --product wiretape-clock\" builds it"):
        return
    past = lab.environment | {"LD_PRELOAD": str(library), "WIRETAPE_CLOCK_OFFSET": str(OFFSET)}

    def done(*words, environment=lab.environment):
        return subprocess.run([str(word) for word in words], env=environment, cwd=lab.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False, text=True)

    pem, site = lab.path("origin.pem"), lab.path("site")
    done("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost", "-keyout", pem, "-out", lab.path("cert.pem"), environment=past)
    pem.write_bytes(pem.read_bytes() + lab.path("cert.pem").read_bytes())
    lab.write("site/pets", "cat\n")
    done("git", "init", "-q", lab.path("work"))
    lab.write("work/pets", "cat\n")
    done("git", "-C", lab.path("work"), "add", "pets")
    done("git", "-C", lab.path("work"), "-c", "user.name=a", "-c", "user.email=a@b.test", "commit", "-q", "-m", "pets")
    done("git", "clone", "-q", "--bare", lab.path("work"), site / "pets.git")
    done("git", "-C", site / "pets.git", "update-server-info")

    port, python = free_port(), lab.tools / "bin" / "python"
    lab.start("origin", [python, lab.write("origin.py", ORIGIN), port, site, pem], port, environment=past)
    url = f"https://localhost:{port}"
    cases = {
        "requests": [python, lab.write("client.py", REQUESTS), url],
        "curl": ["sh", "-c", f"date -u +%Y-%m; curl -sSf {url}/pets"],
        "node": ["node", lab.write("client.js", NODE), url],
        "git": ["sh", "-c", f"rm -rf clone; git clone -q {url}/pets.git clone; cat clone/pets; git -C clone log --format=%s"],
    }
    recorded = {}
    for name, command in cases.items():
        recorded[name] = done(lab.wiretape, "record", lab.path(f"{name}.json"), "--upstream-ca", lab.path("cert.pem"), "--ca-dir", lab.path("old-ca"), "--", *command, environment=past)
        log = lab.write(f"{name}.record.log", recorded[name].stdout + recorded[name].stderr)
        lab.check(recorded[name].returncode == 0 and recorded[name].stdout, f"{name}: the recording ended with {recorded[name].returncode}", log)
    lab.stop_origins()
    # The authority of the replays is new.
    for name, command in cases.items():
        for options in ((), ("--isolate",)):
            replay = done(lab.wiretape, "replay", lab.path(f"{name}.json"), "--clock", "recorded", "--fail-on", "miss,unused", *options, "--", *command)
            log = lab.write(f"{name}.replay{''.join(options)}.log", replay.stdout + replay.stderr)
            lab.check(replay.returncode == 0, f"{name}: the replay ended with {replay.returncode}", log)
            lab.check(replay.stdout == recorded[name].stdout, f"{name}: the replay printed {replay.stdout!r} instead of {recorded[name].stdout!r}", log)
    late = done(lab.wiretape, "replay", lab.path("requests.json"), "--", *cases["requests"])
    lab.check(late.returncode != 0 and "ExpiredSignatureError" in late.stderr, "requests: the token is not expired today", lab.write("late.log", late.stdout + late.stderr))
