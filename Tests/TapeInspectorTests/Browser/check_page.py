#!/usr/bin/env python3
"""Drives the inspector's page in a real browser: check_page.py WIRETAPE [NAME ...] runs all checks, or those whose names contain a NAME.

Needs playwright and axe-playwright-python (see scripts/inspector.sh), and Chromium, or Firefox with PAGE_BROWSER=firefox. Reaches nothing but
this machine.
"""
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
import types
import urllib.error
import urllib.request
import zipfile

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

import samples

WIRETAPE = os.path.abspath(sys.argv[1])
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FIREFOX = os.environ.get("FIREFOX", "/usr/bin/firefox-esr")
BROWSER = os.environ.get("PAGE_BROWSER") or "chromium"
SIZES = [(1024, 768), (1920, 1080)]
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Inspector:
    """A running command with a page."""

    def __init__(self, *arguments, **more):
        self.process = subprocess.Popen([WIRETAPE, *arguments], stderr=subprocess.PIPE, text=True, **more)
        self.lines = []
        self.address = None
        for line in self.process.stderr:
            self.lines.append(line)
            found = re.search(r"inspector on (http://\S+)", line)
            if found:
                self.address = found[1]
                break
        assert self.address, f"no page: {self.lines}"
        threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True).start()
        self.origin, self.token = re.match(r"(http://127\.0\.0\.1:\d+)/#token=([0-9a-f]{64})$", self.address).groups()

    def ask(self, path, body=None, **fields):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.origin + path, data, {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **fields})
        return urllib.request.urlopen(request, timeout=20).read()

    def until(self, path, is_wanted, seconds=10):
        """Polls, for what another process does."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = json.loads(self.ask(path))
            if is_wanted(found):
                return found
            time.sleep(0.05)
        raise AssertionError(f"{path} stays {found}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)


class Firefox:
    """Debian's Firefox, driven over WebDriver BiDi. It takes the colour scheme from a preference only, so there is a browser for each scheme."""

    def __init__(self, playwright):
        self.playwright, self.browsers = playwright, {}

    def of(self, scheme):
        if scheme not in self.browsers:
            preferences = {"layout.css.prefers-color-scheme.content-override": 0 if scheme == "dark" else 1, "dom.events.testing.asyncClipboard": True}
            self.browsers[scheme] = self.playwright.firefox.launch(channel="moz-firefox", executable_path=FIREFOX, firefox_user_prefs=preferences)
        return self.browsers[scheme]

    def new_context(self, color_scheme="light", **more):
        return self.of(color_scheme).new_context(**more)

    def new_page(self):
        return self.of("light").new_page()

    def close(self):
        for browser in self.browsers.values():
            browser.close()


def launch(playwright, *arguments):
    """The browser that the environment variable PAGE_BROWSER names. - arguments: for Chromium."""
    if BROWSER == "firefox":
        return Firefox(playwright)
    assert BROWSER == "chromium", f"PAGE_BROWSER is {BROWSER}; it can be chromium or firefox"
    return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *arguments])


class Visit:
    """A page in a context of its own, and all that it does."""

    def __init__(self, browser, inspector, size=(1024, 768), scheme="light", place=""):
        self.inspector = inspector
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, permissions=["clipboard-read", "clipboard-write"])
        self.page = self.context.new_page()
        self.requests, self.answers, self.errors, self.dialogs = [], [], [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("response", lambda answer: self.answers.append(answer.url))
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.context.on("page", lambda other: self.dialogs.append("another page: " + other.url) if other is not self.page else None)
        self.page.goto(inspector.address)
        self.until("document.querySelector('#counts').textContent.includes('exchange')")
        if place:
            self.go(place)

    def until(self, expression, seconds=20):
        """Asks again: the page's policy lets nobody evaluate within it, Playwright's own wait included."""
        end = time.monotonic() + seconds
        while True:
            found = self.page.evaluate(expression)
            if found:
                return found
            assert time.monotonic() < end, f"never: {expression}; there is: {self.page.inner_text('body')[:600]}"
            self.page.wait_for_timeout(10)

    def watched(self, seconds=20):
        """Waits until the run knows that the page is open. Rules pause nothing before."""
        end = time.monotonic() + seconds
        while self.inspector.origin + "/api/live" not in self.answers:
            assert time.monotonic() < end, f"the page does not follow the run: {self.answers}"
            self.page.wait_for_timeout(10)

    def go(self, place):
        self.page.evaluate("place => { location.hash = place }", place)

    def open(self, key, tab):
        self.go(f"#/x/{key}/{tab}")
        self.page.wait_for_selector(f"#tab-{tab}[aria-selected=true]")
        self.until("document.querySelector('#panel').childElementCount > 0")
        self.page.wait_for_timeout(120)

    def rows(self):
        return self.page.eval_on_selector_all(".row:not([hidden])", "all => all.map(row => row.textContent)")

    def axe(self, where):
        violations = Axe().run(self.page).response["violations"]
        assert not violations, f"{where}: " + "; ".join(f"{one['id']}: {one['nodes'][0]['html'][:200]} {one['nodes'][0].get('failureSummary', '')}" for one in violations)

    def calm(self, allowed=()):
        """Nothing happened but what a page may do."""
        foreign = [url for url in self.requests if not url.startswith(self.inspector.origin + "/") and not url.startswith(("blob:" + self.inspector.origin, "data:,"))]
        assert not foreign, f"requests to elsewhere: {foreign}"
        assert not self.dialogs, f"dialogs: {self.dialogs}"
        errors = [error for error in self.errors if not any(part in error for part in allowed)]
        assert not errors, f"errors: {errors}"

    def close(self):
        self.context.close()


@contextlib.contextmanager
def visit(browser, inspector, **more):
    found = Visit(browser, inspector, **more)
    try:
        yield found
    finally:
        found.close()


# MARK: Screens


SCREENS = [(1, "request"), (1, "response"), (2, "response"), (3, "request"), (3, "parts"), (4, "messages"), (5, "messages"), (6, "messages"), (7, "response"), (9, "redacted"), (10, "connection"), (11, "request"),
           (12, "response"), (1, "timing"), (4, "timing"), (1, "raw"), (14, "response")]


@check
def every_screen_is_accessible_in_both_themes_and_sizes(browser, folder):
    with Inspector("inspect", samples.everything(f"{folder}/everything.json"), "--web") as inspector:
        for size in SIZES:
            for scheme in ("light", "dark"):
                with visit(browser, inspector, size=size, scheme=scheme) as one:
                    one.axe(f"list {size} {scheme}")
                    for key, tab in SCREENS:
                        one.open(key, tab)
                        one.axe(f"{key} {tab} {size} {scheme}")
                    one.page.keyboard.press("?")
                    one.page.wait_for_selector("dialog[open]")
                    one.axe("help")
                    one.page.keyboard.press("Escape")
                    one.page.keyboard.press("Control+k")
                    one.page.wait_for_selector("#palette li")
                    one.axe("commands")
                    one.page.keyboard.press("Escape")
                    one.page.fill("#search", "miso")
                    one.page.press("#search", "Enter")
                    one.page.wait_for_selector(".hits li")
                    one.axe("search")
                    one.page.fill("#filter", "~nonsense")
                    one.page.wait_for_selector("#filter-problem:not(:empty)")
                    one.axe("wrong filter")
                    assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window"
                    one.calm(allowed=["422", "415"])


@check
def everything_that_was_recorded_is_shown(browser, folder):
    with Inspector("inspect", samples.everything(f"{folder}/everything.json"), "--web") as inspector, visit(browser, inspector) as one:
        def panel(key, tab):
            one.open(key, tab)
            one.page.wait_for_timeout(150)
            return one.page.inner_text("#panel")

        assert "12345678901234567890" in panel(1, "response") and "보리" in panel(1, "response"), "numbers and names as they were sent"
        assert "price: 1.10" in panel(1, "response")
        panel(2, "response")
        size = one.until("(() => { const image = document.querySelector('#panel img'); return image && image.naturalWidth && [image.naturalWidth, image.naturalHeight] })()")
        assert size == [64, 40], size
        parts = panel(3, "parts")
        assert "보리의 사진" in parts and "part 3.2" in parts and "offset 5," in parts and "closing delimiter" in parts
        assert "cents" in panel(4, "messages") and "two\nlines" in panel(4, "messages")
        sockets = panel(5, "messages")
        assert all(text in sockets for text in ["hello", "안녕하세요", "000102", "ping \"beat\"", "close 1000 \"done\""])
        assert "3 from the client, ▼ 3 from the server" in sockets and "longest pause 31 ms" in sockets and "+31 ms" in sockets, sockets
        events = panel(4, "messages")
        assert "2 from the server; longest pause 240 ms" in events, events
        assert "2:age 3" in panel(6, "messages") and "NOT_FOUND" in panel(6, "response")
        assert "refused" in panel(7, "response") and "closed after 4 of 10" in panel(8, "response")
        assert "request headers" in panel(9, "redacted") and "{{access_token:1}}" in panel(9, "redacted")
        assert "expired by then" in panel(10, "connection") and "TLS_AES_256_GCM_SHA384" in panel(10, "connection")
        assert "안녕 & hi" in panel(11, "request"), "forms are decoded"
        text = panel(12, "response")
        assert "مرحبا بالعالم — שלום עולם — 안녕하세요" in text
        assert one.page.eval_on_selector("#panel td[dir=auto]:has-text('مرحبا')", "cell => getComputedStyle(cell).direction") == "rtl"
        assert "this is not JSON" in panel(14, "response")
        assert '"weight": 12345678901234567890' in panel(1, "raw").replace("\\", "")
        one.calm()


# MARK: Use


@check
def empty_bodies_and_names_without_end_are_shown(browser, folder):
    tape = samples.Cassette()
    head, end = '--4711\r\nContent-Disposition: form-data; name="b"; filename="', '"\r\n\r\ny\r\n--4711--\r\n'
    tape.add("POST", "http://api.example/upload", response={"headers": ["Content-Type: text/plain"], "body": samples.body_of("")},
             request={"headers": ["Content-Type: multipart/form-data; boundary=4711"], "body": samples.body_of(head + "x" * 400 + end)})
    with Inspector("inspect", tape.write(f"{folder}/pets.json"), "--web") as inspector, visit(browser, inspector) as one:
        one.open(1, "response")
        assert one.page.inner_text("#panel").count("empty") == 1, one.page.inner_text("#panel")
        one.open(1, "parts")
        one.page.wait_for_selector(".part .viewer pre")
        widths = one.page.evaluate("[document.querySelector('#panel').scrollWidth, document.querySelector('#panel').clientWidth]")
        assert widths[0] == widths[1], widths
        # Nor was an empty body asked for, which has no range.
        one.calm()


@check
def the_keyboard_is_enough(browser, folder):
    with Inspector("inspect", samples.everything(f"{folder}/everything.json"), "--web") as inspector, visit(browser, inspector) as one:
        page, keys = one.page, one.page.keyboard
        keys.press("j")
        page.wait_for_selector("#tab-response[aria-selected=true]")
        keys.press("j")
        one.until("document.querySelector('#detail-title').textContent.startsWith('2 ')")
        keys.press("k")
        one.until("document.querySelector('#detail-title').textContent.startsWith('1 ')")
        keys.press("G")
        one.until("document.querySelector('#detail-title').textContent.startsWith('14 ')")
        keys.press("g")
        one.until("document.querySelector('#detail-title').textContent.startsWith('1 ')")
        keys.press("1")
        page.wait_for_selector("#tab-request[aria-selected=true]")
        keys.press("3")
        page.wait_for_selector("#tab-timing[aria-selected=true]")
        keys.press("l")
        keys.press("Enter")
        one.until("document.activeElement.getAttribute('role') === 'tab'")
        keys.press("ArrowRight")
        page.wait_for_selector("#tab-connection[aria-selected=true]")
        assert page.evaluate("document.activeElement.id") == "tab-connection"
        keys.press("/")
        keys.type("~m POST & !~c 302")
        keys.press("Enter")
        one.until("document.querySelector('#counts').textContent.startsWith('2 of 14')")
        assert page.evaluate("document.activeElement.getAttribute('role')") == "grid"
        keys.press("ArrowDown")
        one.until("document.querySelector('#detail-title').textContent.startsWith('3 ')")
        keys.press("s")
        keys.type("bori")
        keys.press("Enter")
        page.wait_for_selector(".hits button")
        page.focus(".hits button")
        keys.press("Enter")
        page.wait_for_selector("[role=tabpanel]")
        keys.press("c")
        one.until("document.querySelector('#live-words').textContent.includes('copied')")
        assert "curl " in page.evaluate("navigator.clipboard.readText()")
        keys.press("Escape")
        page.wait_for_selector("#main.alone")
        assert page.evaluate("document.activeElement.getAttribute('role')") == "grid"
        before = page.evaluate("document.documentElement.dataset.theme")
        keys.press("t")
        assert page.evaluate("document.documentElement.dataset.theme") != before
        keys.press("Control+k")
        keys.type("help")
        keys.press("Enter")
        page.wait_for_selector("dialog[open] kbd")
        keys.press("Escape")
        for _ in range(40):
            keys.press("Tab")
            assert page.evaluate("document.activeElement !== null")
        one.calm()


@check
def lists_are_sorted_filtered_and_linked(browser, folder):
    with Inspector("inspect", samples.everything(f"{folder}/everything.json"), "--web") as inspector, visit(browser, inspector) as one:
        page = one.page
        page.click(".head .size button")
        page.wait_for_selector(".size[aria-sort=descending]")
        one.until("document.querySelector('.row[aria-rowindex=\"2\"] .n').textContent === '2'")
        page.fill("#filter", "~b 보리")
        one.until("document.querySelector('#counts').textContent.startsWith('2 of 14')")
        page.fill("#filter", "~nonsense")
        page.wait_for_selector("#filter-problem:not(:empty)")
        assert "~nonsense" in page.inner_text("#filter-problem")
        one.until("document.querySelector('#counts').textContent === '14 exchanges'")
        page.fill("#filter", "~t json")
        one.until("document.querySelector('#counts').textContent.startsWith('4 of 14')")
        page.click(".row[aria-rowindex='2']")
        page.wait_for_selector("[role=tabpanel]")
        page.click("#tab-timing")
        link = page.evaluate("location.hash")
        assert "f=%7Et+json" in link and "/timing" in link and "s=size" in link, link
        assert inspector.token not in page.url
        page.reload()
        page.wait_for_selector("#tab-timing[aria-selected=true]")
        one.until("document.querySelector('#counts').textContent.startsWith('4 of 14')")
        assert page.input_value("#filter") == "~t json"
        # The list beside the details has no room for all columns.
        page.keyboard.press("Escape")
        page.wait_for_selector(".head .size[aria-sort=descending]")
        one.calm(allowed=["422"])


@check
def columns_are_chosen_and_kept(browser, folder):
    with Inspector("inspect", samples.everything(f"{folder}/everything.json"), "--web") as inspector, visit(browser, inspector) as one:
        page = one.page
        heads = lambda: page.eval_on_selector_all("[role=columnheader]", "all => all.map(head => head.textContent.replace(/ [↑↓]/, ''))")
        assert heads()[:4] == ["#", "method", "url", "status"]
        # By keyboard: the button, the boxes, and out of the dialog.
        page.focus("#columns")
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[open] .choices")
        one.axe("columns")
        assert page.is_disabled(".choices label:has-text('url') input")
        for words in ["host", "TLS", "time of day"]:
            page.focus(f".choices label:has-text('{words}') input")
            page.keyboard.press("Space")
        page.uncheck(".choices label:has-text('waterfall') input")
        page.keyboard.press("Escape")
        assert heads() == ["#", "started", "method", "host", "url", "status", "type", "size", "time", "TLS"], heads()
        one.until("document.querySelector('.row[aria-rowindex=\"11\"] .tls').textContent === 'TLSv1.3'")
        assert page.inner_text(".row[aria-rowindex='2'] .host") == "api.example" and page.inner_text(".row[aria-rowindex='2'] .url") == "/pets?page=1"
        assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}", page.inner_text(".row[aria-rowindex='2'] .started"))
        page.click(".head .size button")
        page.wait_for_selector(".size[aria-sort=descending]")
        one.axe("other columns")
        page.reload()
        one.until("document.querySelector('#counts').textContent === '14 exchanges'")
        assert "host" in heads() and "waterfall" not in heads() and page.is_hidden("canvas.waterfall")
        page.click("#columns")
        page.click("button:has-text('Reset')")
        page.keyboard.press("Escape")
        assert heads()[:4] == ["#", "method", "url", "status"] and "host" not in heads()
        one.calm()


