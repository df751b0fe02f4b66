"""The programs whose gzip bodies are recorded: each writes its own under www/coded/NAME/, but for nginx, which codes as it answers.

Go is asked where it is installed; its compress/flate is no zlib, so nothing else stands in for it.
"""
import base64
import gzip
import http.server
import io
import json
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading
import zlib

NODE = """
const [fs, zlib, path, stream] = ["fs", "zlib", "path", "stream"].map(require);
const [from, to] = process.argv.slice(1);
for (const name of fs.readdirSync(from)) {
    const octets = fs.readFileSync(path.join(from, name));
    fs.writeFileSync(path.join(to, name), zlib.gzipSync(octets));
    fs.writeFileSync(path.join(to, "9-" + name), zlib.gzipSync(octets, {level: 9}));
    // As the middleware "compression" does it: a stream with chunks of 16 KiB.
    const pieces = [];
    const coder = zlib.createGzip({chunkSize: 16384});
    coder.on("data", piece => pieces.push(piece)).on("end", () => fs.writeFileSync(path.join(to, "s-" + name), Buffer.concat(pieces)));
    for (let at = 0; at < octets.length; at += 16384) coder.write(octets.subarray(at, at + 16384));
    coder.end();
}
"""
GO = """
package main
import ("compress/gzip"; "os"; "path/filepath")
func main() {
    names, _ := filepath.Glob(os.Args[1] + "/*")
    for _, name := range names {
        octets, _ := os.ReadFile(name)
        file, _ := os.Create(os.Args[2] + "/" + filepath.Base(name))
        coder := gzip.NewWriter(file)
        coder.Write(octets)
        coder.Close()
        file.Close()
    }
}
"""
PAGE = """<!doctype html><meta charset=utf-8><script>
(async () => {
    for (const [name, data] of DOCUMENTS) {
        const octets = Uint8Array.from(atob(data), c => c.charCodeAt(0));
        const coded = new Blob([octets]).stream().pipeThrough(new CompressionStream("gzip"));
        await fetch("/" + name, {method: "POST", body: await new Response(coded).blob()});
    }
    await fetch("/done", {method: "POST", body: ""});
})();
</script>"""


def documents():
    """60 texts from 300 octets to 200 KB: JSON, HTML and prose."""
    noise, texts = random.Random(3), []
    words = ["".join(noise.choices("etaoinshrdlucmfwyp", k=noise.randint(2, 9))) for _ in range(800)]
    for number in range(60):
        size = int(300 * (200_000 / 300) ** (number / 59))
        text = io.StringIO()
        while text.tell() < size:
            if number % 3 == 0:
                text.write(json.dumps({"id": text.tell(), "name": noise.choice(words), "value": "%016x" % noise.getrandbits(64), "ok": True}) + "\n")
            elif number % 3 == 1:
                text.write(f'<li class="{noise.choice(words)}"><a href="/{noise.choice(words)}">{noise.choice(words)}</a></li>\n')
            else:
                text.write(" ".join(noise.choices(words, k=12)) + ". ")
        texts.append(text.getvalue().encode())
    return texts


def python(source, target):
    for file in source.iterdir():
        octets = file.read_bytes()
        for level in (1, 6, 9):
            (target / f"{level}-{file.name}").write_bytes(gzip.compress(octets, level))
        # As a framework's middleware does it: gzip.GzipFile, level 9.
        stream = io.BytesIO()
        with gzip.GzipFile(mode="wb", fileobj=stream, compresslevel=9) as coder:
            coder.write(octets)
        (target / f"f-{file.name}").write_bytes(stream.getvalue())
        # As aiohttp does it: zlib with a gzip wrapping.
        coder = zlib.compressobj(wbits=31)
        (target / f"z-{file.name}").write_bytes(coder.compress(octets) + coder.flush())


def node(source, target):
    subprocess.run([shutil.which("node"), "-e", NODE, str(source), str(target)], stdin=subprocess.DEVNULL, check=True, timeout=120)


def go(source, target):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "main.go")
        program.write_text(GO)
        subprocess.run([shutil.which("go"), "run", str(program), str(source), str(target)], check=True, timeout=300)


def chromium(source, target):
    listing = [[file.name, base64.b64encode(file.read_bytes()).decode()] for file in sorted(source.iterdir())]
    done = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, octets=b""):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(octets)))
            self.end_headers()
            self.wfile.write(octets)

        def do_GET(self):
            self.answer(PAGE.replace("DOCUMENTS", json.dumps(listing)).encode())

        def do_POST(self):
            octets = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path == "/done":
                done.set()
            else:
                (target / pathlib.PurePath(self.path).name).write_bytes(octets)
            self.answer()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = subprocess.Popen(
            [shutil.which("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
             "--disable-background-networking", "--no-proxy-server", f"--user-data-dir={folder}", f"http://127.0.0.1:{server.server_port}/"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        came = done.wait(120)
        browser.terminate()
        browser.wait(20)
    server.shutdown()
    if not came:
        raise RuntimeError("chromium coded nothing within two minutes")


def write(bench):
    """Lets every installed program code the documents; gives the paths to ask for, by the program."""
    source = bench.www / "texts"
    asked = {}
    if not source.exists():
        source.mkdir()
        for number, text in enumerate(documents()):
            (source / str(number)).write_bytes(text)
        for program in (python, node, go, chromium):
            if program is not python and not shutil.which(program.__name__):
                continue
            target = bench.www / "coded" / program.__name__
            target.mkdir(parents=True)
            program(source, target)
    for target in sorted((bench.www / "coded").iterdir()):
        asked[target.name] = [f"/coded/{target.name}/{file.name}" for file in sorted(target.iterdir())]
    asked["nginx"] = [f"/live/nginx/{level}/{file.name}" for level in (1, 6) for file in sorted(source.iterdir())]
    return asked
