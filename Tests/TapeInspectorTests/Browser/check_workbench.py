#!/usr/bin/env python3
"""Drives the page's workbench in a real browser: files that are dropped, recordings that it starts, comparisons, the form, groups and trees.

check_workbench.py WIRETAPE [NAME ...], as check_page.py.
"""
import base64
import http.server
import json
import os
import pathlib
import struct
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile

import samples
from check_page import PAUSES, Inspector, Origin, Server, Waiting, WIRETAPE, ruled, run, through, visit

SIZES = [(375, 700), (1024, 768), (1920, 1080)]
SHOTS = os.environ.get("SHOTS")
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def shot(one, name):
    """Keeps a picture for people, if SHOTS names a folder."""
    if SHOTS:
        one.page.wait_for_timeout(150)
        one.page.screenshot(path=f"{SHOTS}/{name}.png")


def fits(one, where):
    assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{where}: the page is wider than the window"


def har(entries):
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "sample", "version": "1"}, "entries": [{
        "startedDateTime": f"2026-01-02T03:04:{index:02}.000Z", "time": 5, "cache": {}, "timings": {"send": 1, "wait": 3, "receive": 1},
        "request": {"method": "GET", "url": url, "httpVersion": "HTTP/1.1", "headers": [{"name": "Host", "value": url.split("/")[2]}], "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0},
        "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": [{"name": "Content-Type", "value": "text/plain"}], "cookies": [], "redirectURL": "", "headersSize": -1, "bodySize": len(text),
                     "content": {"size": len(text), "mimeType": "text/plain", "text": text, **more}}} for index, (url, text, more) in enumerate(entries)]}})


def tnet(value):
    """The format of mitmproxy's flows."""
    if isinstance(value, bool):
        text, kind = (b"true" if value else b"false"), b"!"
    elif value is None:
        text, kind = b"", b"~"
    elif isinstance(value, int):
        text, kind = str(value).encode(), b"#"
    elif isinstance(value, float):
        text, kind = repr(value).encode(), b"^"
    elif isinstance(value, bytes):
        text, kind = value, b","
    elif isinstance(value, str):
        text, kind = value.encode(), b";"
    elif isinstance(value, dict):
        text, kind = b"".join(tnet(key) + tnet(inner) for key, inner in value.items()), b"}"
    else:
        text, kind = b"".join(map(tnet, value)), b"]"
    return str(len(text)).encode() + b":" + text + kind


def flow():
    message = {"http_version": b"HTTP/1.1", "headers": [[b"Host", b"flow.example"], [b"Content-Type", b"text/plain"]], "trailers": None, "timestamp_start": 1767322800.0, "timestamp_end": 1767322800.1}
    return tnet({
        "version": 21, "type": "http", "id": "1", "error": None, "intercepted": False, "is_replay": None, "marked": "", "metadata": {}, "comment": "", "timestamp_created": 1767322800.0,
        "request": {**message, "host": "flow.example", "port": 80, "method": b"GET", "scheme": b"http", "authority": b"", "path": b"/of/mitmproxy", "content": b""},
        "response": {**message, "status_code": 200, "reason": b"OK", "content": b"from a flow"},
        "websocket": None,
        "client_conn": {"id": "c", "address": ["127.0.0.1", 1], "peername": ["127.0.0.1", 1], "sockname": ["127.0.0.1", 2], "timestamp_start": 1767322800.0, "timestamp_end": None, "timestamp_tls_setup": None, "tls": False, "alpn": b"", "alpn_offers": [], "certificate_list": [], "cipher": None, "cipher_list": [], "error": None, "sni": None, "state": 0, "tls_version": None, "transport_protocol": "tcp", "proxy_mode": "regular", "mitmcert": None, "tls_established": False},
        "server_conn": {"id": "s", "address": ["flow.example", 80], "peername": ["192.0.2.1", 80], "sockname": ["127.0.0.1", 3], "timestamp_start": 1767322800.0, "timestamp_end": None, "timestamp_tcp_setup": 1767322800.0, "timestamp_tls_setup": None, "tls": False, "alpn": b"", "alpn_offers": [], "certificate_list": [], "cipher": None, "cipher_list": [], "error": None, "sni": None, "state": 0, "tls_version": None, "transport_protocol": "tcp", "via": None, "via2": None, "tls_established": False},
    })


def drop(one, files):
    """Drops files on the page as a file manager does. - files: bytes by name."""
    one.page.evaluate("""(files) => {
        const transfer = new DataTransfer();
        for (const [name, text] of files) transfer.items.add(new File([Uint8Array.from(atob(text), (one) => one.charCodeAt(0))], name));
        window.dispatchEvent(new DragEvent("dragover", { dataTransfer: transfer, bubbles: true, cancelable: true }));
        window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }""", [[name, base64.b64encode(data).decode()] for name, data in files.items()])