@check
def lists_are_saved_in_other_formats(browser, folder):
    with Inspector("inspect", samples.everything(f"{folder}/everything.json"), "--web") as inspector, visit(browser, inspector) as one:
        page = one.page
        page.fill("#filter", "~t image | ~t json")
        one.until("document.querySelector('#counts').textContent.startsWith('5 of 14')")
        found = {}
        for words in ["HAR", "curl commands", "bodies"]:
            page.keyboard.press("Escape")
            page.keyboard.press("Control+k")
            page.keyboard.type("export " + words)
            with page.expect_download() as download:
                page.keyboard.press("Enter")
            path = f"{folder}/{download.value.suggested_filename}"
            download.value.save_as(path)
            found[words] = path
        assert len(json.load(open(found["HAR"]))["log"]["entries"]) == 5
        assert open(found["curl commands"]).read().count("# exchange") == 5
        with zipfile.ZipFile(found["bodies"]) as archive:
            assert archive.testzip() is None
            assert archive.read("2-response.png") == samples.png() and "3-request.multipart" in archive.namelist(), archive.namelist()
        one.calm()


@check
def exchanges_and_cassettes_are_compared(browser, folder):
    older = samples.everything(f"{folder}/older.json")
    tape = json.load(open(older))
    tape["interactions"][0]["response"]["status"] = 503
    del tape["interactions"][3]
    path = f"{folder}/newer.json"
    json.dump(tape, open(path, "w"))
    with Inspector("inspect", path, "--web", "--against", older) as inspector, visit(browser, inspector) as one:
        one.page.keyboard.press("j")
        one.page.wait_for_selector("[role=tabpanel]")
        one.page.keyboard.press("d")
        one.page.keyboard.press("j")
        one.until("document.querySelector('#detail-title').textContent.startsWith('2 ')")
        one.page.keyboard.press("d")
        one.page.wait_for_selector("table[aria-label=Differences]")
        # What was asked for is done.
        assert one.page.is_hidden("#live"), one.page.inner_text("#live")
        assert "503" in one.page.inner_text("#side")
        one.axe("two exchanges")
        one.page.keyboard.press("Control+k")
        one.page.keyboard.type("older")
        one.page.keyboard.press("Enter")
        one.page.wait_for_selector("text=12 exchanges the same, 1 changed, 0 added, 1 removed")
        one.axe("two cassettes")
        one.calm()


@check
def a_filter_is_completed_and_a_wrong_one_keeps_the_list(browser, folder):
    with Inspector("inspect", samples.everything(f"{folder}/everything.json"), "--web") as inspector, visit(browser, inspector) as one:
        page = one.page
        page.focus("#filter")
        page.keyboard.type("~")
        page.wait_for_selector("#filter-choices:not([hidden]) li")
        one.axe("choices")
        # Nothing is wrong yet, and the list stays.
        page.wait_for_timeout(400)
        assert page.inner_text("#filter-problem") == "" and page.inner_text("#counts") == "14 exchanges"
        page.keyboard.type("t")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.input_value("#filter") == "~t "
        page.keyboard.type("json")
        one.until("document.querySelector('#counts').textContent.startsWith('4 of 14')")
        page.keyboard.type(" (")
        page.wait_for_selector("#filter-problem:not(:empty)")
        assert "--filter" not in page.inner_text("#filter-problem")
        assert len(one.rows()) == 4, "the last good list stays"
        page.fill("#filter", "")
        one.until("document.querySelector('#counts').textContent === '14 exchanges'")
        page.focus("#filter")
        page.keyboard.press("ArrowDown")
        assert "earlier filter" in page.inner_text("#filter-choices")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        one.until("document.querySelector('#counts').textContent.startsWith('4 of 14')")
        one.calm(allowed=["422"])


@check
def several_exchanges_are_exported_commented_and_deleted(browser, folder):
    path = samples.everything(f"{folder}/everything.json")
    with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:
        page = one.page
        # The arrow keys are for the list from the first moment.
        page.keyboard.press("ArrowDown")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('1 ')")
        page.keyboard.press("Shift+ArrowDown")
        page.keyboard.press("Shift+ArrowDown")
        page.wait_for_selector("#marks:not([hidden])")
        assert "3 exchanges chosen" in page.inner_text("#marks")
        assert page.locator(".row[aria-selected=true]").count() == 3
        one.axe("chosen rows")
        with page.expect_download() as download:
            page.click("#marks button:has-text('Export HAR')")
        assert len(json.load(open(download.value.path()))["log"]["entries"]) == 3
        page.click("#marks button:has-text('Comment')")
        page.wait_for_selector("#comment-text")
        one.axe("comment")
        page.fill("#comment-text", "look \"here\"")
        page.keyboard.press("Control+Enter")
        one.until("document.querySelector('#live-words').textContent.includes('comment is in the cassette')")
        tape = json.load(open(path))
        assert [one.get("comment") for one in tape["interactions"]][:4] == ['look "here"'] * 3 + [None]
        one.until("document.querySelector('#marks').hidden")
        one.open(3, "request")
        one.until("document.querySelector('.comment')?.textContent === 'look \"here\"'")
        page.focus("[role=grid]")
        page.keyboard.press("Home")
        page.keyboard.press("Shift+ArrowDown")
        page.click("#marks button:has-text('Delete')")
        page.wait_for_selector("dialog[open] >> text=cannot be undone")
        one.axe("delete")
        page.click("dialog button:text-is('Delete')")
        one.until("document.querySelector('#counts').textContent === '12 exchanges'")
        assert len(json.load(open(path))["interactions"]) == 12
        assert subprocess.run([WIRETAPE, "inspect", path], capture_output=True).returncode == 0
        one.calm()


@check
def requests_are_copied_in_every_form(browser, folder):
    with Inspector("inspect", samples.everything(f"{folder}/everything.json"), "--web") as inspector, visit(browser, inspector) as one:
        one.open(3, "request")
        starts = {"curl": ("curl", "printf"), "fetch (JavaScript)": "const response = await fetch(", "Python requests": "import", "Python httpx": "import", "Swift (URLSession)": "import Foundation", "HTTPie": ("http", "printf")}
        for words, start in starts.items():
            one.page.keyboard.press("C")
            one.page.click(f"dialog button:text-is('{words}')")
            one.until(f"document.querySelector('#live-words').textContent.includes('copied')")
            one.page.wait_for_timeout(60)
            text = one.page.evaluate("navigator.clipboard.readText()")
            assert text.startswith(start), (words, text[:100])
            if words.startswith("Python"):
                compile(text, words, "exec")
        one.calm()


