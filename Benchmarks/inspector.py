#!/usr/bin/env python3
"""What the inspector's page costs a recording: inspector.py WIRETAPE [ROUNDS].

Records at full rate without --web, with it and no page, and with a page that follows, in turns; then the same at a fixed rate, which says what the
page costs the proxy rather than how three programs share a core. Needs nginx, a C compiler, Chromium and what scripts/inspector.sh installs.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Tests/TapeInspectorTests/Browser"))

from playwright.sync_api import sync_playwright

from check_page import CHROMIUM, Inspector, Visit
from client import wrong
from processes import TICKS, accepts, free_port

WIRETAPE = sys.argv[1]
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
REQUESTS, RATE = 30_000, 5_000
NGINX = """worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log crit; {user}
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 100000000; default_type application/json; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
  fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port}; location / {{ return 200 '{{"id":"$request_id","pad":"{pad}"}}'; }} }} }}"""


def threads(pid):
    """CPU seconds of each thread so far, by its name; the proxy's loop is the busiest one."""
    found = {}
    for path in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[path.name] = (int(fields[11]) + int(fields[12])) / TICKS
    return found


class Recorder:
    """wiretape record, with a page or without."""

    def __init__(self, folder, web):
        file = f"{folder}/rate.json"
        pathlib.Path(file).unlink(missing_ok=True)
        self.inspector = Inspector("record", file, "--loops", "1", "--web") if web else None
        self.process = self.inspector.process if web else subprocess.Popen([WIRETAPE, "record", file, "--loops", "1"], stderr=subprocess.PIPE, text=True)
        lines = self.inspector.lines if web else self.process.stderr
        end = time.monotonic() + 20
        self.proxy = None
        while not self.proxy and time.monotonic() < end:
            for line in list(lines) if web else lines:
                found = re.search(r"listening on http://(\S+)", line)
                if found:
                    self.proxy = found[1]
                    break

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def load(recorder, folder, origin, rate):
    """Requests per second, CPU seconds of the process and of its busiest thread, and when the last answer came."""
    before = threads(recorder.process.pid)
    command = [f"{folder}/load", "-s", recorder.proxy, "-t", origin, "-m", "proxy", "-P", "/pets/%ld", "-k", REQUESTS, "-n", REQUESTS, "-c", 8, "-d", 100, "-R", rate]
    said = json.loads(subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, timeout=120, check=True).stdout)
    done = time.time()
    assert said["reqs"] == REQUESTS and not wrong(said), said
    after = threads(recorder.process.pid)
    spent = {name: after[name] - before.get(name, 0) for name in after}
    return said["rps"], sum(spent.values()), max(spent.values()), done


def measure(browser, folder, origin, kind, rate):
    recorder = Recorder(folder, kind != "without")
    lag = None
    try:
        page = None
        if kind == "page":
            page = Visit(browser, recorder.inspector)
            page.page.click("#follow")
            # When the page last had another row, by its own clock.
            page.page.evaluate("new MutationObserver(() => { window.lastRow = Date.now() / 1000; }).observe(document.querySelector('#counts'), { childList: true, subtree: true, characterData: true })")
        speed, cpu, loop, done = load(recorder, folder, origin, rate)
        if page:
            page.until(f"document.querySelector('#counts').textContent.startsWith('{REQUESTS:,} exchanges')", 60)
            lag = page.page.evaluate("window.lastRow") - done
            page.close()
    finally:
        recorder.stop()
    return speed, cpu, loop, lag


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        subprocess.run(["cc", "-O2", "-o", f"{folder}/load", str(pathlib.Path(__file__).parent / "load.c"), "-lssl", "-lcrypto"], check=True)
        port = free_port()
        user = "user root;" if os.geteuid() == 0 else ""
        settings = pathlib.Path(folder, "nginx.conf")
        settings.write_text(NGINX.format(folder=folder, port=port, pad="x" * 200, user=user))
        nginx = subprocess.Popen(["nginx", "-c", str(settings), "-e", f"{folder}/error.log"])
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            while not accepts(port):
                time.sleep(0.01)
            for rate in (0, RATE):
                print(f"{'full rate' if not rate else f'{rate:,} requests/s'}, {REQUESTS:,} requests, load {os.getloadavg()[0]:.1f}", flush=True)
                all_of = {kind: [] for kind in ("without", "web", "page")}
                for _ in range(ROUNDS):
                    for kind, found in all_of.items():
                        found.append(measure(browser, folder, f"127.0.0.1:{port}", kind, rate))
                for kind, found in all_of.items():
                    ratios = [[one[field] / base[field] for one, base in zip(found, all_of["without"])] for field in range(3)]
                    lags = [one[3] for one in found if one[3] is not None]
                    print(f"  {kind:8} {statistics.median(one[0] for one in found):6.0f} requests/s ({statistics.median(ratios[0]):.2f}), CPU {statistics.median(one[1] for one in found):.2f} s ({statistics.median(ratios[1]):.2f}), "
                          f"proxy's loop {statistics.median(one[2] for one in found):.2f} s ({statistics.median(ratios[2]):.2f})" + (f", last row after {max(lags) * 1000:.0f} ms" if lags else ""), flush=True)
        finally:
            browser.close()
            nginx.terminate()
            nginx.wait(10)


main()
