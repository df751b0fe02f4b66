#!/usr/bin/env python3
"""Checks README.md and docs: links and anchors, the length of the README, and with a program also what the pages show of it.

    check_pages.py                          links, anchors, length
    check_pages.py --wiretape PROGRAM       also docs/cli.md, exit codes, options, what is printed as JSON, and the shell blocks of README.md and docs as typed

The blocks run in a folder of their own against a local server that stands in for https://example.com.
"""
import argparse
import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading

import page_examples
import page_members

ROOT = pathlib.Path(__file__).resolve().parent.parent
README_LINES = 120


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "Drivers").glob("*/README.md"))]


def prose(text):
    """The text without code, whose brackets are not links; lines keep their numbers."""
    text = re.sub(r"^```.*?^```", lambda match: "\n" * match[0].count("\n"), text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path):
    """The anchors that GitHub derives from headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S), re.M):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def broken_links():
    for page in pages():
        for number, line in enumerate(prose(page.read_text()).splitlines(), 1):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, anchor = target.partition("#")
                path = (page.parent / file).resolve() if file else page
                if not path.exists():
                    yield f"{page.relative_to(ROOT)}:{number}: there is no {target}"
                elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                    yield f"{page.relative_to(ROOT)}:{number}: {file or page.name} has no #{anchor}"


def program_problems(program):
    """Checks what the pages say about the program."""
    dump = subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True).stdout
    made = subprocess.run([sys.executable, ROOT / "packaging/help_pages.py", "markdown"], input=dump, check=True, capture_output=True).stdout
    if (ROOT / "docs/cli.md").read_bytes() != made:
        yield "docs/cli.md is not what the program's help says: run make cli-reference"
    codes = set(re.findall(r"static let \w+: Int32 = (\d+)", (ROOT / "Sources/WiretapeCLI/CommandEnd.swift").read_text()))
    codes |= set(re.findall(r"case \w+ = (\d+)", (ROOT / "Sources/TapeProxy/Run/RunFailure.swift").read_text()))
    listed = set(re.findall(r"^\| (\d+) \|", made.decode(), re.M))
    if codes != listed:
        yield f"packaging/help_pages.py has the exit codes {sorted(listed)}, and the program {sorted(codes)}"
    known = {name for command in commands(json.loads(dump)["command"]) for option in command.get("arguments", []) for name in options(option)}
    for page in pages():
        for number, line in enumerate(page.read_text().splitlines(), 1):
            for command in re.findall(r"wiretape (?:record|replay|run|serve|inspect|show|import|export|redact|verify|diff|merge|prune|check|config|ca|env|ping|doctor)[^`|]*", line):
                for option in re.findall(r"(?<![\w-])--([a-z][a-z0-9-]*)", re.split(r" -- |;|\)\"|#", command)[0]):
                    if option not in known:
                        yield f"{page.relative_to(ROOT)}:{number}: wiretape has no option --{option}"


def commands(command):
    yield command
    for sub in command.get("subcommands", []):
        yield from commands(sub)


def options(option):
    for name in option.get("names", []):
        yield name["name"]


class World(http.server.BaseHTTPRequestHandler):
    """A proxy that answers for every host itself: over HTTP, and over HTTPS after CONNECT."""

    protocol_version = "HTTP/1.1"
    context = None

    def do_CONNECT(self):
        self.send_response(200)
        self.end_headers()
        self.connection = self.context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def do_GET(self):
        body = b"<h1>Example Domain</h1>\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def block_problems(program):
    """Runs the README's shell blocks, line by line, with one local server instead of the rest of the world."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    if len(blocks) < 2:
        yield "README.md has fewer than two shell blocks"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=example.com",
             "-addext", "subjectAltName=DNS:example.com", "-keyout", folder / "key.pem", "-out", folder / "world.pem"], check=True, capture_output=True)
        World.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        World.context.load_cert_chain(folder / "world.pem", folder / "key.pem")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), World)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "wiretape").symlink_to(pathlib.Path(program).resolve())
        (folder / "wiretape.yaml").write_text("upstreamCA: world.pem\n")
        (folder / "session.har").write_text(json.dumps({"log": {"version": "1.2", "creator": {"name": "a", "version": "1"}, "entries": [{
            "startedDateTime": "2026-11-21T04:19:28.123Z", "time": 1, "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0},
            "request": {"method": "GET", "url": "https://example.com/pets", "httpVersion": "HTTP/1.1", "headers": [], "queryString": [], "cookies": [],
                        "headersSize": -1, "bodySize": 0},
            "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": [], "cookies": [], "redirectURL": "", "headersSize": -1,
                         "bodySize": 2, "content": {"size": 2, "mimeType": "application/json", "text": "{}"}}}]}}))
        proxy = f"http://127.0.0.1:{server.server_address[1]}"
        environment = {
            "PATH": f"{bin_folder}:{os.environ['PATH']}", "HOME": str(folder), "https_proxy": proxy, "http_proxy": proxy, "LANG": "C.UTF-8",
        }
        outputs = {}
        for block in blocks:
            for line in block.strip().splitlines():
                if "replay" in line:
                    environment.update(https_proxy="http://127.0.0.1:1", http_proxy="http://127.0.0.1:1")
                done = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
                outputs[line] = done.stdout
                if done.returncode:
                    yield f"README.md: \"{line}\" exits with {done.returncode}: {done.stderr.strip()}"
        recorded, replayed = (next((out for line, out in outputs.items() if f"wiretape {word} " in line), None) for word in ("record", "replay"))
        if not recorded or recorded != replayed:
            yield f"README.md: the replay prints {replayed!r}, and the recording {recorded!r}"
        server.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wiretape", metavar="PROGRAM")
    chosen = parser.parse_args()
    problems = list(broken_links())
    length = len((ROOT / "README.md").read_text().splitlines())
    if length > README_LINES:
        problems.append(f"README.md has {length} lines, and {README_LINES} are enough")
    if chosen.wiretape:
        problems += program_problems(chosen.wiretape)
        problems += page_members.problems(os.path.abspath(chosen.wiretape))
        problems += block_problems(chosen.wiretape)
        problems += page_examples.problems(chosen.wiretape)
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