@check
def copied_requests_send_what_was_recorded(browser, folder):
    tape = samples.Cassette()
    fields = ["Host: api.example", "X-File: @/etc/passwd", "X-Number: =5", "X-Name: \ubcf4\ub9ac", "Transfer-Encoding: chunked", "Content-Type: text/plain"]
    tape.add("POST", "http://api.example/x", request={"headers": fields, "body": samples.body_of("one\r\ntwo")})
    tape.add("POST", "http://api.example/y", request={"headers": ["Content-Type: multipart/form-data; boundary=b0"], "body": samples.body_of(b'--b0\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n\x89\0\r\n--b0--\r\n')})
    tape.add("GET", "http://api.example/z", request={"headers": [], "body": samples.body_of("one")})
    path = tape.write(f"{folder}/copies.json")
    with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:

        def copied(number, words, said="copied"):
            one.open(number, "request")
            one.page.keyboard.press("C")
            one.page.click(f"dialog button:text-is('{words}')")
            one.until(f"document.querySelector('#live-words').textContent.includes('{said}')")
            one.page.wait_for_timeout(60)
            return one.page.evaluate("navigator.clipboard.readText()")

        # HTTPie would read a file for "@", and send JSON for "=".
        text = copied(1, "HTTPie")
        assert "'X-File:\\@/etc/passwd'" in text and "'X-Number:\\=5'" in text, text
        # The body is there without its chunks.
        text = copied(1, "raw HTTP")
        assert "Transfer-Encoding" not in text and text.endswith("Content-Length: 8\r\n\r\none\r\ntwo"), text
        # curl sends an empty body if a file is missing.
        text = copied(1, "curl")
        assert text.startswith("printf %s b25lDQp0d28= | base64 -d | curl 'http://api.example/x'") and text.endswith("--data-binary @-\n"), text
        text = copied(2, "curl", "it sends files")
        assert text.startswith(f"# first, for the files that it sends: wiretape show {path} 2 --curl --files wiretape-2 > /dev/null\ncurl "), text
        # Libraries take fields as bytes, or their characters as bytes.
        assert '"\ubcf4\ub9ac".encode()' in copied(1, "Python requests")
        assert json.dumps("\ubcf4\ub9ac".encode().decode("latin-1"), ensure_ascii=False) in copied(1, "fetch (JavaScript)")
        assert copied(3, "fetch (JavaScript)", "fetch sends no body with GET")
        one.calm()


@check
def a_tree_is_searched_and_its_places_are_used(browser, folder):
    path = f"{folder}/tree.json"
    tape = samples.Cassette()
    tape.add("POST", "http://api.example/users", request={"headers": ["Content-Type: application/json"], "body": samples.body_of('{"user": {"name": "Bori", "tags": ["a", "b/c"]}}')})
    tape.write(path)
    with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:
        page = one.page
        one.open(1, "request")
        page.fill(".tree-tools input", "b/c")
        page.click(".tree-tools .hits button")
        one.axe("a place in the tree")
        for button, wanted in [("Copy pointer", "/user/tags/1"), ("Copy path", ".user.tags[1]")]:
            page.click(f"button:text-is('{button}')")
            page.wait_for_timeout(60)
            assert page.evaluate("navigator.clipboard.readText()") == wanted
        # By keyboard: from line to line.
        page.focus(".tree summary >> nth=0")
        for _ in range(2):
            page.keyboard.press("ArrowDown")
        assert page.inner_text(".tree-tools [role=status]") == "/user/name"
        page.click("button:text-is('Ignore this place')")
        one.until("document.querySelector('#live-words').textContent.includes('ignored')")
        assert json.load(open(path))["match"]["ignore"] == ["json:/user/name"]
        one.calm()


@check
def broken_uploads_are_marked_with_what_to_write(browser, folder):
    path = f"{folder}/broken.json"
    tape = samples.Cassette()
    body = '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--X--\r\n'
    tape.add("POST", "http://api.example/upload", request={"headers": ["Content-Type: application/json"], "body": samples.body_of(body)})
    tape.add("POST", "http://api.example/fine", request={"headers": ["Content-Type: multipart/form-data; boundary=X"], "body": samples.body_of(body)})
    tape.write(path)
    with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:
        one.until("document.querySelector('.row .caution:not([hidden])') !== null")
        assert ["broken" in row for row in one.page.eval_on_selector_all(".row:not([hidden])", "all => all.map(row => row.innerText + (row.querySelector('.caution').hidden ? '' : 'broken'))")] == [True, False]
        one.open(1, "parts")
        assert one.page.inner_text("#tab-parts") == "Parts ⚠ 1"
        assert one.page.inner_text(".change del") == "- Content-Type: application/json"
        assert one.page.inner_text(".change ins") == "+ Content-Type: multipart/form-data; boundary=X"
        assert one.page.locator(".part").count() == 1
        one.axe("a broken upload")
        one.calm()


# MARK: Safety


@check
def a_hostile_cassette_does_nothing(browser, folder):
    with Inspector("inspect", samples.hostile(f"{folder}/hostile.json"), "--web") as inspector, visit(browser, inspector) as one:
        state = json.loads(inspector.ask("/api/state"))
        for key in range(1, state["rows"] + 1):
            one.go(f"#/x/{key}/request")
            one.until("document.querySelector('[role=tabpanel], #side .problem')")
            for tab in one.page.eval_on_selector_all("[role=tab]", "all => all.map(tab => tab.id)"):
                one.page.click("#" + tab)
                one.page.wait_for_timeout(60)
                for view in one.page.eval_on_selector_all("#panel [data-view]", "all => all.map((_, index) => index)"):
                    one.page.locator("#panel [data-view]").nth(view).click()
                    one.page.wait_for_timeout(40)
                for summary in one.page.query_selector_all("#panel summary")[:20]:
                    summary.click()
            one.page.keyboard.press("Escape")
            one.page.keyboard.press("e")
            one.page.wait_for_timeout(60)
            if one.page.is_visible("#edit-text"):
                one.page.focus("#edit-text")
                one.page.keyboard.press("End")
                one.page.keyboard.type(" ")
                one.page.keyboard.press("Control+Enter")
                one.page.wait_for_selector("#edit-result p")
        one.page.keyboard.press("Escape")
        one.page.keyboard.press("Control+k")
        one.page.keyboard.type("would be redacted")
        one.page.keyboard.press("Enter")
        one.page.fill("#redact-redact", "text=<[a-z]{6}>")
        one.page.keyboard.press("Control+Enter")
        one.page.wait_for_selector("table[aria-label=Places]")
        one.page.fill("#filter", "script")
        one.page.fill("#search", "<script>")
        one.page.press("#search", "Enter")
        one.page.wait_for_selector(".hits li")
        one.page.wait_for_timeout(500)
        one.calm(allowed=["422", "404", "400"])
        assert one.page.evaluate("document.querySelectorAll('main script, main iframe, main form, main svg, main link, main object').length") == 0
        assert one.page.title() == "hostile.json – wiretape"
        one.open(6, "response")
        shown = one.page.inner_text("#panel")
        assert "\u202e" not in shown and "\x1b" not in shown and "\\u202e" in shown and "\\x1b" in shown


@check
def recorded_bodies_cannot_be_navigated_to(browser, folder):
    with Inspector("inspect", samples.hostile(f"{folder}/hostile.json"), "--web") as inspector, visit(browser, inspector) as one:
        for path in ["/api/x/1/response/body", f"/api/x/1/response/body?token={inspector.token}"]:
            other = one.context.new_page()
            one.dialogs.clear()
            answer = other.goto(inspector.origin + path)
            assert answer.status == 401 and "<script>" not in other.content()
            other.close()
        assert one.context.cookies() == []


@check
def pages_of_other_origins_get_nothing(browser, folder):
    path = samples.everything(f"{folder}/everything.json")
    pathlib.Path(f"{folder}/site").mkdir()
    pathlib.Path(f"{folder}/site/index.html").write_text("<!doctype html><title>other</title>")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=f"{folder}/site")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Inspector("inspect", path, "--web") as inspector:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        for mode in ("cors", "no-cors"):
            found = page.evaluate(
                "async ([url, mode, token]) => { try { const answer = await fetch(url, { mode, headers: mode === 'cors' ? { Authorization: 'Bearer ' + token } : {} }); return answer.type + ' ' + (await answer.text()).length } catch (error) { return 'refused' } }",
                [inspector.origin + "/api/state", mode, inspector.token])
            assert found in ("refused", "opaque 0"), found
        page.evaluate("url => { const frame = document.createElement('iframe'); frame.src = url; document.body.append(frame) }", inspector.origin + "/")
        page.wait_for_timeout(500)
        assert all(inspector.origin not in (frame.url or "") or "wiretape" not in frame.content() for frame in page.frames[1:])
        page.close()
    server.shutdown()


# MARK: Growth and size


@check
def what_another_process_writes_appears(browser, folder):
    path = f"{folder}/grow.json"
    tape = samples.Cassette()
    tape.add("GET", "http://api.example/1")
    tape.write(path)
    with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:
        assert one.page.inner_text("#counts") == "1 exchange"
        one.page.click("#follow")
        for number in range(2, 60):
            tape.add("GET", f"http://api.example/{number}")
        text = ",".join("\n    " + json.dumps(one_) for one_ in tape.interactions[1:])
        with open(path, "r+b") as file:
            file.seek(-len("\n  ]\n}\n"), os.SEEK_END)
            file.write(("," + text + "\n  ]\n}\n").encode())
        one.until("document.querySelector('#counts').textContent === '59 exchanges'")
        one.until("[...document.querySelectorAll('.row:not([hidden]) .n')].some(cell => cell.textContent === '59')")
        tape.interactions = tape.interactions[:3]
        tape.write(path + ".new")
        os.rename(path + ".new", path)
        one.until("document.querySelector('#counts').textContent === '3 exchanges'")
        one.calm()


@check
def a_page_comes_back_after_its_server_was_away(browser, folder):
    path = samples.everything(f"{folder}/everything.json")
    with Inspector("inspect", path, "--web") as inspector:
        one = Visit(browser, inspector)
        os.kill(inspector.process.pid, 19)
        one.page.wait_for_timeout(300)
        os.kill(inspector.process.pid, 18)
        one.page.keyboard.press("j")
        one.page.wait_for_selector("[role=tabpanel]")
        port = inspector.origin.rsplit(":", 1)[1]
    one.until("document.querySelector('#notice').textContent.includes('connection to wiretape is lost')")
    one.page.keyboard.press("j")
    one.until("document.querySelector('#side').textContent.includes('wiretape does not answer: is it still running?')")
    with Inspector("inspect", path, "--web", "--web-port", port):
        one.until("document.querySelector('#notice').textContent.includes('another run')")
    one.close()


@check
def a_page_says_how_to_see_the_cassette_of_a_run_that_ended(browser, folder):
    with Inspector("record", f"{folder}/a pet.json", "--web") as inspector:
        one = Visit(browser, inspector)
        assert one.page.is_visible("#live")
    one.until("document.querySelector('#notice').textContent.includes('trying again. If the run has ended')")
    assert "a pet.json' --web" in one.page.inner_text("#notice") and one.page.is_hidden("#live")
    one.close()


@check
def cassettes_of_all_kinds_open(browser, folder):
    samples.Cassette().write(f"{folder}/empty.json")
    whole = pathlib.Path(samples.everything(f"{folder}/whole.json")).read_bytes()
    pathlib.Path(f"{folder}/torn.json").write_bytes(whole[:-200])
    pathlib.Path(f"{folder}/old.json").write_bytes(whole.replace(b'"wiretape": 2', b'"wiretape": 1'))
    for name, rows, notice in [("empty", 0, ""), ("torn", 13, "is torn: 1 exchange lost"), ("old", 14, "")]:
        with Inspector("inspect", f"{folder}/{name}.json", "--web") as inspector, visit(browser, inspector) as one:
            assert one.page.inner_text("#counts") == f"{rows} exchanges", name
            assert notice in one.page.inner_text("#notice") if notice else one.page.is_hidden("#notice"), name
            assert len(one.rows()) <= 60
            one.axe(name)
            one.calm()


