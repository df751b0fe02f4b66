#!/usr/bin/env python3
"""Takes the pictures of the inspector for README and docs: pictures.py WIRETAPE FOLDER."""
import pathlib
import random
import sys
import tempfile

from playwright.sync_api import sync_playwright

import check_workbench
import samples
from check_page import CHROMIUM, Inspector, through, visit

SIZE = (1024, 720)
LIST_SIZE = (1024, 560)
API = "http://pets.example"


def shop(path):
    """An afternoon of a pet shop: pages of pets, pictures, an upload, prices as they change, and what went wrong."""
    noise = random.Random(19)
    tape = samples.Cassette()
    at = 0

    def add(method, url, status=200, body=None, kind="application/json", wait=None, connect=False, request=None, **more):
        nonlocal at
        at += noise.randint(4, 38) * 1000
        data = samples.body_of(body) if body is not None else None
        answer = {"headers": [f"Content-Type: {kind}"] if data else [], **({"body": data} if data else {})}
        tape.add(method, API + url, status, at=at, request=request, response=answer, **more)
        one = tape.interactions[-1]
        wait = wait or noise.randint(6, 60)
        receive = noise.randint(1, 9) + (len(body or "") / 2000)
        phases = {"dns": noise.random() * 3, "connect": 2 + noise.random() * 9} if connect else {"blocked": noise.random() * 2}
        one["timing"] = {key: round(value, 2) for key, value in {**phases, "send": 0.2 + noise.random(), "wait": wait, "receive": receive}.items()}
        one["timing"]["total"] = round(sum(one["timing"].values()), 2)
        one["connection"]["id"] = one["id"] % 4 + 1
        return one["id"]

    names = ["Miso", "Bori", "Rex", "Nala", "Momo", "Dubu", "Kira", "Otto"]
    pets = ",\n    ".join(f'{{ "id": {number}, "name": "{noise.choice(names)}", "price": {noise.randint(20, 300)}.50 }}' for number in range(1, 25))
    add("GET", "/session", 401, '{"error": "sign in first"}', connect=True)
    add("POST", "/session", 201, '{"token": "{{access_token:1}}"}', wait=84, request={"headers": ["Content-Type: application/json"], "body": samples.body_of('{"user": "bori", "password": "{{password:1}}"}')})
    for page in range(1, 4):
        add("GET", f"/pets?page={page}&size=24", 200, '{\n  "pets": [\n    ' + pets + "\n  ]\n}")
    for number in (3, 7, 11, 12):
        add("GET", f"/pets/{number}/picture", 200, samples.png(96, 64, 60 + number * 12), "image/png", connect=number == 3)
    boundary = "----pets4711"
    form = (f'--{boundary}\r\nContent-Disposition: form-data; name="avatar"; filename="bori.png"\r\nContent-Type: image/png\r\n\r\n').encode() + samples.png(160, 60, 150) + (
        f'\r\n--{boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\nBori asleep in the sun'

        f'\r\n--{boundary}\r\nContent-Disposition: form-data; name="about"\r\nContent-Type: application/json\r\n\r\n{{"age": 3, "weight": 4.20, "tags": ["small", "asleep"]}}\r\n').encode()
    upload = add("POST", "/pets/12/picture", 422, '{"error": "the form has no end"}', wait=132, request={
        "headers": [f"Content-Type: multipart/form-data; boundary={boundary}", "Authorization: Bearer {{access_token:1}}"], "body": samples.body_of(form)})
    add("GET", "/pets/99", 404, '{"error": "no such pet"}')
    add("PUT", "/pets/12", 200, '{"id": 12, "name": "Bori"}')
    add("GET", "/search?q=bori", 200, pets)
    add("GET", "/orders/18", 302, None)
    add("GET", "/orders/18/receipt", 200, "<p>Receipt</p>", "text/html")
    add("POST", "/orders", 500, '{"error": "no stock"}', wait=260)
    add("POST", "/orders", 201, '{"order": 19}', wait=71)
    add("GET", "/prices", 200, None)
    events = "".join(f'id: {number}\nevent: price\ndata: {{"pet": 12, "cents": {noise.randint(2000, 9000)}}}\n\n' for number in range(1, 9))
    tape.interactions[-1]["response"].update(headers=["Content-Type: text/event-stream"], body={
        "size": len(events), "text": events})
    add("GET", "/health", 0, None, outcome={"failed": "timeout", "message": "no answer within 300 ms"}, wait=300)
    for page in range(4, 9):
        add("GET", f"/pets?page={page}&size=24", 200, '{\n  "pets": [\n    ' + pets + "\n  ]\n}")
    add("DELETE", "/session", 204, None)
    tape.write(path)
    return upload