def memory():
    return {name for name in (os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []) if name.startswith("wiretape-")}


def current(one, name):
    one.page.wait_for_selector(f"#tabs li.current:has-text('{name}')")


# MARK: Files


@check
def dropped_files_open_in_tabs_and_nothing_is_written(browser, folder):
    before, place = memory(), pathlib.Path(folder, "empty")
    place.mkdir()
    with Inspector("inspect", "--web", cwd=place) as inspector, visit(browser, inspector) as one:
        one.page.wait_for_selector("#welcome:not([hidden])")
        one.axe("nothing is open")
        shot(one, "welcome")
        drop(one, {"trace.har": har([("http://har.example/one", "first", {}), ("http://har.example/two", "second", {})]).encode()})
        current(one, "trace.har")
        one.until("document.querySelector('#counts').textContent === '2 exchanges'")
        assert "har.example" in one.rows()[0], one.rows()
        drop(one, {"some.flow": flow(), "tape.json": pathlib.Path(samples.everything(f"{folder}/tape.json")).read_bytes()})
        current(one, "tape.json")
        one.until("document.querySelector('#counts').textContent === '14 exchanges'")
        assert one.page.eval_on_selector_all("#tabs [data-tab]", "all => all.map(one => one.textContent)") == ["trace.har 2", "tape.json 14", "some.flow 1"]
        one.axe("three tabs")
        shot(one, "tabs")
        # By keyboard, and each as it was left.
        one.page.keyboard.press("Home")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('1 ')")
        one.page.fill("#filter", "~m POST")
        one.page.press("#filter", "Enter")
        one.until("document.querySelector('#counts').textContent.startsWith('3 of 14')")
        one.page.keyboard.press("]")
        current(one, "some.flow")
        one.until("document.querySelector('.row:not([hidden]) .url')?.textContent.includes('/of/mitmproxy')")
        assert one.page.input_value("#filter") == "" and one.page.is_hidden("#side")
        one.page.keyboard.press("[")
        current(one, "tape.json")
        one.until("document.querySelector('#counts').textContent.startsWith('3 of 14')")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('1 ')")
        # A reload comes back to the tab.
        one.page.reload()
        current(one, "tape.json")
        one.until("document.querySelector('#counts').textContent.startsWith('3 of 14')")
        # Nothing is on the disk until it is saved.
        assert list(place.iterdir()) == []
        one.page.keyboard.press("Escape")
        with one.page.expect_download() as download:
            one.page.keyboard.press("Control+k")
            one.page.keyboard.type("save this")
            one.page.keyboard.press("Enter")
        saved = json.load(open(download.value.path()))
        assert download.value.suggested_filename == "tape.json" and len(saved["interactions"]) == 14
        one.page.click("button[aria-label='Close trace.har']")
        one.until("document.querySelectorAll('#tabs [data-tab]').length === 2")
        one.calm()
    assert memory() == before, "files were left in memory"
    assert list(place.iterdir()) == []