@check
def a_hundred_thousand_rows_stay_quick(browser, folder):
    path = samples.large(f"{folder}/large.json")
    started = time.monotonic()
    with Inspector("inspect", path, "--web") as inspector:
        listening = time.monotonic() - started
        # A debug build takes longer to read them than a release build to do all of this.
        inspector.until("/api/state", lambda state: state["rows"] == 100_000, 120)
        indexed = time.monotonic() - started
        one = Visit(browser, inspector)
        page = one.page
        # By the page's own clock, from the start of the navigation: the frame after the first row has its number.
        one.context.add_init_script("new MutationObserver((_, observer) => { if (document.querySelector('.row .n:not(:empty)')) { observer.disconnect(); requestAnimationFrame(() => { window.painted = performance.now(); }); } }).observe(document, { childList: true, subtree: true, characterData: true });")
        painted = []
        for _ in range(5):
            page.goto("about:blank")
            page.goto(inspector.address)
            painted.append(one.until("window.painted"))
        painted = sorted(painted)[2]
        one.until("document.querySelector('#counts').textContent === '100,000 exchanges'")
        every_row = page.evaluate("performance.now()")

        def filtered(text, count):
            """Milliseconds from the key to the frame with the rows."""
            page.evaluate("""([text, words]) => {
                // Without the event of typing, after which the page would not wait for the key.
                document.querySelector('#filter').value = text;
                window.filtered = null;
                addEventListener('keydown', () => { window.began = performance.now(); }, { capture: true, once: true });
                const observer = new MutationObserver(() => { if (document.querySelector('#counts').textContent === words) { observer.disconnect(); requestAnimationFrame(() => { window.filtered = performance.now() - window.began; }); } });
                observer.observe(document.querySelector('#counts'), { childList: true, subtree: true, characterData: true });
            }""", [text, f"{count} of 100,000 exchanges"])
            page.press("#filter", "Enter")
            return one.until("window.filtered", 240)

        by_rows = filtered("~c 500", "100")
        by_bodies = filtered("~b needle", "5")
        # The first rows are there before all bodies are decoded.
        page.evaluate("""() => {
            document.querySelector('#filter').value = '~b "pet 7 "';
            addEventListener('keydown', () => { window.began = performance.now(); }, { capture: true, once: true });
            window.hit = null;
            const observer = new MutationObserver(() => {
                if (document.querySelector('.viewport').getAttribute('aria-rowcount') !== '2' || document.querySelector('.row:not([hidden]) .n')?.textContent !== '7') return;
                observer.disconnect();
                const words = document.querySelector('#counts').textContent;
                requestAnimationFrame(() => { window.hit = [performance.now() - window.began, words]; });
            });
            observer.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
        }""")
        page.press("#filter", "Enter")
        first_hit, words = one.until("window.hit", 240)
        assert "searched" in words, words
        filtered("~all", "100,000")
        page.fill("#filter", "")
        page.press("#filter", "Enter")
        one.until("document.querySelector('#counts').textContent === '100,000 exchanges'")
        frames = page.evaluate("""async () => {
            const view = document.querySelector('.viewport'); const times = []; let last = performance.now();
            for (let index = 0; index < 120; index += 1) {
                view.scrollTop += view.clientHeight;
                await new Promise(requestAnimationFrame);
                times.push(performance.now() - last); last = performance.now();
            }
            times.sort((a, b) => a - b);
            return [times[60], times[114]];
        }""")
        assert page.evaluate("document.querySelectorAll('.row').length") <= 60
        page.keyboard.press("G")
        # It is still on the screen when the exchange takes half of it.
        page.wait_for_selector("[role=tabpanel]")
        one.until("[...document.querySelectorAll('.row:not([hidden]) .n')].some(cell => cell.textContent === '100000')")
        # Only Chromium has it.
        heap = page.evaluate("performance.memory?.usedJSHeapSize ?? NaN") / 1e6
        with open(f"/proc/{inspector.process.pid}/status") as status:
            memory = {line.split(":")[0]: line.split(":")[1].strip() for line in status}
        print(f"    listening {listening:.2f} s, indexed {indexed:.2f} s, painted {painted:.0f} ms, all rows known {every_row:.0f} ms, filter on rows {by_rows:.0f} ms, "
              f"on bodies first {first_hit:.0f} ms, all {by_bodies:.0f} ms, "
              f"scroll p50 {frames[0]:.1f} ms p95 {frames[1]:.1f} ms, heap {heap:.0f} MB, server {memory['VmRSS']} (peak {memory['VmHWM']})")
        one.calm()
        one.close()


# MARK: Runs


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A proxy that stops resets its connections."""


class Origin:
    def __init__(self):
        gate = self.gate = threading.Event()
        streams = self.streams = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if "events" in self.path:
                    self.send_response(200)
                    self.send_header("Content-Type", "text/event-stream")
                    self.end_headers()
                    for number in range(3):
                        self.wfile.write(f"id: {number}\ndata: event {number}\n\n".encode())
                        self.wfile.flush()
                    streams.set()
                    gate.wait(20)
                    self.close_connection = True
                    return
                if "slow" in self.path:
                    gate.wait(20)
                body = json.dumps({"path": self.path}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def through(inspector, url):
    proxy = None
    for _ in range(200):
        found = re.search(r"listening on (http://\S+)", "".join(inspector.lines))
        if found:
            proxy = found[1]
            break
        time.sleep(0.05)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
    try:
        with opener.open(url, timeout=20) as answer:
            answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


@check
def a_recording_is_shown_while_it_runs(browser, folder):
    origin = Origin()
    with Inspector("record", f"{folder}/live.json", "--web") as inspector, visit(browser, inspector) as one:
        assert one.page.inner_text("#counts") == "0 exchanges"
        for number in range(30):
            assert through(inspector, f"{origin.url}/{number}") == 200
        one.until("document.querySelector('#counts').textContent === '30 exchanges'")
        slow = threading.Thread(target=through, args=(inspector, origin.url + "/slow"))
        slow.start()
        one.page.keyboard.press("f")
        row = ".row:has(.status.open):has-text('/slow')"
        one.page.wait_for_selector(row)
        one.until("document.querySelector('#counts').textContent === '30 exchanges, 1 open'")
        first = one.page.inner_text(row + " .time")
        one.until(f"document.querySelector('.row:has(.status.open) .time').textContent !== '{first}'")
        one.axe("open exchanges")
        one.page.keyboard.press("G")
        one.page.wait_for_selector("#side :text('still open')")
        one.axe("an open exchange")
        origin.gate.set()
        slow.join()
        one.page.wait_for_selector(row, state="hidden")
        one.until("document.querySelector('#counts').textContent === '31 exchanges'")
        # What was shown as open is the recorded exchange now.
        one.until("document.querySelector('#detail-title').textContent.startsWith('31 ')")
        # Its body comes after its title.
        one.until("document.querySelector('#panel').textContent.includes('/slow')")
        assert one.page.evaluate("location.hash") == "#/x/31/response"
        assert "31 recorded" in one.page.inner_text("#live-words")
        # The proxy does not lead to the page.
        assert through(inspector, inspector.origin + "/") >= 400
        # What is open has no journal, but for conversations.
        one.calm(allowed=["404"])


@check
def what_another_process_still_records_is_open(browser, folder):
    origin = Origin()
    path = f"{folder}/live.json"
    with Inspector("record", path, "--web") as recorder:
        assert through(recorder, f"{origin.url}/1") == 200
        recorder.until("/api/state", lambda state: state["rows"] == 1)
        stream = threading.Thread(target=through, args=(recorder, origin.url + "/events"))
        stream.start()
        with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:
            one.until("document.querySelector('#counts').textContent === '1 exchange, 1 open'")
            row = ".row:has(.status.open):has-text('/events')"
            one.page.wait_for_selector(row)
            one.page.keyboard.press("G")
            one.page.wait_for_selector("#tab-messages")
            one.page.click("#tab-messages")
            one.page.wait_for_selector("#panel :text('event 2')")
            one.axe("an open event stream")
            one.page.click("#tab-raw")
            one.page.wait_for_selector("#panel :text('as the cassette would contain it')")
            # There is nothing to change or to send, and no link leads to it.
            assert one.page.query_selector_all(".detail-head button:has-text('Edit'), .detail-head button:has-text('Resend'), .detail-head button:has-text('Link')") == []
            assert one.page.evaluate("location.hash") == "#/"
            for key in "er":
                one.page.click("#counts")
                one.page.evaluate("document.querySelector('#live-words').textContent = ''")
                one.page.keyboard.press(key)
                one.until("document.querySelector('#live-words').textContent === 'the exchange is still open'")
            one.page.wait_for_selector("#tab-raw")
            # Another list has no such rows.
            one.page.fill("#filter", "~m GET")
            one.until("document.querySelector('#counts').textContent === '1 of 1 exchange, 1 open'")
            one.page.wait_for_selector(row, state="hidden")
            one.page.fill("#filter", "")
            one.page.wait_for_selector(row)
            origin.gate.set()
            stream.join()
            one.until("document.querySelector('#counts').textContent === '2 exchanges'")
            one.page.wait_for_selector(row, state="hidden")
            # The tab that was chosen stays.
            one.until("document.querySelector('#detail-title').textContent.startsWith('2 ')")
            one.page.wait_for_selector("#tab-raw[aria-selected=true]")
            one.page.wait_for_selector("#panel :text('as it is in the cassette')")
            one.calm(allowed=["404"])


@check
def a_page_that_reads_nothing_keeps_nobody_waiting(browser, folder):
    origin = Origin()
    with Inspector("record", f"{folder}/live.json", "--web") as inspector:
        stalled = []
        for path in ["/api/live", "/api/live", "/app.js", "/api/redactions"] * 5:
            one = socket.create_connection(("127.0.0.1", int(inspector.origin.rsplit(":", 1)[1])))
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            one.sendall((f"GET {path} HTTP/1.1\r\nHost: {inspector.origin[7:]}\r\nAuthorization: Bearer {inspector.token}\r\n\r\n" * (1 if path.endswith("live") else 50)).encode())
            stalled.append(one)
        for number in range(100):
            assert through(inspector, f"{origin.url}/{number}") == 200
        inspector.until("/api/state", lambda state: state["rows"] == 100 and state["lost"] == 0)
        with visit(browser, inspector) as one:
            one.until("document.querySelector('#counts').textContent === '100 exchanges'")
            one.calm()
        for one in stalled:
            one.close()


@check
def a_replay_says_why_requests_missed_and_how_to_mend_it(browser, folder):
    origin = Origin()
    path = f"{folder}/pets.json"
    tape = samples.Cassette()
    for page_number, stamp in [(1, 7), (2, 8), (2, 9)]:
        tape.add("GET", f"{origin.url}/pets?page={page_number}&ts={stamp}")
    tape.write(path)
    with Inspector("replay", path, "--web") as inspector, visit(browser, inspector) as one:
        assert through(inspector, f"{origin.url}/pets?page=1&ts=7") == 200
        assert through(inspector, f"{origin.url}/pets?page=2&ts=10") == 424
        one.until("document.querySelector('#live-words').textContent.includes('1 hit, 1 miss')")
        # The miss is a row of its own, and the others say what became of them.
        one.until("document.querySelector('.row.missed:not([hidden]) .status')?.textContent.includes('miss')")
        assert [("hit" in row, "unused" in row) for row in one.rows()[:3]] == [(True, False), (False, True), (False, True)], one.rows()
        one.page.keyboard.press("m")
        one.page.wait_for_selector("text=Miss 1 of 1")
        one.axe("replay")
        one.page.check("label:has-text('pattern query:ts=[0-9]+') >> nth=0")
        assert one.page.eval_on_selector_all("[data-rule='pattern query:ts=[0-9]+']", "all => all.length > 1 && all.every(box => box.checked)"), "the same rule beside other requests"
        one.page.click("button:has-text('Try')")
        one.page.wait_for_selector("text=would answer")
        one.page.click("button:has-text('Copy options')")
        one.until("document.querySelector('#side [role=status]:last-of-type, #side').innerText.includes('copied')")
        assert one.page.evaluate("navigator.clipboard.readText()") == "--pattern 'query:ts=[0-9]+'"
        one.page.click("button:has-text('Copy YAML')")
        one.page.wait_for_timeout(50)
        assert one.page.evaluate("navigator.clipboard.readText()") == 'patterns:\n  - "query:ts=[0-9]+"\n'
        one.page.uncheck("label:has-text('pattern query:ts=[0-9]+') >> nth=0")
        shown = one.page.inner_text("#side")
        assert "ts=10" in shown and "ts=8" in shown and "2 unused" in shown, shown
        one.page.check("label:has-text('ignore query:ts') >> nth=0")
        one.page.click("button:has-text('Try')")
        one.page.wait_for_selector("text=would answer")
        assert "#2 = #3" in one.page.inner_text("#side")
        one.axe("trial")
        one.page.click("button:has-text('Use now, and write')")
        one.page.wait_for_selector("text=in force: repeat the request")
        assert json.load(open(path))["match"] == {"ignore": ["query:ts"]}
        # The running replay answers it now. What had missed before stays a miss.
        assert through(inspector, f"{origin.url}/pets?page=2&ts=10") == 200
        assert through(inspector, f"{origin.url}/pets?page=2&ts=11") == 200
        assert through(inspector, f"{origin.url}/pets?page=3&ts=1") == 424
        one.until("document.querySelector('#live-words').textContent.includes('3 hits, 2 misses')")
        # It sends nothing, and says where that is done.
        for keys in ("gr", "e"):
            one.page.click("#counts")
            for key in keys:
                one.page.keyboard.press(key)
            if keys == "e":
                one.until("document.activeElement.id === 'edit-text'")
                one.page.click("button:has-text('Send')")
            one.page.wait_for_selector("#side:has-text('A replay answers from the cassette and never contacts an origin')")
            one.page.evaluate("navigator.clipboard.writeText('')")
            one.page.click("button:has-text('Copy command')")
            command = f"wiretape inspect {path} --web --open"
            one.until(f"navigator.clipboard.readText().then((text) => text === {json.dumps(command)})")
            one.axe("not sent from here")
        one.calm()
    with Inspector("replay", path, "--web") as inspector:
        assert through(inspector, f"{origin.url}/pets?page=2&ts=10") == 200


# MARK: Traffic rules


RULES = """# rules of the project
modify:
  # nobody needs them
  - name: no ads
    when: "~d ads.example.com"
    block: 403   # forbidden

  - name: staging
    when: "~u /v2/"
    request: { set: { "header:x-env": test }, remove: ["query:gone"] }
  - when: "~u /x"
    fault: { status: 503, first: 1 }

