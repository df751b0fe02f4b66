"""Node and npm: fetch and http with and without a proxy, URLs in the path, a package from a registry."""
import base64
import hashlib
import io
import json
import tarfile

from harness import Handler

NEEDS = "node:nodejs npm:npm curl:curl"

FETCH = """
const prefix = process.argv[3] ?? "";
for (const path of ["/one", "/two", "/json"]) {
  const answer = await fetch(prefix + process.argv[2] + path, { method: path === "/two" ? "POST" : "GET", body: path === "/two" ? "a=1" : undefined });
  console.log(path, answer.status, await answer.text());
}
"""
HTTP = """
import http from "node:http";
const proxy = new URL(process.env.http_proxy);
const ask = (path, agent) => new Promise((done, failed) => http.get({ host: proxy.hostname, port: proxy.port, path: process.argv[2] + path, agent,
  headers: { host: new URL(process.argv[2]).host } }, answer => {
  let text = "";
  answer.on("data", piece => text += piece).on("end", () => done(`${path} ${answer.statusCode} ${text}`));
}).on("error", failed));
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
const answers = await Promise.all(["/one", "/two", "/three", "/one", "/slow?1", "/slow?2"].map(path => ask(path, agent)));
console.log(answers.join(""));
agent.destroy();
"""


class Origin(Handler):
    packages, url = {}, None

    def respond(self):
        content = self.body().decode()
        if self.path.startswith("/tiny"):
            return self.package()
        if self.path == "/json":
            return self.answer(200, json.dumps({"path": self.path, "list": [1, 2, 3]}) + "\n", "application/json")
        self.answer(200, f"{self.command} {self.path} {content}\n")

    def package(self):
        archive = self.packages["tiny"]
        if self.path.endswith(".tgz"):
            return self.answer(200, archive, "application/octet-stream")
        tarball = f"http://{self.headers['Host']}/tiny/-/tiny-1.0.0.tgz"
        version = {"name": "tiny", "version": "1.0.0", "dist": {
            "tarball": tarball, "shasum": hashlib.sha1(archive).hexdigest(),
            "integrity": "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()}}
        self.answer(200, json.dumps({"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}), "application/json")

    do_GET = do_POST = do_PUT = respond


def run(lab):
    origin = lab.serve(Origin, packages={"tiny": archive()})
    fetch, http = lab.write("fetch.mjs", FETCH), lab.write("http.mjs", HTTP)

    # Node's own fetch takes no proxy before version 24: a run that saw nothing is not green, and says why.
    version = int(lab.client(["node", "-p", "process.versions.node"]).stdout.decode().split(".")[0])
    if version < 24:
        plain = Unasked(lab, "fetch-around-the-proxy", ["node", fetch, origin])
        plain.check()
        Unasked(lab, "script-around-the-proxy", ["sh", "-c", f"node {fetch} {origin}"]).check()
    lab.record("fetch-with-prefix", f'node {fetch} {origin} "$WIRETAPE_REVERSE"', expect=["/json 200", "POST /two a=1"])
    lab.record("http-at-once", ["node", http, origin], expect=["GET /one", "GET /slow?2"])

    npm = f"npm install --no-audit --no-fund --no-update-notifier --loglevel=error --registry {origin}"
    lab.record("npm-install", f"echo '{{}}' >package.json\n{npm} tiny\nnode -p 'require(\"tiny\")'", expect=["hello from tiny"], normalize=package_files)
    lab.record("npm-view", f"npm view --registry {origin} tiny version dist.integrity", expect=["1.0.0"], normalize=package_files)
    lab.replay()


class Unasked:
    """A client that goes round the proxy, recorded and replayed while its origin is there."""

    def __init__(self, lab, name, command):
        self.lab, self.name, self.command, self.folder = lab, name, command, lab.path("unasked", name)

    def check(self):
        self.folder.mkdir(parents=True)
        tape = self.folder / "tape.json"
        done = self._run("record", tape)
        self.lab.check(not (self.folder / "tape.json").exists(), f"{self.name}: a recording of nothing left a cassette", self.folder)
        self.lab.check(b"node" in done.stderr.lower(), f"{self.name}: the recording does not name node: {done.stderr.decode()!r}", self.folder)
        # A cassette that has what the client asks for, but the client asks the origin.
        seeded = self._run("record", tape, ["sh", "-c", f'{" ".join(map(str, self.command[:2]))} {self.command[2]} "$WIRETAPE_REVERSE"']
                           if len(self.command) == 3 and self.command[0] == "node" else ["curl", "-sS", f"{origin_of(self.command)}/one"])
        self.lab.check(seeded.returncode == 0 and tape.exists(), f"{self.name}: no cassette was made: {seeded.stderr.decode()}", self.folder)
        done = self._run("replay", tape)
        self.lab.check(done.returncode != 0, f"{self.name}: a replay that was asked nothing ended with 0", self.folder)
        self.lab.check(b"node" in done.stderr.lower(), f"{self.name}: the replay does not name node: {done.stderr.decode()!r}", self.folder)

    def _run(self, verb, tape, command=None):
        done = self.lab.client([self.lab.wiretape, verb, tape, "--", *(command or self.command)])
        (self.folder / f"{verb}.log").write_bytes(done.stdout + done.stderr)
        return done


def origin_of(command):
    return str(command[-1]).split()[-1]


def archive():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in {"package/package.json": b'{"name": "tiny", "version": "1.0.0", "main": "index.js"}\n',
                              "package/index.js": b'module.exports = "hello from tiny";\n'}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def package_files(name, content):
    """npm prints how long it took."""
    return None if name in ("stdout", "stderr") and b"added" in content else content