RULES = """modify:
  - name: busy
    when: "~u /pets.page=1"
    fault: { status: 503, retryAfter: 2s, first: 2 }
  - name: slow network
    pace: slow-3g
    enabled: false
  - name: healthy
    when: "~u /health"
    respond: { status: 200, json: { status: up } }
  - name: no advertisements
    when: "~d ads.example.com"
    block: 403
"""


def take(page, folder, name, first="#panel > *"):
    """Gives most of the window to the details, from an element on."""
    if not page.is_hidden("#splitter"):
        page.focus("#splitter")
        for _ in range(5):
            page.keyboard.press("ArrowUp")
        page.evaluate("document.activeElement.blur()")
    page.evaluate("first => document.querySelector(first)?.scrollIntoView({ block: 'start' })", first)
    page.wait_for_timeout(300)
    page.screenshot(path=f"{folder}/{name}.png")


def main(wiretape, folder):
    with tempfile.TemporaryDirectory() as work, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        upload = shop(f"{work}/pets.json")
        with Inspector("inspect", f"{work}/pets.json", "--web") as inspector:
            with visit(browser, inspector, size=LIST_SIZE) as one:
                take(one.page, folder, "inspector-list")
            with visit(browser, inspector, size=SIZE) as one:
                one.open(upload, "parts")
                one.page.wait_for_selector("#panel img")
                one.page.keyboard.press("l")
                take(one.page, folder, "inspector-parts")
            with visit(browser, inspector, size=SIZE) as one:
                one.page.keyboard.press("n")
                one.page.wait_for_selector(".connections li")
                one.page.keyboard.press("l")
                take(one.page, folder, "inspector-connections", ".results > *")
        with Inspector("inspect", check_workbench.two_uploads(work), "--web") as inspector, visit(browser, inspector, size=(1280, 860)) as one:
            for key in ("Home", "d", "ArrowDown"):
                one.page.keyboard.press(key)
                one.page.wait_for_timeout(300)
            one.page.keyboard.press("d")
            one.page.wait_for_selector(".uploads")
            one.page.keyboard.press("l")
            take(one.page, folder, "inspector-uploads", "#comparison")
        with Inspector("inspect", f"{work}/pets.json", "--web") as inspector, visit(browser, inspector, size=SIZE) as one:
            check_workbench.drop(one, {"trace.har": check_workbench.har([("http://api.pets.test/health", "up", {})]).encode()})
            check_workbench.current(one, "trace.har")
            one.page.click("#tabs [data-tab='0']")
            one.until("document.querySelector('#counts').textContent !== '1 exchange'")
            one.go(f"#/x/{upload}/request")
            one.page.wait_for_selector("#detail-title")
            one.page.keyboard.press("E")
            one.page.wait_for_selector(".part-fields")
            one.page.keyboard.press("Escape")
            take(one.page, folder, "inspector-form", ".request-form")
        tape = samples.Cassette()
        for number, stamp in [(1, 1764087301), (2, 1764087302), (2, 1764087309)]:
            tape.add("GET", f"{API}/pets?page={number}&ts={stamp}", response={"headers": ["Content-Type: application/json"], "body": samples.body_of('{"pets": []}')})
        tape.add("GET", f"{API}/health")
        tape.write(f"{work}/pages.json")
        with Inspector("replay", f"{work}/pages.json", "--web") as inspector, visit(browser, inspector, size=SIZE, scheme="dark") as one:
            assert through(inspector, f"{API}/pets?page=1&ts=1764087301") == 200
            assert through(inspector, f"{API}/pets?page=2&ts=1764091188") == 424
            one.until("document.querySelector('#live-words').textContent.includes('1 hit, 1 miss')")
            one.page.keyboard.press("m")
            one.page.wait_for_selector("text=Miss 1 of 1")
            one.page.check("label:has-text('pattern query:ts') >> nth=0")
            one.page.click("button:has-text('Try')")
            one.page.wait_for_selector("text=would answer")
            one.page.set_viewport_size({"width": SIZE[0], "height": 860})
            take(one.page, folder, "inspector-miss", ".results .startline")
        pathlib.Path(f"{work}/rules.yaml").write_text(RULES)
        with Inspector("replay", f"{work}/pages.json", "--web", "--modify", f"{work}/rules.yaml", "--verdict", "client", cwd=work) as inspector, visit(browser, inspector, size=SIZE) as one:
            for path in ["/pets?page=1&ts=1764087301"] * 3 + ["/health", "/pets?page=2&ts=1764087302"]:
                through(inspector, API + path)
            one.page.keyboard.press("u")
            one.page.wait_for_selector("[aria-label='Verdict on the clients'] li")
            take(one.page, folder, "inspector-rules", ".results > *")
        browser.close()


main(*sys.argv[1:3])