# failures
failOn: none
"""


@contextlib.contextmanager
def ruled(folder, rules=RULES, *options, **environment):
    """A recording with a settings file. A build server's variable would keep rules from pausing."""
    pathlib.Path(f"{folder}/wiretape.yaml").write_text(rules)
    variables = {**{name: value for name, value in os.environ.items() if name != "CI"}, **environment}
    with Inspector("record", f"{folder}/live.json", "--web", *options, cwd=folder, env=variables) as inspector:
        yield inspector


def drag(page, what, to):
    """By mouse. WebDriver BiDi does not go on with a drag that Firefox has begun, so there the page gets its events."""
    if BROWSER == "chromium":
        page.drag_and_drop(what, to)
        return
    transfer = page.evaluate_handle("new DataTransfer()")
    for selector, kind in [(what, "dragstart"), (to, "dragover"), (to, "drop")]:
        page.dispatch_event(selector, kind, {"dataTransfer": transfer})


def rule_names(one):
    return one.page.eval_on_selector_all(".rule-item strong", "all => all.map(name => name.textContent.replace(/^\\d+\\. /, ''))")


@check
def rules_are_listed_switched_and_moved(browser, folder):
    origin = Origin()
    with ruled(folder) as inspector, visit(browser, inspector) as one:
        page, keys = one.page, one.page.keyboard
        assert through(inspector, f"{origin.url}/v2/pets") == 200
        page.click("#rules")
        page.wait_for_selector(".rule-item")
        assert rule_names(one) == ["no ads", "staging", "rule 3"]
        items = page.eval_on_selector_all(".rule-item", "all => all.map(item => item.textContent)")
        assert "never matched" in items[0] and "wiretape.yaml, line 4" in items[0], items
        assert "matched 1, applied to 1" in items[1] and "query:gone: it is not there" in items[1], items
        assert "first 1" in items[2] and "2 never matched" in page.inner_text("#rules-words")
        # Counts move while they are looked at.
        assert [through(inspector, f"{origin.url}/x") for _ in range(2)] == [503, 200]
        one.until("document.querySelectorAll('.rule-item')[2].textContent.includes('matched 2, applied to 1')")
        # By keyboard: the focus stays on what moves.
        page.focus("[data-act='down 1']")
        keys.press("Enter")
        one.until("document.activeElement.dataset.act === 'down 2'")
        keys.press("Enter")
        one.until("document.activeElement.dataset.act === 'up 3'")
        assert rule_names(one) == ["staging", "rule 3", "no ads"]
        page.focus("[data-act='switch 2']")
        keys.press("Space")
        one.until("document.querySelectorAll('.rule-item')[1].classList.contains('off')")
        assert page.evaluate("document.activeElement.dataset.act") == "switch 2"
        assert "off" in page.inner_text(".rule-item >> nth=1 >> .counts")
        # By mouse: the last to the first place.
        drag(page, ".rule-item >> nth=2", ".rule-item >> nth=0")
        one.until("document.querySelector('.rule-item strong').textContent.endsWith('no ads')")
        page.click("[data-act='remove 1']")
        page.wait_for_selector("#rules-result:has-text('removed no ads')")
        assert rule_names(one) == ["staging", "rule 3"]
        page.click("button:has-text('Put it back')")
        one.until("document.querySelectorAll('.rule-item').length === 3")
        assert rule_names(one) == ["no ads", "staging", "rule 3"]
        # Somebody else changes the rules: the page shows that instead of changing them.
        state = json.loads(inspector.ask("/api/state"))["traffic"]
        page.route("**/api/modify", lambda route: route.abort())
        inspector.ask("/api/modify/remove", {"list": state["list"], "rule": 1})
        page.wait_for_timeout(400)
        page.unroute("**/api/modify")
        page.click("[data-act='switch 2']")
        page.wait_for_selector("#rules-result:has-text('the rules have changed since the page showed them')")
        one.until("document.querySelectorAll('.rule-item').length === 2")
        assert rule_names(one) == ["staging", "rule 3"]
        one.calm(allowed=["409", "ERR_FAILED"])


@check
def a_rule_is_edited_tried_and_saved(browser, folder):
    origin = Origin()
    with ruled(folder) as inspector, visit(browser, inspector) as one:
        page, keys = one.page, one.page.keyboard
        assert through(inspector, f"{origin.url}/v2/pets") == 200
        one.until("document.querySelector('#counts').textContent === '1 exchange'")
        keys.press("u")
        one.until("document.activeElement.dataset.act === 'switch 1'")
        page.focus("[data-act='edit 2']")
        keys.press("Enter")
        one.until("document.activeElement.id === 'rule-text'")
        text = page.input_value("#rule-text")
        assert text.startswith("- name: staging\n"), text
        page.fill("#rule-text", "- name: staging\n  when: ~u /v2/\n  blok: 403\n")
        keys.press("Control+s")
        page.wait_for_selector("#rule-result:has-text('a rule has no \"blok\"; did you mean \"block\"?')")
        assert page.evaluate("(() => { const area = document.activeElement; return area.value.slice(area.selectionStart, area.selectionEnd) })()") == "  blok: 403"
        one.axe("a wrong rule")
        page.fill("#rule-text", "- name: staging\n  when: ~u /v2/\n  request: { set: { 'header:x-env': live } }\n")
        page.fill("#rule-key", "1")
        page.focus("#rule-text")
        keys.press("Control+Enter")
        page.wait_for_selector("[aria-label='Changed lines: Request']:has-text('x-env: live')")
        assert "does not match: ~d ads.example.com does not hold" in page.inner_text("#side")
        one.axe("a trial")
        keys.press("Control+s")
        page.wait_for_selector(".rule-item")
        assert through(inspector, f"{origin.url}/v2/pets") == 200
        # Saving shows the differences, and changes nothing else.
        page.click("button:has-text('Save')")
        page.wait_for_selector("[aria-label='Changed lines: settings']")
        assert pathlib.Path(f"{folder}/wiretape.yaml").read_text() == RULES
        one.axe("what would be saved")
        one.until("document.activeElement.textContent === 'Write wiretape.yaml'")
        keys.press("Enter")
        page.wait_for_selector("#rules-result:has-text('written into')")
        saved = pathlib.Path(f"{folder}/wiretape.yaml").read_text()
        assert saved == RULES.replace('test }, remove: ["query:gone"] }', "live } }"), saved
        page.click("button:has-text('Save')")
        page.wait_for_selector("#rules-result:has-text('has these rules already')")
        # A file that was edited meanwhile is not overwritten.
        page.click("[data-act='remove 1']")
        page.wait_for_selector("button:has-text('Put it back')")
        page.click("button:has-text('Save')")
        page.wait_for_selector("button:has-text('Write wiretape.yaml')")
        pathlib.Path(f"{folder}/wiretape.yaml").write_text(saved + "grace: 2\n")
        page.click("button:has-text('Write wiretape.yaml')")
        page.wait_for_selector("#rules-result:has-text('have changed since the differences were shown')")
        assert pathlib.Path(f"{folder}/wiretape.yaml").read_text() == saved + "grace: 2\n"
        page.click("button:has-text('Copy YAML')")
        one.until("document.querySelector('#live-words').textContent === 'rules copied'")
        assert page.evaluate("navigator.clipboard.readText()").startswith("modify:\n  - name: staging\n")
        one.calm(allowed=["400", "409"])
    # The next run reads what was saved.
    with ruled(folder, saved) as inspector:
        assert [rule["name"] for rule in json.loads(inspector.ask("/api/modify"))["rules"]] == ["no ads", "staging", "rule 3"]


@check
def a_rule_is_made_from_an_exchange(browser, folder):
    origin = Origin()
    with ruled(folder, "") as inspector, visit(browser, inspector) as one:
        page, keys = one.page, one.page.keyboard
        assert through(inspector, f"{origin.url}/pets?page=1") == 200
        one.until("document.querySelector('#counts').textContent === '1 exchange'")
        # By keyboard.
        keys.press("j")
        page.wait_for_selector("[role=tabpanel]")
        keys.press("b")
        one.until("document.activeElement.textContent === 'Block them'")
        one.axe("rules for an exchange")
        keys.press("ArrowDown")
        keys.press("Enter")
        one.until("document.activeElement.id === 'rule-text'")
        text = page.input_value("#rule-text")
        assert "status: 200" in text and '{"path": "/pets?page=1"}' in text, text
        page.fill("#rule-text", text.replace("status: 200", "status: 418").replace("/pets?page=1", "/teapot"))
        # As with Caps Lock.
        keys.press("Control+S")
        page.wait_for_selector(".rule-item")
        assert through(inspector, f"{origin.url}/pets?page=1") == 418 and through(inspector, f"{origin.url}/pets?page=12") == 200
        # By mouse.
        one.go("#/x/1/response")
        page.wait_for_selector("[role=tabpanel]")
        page.click(".detail-head button:has-text('Rule')")
        page.click("button:has-text('Block them')")
        page.wait_for_selector("#rule-text")
        page.click("button:has-text('Add')")
        page.wait_for_selector(".rule-item")
        assert rule_names(one) == ["block GET /pets", "respond GET /pets"]
        assert through(inspector, f"{origin.url}/pets?page=1") == 403
        one.go("#/x/1/request")
        page.click(".detail-head button:has-text('Rule')")
        page.click("button:has-text('See what the rules do')")
        page.wait_for_selector("#side:has-text('is answered with 403')")
        one.axe("what rules do")
        one.calm()