@check
def a_folder_opens_with_its_bodies(browser, folder):
    root = pathlib.Path(folder, "recordings")
    (root / "deep").mkdir(parents=True)
    samples.everything(str(root / "everything.json"))
    tape = samples.Cassette()
    tape.add("GET", "http://a.example/long", response={"headers": ["Content-Type: text/plain"], "body": {"size": 5, "file": "long.bodies/5d41402a", "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}})
    tape.write(str(root / "deep" / "long.json"))
    (root / "deep" / "long.bodies").mkdir()
    (root / "deep" / "long.bodies" / "5d41402a").write_text("hello")
    (root / "one.har").write_text(har([("http://har.example/one", "first", {})]))
    (root / "two.har").write_text(har([("http://har.example/two", "second", {})]))
    (root / "notes.txt").write_text("no recording")
    with Inspector("inspect", "--web") as inspector, visit(browser, inspector) as one:
        one.page.set_input_files("input[aria-label='A folder to open']", str(root))
        one.page.wait_for_selector("#tabs li >> nth=2")
        names = one.page.eval_on_selector_all("#tabs [data-tab]", "all => all.map(one => one.textContent)")
        assert sorted(names) == ["everything.json 14", "long.json 1", "recordings 2"], names
        # A file that could not be read is named, without the folder that nobody knows.
        one.page.click("#tabs [data-tab]:has-text('recordings')")
        one.page.wait_for_selector("#notice:has-text('notes.txt')")
        assert "/dev/shm" not in one.page.inner_text("body") and "/tmp/" not in one.page.inner_text("#notice"), one.page.inner_text("#notice")
        one.page.click("#tabs [data-tab]:has-text('long.json')")
        current(one, "long.json")
        one.page.keyboard.press("Home")
        one.page.wait_for_selector("#panel:has-text('hello')")
        one.page.keyboard.press("Escape")
        with one.page.expect_download() as download:
            one.page.keyboard.press("Control+k")
            one.page.keyboard.type("save this")
            one.page.keyboard.press("Enter")
        with zipfile.ZipFile(download.value.path()) as archive:
            assert sorted(archive.namelist()) == ["long.bodies/5d41402a", "long.json"], archive.namelist()
            archive.extractall(f"{folder}/saved")
        found = subprocess.run([WIRETAPE, "inspect", f"{folder}/saved/long.json", "1", "--body", "response"], capture_output=True, text=True)
        assert found.stdout == "hello", found
        one.calm()


@check
def hostile_files_do_nothing(browser, folder):
    secret = pathlib.Path(folder, "secret.txt")
    secret.write_text("the secret of this machine")
    up = "../" * 12
    with Inspector("inspect", "--web") as inspector, visit(browser, inspector) as one:
        drop(one, {"evil.json": pathlib.Path(samples.hostile(f"{folder}/evil.json")).read_bytes()})
        current(one, "evil.json")
        for key in range(1, 11):
            one.go(f"#/x/{key}/response?t=1")
            one.page.wait_for_timeout(120)
        for reference in (str(secret), up + str(secret)[1:]):
            drop(one, {"evil.har": har([("http://evil.example/x", "", {"_file": reference, "text": ""})]).encode()})
            one.page.wait_for_timeout(700)
            assert "the secret of this machine" not in one.page.inner_text("body")
            one.page.keyboard.press("Escape")
        tape = samples.Cassette()
        tape.add("GET", "http://a.example/", response={"body": {"size": 26, "file": up + str(secret)[1:], "sha256": "00" * 32}})
        drop(one, {"sidecar.json": pathlib.Path(tape.write(f"{folder}/sidecar.json")).read_bytes()})
        one.page.wait_for_timeout(700)
        one.page.keyboard.press("Escape")
        assert "the secret of this machine" not in one.page.inner_text("body")
        for name in ("../up.har", "/etc/passwd", "a//b", "a/../b", "", "x" * 300, "a\\b", "/".join("abcdefghijklmn")):
            try:
                inspector.ask("/api/tabs/upload?" + urllib.parse.urlencode({"name": name, "offset": 0}), {})
                raise AssertionError(f"a file has the name {name!r}")
            except urllib.error.HTTPError as error:
                assert error.code == 400, (name, error.code)
        for data in (b"", b"\0" * 2000, b"{" * 5000, b'{"log": {"entries": [' + b'{"request":' * 3000, b"\xff\xfe" * 100, b"PK\x03\x04" + b"\0" * 60, b"999999999999:", b'{ "wiretape": 2'):
            drop(one, {"broken.har": data})
            one.page.wait_for_selector("dialog[open] .problem, #tabs li:has-text('broken')", timeout=20_000)
            one.page.keyboard.press("Escape")
        one.axe("after hostile files")
        one.calm(allowed=["422", "404", "400"])


@check
def a_page_of_a_run_opens_files_beside_it(browser, folder):
    origin = Origin()
    with Inspector("record", f"{folder}/live.json", "--web") as inspector, visit(browser, inspector) as one:
        drop(one, {"trace.har": har([("http://har.example/one", "first", {})]).encode()})
        current(one, "trace.har")
        assert through(inspector, f"{origin.url}/1") == 200
        # The run goes on in its own tab, and the page starts no other recording.
        one.until("document.querySelector('#tabs [data-tab=\"0\"]').textContent === 'live.json 1'")
        assert one.page.inner_text("#counts") == "1 exchange" and one.page.is_hidden("#record")
        one.page.click("#tabs [data-tab='0']")
        one.until("document.querySelector('.row:not([hidden]) .url')?.textContent.includes('/1')")
        # Paused: requests pass, and are not recorded.
        one.page.keyboard.press("P")
        one.until("document.querySelector('#pause').getAttribute('aria-pressed') === 'true'")
        assert through(inspector, f"{origin.url}/2") == 200
        one.axe("paused")
        shot(one, "paused")
        one.page.click("#pause")
        one.until("document.querySelector('#pause').getAttribute('aria-pressed') === 'false'")
        assert through(inspector, f"{origin.url}/3") == 200
        one.until("document.querySelector('#counts').textContent === '2 exchanges'")
        # The cleared list shows what comes from now on.
        one.page.keyboard.press("Control+k")
        one.page.keyboard.type("clear the list")
        one.page.keyboard.press("Enter")
        one.until("document.querySelector('#counts').textContent.startsWith('0 of 2')")
        assert through(inspector, f"{origin.url}/4") == 200
        one.until("document.querySelector('#counts').textContent.startsWith('1 of 3')")
        one.until("document.querySelector('.row:not([hidden]) .url')?.textContent.endsWith('/4')")
        assert len(one.rows()) == 1, one.rows()
        one.axe("cleared")
        one.page.click("button:has-text('Show them again')")
        one.until("document.querySelector('#counts').textContent === '3 exchanges'")
        one.calm()
    assert [one["request"]["url"][-2:] for one in json.load(open(f"{folder}/live.json"))["interactions"]] == ["/1", "/3", "/4"]
    for _ in range(100):
        if "1 exchange passed unrecorded, while the recording was paused" in "".join(inspector.lines):
            break
        time.sleep(0.05)
    else:
        raise AssertionError(inspector.lines)


@check
def a_recording_starts_and_ends_in_the_page(browser, folder):
    origin = Origin()
    before = memory()
    with Inspector("inspect", "--web", cwd=folder, env={**os.environ, "WIRETAPE_CA_DIR": f"{folder}/ca"}) as inspector, visit(browser, inspector) as one:
        one.page.click("button:has-text('Start a recording')")
        one.page.wait_for_selector("#side strong:has-text('http://127.0.0.1:')")
        proxy = one.page.inner_text("#side strong")
        one.axe("how clients reach a recording")
        shot(one, "recording")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
        assert opener.open(f"{origin.url}/first", timeout=20).status == 200
        one.until("document.querySelector('#counts').textContent === '1 exchange'")
        one.page.keyboard.press("P")
        one.until("document.querySelector('#pause').getAttribute('aria-pressed') === 'true'")
        assert opener.open(f"{origin.url}/unrecorded", timeout=20).status == 200
        one.page.keyboard.press("P")
        one.until("document.querySelector('#pause').getAttribute('aria-pressed') === 'false'")
        assert opener.open(f"{origin.url}/second", timeout=20).status == 200
        one.until("document.querySelector('#counts').textContent === '2 exchanges'")
        # The proxy does not lead to the page.
        try:
            opener.open(inspector.origin + "/", timeout=20)
            raise AssertionError("the proxy leads to the page")
        except urllib.error.HTTPError as error:
            assert error.code >= 400
        one.page.click("#record:has-text('Stop')")
        one.page.wait_for_selector("#record:has-text('Record')")
        try:
            opener.open(f"{origin.url}/third", timeout=5)
            raise AssertionError("the proxy still runs")
        except urllib.error.URLError:
            pass
        one.until("document.querySelector('#counts').textContent === '2 exchanges'")
        with one.page.expect_download() as download:
            one.page.keyboard.press("Control+k")
            one.page.keyboard.type("save this")
            one.page.keyboard.press("Enter")
        saved = json.load(open(download.value.path()))
        assert [exchange["request"]["url"].rsplit("/")[-1] for exchange in saved["interactions"]] == ["first", "second"]
        # A recording that is nowhere else is not closed without asking.
        one.page.click("button[aria-label='Close recording-1.json']")
        one.page.wait_for_selector("dialog[open] button:has-text('Save it first')")
        one.axe("closing a recording")
        one.page.click("dialog[open] button:has-text('Close it')")
        one.page.wait_for_selector("#welcome:not([hidden])")
        one.calm()
    assert memory() == before
    assert sorted(os.listdir(folder)) == ["ca"], os.listdir(folder)


@check
def what_a_run_waits_for_is_said_in_other_tabs(browser, folder):
    origin = Origin()
    with ruled(folder, PAUSES) as inspector, visit(browser, inspector) as one:
        assert through(inspector, f"{origin.url}/other") == 200
        drop(one, {"trace.har": har([("http://har.example/one", "first", {})]).encode()})
        current(one, "trace.har")
        # The rules are the run's.
        one.page.wait_for_selector("#rules", state="hidden")
        one.watched()
        waiting = Waiting(inspector, f"{origin.url}/pay?number=1")
        one.page.wait_for_selector("#paused:has-text('Paused 1')")
        one.axe("a paused message beside another tab")
        # The state of the tab that is shown says nothing about the run.
        one.page.click("#tabs [data-tab='0']")
        one.until("document.querySelector('#tabs li.current')?.textContent.includes('trace.har') === false")
        one.page.click("#tabs button:has-text('trace.har')")
        current(one, "trace.har")
        one.until("document.querySelector('#counts').textContent === '1 exchange'")
        assert one.page.is_visible("#paused"), "the paused message is still said"
        one.page.click("#paused")
        one.until("document.querySelector('#tabs li.current')?.textContent.includes('trace.har') === false")
        one.page.wait_for_selector("#side:has-text('/pay?number=1')")
        one.page.click("#side button:has-text('/pay?number=1')")
        one.page.click("#paused-editor button:has-text('Go on')")
        assert waiting.end() == 200
        one.calm()


# MARK: Comparisons


def upload(parts, boundary="b0", close=True, line="\r\n"):
    text = b""
    for name, value, more in parts:
        text += f'--{boundary}{line}Content-Disposition: form-data; name={name}{more}{line}{line}'.encode() + value + line.encode()
    return text + (f"--{boundary}--{line}".encode() if close else b"")


def two_uploads(folder):
    tape = samples.Cassette()
    photo = samples.png()
    good = upload([('"title"', b"a photo", ""), ('"photo"', photo, '; filename="a.png"\r\nContent-Type: image/png'), ('"size"', b"64", "")], "curl-1")
    bad = upload([("title", b"a photo", ""), ('"image"', photo[:60] + b"!" + photo[61:], '; filename=a.png\r\nContent-Type: image/png'), ('"more"', b"x", "")], "app-22", close=False)
    tape.add("POST", "http://api.example/upload", 201, request={"headers": ["Content-Type: multipart/form-data; boundary=curl-1"], "body": samples.body_of(good)}, response={"headers": ["Content-Type: application/json"], "body": samples.body_of('{"id": 1, "name": "a", "tags": ["x", "y"]}')})
    tape.add("POST", "http://api.example/upload", 422, request={"headers": ["Content-Type: multipart/form-data; boundary=app-22"], "body": samples.body_of(bad)}, response={"headers": ["Content-Type: application/json"], "body": samples.body_of('{"id": 1, "name": "b", "tags": ["x", "z", "y"]}')})
    tape.add("POST", "http://api.example/upload", 201, request={"headers": ["Content-Type: multipart/form-data; boundary=other"], "body": samples.body_of(good.replace(b"curl-1", b"other"))})
    return tape.write(f"{folder}/uploads.json")


@check
def uploads_are_compared_part_by_part(browser, folder):
    path = two_uploads(folder)
    with Inspector("inspect", path, "--web") as inspector:
        for size in SIZES:
            for scheme in ("light", "dark"):
                with visit(browser, inspector, size=size, scheme=scheme) as one:
                    one.page.keyboard.press("Home")
                    one.page.wait_for_selector("#detail-title")
                    one.page.keyboard.press("d")
                    one.page.keyboard.press("ArrowDown")
                    one.until("document.querySelector('#detail-title')?.textContent.startsWith('2 ')")
                    one.page.keyboard.press("d")
                    one.page.wait_for_selector(".uploads")
                    text = one.page.inner_text("#comparison")
                    assert '"photo"' in text and '"image"' in text and "closing delimiter" in text and "1 B differ" in text, text
                    assert 'form-data; name="title"' in text and "form-data; name=title" in text, text
                    one.axe(f"two uploads {size} {scheme}")
                    fits(one, f"two uploads {size}")
                    shot(one, f"uploads-{size[0]}-{scheme}")
                    one.page.click("button[data-view=response]")
                    one.page.wait_for_selector(".body-diff")
                    assert '"name": "a"' in one.page.inner_text(".body-diff del"), one.page.inner_text(".body-diff")
                    assert one.page.eval_on_selector_all(".body-diff ins", "all => all.map(one => one.textContent.trim().replace(/\\s+/g, ' '))") == ['+ 3 "name": "b",', '+ 6 "z",'], one.page.inner_text(".body-diff")
                    one.axe(f"two bodies {size} {scheme}")
                    one.page.click("button[data-view=fields]")
                    one.page.wait_for_selector("#comparison table")
                    one.calm()
        with visit(browser, inspector) as one:
            # The same but for the boundary.
            found = json.loads(inspector.ask("/api/uploads", {"left": {"tab": 0, "key": 1}, "right": {"tab": 0, "key": 3}}))
            assert found["differs"] is False, found
            # With another cassette.
            drop(one, {"other.json": pathlib.Path(path).read_bytes()})
            current(one, "other.json")
            one.page.keyboard.press("End")
            one.until("document.querySelector('#detail-title')?.textContent.startsWith('3 ')")
            one.page.keyboard.press("d")
            one.page.keyboard.press("[")
            one.until("document.querySelector('#tabs li.current')?.textContent.includes('uploads.json')")
            one.page.keyboard.press("Home")
            one.until("document.querySelector('#detail-title')?.textContent.startsWith('1 ')")
            one.page.keyboard.press("d")
            one.page.wait_for_selector(".uploads :text('the same byte by byte')")
            assert "3 of other.json" in one.page.inner_text("#side h2") and "1 of uploads.json" in one.page.inner_text("#side h2")
            one.calm()
    command = lambda *more: subprocess.run([WIRETAPE, "diff", path, path, "--upload", *more], capture_output=True, text=True)
    differs = command("--exchanges", "1:2")
    assert differs.returncode == 1 and "header:content-disposition" in differs.stdout and "data, from its byte 60" in differs.stdout, differs.stdout
    assert command("--exchanges", "1:3").returncode == 0
    assert command("--exchanges", "1:9").returncode == 2
    assert json.loads(command("--exchanges", "1:2", "--json").stdout)["differs"] is True


# MARK: The form


class Receiver:
    """An origin that keeps what was sent to it."""

    def __init__(self):
        got = self.got = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                got.append((self.command, self.path, dict(self.headers), body))
                text = json.dumps({"got": len(body)}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = answer

            def log_message(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@check
def a_request_is_edited_and_sent_in_a_form(browser, folder):
    origin = Receiver()
    tape = samples.Cassette()
    tape.add("GET", f"{origin.url}/pets?page=1&sort=a%20b", response={"headers": ["Content-Type: application/json"], "body": samples.body_of('{"got": 0}')})
    tape.add("POST", f"{origin.url}/upload", 201, request={"headers": ["Content-Type: multipart/form-data; boundary=b0"], "body": samples.body_of(upload([('"title"', b"a photo", ""), ('"photo"', samples.png(), '; filename="a.png"\r\nContent-Type: image/png')]))})
    path = tape.write(f"{folder}/pets.json")
    before = pathlib.Path(path).read_bytes()
    pathlib.Path(folder, "new.txt").write_bytes(b"a new file")
    with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:
        # By keyboard alone.
        one.page.keyboard.press("Home")
        one.page.wait_for_selector("#detail-title")
        one.page.keyboard.press("E")
        one.until("document.activeElement.id === 'form-url'")
        one.axe("the form")
        one.page.keyboard.press("End")
        one.page.keyboard.type("/2")
        for _ in range(2):
            one.page.keyboard.press("Tab")
        assert one.page.evaluate("document.activeElement.value") == "1", one.page.evaluate("document.activeElement.outerHTML")
        one.page.keyboard.type("7")
        one.page.keyboard.press("Control+Enter")
        one.page.wait_for_selector("#side .startline:has-text('200')")
        assert origin.got[-1][:2] == ("GET", "/pets/2?page=7&sort=a%20b"), origin.got[-1]
        one.axe("an answer to the form")
        # A JSON body, whose Content-Type is set; a wrong one is said to be wrong.
        one.page.select_option("#form-kind", "json")
        one.page.fill("#form-text", '{"a": ')
        one.page.fill("#form-method", "PUT")
        one.page.click("button:has-text('Send')")
        one.page.wait_for_selector("#side .problem:has-text('not JSON')")
        one.page.fill("#form-text", '{"a": 1}')
        one.page.click(".viewer-bar >> nth=0 >> button:has-text('Send')")
        one.page.click("button:has-text('Send it anyway')")
        one.page.wait_for_selector("#side .startline:has-text('200')")
        one.until("document.querySelector('#side [aria-label=\"Body of the answer\"]').textContent.includes('8')")
        method, _, headers, body = origin.got[-1]
        assert (method, headers["Content-Type"], headers["Content-Length"], body) == ("PUT", "application/json", "8", b'{"a": 1}'), origin.got[-1]
        shot(one, "form-json")
        # Parts: one is changed, one replaced by a file, one is new.
        one.page.click("#counts")
        one.page.keyboard.press("G")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('2 ')")
        one.page.keyboard.press("E")
        one.page.wait_for_selector(".part-fields >> nth=1")
        one.axe("parts in the form")
        shot(one, "form-parts")
        one.page.fill("[aria-label='Part: text'] >> nth=0", "another \u00e9 title")
        one.page.set_input_files("[aria-label='Part: file'] >> nth=1", f"{folder}/new.txt")
        one.page.click("button:has-text('Add a part')")
        one.page.keyboard.type('say "x"')
        one.page.fill("[aria-label='Part: text'] >> nth=2", "more")
        count = len(origin.got)
        one.page.keyboard.press("Control+Enter")
        one.page.click("button:has-text('Send it anyway')")
        one.page.wait_for_selector("#side .startline:has-text('200')")
        method, _, headers, body = origin.got[-1]
        boundary = headers["Content-Type"].split("boundary=")[1].encode()
        assert len(origin.got) == count + 1 and body.startswith(b"--" + boundary) and body.endswith(b"--" + boundary + b"--\r\n")
        assert "another \u00e9 title".encode() in body and b'name="photo"; filename="new.txt"\r\nContent-Type: text/plain\r\n\r\na new file\r\n' in body and b'name="say %22x%22"\r\n\r\nmore\r\n' in body, body
        # On to the editor, with the changes.
        one.page.click("button:has-text('As text')")
        one.until("document.activeElement.id === 'edit-text'")
        one.calm(allowed=["403"])
        assert pathlib.Path(path).read_bytes() == before, "the cassette has changed"
    for size in SIZES:
        for scheme in ("light", "dark"):
            with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector, size=size, scheme=scheme) as one:
                one.page.keyboard.press("End")
                one.page.wait_for_selector("#detail-title")
                one.page.keyboard.press("E")
                one.page.wait_for_selector(".part-fields")
                one.axe(f"the form {size} {scheme}")
                fits(one, f"the form {size}")
                shot(one, f"form-{size[0]}-{scheme}")


@check
def what_nobody_changes_in_the_form_is_sent_as_it_was_recorded(browser, folder):
    origin = Receiver()
    form = b'--b0\r\nContent-Disposition: form-data; name="a"\r\nX-P: 1\r\n\r\none\r\ntwo\r\n--b0\r\nContent-Disposition: form-data; name="b"\r\n\r\n\x01\r\n--b0\r\nContent-Disposition: form-data; name="c"\r\n\r\n3\r\n--b0--\r\n'
    related = b'--b0\r\nContent-Type: application/json\r\n\r\n{}\r\n--b0\r\nContent-ID: <x>\r\n\r\nx\r\n--b0--\r\n'
    sent = [("text/plain", b"one\r\ntwo\r\n"), ("application/x-www-form-urlencoded", b"a=it's&b&c=%zz"), ("multipart/form-data; boundary=b0", form), ("multipart/related; boundary=b0", related), ("application/json", b'{"a":\r\n1}')]
    tape = samples.Cassette()
    for kind, body in sent:
        tape.add("POST", f"{origin.url}/x", request={"headers": [f"Content-Type: {kind}"], "body": samples.body_of(body)})
    with Inspector("inspect", tape.write(f"{folder}/forms.json"), "--web") as inspector, visit(browser, inspector) as one:

        def send(number, change=lambda: None):
            one.open(number, "request")
            one.page.focus("#tab-request")
            one.page.keyboard.press("E")
            one.until("document.activeElement.id === 'form-url'")
            change()
            one.page.keyboard.press("Control+Enter")
            one.page.click("button:has-text('Send it anyway')")
            one.page.wait_for_selector("#side .startline:has-text('200')")
            return origin.got[-1]

        for number, (kind, body) in enumerate(sent, 1):
            _, _, headers, got = send(number)
            assert (headers["Content-Type"], got) == (kind, body), (kind, got)
        # A change keeps the rest: line ends, header lines, and a part without a file name.
        _, _, headers, got = send(3, lambda: one.page.fill("[aria-label='Part: text'] >> nth=2", "4"))
        boundary = headers["Content-Type"].split("boundary=")[1].encode()
        assert got.replace(boundary, b"b0") == form.replace(b"\r\n3\r\n", b"\r\n4\r\n"), got
        _, _, _, got = send(1, lambda: one.page.fill("#form-text", "one\nthree\n"))
        assert got == b"one\r\nthree\r\n", got
        one.calm(allowed=["403"])


# MARK: Groups and trees


@check
def exchanges_are_grouped_and_connections_shown(browser, folder):
    tape = samples.Cassette()
    for number in range(12):
        tape.add("GET", f"http://{'api' if number % 3 else 'cdn'}.example/pets/{number}?x={number}", 500 if number == 7 else 200, request={"headers": [f"X-Test: test {number % 2}"]}, connection={"id": number % 4 + 1, "remote": f"127.0.0.1:{9000 + number % 4}", "reused": number > 3})
    path = tape.write(f"{folder}/groups.json")
    with Inspector("inspect", path, "--web") as inspector:
        for size in SIZES:
            for scheme in ("light", "dark"):
                with visit(browser, inspector, size=size, scheme=scheme) as one:
                    one.page.keyboard.press("h")
                    one.page.wait_for_selector("#groups table")
                    assert "api.example" in one.page.inner_text("#groups") and "⚠ 1" in one.page.inner_text("#groups")
                    one.axe(f"groups {size} {scheme}")
                    fits(one, f"groups {size}")
                    shot(one, f"groups-{size[0]}-{scheme}")
                    one.page.keyboard.press("Escape")
                    one.page.keyboard.press("n")
                    one.page.wait_for_selector(".connections li >> nth=3")
                    assert one.page.eval_on_selector_all(".connection-lane", "all => all.map(one => one.childElementCount)") == [3, 3, 3, 3]
                    one.axe(f"connections {size} {scheme}")
                    fits(one, f"connections {size}")
                    shot(one, f"connections-{size[0]}-{scheme}")
                    one.calm()
        with visit(browser, inspector) as one:
            one.page.keyboard.press("h")
            one.page.select_option("#group-by", "path")
            one.page.wait_for_selector("#groups button:has-text('cdn.example/pets/…')")
            one.page.click("#groups button:has-text('cdn.example/pets/…')")
            one.until("document.querySelector('#counts').textContent === '4 of 12 exchanges'")
            one.axe("one group")
            # With a filter besides.
            one.page.fill("#filter", "~u x=3")
            one.until("document.querySelector('#counts').textContent === '1 of 12 exchanges'")
            one.page.fill("#filter", "")
            one.page.click("button[aria-label='Leave the group']")
            one.until("document.querySelector('#counts').textContent === '12 exchanges'")
            one.page.select_option("#group-by", "header")
            # Typed, and not set: Firefox takes only the former for a change.
            one.until("document.activeElement.id === 'group-field'")
            one.page.keyboard.type("x-test")
            one.page.keyboard.press("Enter")
            one.page.wait_for_selector("#groups button:has-text('test 1')")
            one.page.click("#groups button:has-text('test 1')")
            one.until("document.querySelector('#counts').textContent === '6 of 12 exchanges'")
            one.calm()


@check
def bodies_of_many_kinds_are_trees(browser, folder):
    part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    token = f"{part({'alg': 'none'})}.{part({'sub': 'bori', 'exp': 1767322800})}.c2ln"
    tape = samples.Cassette()
    answer = lambda kind, data: {"headers": [f"Content-Type: {kind}"], "body": samples.body_of(data)}
    tape.add("GET", "http://a.example/msgpack", response=answer("application/msgpack", b"\x82\xa4name\xa4Miso\xa4tags\x93\x01\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00\xc0"))
    tape.add("GET", "http://a.example/cbor", response=answer("application/cbor", b"\xa2\x64name\x64Bori\x63big\x1b\xff\xff\xff\xff\xff\xff\xff\xff"))
    tape.add("GET", "http://a.example/xml", response=answer("application/xml", '<?xml version="1.0"?><pets count="1"><pet id="7">Miso &amp; Bori</pet><!-- x --></pets>'))
    tape.add("POST", "http://a.example/graphql", request={"headers": ["Content-Type: application/json", f"Authorization: Bearer {token}", "Cookie: a=1; session=two"], "body": samples.body_of(json.dumps({"query": "query Pets($first: Int) { pets(first: $first) { edges { node { ...Pet } } } } fragment Pet on Pet { id name }", "variables": {"first": 2}}))}, response=answer("application/json", '{"data": {}}'))
    tape.add("POST", "http://a.example/form", request={"headers": ["Content-Type: application/x-www-form-urlencoded"], "body": samples.body_of("user[name]=Bori&user[tags][]=a&user[tags][]=b&plain=1")})
    tape.add("GET", "http://a.example/broken", response=answer("application/cbor", b"\xa2\x64na"))
    tape.add("GET", "http://a.example/deep", response=answer("application/msgpack", b"\x91" * 5000))
    with Inspector("inspect", tape.write(f"{folder}/kinds.json"), "--web") as inspector, visit(browser, inspector) as one:
        def panel(key, tab):
            one.open(key, tab)
            one.page.wait_for_timeout(200)
            return one.page.inner_text("#panel")

        assert 'name: "Miso"' in panel(1, "response") and "1: 1.5" in one.page.inner_text("#panel") and "2: null" in one.page.inner_text("#panel")
        one.axe("MessagePack")
        assert 'name: "Bori"' in panel(2, "response") and "big: 18446744073709551615" in one.page.inner_text("#panel")
        assert '@count: "1"' in panel(3, "response") and '#text: "Miso & Bori"' in one.page.inner_text("#panel")
        one.axe("XML")
        text = panel(4, "request")
        assert "query Pets($first: Int)" in text and "fragment Pet on Pet" in text and "first: 2" in text, text
        for summary in ("JSON Web Token", "2 cookies"):
            one.page.click(f"#panel summary:has-text('{summary}')")
        text = one.page.inner_text("#panel")
        assert "sub: \"bori\"" in text and "2026-01-02T03:00:00Z" in text and "session" in text, text
        one.axe("a token and cookies")
        shot(one, "graphql")
        panel(5, "request")
        one.page.click("button[data-view=tree]")
        one.page.wait_for_selector(".tree .key:has-text('user')")
        assert 'name: "Bori"' in one.page.inner_text("#panel"), one.page.inner_text("#panel")
        assert "this is not CBOR" in panel(6, "response"), one.page.inner_text("#panel")
        assert "this is not MessagePack" in panel(7, "response"), one.page.inner_text("#panel")
        one.calm()


if __name__ == "__main__":
    run(CHECKS)