@check
def exchanges_that_rules_changed_are_marked(browser, folder):
    origin = Origin()
    other = Origin()
    rules = f'modify:\n  - name: "<b>elsewhere</b>"\n    when: "~u /v2/"\n    mapRemote: {other.url}/v3/\n'
    with ruled(folder, rules) as inspector, visit(browser, inspector) as one:
        page = one.page
        assert through(inspector, f"{origin.url}/v2/pets") == 200 and through(inspector, f"{origin.url}/pets") == 200
        one.until("document.querySelector('#counts').textContent === '2 exchanges'")
        one.until("document.querySelectorAll('.row:not([hidden]) .marked[title^=\"changed by\"]:not([hidden])').length === 1")
        page.click("#columns")
        page.check(".choices label:has-text('applied rules') input")
        page.keyboard.press("Escape")
        one.until("document.querySelector('.row[aria-rowindex=\"2\"] .rules-column').textContent === '<b>elsewhere</b>'")
        one.axe("the column of rules")
        for tab in ["request", "response"]:
            one.open(1, tab)
            shown = page.inner_text(".changed-by")
            assert "changed by <b>elsewhere</b>" in shown and f"forwarded to {other.url}/v3/pets" in shown, shown
            one.axe("a changed exchange")
        one.open(2, "request")
        assert not page.query_selector(".changed-by") and not page.query_selector("main b")
        one.calm()


@check
def clients_are_judged_in_the_page(browser, folder):
    origin = Origin()
    with ruled(folder, 'modify:\n  - when: "~u /x"\n    fault: { status: 503, first: 3 }\n', "--verdict", "client") as inspector, visit(browser, inspector) as one:
        one.page.keyboard.press("u")
        one.page.wait_for_selector("#side:has-text('nothing to object to')")
        assert [through(inspector, f"{origin.url}/x") for _ in range(4)] == [503, 503, 503, 200]
        one.page.wait_for_selector("[aria-label='Verdict on the clients'] li:has-text('no-backoff')")
        one.axe("a verdict")
        one.calm()


@check
def every_view_of_rules_is_accessible_in_both_themes_and_sizes(browser, folder):
    origin = Origin()
    with ruled(folder) as inspector:
        for path in ["/v2/pets", "/x", "/other"]:
            through(inspector, origin.url + path)
        for size in [(375, 700), *SIZES]:
            for scheme in ("light", "dark"):
                with visit(browser, inspector, size=size, scheme=scheme) as one:
                    page, where = one.page, f"{size} {scheme}"

                    def fits(view):
                        one.axe(f"{view} {where}")
                        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{view} is wider than the window: {where}"

                    one.until("document.querySelector('#counts').textContent === '2 exchanges'")
                    fits("the list")
                    page.keyboard.press("u")
                    page.wait_for_selector(".rule-item")
                    fits("the rules")
                    page.click("button:has-text('Add a rule')")
                    page.wait_for_selector("#rule-text")
                    page.fill("#rule-text", "- block: 403\n- request: { set: { 'header:x-more': yes } }\n")
                    page.fill("#rule-key", "1")
                    page.click("button:has-text('Try on exchange')")
                    page.wait_for_selector("#side:has-text('is answered with 403')")
                    fits("a new rule")
                    page.click("button:has-text('Back')")
                    page.click("[data-act='remove 1']")
                    page.wait_for_selector("button:has-text('Put it back')")
                    page.click("button:has-text('Save')")
                    page.wait_for_selector("[aria-label='Changed lines: settings']")
                    fits("what would be saved")
                    page.click("button:has-text('Do not write')")
                    state = json.loads(inspector.ask("/api/state"))["traffic"]
                    inspector.ask("/api/modify/add", {"list": state["list"], "at": 1, "text": 'name: no ads\nwhen: "~d ads.example.com"\nblock: 403'})
                    one.until("document.querySelectorAll('.rule-item').length === 3")
                    one.calm()


class Waiting:
    """A request whose answer may take long."""

    def __init__(self, inspector, url, method="GET", body=None):
        self.status, self.text = None, None
        proxy = re.search(r"listening on (http://\S+)", "".join(inspector.lines))[1]

        def run():
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
            request = urllib.request.Request(url, body, method=method)
            try:
                with opener.open(request, timeout=60) as answer:
                    self.text, self.status = answer.read().decode(), answer.status
            except urllib.error.HTTPError as error:
                self.text, self.status = error.read().decode(), error.code
            except (OSError, http.client.HTTPException) as error:
                self.status = type(error).__name__

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def end(self):
        self.thread.join(60)
        return self.status


PAUSES = """modify:
  - name: stop
    when: "~u /pay"
    pause: request
    for: 10m
  - name: look
    when: "~u /seen"
    pause: response
    for: 10m
"""


@check
def paused_messages_go_on_as_people_decide(browser, folder):
    origin = Origin()
    with ruled(folder, PAUSES) as inspector, visit(browser, inspector) as one:
        page, keys = one.page, one.page.keyboard
        assert through(inspector, f"{origin.url}/other") == 200
        one.watched()
        first = Waiting(inspector, f"{origin.url}/pay?number=1")
        page.wait_for_selector("#paused:has-text('Paused 1')")
        second = Waiting(inspector, f"{origin.url}/pay?number=2")
        page.wait_for_selector("#paused:has-text('Paused 2')")
        one.axe("the mark of paused messages")
        # By keyboard: the longest waiting comes first, and both clocks run.
        keys.press("p")
        one.until("document.activeElement.dataset.item !== undefined")
        items = page.eval_on_selector_all("[aria-label='Paused messages'] li", "all => all.map(item => item.textContent)")
        assert "number=1" in items[0] and "number=2" in items[1] and "rule stop" in items[0], items
        assert re.search(r"client waits \d+\.\d s, goes on in 9 min \d+ s", items[0]), items
        one.until("(() => { const text = document.querySelector('.counts').textContent; window.clock ??= text; return window.clock !== text })()")
        one.axe("paused messages")
        keys.press("Enter")
        page.wait_for_selector("#paused-url")
        one.until("document.activeElement.textContent === 'Go on'")
        assert page.input_value("#paused-method") == "GET" and page.input_value("#paused-url").endswith("/pay?number=1")
        one.axe("a paused request")
        page.fill("#paused-url", "nonsense")
        page.click("button:has-text('Go on changed')")
        page.wait_for_selector("#paused-result:has-text('is no absolute URL')")
        page.fill("#paused-url", f"{origin.url}/changed")
        # "Go on" sends nothing of it, so it asks, in the editor as in the list.
        for where in ("[aria-label=Decision] button:has-text('Go on')", "[aria-label='Paused messages'] button[aria-label$='/pay?number=1']"):
            page.locator(where).first.click()
            page.wait_for_selector("#paused-result:has-text('this sends nothing of what you typed')")
            assert "Paused 2" in page.inner_text("#paused")
            one.axe("a question about what was typed")
            # Another change asks again.
            page.type("#paused-url", "x")
            page.keyboard.press("Backspace")
        page.focus("button:has-text('Go on changed')")
        keys.press("Enter")
        assert first.end() == 200 and json.loads(first.text) == {"path": "/changed"}
        # What was typed can be left out by a second press.
        dropped = Waiting(inspector, f"{origin.url}/pay?number=4")
        page.wait_for_selector("#paused:has-text('Paused 2')")
        page.click("[aria-label='Paused messages'] button.link:has-text('number=4')")
        page.wait_for_selector("#paused-url")
        page.fill("#paused-url", f"{origin.url}/never")
        for _ in range(2):
            page.locator("[aria-label=Decision] button:has-text('Go on')").first.click()
        assert dropped.end() == 200 and json.loads(dropped.text) == {"path": "/pay?number=4"}
        # By mouse: an answer, and a rule that gives it from now on.
        page.wait_for_selector("#paused:has-text('Paused 1')")
        page.click("[aria-label='Paused messages'] button.link")
        page.wait_for_selector("#paused-answer-status")
        page.fill("#paused-answer-status", "402")
        page.fill("#paused-answer-body", '{"pay": true}')
        page.click("[aria-label=Answer] button:has-text('Answer so from now on')")
        assert second.end() == 402 and json.loads(second.text) == {"pay": True}
        page.wait_for_selector("#paused", state="hidden")
        one.until("document.querySelector('#side [role=status]').textContent === 'no message is waiting'")
        keys.press("u")
        page.wait_for_selector(".rule-item")
        assert rule_names(one) == ["answer GET /pay", "stop", "look"]
        page.click("[data-act='switch 2']")
        one.until("document.querySelectorAll('.rule-item')[1].classList.contains('off')")
        assert through(inspector, f"{origin.url}/pay?number=2") == 402 and through(inspector, f"{origin.url}/pay?number=3") == 200
        # An answer: its head and body are changed.
        third = Waiting(inspector, f"{origin.url}/seen")
        page.wait_for_selector("#paused:has-text('Paused 1')")
        page.click("#paused")
        page.click("[aria-label='Paused messages'] button.link")
        page.wait_for_selector("#paused-status")
        assert page.input_value("#paused-body") == '{"path": "/seen"}' and "Content-Type: application/json" in page.input_value("#paused-headers")
        one.axe("a paused answer")
        page.fill("#paused-status", "201")
        page.fill("#paused-body", "changed")
        page.click("button:has-text('Go on changed')")
        assert third.end() == 201 and third.text == "changed"
        # Dropped, and gone on as it is.
        fourth = Waiting(inspector, f"{origin.url}/seen?drop")
        page.click("[aria-label='Paused messages'] button.link:has-text('/seen?drop')")
        page.click("button:has-text('Drop')")
        assert fourth.end() not in (200, 201)
        fifth = Waiting(inspector, f"{origin.url}/seen?pass")
        # Not the button of the one before, which the list may still show.
        page.click("[aria-label='Paused messages'] button[aria-label$='/seen?pass']")
        assert fifth.end() == 200
        one.calm(allowed=["422"])


@check
def paused_events_are_changed_and_left_out(browser, folder):
    origin = Origin()
    origin.gate.set()
    with ruled(folder, 'modify:\n  - when: "~u /events"\n    pause: events\n    for: 10m\n') as inspector, visit(browser, inspector) as one:
        page = one.page
        assert through(inspector, f"{origin.url}/other") == 200
        one.watched()
        client = Waiting(inspector, f"{origin.url}/events")
        page.wait_for_selector("#paused:has-text('Paused 1')")
        page.click("#paused")

        def choose(number):
            page.click("[aria-label='Paused messages'] button.link")
            one.until(f"document.querySelector('#paused-body')?.value === 'id: {number}\\ndata: event {number}\\n\\n'")

        choose(0)
        assert page.query_selector("#paused-headers") is None and page.query_selector("#paused-editor button:has-text('Answer')") is None
        one.axe("a paused event")
        page.fill("#paused-body", "data: changed\n\n")
        page.click("button:has-text('Go on changed')")
        one.until("document.querySelector('#paused-editor').childElementCount === 0")
        choose(1)
        page.click("button:has-text('Drop')")
        one.until("document.querySelector('#paused-editor').childElementCount === 0")
        choose(2)
        page.click("#paused-editor button:has-text('Go on')")
        assert client.end() == 200 and client.text == "data: changed\n\nid: 2\ndata: event 2\n\n", client.text
        one.calm()


@check
def a_client_that_left_is_struck_out(browser, folder):
    origin = Origin()
    with ruled(folder, PAUSES) as inspector, visit(browser, inspector) as one:
        page = one.page
        assert through(inspector, f"{origin.url}/other") == 200
        one.watched()
        port = int(re.search(r"listening on http://127.0.0.1:(\d+)", "".join(inspector.lines))[1])
        client = socket.create_connection(("127.0.0.1", port))
        client.sendall(f"GET {origin.url}/pay HTTP/1.1\r\nHost: {origin.url[7:]}\r\n\r\n".encode())
        page.wait_for_selector("#paused:has-text('Paused 1')")
        page.click("#paused")
        page.click("[aria-label='Paused messages'] button.link")
        page.wait_for_selector("#paused-url")
        client.close()
        page.wait_for_selector("[aria-label='Paused messages'] s:has-text('/pay')")
        page.wait_for_selector("#paused-result:has-text('no longer waits')")
        assert page.is_disabled("#paused-editor button:has-text('Go on changed')") and page.input_value("#paused-url").endswith("/pay")
        one.axe("a client that left")
        one.calm()
    # On a build server nobody waits for people.
    with ruled(folder, PAUSES, CI="true") as inspector, visit(browser, inspector):
        assert through(inspector, f"{origin.url}/pay") == 200


@check
def every_view_of_paused_messages_fits(browser, folder):
    origin = Origin()
    with ruled(folder, PAUSES) as inspector:
        with visit(browser, inspector):
            assert through(inspector, f"{origin.url}/other") == 200
            with visit(browser, inspector) as one:
                one.watched()
                waiting = [Waiting(inspector, f"{origin.url}/pay?{'long=' + 'x' * 200}"), Waiting(inspector, f"{origin.url}/seen")]
                one.page.wait_for_selector("#paused:has-text('Paused 2')")
            for size in [(375, 700), *SIZES]:
                for scheme in ("light", "dark"):
                    with visit(browser, inspector, size=size, scheme=scheme) as one:
                        one.page.wait_for_selector("#paused:has-text('Paused 2')")
                        one.page.keyboard.press("p")
                        for index in range(2):
                            one.page.locator("[aria-label='Paused messages'] button.link").nth(index).click()
                            one.page.wait_for_selector("#paused-headers")
                            one.axe(f"paused {index} {size} {scheme}")
                            assert one.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"wider than the window: {size}"
                        one.calm()
            for item in json.loads(inspector.ask("/api/paused"))["paused"]:
                inspector.ask(f"/api/paused/{item['id']}", {"decision": "pass"})
            assert [one.end() for one in waiting] == [200, 200]


class OnTerminal(Inspector):
    """A running command on a terminal of its own."""

    def __init__(self, *arguments):
        self.terminal, side = pty.openpty()
        # Else what is typed comes back between the lines.
        settings = termios.tcgetattr(side)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(side, termios.TCSANOW, settings)
        self.process = subprocess.Popen([WIRETAPE, *arguments], stdin=side, stderr=side, start_new_session=True)
        os.close(side)
        self.text = ""
        self.shows("inspector on ")
        self.lines = [self.text]
        self.address = re.search(r"inspector on (http://\S+)", self.text)[1]
        self.origin, self.token = re.match(r"(http://127\.0\.0\.1:\d+)/#token=([0-9a-f]{64})$", self.address).groups()

    def shows(self, words):
        end = time.monotonic() + 20
        while words not in self.text:
            assert time.monotonic() < end, f"never {words}: {self.text}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.text += os.read(self.terminal, 65536).decode()
        self.lines = [self.text]


def rerecorded(path, origin):
    tape = samples.Cassette()
    tape.add("GET", f"{origin.url}/old")
    tape.write(path)


@check
def a_recording_is_accepted_or_refused_in_the_page(browser, folder):
    origin = Origin()
    for button, words, kept in [("Accept", "accepted: the new recording has replaced the old one", "/new"), ("Refuse", "refused: the new recording is removed", "/old")]:
        path = f"{folder}/{button}.json"
        rerecorded(path, origin)
        with Inspector("record", path, "--web", "--review", "--json") as inspector, visit(browser, inspector) as one:
            assert through(inspector, f"{origin.url}/new") == 200
            one.until("document.querySelector('#counts').textContent === '1 exchange'")
            one.page.keyboard.press("v")
            one.until("document.querySelector('#live-words').textContent.includes('nothing to accept')")
            one.page.focus("#filter")
            inspector.process.send_signal(signal.SIGINT)
            one.page.wait_for_selector("h2:has-text('Does the new recording replace')")
            one.page.wait_for_selector("text=0 exchanges the same, 0 changed, 1 added, 1 removed")
            one.axe("review")
            # Typing answers nothing.
            assert one.page.evaluate("document.activeElement.id") == "filter"
            one.page.keyboard.press("Escape")
            one.page.keyboard.press("t")
            one.axe("review, other theme")
            one.page.keyboard.press("v")
            one.until("document.activeElement.textContent === 'Accept'")
            for _ in range(["Accept", "Refuse"].index(button)):
                one.page.keyboard.press("Tab")
            one.page.keyboard.press("Enter")
            one.until(f"document.querySelector('#review-result').textContent.includes('{words}')")
            assert inspector.process.wait(20) == 0
            assert [entry["request"]["url"] for entry in json.load(open(path))["interactions"]] == [origin.url + kept]
            assert os.listdir(folder).count(f"{button}.new.json") == 0
            one.calm(allowed=["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING"])


@check
def a_panel_stays_while_somebody_types(browser, folder):
    origin = Origin()
    path = f"{folder}/pets.json"
    rerecorded(path, origin)
    with Inspector("record", path, "--web", "--review", "--json") as inspector, visit(browser, inspector) as one:
        keys = one.page.keyboard
        assert through(inspector, f"{origin.url}/new") == 200
        one.until("document.querySelector('#counts').textContent === '1 exchange'")
        keys.press("Control+k")
        keys.type("would be redacted")
        keys.press("Enter")
        one.until("document.activeElement.id === 'redact-redact'")
        inspector.process.send_signal(signal.SIGINT)
        one.until("document.querySelector('#live-words').textContent === 'the recording has ended: press v to answer'")
        keys.type("json:/very/long")
        assert one.page.evaluate("document.activeElement.value") == "json:/very/long"
        keys.press("Escape")
        keys.press("v")
        one.until("document.activeElement.textContent === 'Accept'")
        keys.press("Enter")
        one.until("document.querySelector('#review-result').textContent.includes('accepted')")
        assert inspector.process.wait(20) == 0
        one.calm(allowed=["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING"])


@check
def a_question_ends_with_its_pages(browser, folder):
    origin = Origin()
    path = f"{folder}/pets.json"
    rerecorded(path, origin)
    with Inspector("record", path, "--web", "--review", "--json", stdin=subprocess.DEVNULL) as inspector:
        with visit(browser, inspector) as one:
            assert through(inspector, f"{origin.url}/new") == 200
            one.until("document.querySelector('#counts').textContent === '1 exchange'")
            inspector.process.send_signal(signal.SIGINT)
            one.page.wait_for_selector("h2:has-text('Does the new recording replace')")
            one.page.goto("about:blank")
            one.page.goto(inspector.address)
            one.page.wait_for_selector("h2:has-text('Does the new recording replace')")
            assert inspector.process.poll() is None
        inspector.process.wait(40)
    assert sorted(name for name in os.listdir(folder) if name.endswith(".json")) == ["pets.json", "pets.new.json"]


@check
def the_terminal_and_the_page_hear_each_others_answer(browser, folder):
    origin = Origin()
    for answers, outcome in [("terminal", "/old"), ("page", "/new")]:
        path = f"{folder}/{answers}.json"
        rerecorded(path, origin)
        with OnTerminal("record", path, "--web", "--review") as inspector:
            inspector.shows("listening on")
            with visit(browser, inspector) as one:
                assert through(inspector, f"{origin.url}/new") == 200
                one.until("document.querySelector('#counts').textContent === '1 exchange'")
                inspector.process.send_signal(signal.SIGINT)
                inspector.shows("answer in the page, or here")
                one.page.wait_for_selector("h2:has-text('Does the new recording replace')")
                if answers == "terminal":
                    os.write(inspector.terminal, b"n\n")
                    one.until("document.querySelector('#review-result').textContent.includes('on the terminal')")
                    assert one.page.is_disabled("button:has-text('Accept')")
                else:
                    one.page.click("button:has-text('Accept')")
                    inspector.shows("accept, in the page")
                inspector.process.wait(20)
        assert [entry["request"]["url"] for entry in json.load(open(path))["interactions"]] == [origin.url + outcome]


@check
def an_exchange_is_edited(browser, folder):
    path = samples.everything(f"{folder}/everything.json")
    with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:
        page, keys = one.page, one.page.keyboard
        recorded = json.loads(inspector.ask("/api/x/3/text"))
        keys.press("j")
        page.wait_for_selector("[role=tabpanel]")
        keys.press("j")
        keys.press("j")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('3 ')")
        keys.press("e")
        one.until("document.activeElement.id === 'edit-text'")
        text = page.input_value("#edit-text")
        assert json.loads(text) == recorded

        def problem(changed, words):
            page.fill("#edit-text", changed)
            keys.press("Control+Enter")
            page.wait_for_selector(f"#edit-result:has-text('{words}')")

        problem(text.replace('"status": 422,', '"status" 422,'), "✗ it cannot be written")
        line = next(number for number, one_ in enumerate(text.split("\n"), 1) if '"status": 422' in one_)
        assert f"line {line}, column" in page.inner_text("#edit-result")
        page.click("#edit-result .problems button")
        start = page.evaluate("document.activeElement.selectionStart")
        assert text.replace('"status": 422,', '"status" 422,')[start:start + 3] == "422", start
        one.axe("a problem")
        problem(text.replace('"status": 422', '"status": "many"'), "response.status")
        problem(text.replace('"id": 3', '"id": 4'), "exchange 4 already has the id 4")
        problem(text.replace('http://api.example/upload', 'ftp://api.example/upload'), "no request can have this URL")
        keys.press("Control+s")
        one.page.wait_for_timeout(200)
        assert json.load(open(path))["interactions"][2] == recorded
        keys.press("Escape")
        keys.press("j")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('4 ')")
        keys.press("k")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('3 ')")
        keys.press("e")
        one.until("document.querySelector('#edit-text')?.value.includes('ftp://')")
        problem(text.replace('"status": 422', '"status": 418').replace("no end", "a teapot"), "✓ it can be written: 4 changed lines")
        shown = page.inner_text("#edit-result")
        assert "response status" in shown and "418" in shown and "SHA-256" in shown or "bytes" in shown, shown
        # Its body is longer now than it says.
        size = recorded["response"]["body"]["size"]
        assert f'it has {size + 2} bytes, but its "size" is {size}' in shown, shown
        one.axe("an edit")
        page.click("button:has-text('Correct sizes and digests')")
        one.until("document.querySelector('#edit-result .good')?.textContent.includes('it can be written') && !document.querySelector('#edit-result').textContent.includes('Correct sizes')")
        assert json.loads(page.input_value("#edit-text"))["response"]["body"]["size"] == size + 2
        assert "but its" not in page.inner_text("#edit-result"), page.inner_text("#edit-result")
        keys.press("Control+s")
        page.wait_for_selector("#edit-result:has-text('written into everything.json')")
        assert json.load(open(path))["interactions"][2]["response"]["status"] == 418
        assert len(json.load(open(path))["interactions"]) == 14
        # The next edit is of the new file.
        one.until("document.querySelector('#counts').textContent === '14 exchanges'")
        inspector.until("/api/state", lambda state: state["epoch"] == 2 and state["rows"] == 14)
        page.wait_for_timeout(200)
        page.fill("#edit-text", page.input_value("#edit-text").replace("418", "200"))
        keys.press("Control+S")
        page.wait_for_selector("#edit-result:has-text('written into everything.json')")
        # A file that became another one meanwhile is not written, and the text stays.
        inspector.until("/api/state", lambda state: state["epoch"] == 3 and state["rows"] == 14)
        page.wait_for_timeout(200)
        edited = page.input_value("#edit-text").replace("200", "201", 1)
        page.fill("#edit-text", edited)
        samples.everything(path + ".new")
        os.rename(path + ".new", path)
        inspector.until("/api/state", lambda state: state["epoch"] == 4 and state["rows"] == 14)
        keys.press("Control+s")
        page.wait_for_selector("#edit-result:has-text('was replaced by another file')")
        assert page.input_value("#edit-text") == edited and json.load(open(path))["interactions"][2] == recorded
        assert os.listdir(folder) == ["everything.json"]
        one.calm(allowed=["412", "422", "415"])


@check
def an_edit_is_written_where_it_was_made(browser, folder):
    path = samples.everything(f"{folder}/everything.json")
    with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:
        page, keys = one.page, one.page.keyboard

        def edit(key, before, after):
            one.open(key, "response")
            keys.press("e")
            one.until("document.activeElement.id === 'edit-text'")
            text = page.input_value("#edit-text")
            assert before in text, text
            page.fill("#edit-text", text.replace(before, after, 1))

        held = []

        def until_held():
            for _ in range(1000):
                if held:
                    return
                page.wait_for_timeout(10)
            raise AssertionError("nothing was asked")

        edit(4, "}", "} ")
        page.route("**/api/edits/try", lambda route: held.append(route))
        edit(3, '"status": 422', '"status": 418')
        keys.press("Control+s")
        until_held()
        # Another exchange comes into the editor, with text that nobody asked to write.
        before = json.load(open(path))["interactions"]
        one.open(4, "response")
        keys.press("e")
        one.until("document.querySelector('#edit-text')?.value.includes('} ')")
        typed = page.input_value("#edit-text")
        held.pop().continue_()
        page.unroute("**/api/edits/try")
        inspector.until("/api/state", lambda state: state["epoch"] == 2 and state["rows"] == 14)
        after = json.load(open(path))["interactions"]
        assert [number for number in range(14) if before[number] != after[number]] == [2] and after[2]["response"]["status"] == 418
        assert typed not in open(path).read() and page.input_value("#edit-text") == typed and page.inner_text("#edit-result") == ""
        # What is typed while a text is written is not lost.
        page.wait_for_timeout(400)
        page.route("**/api/edits", lambda route: held.append(route))
        keys.press("Control+s")
        until_held()
        page.fill("#edit-text", typed + " ")
        held.pop().continue_()
        page.wait_for_selector("#edit-result:has-text('written into everything.json')")
        keys.press("Escape")
        keys.press("j")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('5 ')")
        keys.press("k")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('4 ')")
        keys.press("e")
        one.until("document.querySelector('#edit-text')?.value.endsWith(' ')")
        one.calm()


@check
def a_request_is_sent_again(browser, folder):
    origin = Origin()
    path = f"{folder}/pets.json"
    tape = samples.Cassette()
    tape.add("GET", f"{origin.url}/pets", response={"headers": ["Content-Type: application/json"], "body": samples.body_of('{"path": "/other"}')})
    tape.add("POST", f"{origin.url}/pets", 201)
    tape.add("GET", f"{origin.url}/secret", request={"headers": ["Authorization: Bearer {{authorization:1}}"]})
    tape.add("GET", f"{origin.url}/events")
    tape.write(path)
    before = open(path).read()
    with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:
        page, keys = one.page, one.page.keyboard
        keys.press("j")
        page.wait_for_selector("[role=tabpanel]")
        keys.press("r")
        page.wait_for_selector(".startline:has-text('HTTP/1.1 200 OK')")
        shown = page.inner_text("#side")
        assert "response json:/path" in shown and "/other" in shown and '{"path": "/pets"}' in shown, shown
        one.axe("sent again")
        keys.press("Escape")
        keys.press("j")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('2 ')")
        keys.press("r")
        page.wait_for_selector("text=POST may change something")
        one.axe("not sent")
        one.until("document.activeElement.textContent === 'Send it anyway'")
        keys.press("Enter")
        page.wait_for_selector(".startline:has-text('501')")
        keys.press("Escape")
        keys.press("j")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('3 ')")
        keys.press("r")
        page.wait_for_selector("text=whose value is not known")
        keys.press("Escape")
        keys.press("e")
        one.until("document.activeElement.id === 'edit-text'")
        page.fill("#edit-text", page.input_value("#edit-text").replace("{{authorization:1}}", "abcdefgh"))
        page.click("button:has-text('Send')")
        page.wait_for_selector(".startline:has-text('HTTP/1.1 200 OK')")
        assert '"path": "/secret"' in page.inner_text("#side")
        # Nothing of our own is reached.
        for url in [inspector.origin, inspector.origin.replace("127.0.0.1", "localhost")]:
            text = json.loads(inspector.ask("/api/x/1/text"))
            text["request"]["url"] = url + "/"
            sent = json.loads(inspector.ask("/api/send", {"key": 1, "text": json.dumps(text)}, **{"If-Match": '"1"'}))
            assert "status" not in sent and "is this proxy itself" in sent["notes"][0], sent
        assert open(path).read() == before and os.listdir(folder) == ["pets.json"]
        # What is sent is what was shown.
        keys.press("Escape")
        keys.press("k")
        keys.press("k")
        one.until("document.querySelector('#detail-title')?.textContent.startsWith('1 ')")
        tape.write(path + ".new")
        os.rename(path + ".new", path)
        inspector.until("/api/state", lambda state: state["epoch"] == 2 and state["rows"] == 4)
        keys.press("r")
        page.wait_for_selector("text=was replaced by another file")
        one.calm(allowed=["403", "422", "412"])
        # An answer that does not end keeps nobody waiting who stops the command.
        one.open(4, "response")
        keys.press("r")
        assert origin.streams.wait(20)
        inspector.process.send_signal(signal.SIGINT)
        assert inspector.process.wait(10) == 0


@check
def what_rules_would_redact_is_shown(browser, folder):
    path = samples.everything(f"{folder}/everything.json")
    before = open(path).read()
    with Inspector("inspect", path, "--web") as inspector, visit(browser, inspector) as one:
        page, keys = one.page, one.page.keyboard
        keys.press("Control+k")
        keys.type("would be redacted")
        keys.press("Enter")
        one.until("document.activeElement.id === 'redact-redact'")
        keys.type("json:/pets/0/name")
        page.fill("#redact-values", "보리의 사진")
        one.axe("before")
        keys.press("Control+Enter")
        page.wait_for_selector("table[aria-label=Places]")
        shown = page.inner_text("#side")
        assert "2 places in 2 of 14 exchanges" in shown and "{{name:1}}" in shown and "{{env-value-1:1}}" in shown and "보리의 사진" not in shown, shown
        one.axe("found")
        page.fill("#redact-redact", "nonsense")
        keys.press("Control+Enter")
        page.wait_for_selector("#side .problem")
        page.fill("#redact-redact", "")
        page.fill("#redact-values", "miso")
        keys.press("Control+Enter")
        page.wait_for_selector("#side .problem:has-text('enter its place under Remove')")
        assert open(path).read() == before and os.listdir(folder) == ["everything.json"]
        one.calm(allowed=["400"])


@check
def every_session_of_serve_has_a_page(browser, folder):
    origin = Origin()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # What a browser would be started with.
    opener = pathlib.Path(f"{folder}/bin/xdg-open")
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\nls -l "$1" >> "{folder}/opened"\ncat "$1" >> "{folder}/opened"\n')
    opener.chmod(0o755)
    process = subprocess.Popen(
        [WIRETAPE, "serve", "--folder", folder, "--token-file", f"{folder}/token", "--web", "--web-port", str(port), "--open"], stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PATH": f"{opener.parent}:{os.environ['PATH']}"})
    try:
        control = next(found[1] for found in (re.search(r"control on (http://\S+)", line) for line in process.stderr) if found)
        token = open(f"{folder}/token").read().strip()

        def ask(method, path, body=None):
            data = json.dumps(body).encode() if body else None
            request = urllib.request.Request(control.removesuffix("/sessions") + path, data, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}, method=method)
            return json.loads(urllib.request.urlopen(request, timeout=20).read())

        sessions = [ask("POST", "/sessions", {"cassette": f"{name}.json"}) for name in ("one", "two")]
        said = [re.search(r"inspector on (http://\S+)", process.stderr.readline())[1] for _ in sessions]
        assert said == [session["inspector"] for session in sessions] and said[0] != said[1]
        ports = [int(re.search(r":(\d+)/", address)[1]) for address in said]
        assert port <= ports[0] < ports[1] < port + 100, (port, ports)
        for _ in range(200):
            opened = open(f"{folder}/opened").read() if os.path.exists(f"{folder}/opened") else ""
            if all(address in opened for address in said):
                break
            time.sleep(0.05)
        assert opened.count("-rw-------") == 2 and all(address in opened for address in said), opened
        for session in sessions[:1]:
            assert urllib.request.urlopen(session["reverse"] + origin.url + "/pets", timeout=20).status == 200
        for session, count in zip(sessions, ["1 exchange", "0 exchanges"]):
            address, own = re.match(r"(http://127\.0\.0\.1:\d+)/#token=(\w+)", session["inspector"]).groups()
            with visit(browser, types.SimpleNamespace(address=session["inspector"], origin=address, token=own)) as one:
                one.until(f"document.querySelector('#counts').textContent === '{count}'")
                assert one.page.inner_text("#live-words").startswith("serve")
                # Rules of the control API are on the page, which may add some, and has no file to save them to.
                ask("PUT", f"/sessions/{session['id']}/modify", {"modify": [{"name": "shut", "when": "~u /shut", "block": 403}]})
                one.page.keyboard.press("u")
                one.page.wait_for_selector(".rule-item:has-text('shut')")
                one.page.click("button:has-text('Save')")
                one.page.wait_for_selector("#rules-result:has-text('this run reads no settings file')")
                one.page.click("button:has-text('Add a rule')")
                one.page.fill("#rule-text", "when: ~u /pets\nblock: 418\n")
                one.page.click(".viewer-bar button:has-text('Add')")
                one.page.wait_for_selector(".rule-item >> nth=1")
                try:
                    urllib.request.urlopen(session["reverse"] + origin.url + "/pets", timeout=20)
                    raise AssertionError("a rule of the page does nothing")
                except urllib.error.HTTPError as error:
                    assert error.code == 418, error.code
                one.calm(allowed=["422"])
        # A session does not lead to the page of another one.
        try:
            found = urllib.request.urlopen(sessions[0]["reverse"] + said[1].split("#")[0], timeout=20).status
        except urllib.error.HTTPError as error:
            found = error.code
        assert found >= 400, found
        ask("DELETE", f"/sessions/{sessions[0]['id']}")
        try:
            urllib.request.urlopen(said[0].split("#")[0], timeout=5)
            raise AssertionError("the page of a session that ended is still there")
        except urllib.error.URLError:
            pass
    finally:
        process.terminate()
        process.wait(10)


def run(checks):
    failures = 0
    with sync_playwright() as playwright:
        browser = launch(playwright, "--enable-precise-memory-info")
        for function in checks:
            name = function.__name__.replace("_", " ")
            if len(sys.argv) > 2 and not any(wanted in name for wanted in sys.argv[2:]):
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    function(browser, folder)
                    print(f"ok   {name}", flush=True)
                except Exception as error:
                    failures += 1
                    line = next((frame.lineno for frame in reversed(traceback.extract_tb(error.__traceback__)) if frame.name == function.__name__), "?")
                    print(f"FAIL {name}, line {line}: {type(error).__name__}: {error}", flush=True)
        browser.close()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    run(CHECKS)
