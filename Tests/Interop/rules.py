"""curl, Node, urllib3, httpx, requests, botocore: one list of traffic rules in record, replay and serve, and the verdict on clients."""
import base64
import collections
import contextlib
import gzip
import hashlib
import http.client
import json
import math
import pathlib
import queue
import random
import re
import resource
import socket
import subprocess
import threading
import time
import urllib.parse
import zlib

from harness import Handler, stop, wait_for

NEEDS = "curl:curl node:nodejs"
PYPI = ["boto3==1.44.8", "httpx==0.28.1", "requests==2.34.2", "urllib3==2.8.0"]
BOUND = 900

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONG = b"0123456789abcdef" * 4096  # 64 KiB


class Origin(Handler):
    """Answers by the path, and keeps what it was asked."""

    seen, lock = [], threading.Lock()

    def handle_any(self):
        content = self.body()
        with self.lock:
            self.seen.append((self.command, self.path, dict(self.headers.items()), content))
        path = self.path.split("?")[0]
        if path.startswith("/echo"):
            return self.answer(200, content, self.headers.get("Content-Type", "text/plain"))
        if path.endswith("/events"):
            return self.events()
        if path.endswith("/long"):
            return self.answer(200, LONG, "application/octet-stream")
        if path.endswith("/vast"):
            return self.answer(200, LONG * 64, "application/octet-stream")
        if path.endswith("/huge"):
            return self.answer(200, LONG * 16, "application/octet-stream")
        if path.endswith("/chunked"):
            return self.chunked()
        if path.endswith("/packed"):
            plain = json.dumps({"env": "prod-12", "items": [{"price": 1, "name": "a"}, {"price": 2, "name": "b"}]}).encode()
            return self.answer(200, gzip.compress(plain, mtime=0), "application/json", Content_Encoding="gzip", Server_Name="prod")
        if path.endswith("/xml"):
            return self.answer(200, '<a x="1"><b>prod</b><c/></a>', "application/xml")
        self.answer(200, f"{self.command} {self.path} {content.decode('latin-1')}\n")

    def chunked(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(64):
            self.wfile.write(b"400\r\n" + b"c" * 1024 + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def events(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in range(6):
            event = f'id: {number}\ndata: {{"n": {number}}}\n\n'.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any


# What came of one request: the status, the fields, what came of the body, and how it ended: whole, cut (FIN), reset, bad or silent.
Outcome = collections.namedtuple("Outcome", "status fields body end")


def fetch(proxy, url, method="GET", fields=None, body=b"", timeout=60, connection=None):
    """Sends one request through the proxy and reads the answer to its end, whatever that is."""
    address = urllib.parse.urlsplit(proxy)
    own = connection is None
    connection = connection or http.client.HTTPConnection(address.hostname, address.port, timeout=timeout)
    content, status, answered = b"", None, {}
    try:
        connection.putrequest(method, url, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", urllib.parse.urlsplit(url).netloc)
        if address.username:
            connection.putheader("Proxy-Authorization", "Basic " + basic(address))
        for name, value in (fields or {}).items():
            connection.putheader(name, value)
        if body or method in ("POST", "PUT"):
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)
        response = connection.getresponse()
        status, answered = response.status, {name.lower(): value for name, value in response.getheaders()}
        while part := response.read1(65536):
            content += part
        end = "cut" if response.length else "whole"
        response.close()
    except http.client.IncompleteRead as error:
        content, end = content + error.partial, "cut"
    except http.client.RemoteDisconnected:
        end = "cut"
    except (ConnectionResetError, BrokenPipeError):
        end = "reset"
    except TimeoutError:
        end = "silent"
    except (http.client.HTTPException, ValueError):
        end = "bad"
    finally:
        if own:
            connection.close()
    return Outcome(status, answered, content, end)


def basic(address):
    return base64.b64encode(f"{address.username}:{address.password}".encode()).decode()


class Serve:
    """`wiretape serve` with a token of its own."""

    def __init__(self, lab, name, *options):
        self.log = lab.path(f"{name}.log")
        command = [str(lab.wiretape), "serve", "--json", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", *map(str, options)]
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen(command, env=lab.environment, cwd=lab.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        lab._origins.callback(stop, self.process)
        self.about = json.loads(wait_for(lambda: next((line for line in self.log.read_text().splitlines() if line.startswith("{")), None),
                                         f"the line of JSON in {self.log}", self.process))

    def call(self, method, path, content=None):
        address = urllib.parse.urlsplit(self.about["control"])
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        connection.request(method, path, json.dumps(content) if content is not None else None,
                           {"Authorization": f"Bearer {self.about['token']}", "Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read()
        return response.status, json.loads(text)


def run(lab):
    origin = lab.serve(Origin)
    for part in (same_treatment, draws, equals, shares, stalls, memory, other_tools, places, counts, hostile, streams, compressed, ends, verdicts, samples):
        begin = time.monotonic()
        part(lab, origin)
        print(f"  {part.__name__}: {time.monotonic() - begin:.0f} s, {lab.checks} checks so far", flush=True)


# One file in three modes

TREATMENT = """
modify:
  - { name: blocked, when: "~u /blocked", block: 403 }
  - { name: blocked by a reset, when: "~u /break", block: reset }
  - { name: elsewhere, when: "~u ^http://api\\\\.example\\\\.test/v1/", mapRemote: ORIGIN/v2/ }
  - { name: everything else, when: "~d example.test", mapRemote: ORIGIN }
  - { name: file, when: "~u /static/", mapLocal: site }
  - { name: rpc, when: "~m POST & ~u /rpc", respond: { json: { "id": "{{json:/id}}", "result": [] } } }
  - name: edited
    when: "~u /edited/"
    request: { set: { "header:x-env": test, "query:page": 2 }, remove: ["query:debug"] }
    response: { set: { "header:x-seen": "yes", "json:/env": stage }, remove: ["json:/items/*/price"] }
  - { name: late, when: "~u /late", pace: { latency: 20ms, down: 4MB/s } }
  - { name: first two, when: "~m POST & ~u /pay", fault: { status: 429, retryAfter: 2s, first: 2 } }
  - { name: cut, when: "~u /cut/", fault: { kind: cut, after: 10000B } }
  - { name: truncated, when: "~u /truncated/", fault: { kind: truncate, after: 50% } }
  - { name: reset, when: "~u /reset/", fault: { kind: reset, after: 16KiB } }
  - { name: closed, when: "~u /closed", fault: close }
  - { name: refused, when: "~u /refused", fault: refuse }
  - { name: no address, when: "~u /dns", fault: dns }
  - { name: sliced, when: "~u /sliced", fault: { kind: slice, bytes: 3 } }
  - { name: one bit, when: "~u /corrupt", fault: corrupt }
  - { name: garbage, when: "~u /garbage", fault: { kind: garbage, in: head } }
  - { name: events, when: "~u /drop/", fault: { kind: drop, after: 2 events } }
  - { name: twice, when: "~u /repeat/", fault: { kind: repeat, after: 2 events } }
  - { name: order, when: "~u /reorder/", fault: { kind: reorder, after: 2 events } }
  - { name: half, when: "~u /half/", fault: { status: 503, share: 50% } }
  - { name: every third, when: "~u /third", fault: { status: 500, every: 3 } }
  - { name: limited, when: "~u /limited", fault: { quota: { limit: 2, window: 3600s, by: "header:x-user" } } }
"""

BASE = "http://shop.example.test"
REQUESTS = [
    ("GET", f"{BASE}/blocked", {}, b""), ("GET", f"{BASE}/break", {}, b""), ("GET", "http://api.example.test/v1/pets?x=1", {}, b""),
    ("GET", f"{BASE}/static/a.txt", {}, b""), ("GET", f"{BASE}/static/none.txt", {}, b""), ("GET", f"{BASE}/static/", {}, b""),
    ("POST", f"{BASE}/rpc", {"Content-Type": "application/json"}, b'{"id": 7}'),
    ("POST", f"{BASE}/rpc", {"Content-Type": "application/json"}, b'{"id": "x"}'),
    ("GET", f"{BASE}/edited/packed?debug=1", {}, b""), ("GET", f"{BASE}/late", {}, b""),
    *[("POST", f"{BASE}/pay", {"Content-Type": "application/json"}, b'{"amount": 5}')] * 3,
    *[("POST", f"{BASE}/pay", {"Content-Type": "application/json"}, b'{"amount": 6}')] * 3,
    ("GET", f"{BASE}/cut/long", {}, b""), ("GET", f"{BASE}/cut/chunked", {}, b""), ("GET", f"{BASE}/truncated/long", {}, b""),
    ("GET", f"{BASE}/truncated/chunked", {}, b""), ("GET", f"{BASE}/reset/huge", {}, b""), ("GET", f"{BASE}/closed", {}, b""),
    ("GET", f"{BASE}/refused", {}, b""), ("GET", f"{BASE}/dns", {}, b""), ("GET", f"{BASE}/sliced", {}, b""), ("GET", f"{BASE}/corrupt", {}, b""),
    ("GET", f"{BASE}/corrupt/packed", {}, b""), ("GET", f"{BASE}/garbage", {}, b""), ("GET", f"{BASE}/drop/events", {}, b""),
    ("GET", f"{BASE}/repeat/events", {}, b""), ("GET", f"{BASE}/reorder/events", {}, b""),
    *[("GET", f"{BASE}/half/{number % 10}", {}, b"") for number in range(40)], *[("GET", f"{BASE}/third", {}, b"")] * 6,
    *[("GET", f"{BASE}/limited", {"X-User": user}, b"") for user in "aabab"], ("GET", f"{BASE}/plain", {}, b""),
]
# What has no place in the comparison: dates, the window of a quota, and the identity of a connection.
VARIABLE = {"date", "ratelimit-reset", "retry-after", "connection", "keep-alive", "via", "proxy-connection"}


# RuledTransportTests.drawsAreThoseOfTheProxy has the same numbers.
HALF = [2, 4, 5, 6, 7, 9, 10, 11, 17, 18, 25, 29, 30, 31, 36, 37, 38, 39]


def treat(proxy):
    outcomes = []
    for method, url, fields, body in REQUESTS:
        outcome = fetch(proxy, url, method, fields, body)
        outcomes.append(outcome._replace(fields={name: value for name, value in outcome.fields.items() if name not in VARIABLE}))
    return outcomes


def same_treatment(lab, origin):
    lab.write("three/site/a.txt", "a file of the rules\n")
    lab.write("three/site/index.html", "<p>index</p>\n")
    rules = lab.write("three/wiretape.yaml", TREATMENT.replace("ORIGIN", origin))
    tape = lab.path("three", "tape.json")
    with lab.proxy("record", tape, "--config", rules) as proxy:
        recorded = treat(proxy.url)
    lab.check(proxy.code == 0, f"the recording with rules ended with {proxy.code}", proxy.log)
    served = {}
    for name in ("replay", "again"):
        with lab.proxy("replay", tape, "--config", rules) as proxy:
            served[name] = treat(proxy.url)
        lab.check(proxy.code == 0, f"the replay with rules ended with {proxy.code}", proxy.log)
    serve = Serve(lab, "serve-three", "--folder", lab.path("three"), "--config", rules)
    status, session = serve.call("POST", "/sessions", {"cassette": "tape.json", "mode": "none"})
    if lab.check(status == 201, f"a session with rules was answered with {status}: {session}", serve.log):
        served["serve"] = treat(session["proxy"])
        status, report = serve.call("DELETE", f"/sessions/{session['id']}")
        lab.check(report.get("exit") == 0, f"the session with rules ended with {report.get('exit')}: {report.get('text')}", serve.log)
        idle = [rule["name"] for rule in report["rules"] if not rule["applied"]]
        lab.check(not idle, f"rules of the session that applied to nothing: {idle}", serve.log)
    stop(serve.process)
    for name, outcomes in served.items():
        for request, first, second in zip(REQUESTS, recorded, outcomes):
            lab.check(first == second, f"{name}: {request[0]} {request[1]} is {brief(second)}, and was {brief(first)} in the recording")
    expect_treatment(lab, recorded)


def brief(outcome):
    return f"{outcome.status} {dict(sorted(outcome.fields.items()))} {len(outcome.body)} bytes {outcome.body[:60]!r} {outcome.end}"


def expect_treatment(lab, recorded):
    by_path = collections.defaultdict(list)
    for request, outcome in zip(REQUESTS, recorded):
        by_path[urllib.parse.urlsplit(request[1]).path].append(outcome)

    def expect(path, what, holds):
        for number, outcome in enumerate(by_path[path]):
            lab.check(holds(outcome, number), f"{path} number {number} is not {what}: {brief(outcome)}")
    expect("/blocked", "blocked", lambda o, _: o.status == 403)
    expect("/break", "reset", lambda o, _: o.end == "reset" and o.status is None)
    expect("/v1/pets", "mapped", lambda o, _: o.body.startswith(b"GET /v2/pets?x=1 "))
    expect("/static/a.txt", "the file", lambda o, _: o.body == b"a file of the rules\n")
    expect("/static/none.txt", "a 404 that names the file", lambda o, _: o.status == 404 and b"none.txt" in o.body)
    expect("/static/", "the index", lambda o, _: o.body == b"<p>index</p>\n" and "html" in o.fields["content-type"])
    expect("/rpc", "the id", lambda o, n: json.loads(o.body) == {"id": [7, "x"][n], "result": []})
    expect("/edited/packed", "edited", lambda o, _: o.fields.get("x-seen") == "yes" and o.fields.get("content-encoding") == "gzip"
           and json.loads(gzip.decompress(o.body)) == {"env": "stage", "items": [{"name": "a"}, {"name": "b"}]}
           and int(o.fields["content-length"]) == len(o.body))
    expect("/pay", "two failures, then an answer", lambda o, n: o.status == (429 if n % 3 < 2 else 200))
    expect("/cut/long", "cut", lambda o, _: (len(o.body), o.end) == (10000, "cut"))
    expect("/cut/chunked", "cut", lambda o, _: (len(o.body), o.end) == (10000, "cut"))
    expect("/truncated/long", "a short whole body", lambda o, _: (len(o.body), o.end) == (32768, "whole"))
    expect("/truncated/chunked", "a short whole body", lambda o, _: (len(o.body), o.end) == (32768, "whole"))
    expect("/reset/huge", "reset", lambda o, _: o.status == 200 and o.end == "reset" and len(o.body) <= 16384)
    expect("/closed", "closed", lambda o, _: o.status is None and o.end == "cut")
    expect("/refused", "502", lambda o, _: o.status == 502)
    expect("/dns", "502", lambda o, _: o.status == 502)
    expect("/sliced", "whole", lambda o, _: o.end == "whole" and o.body.startswith(b"GET /sliced"))
    expect("/corrupt", "one bit off", lambda o, _: bits(o.body, b"GET /corrupt \n") == 1)
    expect("/garbage", "no HTTP", lambda o, _: o.end == "bad")
    expect("/drop/events", "without the third event", lambda o, _: numbers(o.body) == [0, 1, 3, 4, 5])
    expect("/repeat/events", "the third event twice", lambda o, _: numbers(o.body) == [0, 1, 2, 2, 3, 4, 5])
    expect("/reorder/events", "another order", lambda o, _: sorted(numbers(o.body)) == list(range(6)) != numbers(o.body))
    expect("/third", "every third", lambda o, n: o.status == (500 if n % 3 == 2 else 200))
    statuses = [outcome.status for outcome in by_path["/limited"]]
    lab.check(statuses == [200, 200, 200, 429, 200], f"a quota by header gave {statuses}")
    halves = collections.Counter(outcome.status for path, found in by_path.items() if path.startswith("/half/") for outcome in found)
    lab.check(set(halves) == {200, 503}, f"a share of 50 % of 40 requests gave {halves}")
    failing = [(number, path) for path, found in by_path.items() if path.startswith("/half/") for number, outcome in enumerate(found) if outcome.status == 503]
    lab.check(sorted(10 * number + int(path[6:]) for number, path in failing) == HALF, f"a share of 50 % draws {failing}, and not what a Swift test draws")


def numbers(body):
    return [int(number) for number in re.findall(rb'"n": (\d)', body)]


def bits(first, second):
    return sum((a ^ b).bit_count() for a, b in zip(first, second)) if len(first) == len(second) else None


# The same requests fail, whatever comes with them

DRAWS = """
modify:
  - { name: everything, when: "~d example.test", mapRemote: ORIGIN }
  - { name: status, when: "~d draws.example.test & ~u /s/", fault: { status: 503, share: 30% } }
  - { name: cut, when: "~d draws.example.test & ~u /c/", fault: { kind: cut, after: 1000B, share: 25% } }
  - { name: second, when: "~d draws.example.test & ~u /n/", fault: { status: 500, nth: [2, 4] } }
  - { name: never, when: "~d draws.example.test & ~u /z/", fault: { status: 500, share: 0% } }
  - { name: always, when: "~d draws.example.test & ~u /a/", fault: { kind: truncate, after: 10%, share: 100% } }
"""


def hundreds():
    """1,000 requests: 50 of each kind, each four times."""
    return [f"http://draws.example.test/{kind}/{number}/{'long' if kind in 'ca' else 'x'}" for kind in "scnza" for number in range(50) for _ in range(4)]


def at_once(proxy, urls, connections=64):
    """Sends the requests on so many kept connections, and returns how often each came to what."""
    address, left, came, lock = urllib.parse.urlsplit(proxy), queue.SimpleQueue(), collections.Counter(), threading.Lock()
    for url in urls:
        left.put(url)

    def work():
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=120)
        while True:
            try:
                url = left.get_nowait()
            except queue.Empty:
                return connection.close()
            outcome = fetch(proxy, url, connection=connection)
            with lock:
                came[url, outcome.status, len(outcome.body), outcome.end] += 1
            if outcome.end != "whole":
                connection.close()
                connection = http.client.HTTPConnection(address.hostname, address.port, timeout=120)
    threads = [threading.Thread(target=work) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return came


def draws(lab, origin):
    rules = lab.write("draws/rules.yaml", DRAWS.replace("ORIGIN", origin))
    runs = {}
    for number in range(3):
        for beside in (False, True):
            urls = hundreds() + ([f"http://other.example.test/{kind}/{number}/x" for kind in "scnza" for number in range(40)] if beside else [])
            random.Random(number * 2 + beside).shuffle(urls)
            with lab.proxy("record", lab.path("draws", f"tape{number}{beside}.json"), "--modify", rules) as proxy:
                runs[number, beside] = at_once(proxy.url, urls)
            lab.check(proxy.code == 0, f"a recording of 1,000 requests at once ended with {proxy.code}", proxy.log)
    wanted = None
    for key, came in runs.items():
        mine = {what: count for what, count in came.items() if what[0].startswith("http://draws.")}
        others = {what for what in came if what[0].startswith("http://other.") and (what[1], what[3]) != (200, "whole")}
        lab.check(sum(mine.values()) == 1000, f"run {key} has {sum(mine.values())} of 1,000 answers")
        lab.check(not others, f"run {key}: requests of no rule failed: {sorted(map(str, others))[:3]}")
        wanted = wanted or mine
        odd = sorted(map(str, set(mine.items()) ^ set(wanted.items())))
        lab.check(mine == wanted, f"run {key} has other failures than the first: {odd[:4]}")
    fails = collections.Counter()
    for (url, status, size, end), count in wanted.items():
        kind = url.split("/")[3]
        fails[kind] += count * (status != 200 or end != "whole" or kind == "a" and size == len(LONG) // 10)
        lab.check(not (kind == "c" and end == "cut") or size == 1000, f"{url} was cut after {size} bytes")
    lab.check((fails["n"], fails["z"], fails["a"]) == (100, 0, 200), f"the failures by number, never and always are {dict(fails)}")
    for kind, share in (("s", 0.30), ("c", 0.25)):
        lab.check(plausible(fails[kind], 200, share), f"{fails[kind]} of 200 requests failed with a share of {share}")
    # Another seed, and the same rule under another name, are other draws.
    for name, options, text in (("seed", ["--seed", "7"], DRAWS), ("name", [], DRAWS.replace("name: status", "name: other"))):
        rules = lab.write(f"draws/{name}.yaml", text.replace("ORIGIN", origin))
        with lab.proxy("record", lab.path("draws", f"{name}.json"), "--modify", rules, *options) as proxy:
            came = at_once(proxy.url, [url for url in hundreds() if "/s/" in url])
        lab.check(any(wanted.get(what) != count for what, count in came.items()), f"another {name} draws the same requests")


def equals(lab, origin):
    """Requests that the run's match rules find equal are counted together, and `config --try` draws as the run does."""
    for place, requests in (("query:ts", [(f"{origin}/pay?ts={number}", b"") for number in range(3)]),
                            ("json:/id", [(f"{origin}/pay", b'{"id": %d}' % number) for number in range(3)])):
        rules = lab.write("equals/rules.yaml", f'ignore: ["{place}"]\nmodify:\n  - {{ name: pay, when: "~u /pay", fault: {{ status: 429, first: 2 }} }}\n')
        with lab.proxy("record", lab.path("equals", "tape.json"), "--config", rules) as proxy:
            found = [fetch(proxy.url, url, "POST", {"Content-Type": "application/json"}, body).status for url, body in requests]
        lab.check(found == [429, 429, 200], f"requests that differ only at {place}, which is ignored, are answered with {found}", proxy.log)
        # The second of them is the first one's retry, and no other request.
        rules = lab.write("equals/verdict.yaml", f'ignore: ["{place}"]\nverdict: client\nmodify:\n  - {{ name: pay, count: rule, fault: {{ status: 503, first: 1 }} }}\n')
        attempts = " && ".join(f"curl -sS -o /dev/null --json '{body.decode()}' '{url}'" for url, body in requests[:2])
        said = lab.client([lab.wiretape, "record", lab.path("equals", "tape.json"), "--config", rules, "--", "sh", "-c", attempts], no_proxy="none")
        lab.check(b"client: no faults found" in said.stderr, f"a client that tries again with another {place} is accused: {said.stderr.decode()}")
    rules = lab.write("equals/half.yaml", 'modify:\n  - { name: half, when: "~u /half", fault: { status: 503, share: 50% } }\n')
    for query in [f"token=abcdefgh{number}" for number in range(3)] + [f"a={number}" for number in range(8)]:
        with lab.proxy("record", lab.path("equals", "half.json"), "--modify", rules) as proxy:
            fails = fetch(proxy.url, f"{origin}/half?{query}").status == 503
        said = lab.client([lab.wiretape, "config", "--no-config", "--modify", rules, "--try", f"GET {origin}/half?{query}"])
        lab.check((b'"half" (fault, ' in said.stdout and b" applies\n" in said.stdout) == fails, f"--try says of {query}: {said.stdout}, and the run failed it: {fails}")


def plausible(found, of, share):
    """Within five standard deviations of a binomial distribution."""
    return abs(found - of * share) <= 5 * math.sqrt(of * share * (1 - share)) if 0 < share < 1 else found == of * share


SHARES = {"0%": 0, "0.1%": 0.001, "1%": 0.01, "5%": 0.05, "33.3%": 0.333, "50%": 0.5, "99%": 0.99, "99.9%": 0.999, "100%": 1}


def shares(lab, _):
    """Each request is another one, and equal requests by their number; the answers come in the order of one connection."""
    lines = ["modify:"]
    for number, share in enumerate(SHARES):
        lines += [f'  - {{ name: "share {share}", when: "~u /{number}/", fault: {{ status: 418, share: {share} }} }}']
    lines += ['  - { name: otherwise, when: "~all", respond: { status: 200, body: "" } }']
    rules = lab.write("shares/rules.yaml", "\n".join(lines) + "\n")
    each = 2000
    with lab.proxy("record", lab.path("shares", "tape.json"), "--modify", rules) as proxy:
        for different in (True, False):
            for number, (name, share) in enumerate(SHARES.items()):
                found = pipeline(proxy.port, [f"http://shares.test/{number}/{n if different else ''}" for n in range(each)])
                lab.check(set(found) <= {b"418", b"200"} and sum(found.values()) == each, f"share {name} has the answers {found}")
                kind = "different" if different else "equal"
                lab.check(plausible(found[b"418"], each, share), f"a share of {name} failed {found[b'418']} of {each} {kind} requests")
    lab.check(proxy.code == 0, f"the shares ended with {proxy.code}", proxy.log)


def pipeline(port, urls, at_once=50):
    """Sends requests on one connection, some ahead of their answers, and counts the statuses."""
    found, pending = collections.Counter(), b""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        for start in range(0, len(urls), at_once):
            some = urls[start:start + at_once]
            connection.sendall(b"".join(b"GET %s HTTP/1.1\r\nHost: shares.test\r\n\r\n" % url.encode() for url in some))
            seen = 0
            while seen < len(some):
                part = connection.recv(65536)
                if not part:
                    return found
                pending += part
                for status in re.findall(rb"HTTP/1\.1 (\d\d\d) ", pending):
                    found[status] += 1
                    seen += 1
                pending = pending[pending.rfind(b"\r"):] if (last := pending.rfind(b"HTTP/1.1 ")) < 0 or last + 13 <= len(pending) else pending[last:]
    return found


# One that stalls stops nobody else

def stalls(lab, origin):
    rules = lab.write("stalls/rules.yaml", """
modify:
  - { name: everything, when: "~d example.test", mapRemote: ORIGIN }
  - { name: timeout, when: "~u /timeout", fault: timeout }
  - { name: stall, when: "~u /stall", fault: { kind: stall, for: 3000s, after: 1B } }
  - { name: slow, when: "~u /slow/", pace: { down: 100B/s } }
  - { name: late, when: "~u /late", pace: { latency: 3000s } }
""".replace("ORIGIN", origin))
    tape = lab.path("stalls", "tape.json")
    paths = ["/timeout", "/stall", "/slow/long", "/late", "/unread/huge"]
    with lab.proxy("record", tape, "--modify", rules) as proxy, contextlib.ExitStack() as open_ones:
        for path in paths * 8:
            connection = open_ones.enter_context(socket.create_connection(("127.0.0.1", proxy.port)))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(f"GET http://stalled.example.test{path} HTTP/1.1\r\nHost: stalled.example.test\r\n\r\n".encode())
        for _ in range(8):
            connection = open_ones.enter_context(socket.create_connection(("127.0.0.1", proxy.port)))
            connection.sendall(b"POST http://stalled.example.test/half HTTP/1.1\r\nHost: stalled.example.test\r\nContent-Length: 9\r\n\r\nabc")
        urls = [f"http://others.example.test/{number}/x" for number in range(300)]
        came = at_once(proxy.url, urls, connections=8)
        lab.check({url for url, status, _, end in came if (status, end) == (200, "whole")} == set(urls), "clients that stall stop others", proxy.log)
        # In order, on one connection, ahead of their answers.
        answers = ordered(proxy.port, urls[:100])
        lab.check(answers == [f"/{number}/x" for number in range(100)], f"answers on one connection came in the order {answers[:5]}…")
    lab.check(proxy.code in (0, 1), f"a recording with stalled clients ended with {proxy.code}", proxy.log)


def ordered(port, urls):
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection, connection.makefile("rb") as answers:
        connection.sendall(b"".join(b"GET %s HTTP/1.1\r\nHost: others.example.test\r\n\r\n" % url.encode() for url in urls))
        found = []
        for _ in urls:
            length = 0
            while (line := answers.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            found.append(answers.read(length).split(b" ")[1].decode())
        return found


def memory(lab, origin):
    """1,000 answers of 4 MiB that are throttled, stalled or late, at once: what they need does not depend on the answer's length."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    tape = lab.path("memory", "tape.json")
    tape.parent.mkdir()
    with lab.proxy("record", tape) as proxy:
        outcome = fetch(proxy.url, f"{origin}/vast")
        lab.check(len(outcome.body) == len(LONG) * 64, "the long answer was not recorded whole")
    rules = lab.write("memory/rules.yaml", """
modify:
  - { name: slow, when: "~hq x-kind:.slow", pace: { down: 100B/s } }
  - { name: stalled, when: "~hq x-kind:.stalled", fault: { kind: stall, for: 3000s, after: 50% } }
  - { name: late, when: "~hq x-kind:.late", pace: { latency: 3000s } }
  - { name: silent, when: "~hq x-kind:.silent", fault: timeout }
""")
    for kind in ("slow", "stalled", "late", "silent"):
        with lab.proxy("replay", tape, "--modify", rules, "--repeat", "last") as proxy, contextlib.ExitStack() as open_ones:
            before = peak(proxy)
            for _ in range(1000):
                connection = open_ones.enter_context(socket.create_connection(("127.0.0.1", proxy.port)))
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.sendall(f"GET {origin}/vast HTTP/1.1\r\nHost: {origin[7:]}\r\nX-Kind: {kind}\r\n\r\n".encode())
            outcome = fetch(proxy.url, f"{origin}/vast")
            lab.check((outcome.status, len(outcome.body)) == (200, len(LONG) * 64), f"beside 1,000 {kind} answers, another one is {brief(outcome)}")
            grown = peak(proxy) - before
            print(f"  1,000 {kind} answers of 4 MiB: {grown >> 10} MiB more at the peak", flush=True)
            lab.check(grown < 1000 << 10, f"1,000 {kind} answers of 4 MiB need {grown >> 10} MiB", proxy.log)


def peak(proxy):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{proxy._process.pid}/status").read_text())[1])


# Coming from other tools

def page():
    """The YAML of each section of docs/rules-from-other-tools.md."""
    text = (ROOT / "docs" / "rules-from-other-tools.md").read_text(encoding="utf-8")
    return {section.split("\n")[0]: re.search(r"```yaml\n(.*?)```", section, re.S)[1] for section in text.split("\n## ")[1:]}


def of_page(lab, origin, section, *options):
    """A recording by the rules of the page; where the page's rules lead nowhere else, requests go to the origin."""
    text = page()[section].replace("http://127.0.0.1:3000", origin)
    rules = lab.write(f"page/{section}.yaml", text + f'  - {{ name: everything else, when: "~all", mapRemote: {origin} }}\n')
    return lab.proxy("record", lab.path("page", f"{section}.json"), "--modify", rules, *options)


def timed(proxy, url, **settings):
    begin = time.monotonic()
    outcome = fetch(proxy.url, url, **settings)
    return outcome, time.monotonic() - begin


def other_tools(lab, origin):
    """Times are lower bounds, which hold on a busy machine, too."""
    lab.write("page/site/a.css", "body {}\n")
    with of_page(lab, origin, "mitmproxy") as proxy:
        outcome = fetch(proxy.url, "http://ads.example.com/banner")
        lab.check(outcome.status == 404, f"block_list: {brief(outcome)}")
        outcome = fetch(proxy.url, "http://api.example.com/v2/pets?a=1")
        lab.check(outcome.status == 200, f"map_remote of https does not apply to another scheme: {brief(outcome)}")
        said = lab.client(["curl", "-sS", "--cacert", lab.path("ca", "ca-cert.pem"), "-x", proxy.url, "https://api.example.com/v2/pets?a=1"])
        lab.check(said.stdout == b"GET /v2/pets?a=1 \n" and not Origin.seen[-1][2].get("Host", "").startswith("api."), f"map_remote: {said}, {Origin.seen[-1]}")
        outcome = fetch(proxy.url, "http://example.com/static/a.css")
        lab.check(outcome.body == b"body {}\n", f"map_local: {brief(outcome)}")
        outcome = fetch(proxy.url, "http://www.example.com/packed")
        text = gzip.decompress(outcome.body)
        lab.check(b"test-12" in text and b"prod" not in text, f"modify_body: {text}")
        lab.check("server" not in outcome.fields and outcome.fields.get("server-name") == "prod", f"modify_headers of the answer: {outcome.fields}")
        asked = {name.lower(): value for name, value in Origin.seen[-1][2].items()}
        lab.check(asked.get("x-env") == "test", f"modify_headers of the request: {asked}")
    lab.check(proxy.code == 0, f"mitmproxy's rules ended with {proxy.code}", proxy.log)
    toxics(lab, origin)
    wiremock(lab, origin)
    charles(lab, origin)


def raw(proxy, text):
    """What comes on a connection until it ends."""
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=60) as connection:
        connection.sendall(text.encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


def toxics(lab, origin):
    with of_page(lab, origin, "toxiproxy") as proxy:
        outcome, took = timed(proxy, "http://latency.example.com/x")
        lab.check(outcome.status == 200 and took >= 0.79, f"latency: {took:.3f} s, {brief(outcome)}")
        outcome, took = timed(proxy, "http://bandwidth.example.com/huge")
        lab.check(len(outcome.body) == 1 << 20 and took >= 9.5, f"bandwidth: 1 MiB at 100 kB/s took {took:.1f} s")
        outcome, took = timed(proxy, "http://slow-close.example.com/chunked")
        lab.check((len(outcome.body), outcome.end) == (65536, "whole") and took >= 0.49, f"slow_close: {took:.3f} s, {brief(outcome)}")
        # With a Content-Length, the client has all of the answer before, and waits only for the connection's end.
        begin = time.monotonic()
        said = raw(proxy, "GET http://slow-close.example.com/long HTTP/1.1\r\nHost: slow-close.example.com\r\nConnection: close\r\n\r\n")
        took = time.monotonic() - begin
        lab.check(said.endswith(LONG) and took >= 0.49, f"slow_close: the connection was closed after {took:.3f} s and {len(said)} bytes")
        outcome = fetch(proxy.url, "http://timeout.example.com/x", timeout=1)
        lab.check((outcome.status, outcome.end) == (None, "silent"), f"timeout: {brief(outcome)}")
        outcome, took = timed(proxy, "http://timeout-and-close.example.com/x")
        lab.check((outcome.status, outcome.end) == (None, "cut") and took >= 4.9, f"timeout=5000: {took:.3f} s, {brief(outcome)}")
        ends = collections.Counter()

        def reset(number):
            outcome, took = timed(proxy, f"http://reset-peer.example.com/{number}")
            ends[outcome.end if took >= 1.9 else "early"] += 1
        threads = [threading.Thread(target=reset, args=[number]) for number in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lab.check(set(ends) == {"reset", "whole"} and plausible(ends["reset"], 40, 0.5), f"reset_peer: {ends}")
        # At the socket's level, a piece is what one read gets; some may come together.
        outcome = fetch(proxy.url, "http://slicer.example.com/long")
        lab.check((outcome.body, outcome.end) == (LONG, "whole"), f"slicer: {brief(outcome)}")
        outcome = fetch(proxy.url, "http://limit-data.example.com/huge")
        lab.check((len(outcome.body), outcome.end) == (65536, "cut"), f"limit_data: {brief(outcome)}")
        outcome = fetch(proxy.url, "http://limit-data.example.com/long")
        lab.check((len(outcome.body), outcome.status) == (65536, 200), f"limit_data of as many bytes: {brief(outcome)}")
        outcome = fetch(proxy.url, "http://limit-data.example.com/x")
        lab.check(outcome.end == "whole", f"limit_data of fewer bytes: {brief(outcome)}")
        outcome = fetch(proxy.url, "http://down.example.com/x")
        lab.check(outcome.status == 502, f"down: {brief(outcome)}")
    lab.check(proxy.code == 0, f"toxiproxy's rules ended with {proxy.code}", proxy.log)


def wiremock(lab, origin):
    with of_page(lab, origin, "WireMock") as proxy:
        for path, status, end in (("/empty", None, "cut"), ("/malformed-chunk/chunked", 200, None), ("/malformed-chunk/long", 200, None),
                                  ("/random-data", None, "bad"), ("/reset", None, "reset")):
            outcome = fetch(proxy.url, f"http://example.com{path}")
            right = outcome.status == status and (outcome.end == end if end else outcome.end != "whole" or outcome.body not in (LONG, b"c" * 65536))
            lab.check(right, f"WireMock {path}: {brief(outcome)}")
            said = lab.client(["curl", "-sS", "-x", proxy.url, f"http://example.com{path}", "-o", "/dev/null"])
            lab.check(said.returncode in {"/empty": (52,), "/malformed-chunk/chunked": (56,), "/malformed-chunk/long": (0, 18, 56), "/random-data": (1, 8),
                                          "/reset": (56,)}[path], f"WireMock {path}: curl ends with {said.returncode}: {said.stderr}")
        outcome, took = timed(proxy, "http://example.com/fixed")
        lab.check(outcome.status == 200 and took >= 0.49, f"fixed: {took:.3f} s")
        outcome, took = timed(proxy, "http://example.com/uniform")
        lab.check(outcome.status == 200 and took >= 0.0149, f"uniform: {took:.4f} s")
        took = sorted(timed(proxy, f"http://example.com/lognormal/{n}")[1] for n in range(15))
        lab.check(took[7] >= 0.050 and took[-1] > took[0], f"lognormal: {took}")
    lab.check(proxy.code == 0, f"WireMock's rules ended with {proxy.code}", proxy.log)


# Of each host of the page: its rate in bytes a second, and the latency.
CHARLES = {"56-kbps-modem": (7000, 0), "256-kbps-isdn": (32000, 0), "512-kbps-isdn": (64000, 0), "2-mbps-adsl": (250000, 0), "8-mbps-adsl2": (10**6, 0),
           "16-mbps-adsl2plus": (2 * 10**6, 0), "32-mbps-vdsl": (4 * 10**6, 0), "100-mbps-fibre": (12.5 * 10**6, 0), "3g": (200000, 0.3), "4g": (1125000, 0.17)}


def charles(lab, origin):
    with of_page(lab, origin, "Charles") as proxy:
        for host, (rate, latency) in CHARLES.items():
            path, size = ("long", 65536) if rate < 100000 else ("vast", 4 << 20) if rate > 4 * 10**6 else ("huge", 1 << 20)
            outcome, took = timed(proxy, f"http://{host}.test/{path}")
            least = latency + max(0, size - rate * 0.05 - 1460) / rate * 0.95
            lab.check(len(outcome.body) == size and took >= least, f"Charles {host}: {size} bytes took {took:.2f} s, and at least {least:.2f} s are right")
        ends = collections.Counter()
        for number in range(100):
            outcome = fetch(proxy.url, f"http://unreliable.test/{number}/long")
            ends[outcome.end, len(outcome.body) if outcome.end == "whole" else len(outcome.body) <= 10240] += 1
        lab.check(set(ends) == {("whole", 65536), ("reset", True)} and plausible(ends["reset", True], 100, 0.1), f"Charles' reliability: {ends}")
    lab.check(proxy.code == 0, f"Charles' rules ended with {proxy.code}", proxy.log)


# Events and messages that come in pieces

class Pieces(Handler):
    """The head and the first event come at once; the others in one piece, after another request has come."""

    go = threading.Event()

    def do_GET(self):
        if self.path == "/go":
            self.go.set()
            return self.answer(200, "ok")
        events = [f'data: {{"n": {number}}}\n\n'.encode() for number in range(5)]
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + events[0])
        self.go.wait(60)
        self.wfile.write(b"".join(events[1:]))
        self.close_connection = True


def web_socket_origin(lab, messages):
    """Sends the messages but for their last two bytes, and these, and a close frame, once another message has come."""
    listener = socket.create_server(("127.0.0.1", 0))
    lab._origins.callback(listener.close)

    def work():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    asked = read_until(connection, b"\r\n\r\n")
                    key = re.search(rb"(?i)sec-websocket-key: (\S+)", asked)[1]
                    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
                    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
                    text = b"".join(bytes([0x81, len(message)]) + message for message in messages)
                    connection.recv(8, socket.MSG_WAITALL)
                    connection.sendall(text[:-2])
                    connection.recv(8, socket.MSG_WAITALL)
                    connection.sendall(text[-2:] + b"\x88\x02\x03\xe8")
                    while connection.recv(4096):
                        pass
    threading.Thread(target=work, daemon=True).start()
    return listener.getsockname()[1]


def read_until(connection, end):
    found = b""
    while end not in found and (part := connection.recv(1)):
        found += part
    return found


def streams(lab, _):
    """An event or a message that is moved, repeated or left out changes nothing else of its stream."""
    origin = lab.serve(Pieces)
    for fault, wanted in (("reorder", [1, 0, 2, 3, 4]), ("repeat", [0, 0, 1, 2, 3, 4]), ("drop", [1, 2, 3, 4]), ("{ kind: reorder, after: 1 events }", [0, 2, 1, 3, 4]),
                          ("{ kind: reorder, after: 4 events }", [0, 1, 2, 3, 4])):
        Pieces.go.clear()
        rules = lab.write("streams/rules.yaml", f'modify:\n  - {{ name: fault, when: "~u /events", fault: {fault} }}\n')
        with lab.proxy("record", lab.path("streams", "tape.json"), "--modify", rules) as proxy:
            connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=60)
            connection.request("GET", f"{origin}/events")
            response = connection.getresponse()
            fetch(proxy.url, f"{origin}/go")
            found = numbers(response.read())
            connection.close()
        lab.check(found == wanted, f"events with {fault} are {found}, and not {wanted}", proxy.log)
        notes = [line for line in proxy.log.read_text().splitlines() if 'rule "fault": ' in line and "matched" not in line]
        lab.check(len(notes) == (wanted == [0, 1, 2, 3, 4]), f"the notes on {fault} are {notes}", proxy.log)
    port = web_socket_origin(lab, [b"m%d" % number for number in range(5)])
    for fault, wanted in (("{ kind: drop, after: 1 messages }", "0234"), ("{ kind: repeat, after: 1 messages }", "011234"), ("{ kind: reorder, after: 1 messages }", "02134"),
                          ("{ kind: stall, for: 10ms, after: 2 messages }", "01234"), ("{ kind: reorder, after: 4 messages }", "01234"),
                          ("{ kind: drop, after: 9 messages }", "01234")):
        rules = lab.write("streams/rules.yaml", f'modify:\n  - {{ name: fault, when: "~websocket", fault: {fault} }}\n')
        with lab.proxy("record", lab.path("streams", "tape.json"), "--modify", rules) as proxy, socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as connection:
            connection.sendall(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
            read_until(connection, b"\r\n\r\n")
            go = b"\x81\x82\0\0\0\0go"
            connection.sendall(go)
            found = connection.recv(8, socket.MSG_WAITALL)
            connection.sendall(go)
            with contextlib.suppress(TimeoutError):
                found += read_until(connection, b"\x88")
        text = b"".join(b"\x81\x02m" + number.encode() for number in wanted) + b"\x88"
        lab.check(found == text, f"messages with {fault} are {found}, and not {text}", proxy.log)
        notes = [line for line in proxy.log.read_text().splitlines() if 'rule "fault": ' in line and "matched" not in line]
        lab.check(len(notes) == (wanted == "01234" and "stall" not in fault), f"the notes on {fault} are {notes}", proxy.log)


def deflating_origin(lab, messages):
    """Sends the messages once a message has come: deflated with the text of those before them, if the client offers that."""
    listener = socket.create_server(("127.0.0.1", 0))
    lab._origins.callback(listener.close)

    def work():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    asked = read_until(connection, b"\r\n\r\n")
                    key = re.search(rb"(?i)sec-websocket-key: (\S+)", asked)[1]
                    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
                    deflates = b"permessage-deflate" in asked
                    extension = b"Sec-WebSocket-Extensions: permessage-deflate\r\n" if deflates else b""
                    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" + extension
                                       + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
                    connection.recv(8, socket.MSG_WAITALL)
                    deflater = zlib.compressobj(wbits=-15)
                    for message in messages:
                        text = (deflater.compress(message) + deflater.flush(zlib.Z_SYNC_FLUSH))[:-4] if deflates else message
                        connection.sendall(bytes([0xc1 if deflates else 0x81]) + (bytes([len(text)]) if len(text) < 126 else b"\x7e" + len(text).to_bytes(2, "big")) + text)
                    connection.sendall(b"\x88\x02\x03\xe8")
                    while connection.recv(4096):
                        pass
    threading.Thread(target=work, daemon=True).start()
    return listener.getsockname()[1]


def inflated(connection):
    """The messages that a client which offers permessage-deflate reads, up to the close frame."""
    connection.sendall(b"GET http://%s/ HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"
                       b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" % (connection.host, connection.host))
    read_until(connection, b"\r\n\r\n")
    connection.sendall(b"\x81\x82\0\0\0\0go")
    found, inflater = [], zlib.decompressobj(wbits=-15)
    with connection.makefile("rb") as frames:
        while (head := frames.read(2)) and head[0] & 0xf == 1:
            text = frames.read(int.from_bytes(frames.read(2), "big") if head[1] == 126 else head[1])
            try:
                found.append(inflater.decompress(text + b"\0\0\xff\xff") if head[0] & 0x40 else text)
            except zlib.error as error:
                return found + [str(error)]
    return found


class WebSocketClient(socket.socket):
    """A connection to the proxy, for the WebSocket of a host."""

    host = b""


def compressed(lab, _):
    """A message that is moved, repeated or left out changes no other one, though each is deflated with the text of those before it."""
    messages = [b'{"symbol": "%s", "price": %d, "note": "%s"}' % (symbol, number * 12345, b"ab" * number) for number, symbol in enumerate((b"EURUSD", b"USD", b"GBPJPY", b"A", b"CHF"))]
    host = f"127.0.0.1:{deflating_origin(lab, messages)}"
    plain = lab.path("compressed", "plain.json")

    def read(mode, tape, rules, *options):
        with lab.proxy(mode, tape, "--modify", rules, *options) as proxy, WebSocketClient() as connection:
            connection.host = host.encode()
            connection.settimeout(20)
            connection.connect(("127.0.0.1", proxy.port))
            return inflated(connection), proxy.log
    found, log = read("record", plain, lab.write("compressed/none.yaml", "[]\n"))
    lab.check(found == messages, f"without rules, the messages are {found}", log)
    for fault, wanted in (("drop", "0234"), ("repeat", "011234"), ("reorder", "02134")):
        rules = lab.write("compressed/rules.yaml", f'modify:\n  - {{ name: fault, when: "~websocket", fault: {{ kind: {fault}, after: 1 messages }} }}\n')
        for mode, tape in (("record", lab.path("compressed", "tape.json")), ("replay", plain)):
            found, log = read(mode, tape, rules)
            lab.check(found == [messages[int(number)] for number in wanted], f"{mode} with {fault} has the messages {found}", log)


def ends(lab, _):
    """What the client of a WebSocket sent before it ended its side comes to the origin and into the cassette, whatever a rule does to its pace."""
    listener, came, over = socket.create_server(("127.0.0.1", 0)), [], threading.Event()
    lab._origins.callback(listener.close)

    def work():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    asked = read_until(connection, b"\r\n\r\n")
                    key = re.search(rb"(?i)sec-websocket-key: (\S+)", asked)[1]
                    accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
                    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
                    came.append(b"".join(iter(lambda: connection.recv(4096), b"")))
                over.set()
    threading.Thread(target=work, daemon=True).start()
    port = listener.getsockname()[1]
    whole = b"".join(b"\x81\xfe\x03\xe8\0\0\0\0" + letter * 1000 for letter in (b"a", b"b", b"c"))
    for rule in ("pace: { up: 2kB/s }", "pace: slow-3g", "pause: messages"):
        # The last message has no end.
        for sent in (whole, whole[:-500]):
            over.clear()
            tape = lab.path("ends", "tape.json")
            rules = lab.write("ends/rules.yaml", f'modify:\n  - {{ name: rule, when: "~websocket", {rule} }}\n')
            with lab.proxy("record", tape, "--modify", rules) as proxy, socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as connection:
                connection.sendall(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
                read_until(connection, b"\r\n\r\n")
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                over.wait(20)
            lab.check(came[-1:] == [sent], f"{rule}: {len(came[-1]) if came else None} of {len(sent)} bytes came to the origin", proxy.log)
            sizes = [len(message["text"]) for message in json.loads(tape.read_bytes())["interactions"][0]["webSocket"]]
            lab.check(sizes == ([1000] * 3 if sent == whole else [1000, 1000, 500]), f"{rule}: the cassette has messages of {sizes} bytes", proxy.log)


# The verdict on clients

URLLIB3 = """
import os, sys, urllib3
from urllib3.util import Retry
retry = Retry(%s)
pool = urllib3.ProxyManager(os.environ["http_proxy"], retries=retry)
print(pool.request(%r, sys.argv[1], body=%r).status)
"""
REQUESTS_ADAPTER = """
import sys, requests
from urllib3.util import Retry
session = requests.Session()
session.mount("http://", requests.adapters.HTTPAdapter(max_retries=%s))
print(session.request(%r, sys.argv[1]).status_code)
"""
HTTPX = """
import sys, httpx
with httpx.Client(transport=httpx.HTTPTransport(retries=3, proxy=__import__("os").environ["http_proxy"])) as client:
    print(client.request(%r, sys.argv[1]).status_code)
"""
BOTOCORE = """
import sys, botocore.config, botocore.session
session = botocore.session.Session()
session.set_credentials("AKIDEXAMPLE", "secret")
address = sys.argv[1].split("/", 3)
client = session.create_client(%r, region_name="eu-west-1", endpoint_url="/".join(address[:3]),
                               config=botocore.config.Config(retries={"mode": "standard", "max_attempts": 3}))
try:
    print(%s)
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""
NODE = """
const answer = await fetch(process.env.WIRETAPE_REVERSE + process.argv[2], %s);
console.log(answer.status, (await answer.text()).length);
"""
SHOP = "http://shop.example.test"


def client_cases(lab):
    """(name, the client's command, the rules, the kinds of findings, the client's exit code or None for any)."""
    python, node = f"{lab.tools}/bin/python", "node"

    def script(name, text):
        return lab.write(f"clients/client-{name}", text)

    def curl(*words, path="/pay"):
        return ["curl", "-sS", *words, SHOP + path]

    def py(name, text, path="/pay"):
        return [python, script(f"{name}.py", text), SHOP + path]

    def js(name, options="{}", path="/pay"):
        return [node, script(f"{name}.mjs", NODE % options), SHOP + path]
    once, twice = "fault: { status: 503, first: 1 }", "fault: { status: 503, first: 2 }"
    asked = "fault: { status: 429, retryAfter: 1s, first: 1 }"
    always, broken = "fault: { status: 503 }", "fault: { status: 500, first: 1 }"
    cut, lost, reset = "fault: { kind: cut, first: 1 }", "fault: { kind: close, first: 1 }", "fault: { kind: reset, first: 1 }"
    yield "curl-retry-503", curl("--retry", "3"), twice, [], 0
    yield "curl-retry-429", curl("--retry", "3"), asked, [], 0
    yield "curl-retry-gives-up", curl("--retry", "2", "-f"), always, [], 22
    yield "curl-without-retry", curl(), once, ["no-retry"], 0
    yield "curl-post-500", curl("--retry", "2", "-d", "a=1"), broken, ["unsafe-retry"], 0
    yield "curl-post-500-key", curl("--retry", "2", "-d", "a=1", "-H", "Idempotency-Key: 7"), broken, [], 0
    yield "curl-post-503", curl("--retry", "2", "-d", "a=1"), once, [], 0
    yield "curl-404", curl("--retry", "2"), "fault: { status: 404, first: 1 }", [], 0
    yield "curl-cut", curl("-o", "/dev/null", path="/long"), cut, ["no-retry"], 18
    yield "curl-cut-all-errors", curl("--retry", "2", "--retry-all-errors", "-o", "long", path="/long"), cut, [], 0
    yield "curl-cut-for-whole", ["sh", "-c", f"curl -sS -o /dev/null {SHOP}/long || true"], cut, ["cut-accepted"], 0
    yield "curl-reset", curl("--retry", "2", "--retry-all-errors"), reset, [], 0
    yield "curl-lost", curl("--retry", "2"), lost, ["no-retry"], 52
    yield "curl-time-limit", curl("-m", "0.5"), "fault: timeout", [], 28
    yield "curl-no-time-limit", curl("-o", "long", path="/long"), "fault: { kind: stall, for: 2s, after: 1KiB }", ["endless-wait"], 0
    yield "curl-loop", ["sh", "-c", f"for i in 1 2 3; do curl -sS {SHOP}/pay; done"], always, ["no-backoff"], 0
    yield "urllib3-503", py("u1", URLLIB3 % ("total=3, backoff_factor=0.7, status_forcelist=[503]", "GET", None)), twice, [], 0
    yield "urllib3-429", py("u2", URLLIB3 % ("total=3, status_forcelist=[429]", "GET", None)), asked, [], 0
    # Retry(3) follows Retry-After of 429 by itself.
    yield "urllib3-429-by-itself", py("u3", URLLIB3 % ("3", "GET", None)), asked, [], 0
    yield "urllib3-ignores", py("u4", URLLIB3 % ("total=3, status_forcelist=[429], respect_retry_after_header=False", "GET", None)), asked, ["retry-after-ignored"], 0
    yield "urllib3-no-backoff", py("u5", URLLIB3 % ("total=5, status_forcelist=[503]", "GET", None)), "fault: { status: 503, first: 4 }", ["no-backoff"], 0
    yield "urllib3-storm", py("u6", URLLIB3 % ("total=20, status_forcelist=[503]", "GET", None)), "fault: { status: 503, first: 15 }", ["no-backoff", "storm"], 0
    yield "urllib3-post-500", py("u7", URLLIB3 % ("total=3, status_forcelist=[500], allowed_methods=None", "POST", b"a=1")), broken, ["unsafe-retry"], 0
    # POST is not in allowed_methods: what may have had its effect is not sent again.
    yield "urllib3-post-not-retried", py("u8", URLLIB3 % ("total=3, status_forcelist=[500]", "POST", b"a=1")), broken, [], 0
    yield "urllib3-400", py("u9", URLLIB3 % ("total=2, status_forcelist=[400], raise_on_status=False", "GET", None)), "fault: { status: 400, first: 2 }", ["unsafe-retry"], 0
    yield "urllib3-lost", py("u10", URLLIB3 % ("3", "GET", None)), lost, [], 0
    yield "urllib3-garbage", py("u11", URLLIB3 % ("3", "GET", None)), "fault: { kind: garbage, in: head, first: 1 }", [], 0
    yield "requests-default", py("r1", REQUESTS_ADAPTER % ("0", "GET")), once, ["no-retry"], 0
    yield "requests-adapter", py("r2", REQUESTS_ADAPTER % ("Retry(total=3, backoff_factor=0.7, status_forcelist=[503])", "GET")), once, [], 0
    # A number stands for connections that break, and not for a status.
    yield "requests-number-503", py("r3", REQUESTS_ADAPTER % ("3", "GET")), once, ["no-retry"], 0
    yield "requests-number-lost", py("r4", REQUESTS_ADAPTER % ("3", "GET")), lost, [], 0
    yield "requests-default-lost", py("r5", REQUESTS_ADAPTER % ("0", "GET")), lost, ["no-retry"], 1
    yield "httpx-503", py("h1", HTTPX % "GET"), once, ["no-retry"], 0
    yield "httpx-429", py("h2", HTTPX % "GET"), asked, ["no-retry"], 0
    yield "httpx-lost", py("h3", HTTPX % "GET"), lost, ["no-retry"], 1
    yield "botocore-503", py("b1", BOTOCORE % ("s3", "client.head_bucket(Bucket='tills')['ResponseMetadata']['RetryAttempts']")), twice, [], 0
    yield "botocore-gives-up", py("b2", BOTOCORE % ("s3", "client.head_bucket(Bucket='tills')")), always, [], 1
    yield "botocore-reset", py("b3", BOTOCORE % ("s3", "client.head_bucket(Bucket='tills')['ResponseMetadata']['RetryAttempts']")), reset, [], 0
    yield "node-503", js("n1"), once, ["no-retry"], 0
    yield "node-429", js("n2"), asked, ["no-retry"], 0
    yield "node-lost", js("n3"), lost, ["no-retry"], 1
    yield "node-cut", js("n4", path="/long"), cut, ["no-retry"], 1
    yield "node-post-500", js("n5", '{ method: "POST", body: "a=1" }'), broken, [], 0


def judge(lab, name, run, mode, rules, settings, command, tape):
    """Runs a client under the verdict, and returns its log, which has both outputs, and the process."""
    log = lab.path("clients", f"{name}.{run}.log")
    with open(log, "wb") as said:
        ran = subprocess.run([str(lab.wiretape), mode, str(lab.path("clients", f"{name}.{tape}.json")), "--json", "--config", str(settings), "--modify", str(rules),
                              *(["--fail-on", "client", "--repeat", "last"] if mode == "replay" else []), "--", *map(str, command)],
                             env=lab.environment | {"AWS_EC2_METADATA_DISABLED": "true"}, cwd=lab.folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                             timeout=120, check=False)
    return log, ran


def verdicts(lab, origin, only=""):
    """Each client meets one fault; what is named is what its documentation says that it does, and nothing else."""
    # A busy machine makes gaps longer, so what has no backoff may take up to 500 ms here; documented backoffs are longer.
    settings = lab.write("clients/wiretape.yaml", "verdict: { backoffGap: 500ms, stallWait: 1s }\n")
    # botocore's backoff is drawn from 0 on.
    drawn = lab.write("clients/drawn.yaml", "verdict: { backoffGap: 5ms }\n")
    for name, command, fault, kinds, code in client_cases(lab):
        if only not in name:
            continue
        whole = lab.write(f"clients/{name}.whole.yaml", f"modify:\n  - {{ name: everything, mapRemote: {origin} }}\n")
        rules = lab.write(f"clients/{name}.yaml", f"modify:\n  - {{ name: fault, {fault} }}\n  - {{ name: everything, mapRemote: {origin} }}\n")
        # The replay's cassette has the answers without the fault: what a fault answers in place of the origin is not recorded.
        judge(lab, name, "whole", "record", whole, settings, command, "whole")
        for mode in ("record", "replay"):
            log, ran = judge(lab, name, mode, mode, rules, drawn if "botocore" in name else settings, command, "whole" if mode == "replay" else "broken")
            lines = re.findall(r'\{ "cassette": .*', log.read_text(errors="replace"))
            if not lab.check(lines, f"{name}: the {mode} printed no result", log):
                continue
            result = json.loads(lines[-1])
            found = sorted({finding["kind"] for finding in result["client"]})
            lab.check(found == kinds, f"{name}: the {mode} finds {found}, and not {kinds}: {[finding['text'] for finding in result['client']]}", log)
            if mode == "replay":
                # --fail-on client counts only if the client itself is content.
                wanted = code or (9 if kinds else 0)
                lab.check(ran.returncode == wanted, f"{name}: the replay ended with {ran.returncode} and not {wanted}", log)
            else:
                lab.check(ran.returncode == code, f"{name}: the client ended with {ran.returncode} and not {code}", log)


def samples(lab, _):
    """A client that asks what the sample cassettes have, in their order, is not accused of anything."""
    serve = Serve(lab, "serve-samples", "--folder", ROOT / "Cassettes")
    for tape in sorted((ROOT / "Cassettes").glob("*.json")):
        status, session = serve.call("POST", "/sessions", {"cassette": tape.name, "mode": "none", "verdict": "client"})
        if not lab.check(status == 201, f"a session of {tape.name} was answered with {status}: {session}", serve.log):
            continue
        for request in (part["request"] for part in json.loads(tape.read_bytes())["interactions"]):
            text = request.get("body", {}).get("text", "")
            fields = dict(field.split(": ", 1) for field in request["headers"] if field.split(":")[0] in ("Accept", "Content-Type", "User-Agent"))
            outcome = fetch(session["proxy"], request["url"], request["method"], fields, (text if isinstance(text, str) else "".join(text)).encode())
            lab.check(outcome.end == "whole", f"{tape.name}: {request['method']} {request['url']} is {brief(outcome)}")
        _, report = serve.call("DELETE", f"/sessions/{session['id']}")
        lab.check(report["verdict"]["hits"] > 0 and report["client"] == [], f"the verdict over {tape.name} is {report['client']} with {report['verdict']}")
    stop(serve.process)


# Edits by place

PLACES = """
modify:
  - name: request places
    when: "~u /echo"
    request:
      set:
        "header:x-env": test
        "query:page": 2
        "json:/user/name": Zoe
        "json:/tags/-": new
        "form:amount": 7
        "form:meta|json:/id": 9
        "part:note": changed
        "filename:photo": cat.png
        "part:meta|json:/id": 11
        "xml:/order/item": "a < b"
        "xml:/order/@id": 5
      remove: ["query:debug", "json:/secret", "form:drop", "header:x-drop", "part:gone"]
  - { name: picture, when: "~m POST & ~u /echo/part", request: { set: { "part:photo": { file: cat.bin } } } }
  - name: response places
    when: "~u /packed"
    response: { status: 203, set: { "header:x-new": a, "json:/items/0/name": z }, remove: ["json:/items/1"], replace: [{ in: body, match: "(prod)-([0-9]+)", with: "test-$2-$1" }] }
  - { name: element, when: "~u /xml", response: { set: { "xml:/a/b": "x&y", "xml:/a/@x": 2 } } }
  - { name: events, when: "~u /events", response: { set: { "json:/n": 42 } } }
  - { name: method, when: "~u /method", request: { method: PUT } }
  - { name: url, when: "~u /from", request: { replace: { in: url, match: "/from/", with: "/to/" } } }
  - { name: no place, when: "~u /chunked", response: { set: { "json:/x": 1 } } }
  - { name: never met, when: "~d nowhere.test", response: { status: 404 } }
  - { name: blocked, when: "~u /blocked", block: 451 }
  - { name: taken, when: "~u /blocked", block: 403 }
  - { name: everything, mapRemote: ORIGIN }
"""


def places(lab, origin):
    lab.write("places/cat.bin", bytes(range(256)))
    lab.write("places/dog.bin", b"dog")
    rules = lab.write("places/rules.yaml", PLACES.replace("ORIGIN", origin))

    def curl(proxy, path, *words):
        done = lab.client(["curl", "-sS", "-x", proxy.url, f"http://shop.example.test{path}", *words])
        lab.check(done.returncode == 0, f"{path}: curl ends with {done.returncode}: {done.stderr}")
        return done.stdout

    with lab.proxy("record", lab.path("places", "tape.json"), "--modify", rules) as proxy:
        said = curl(proxy, "/echo/json?debug=1&a=2", "--json", '{"user": {"name": "Bob", "age": 4.0}, "tags": ["old"], "secret": 1, "rest": [1,  2]}')
        lab.check(re.sub(rb", +", b",", said) == b'{"user": {"name": "Zoe","age": 4.0},"tags": ["old","new"],"rest": [1,2]}', f"JSON became {said}")
        asked = Origin.seen[-1]
        fields = {name.lower(): value for name, value in asked[2].items()}
        lab.check(asked[1] in ("/echo/json?a=2&page=2",) and fields["x-env"] == "test" and int(fields["content-length"]) == len(asked[3]), f"the origin was asked {asked[:3]}")
        said = curl(proxy, "/echo/form", "-d", "amount=5&drop=1&keep=%C3%A9&meta=%7B%22id%22%3A1%7D", "-H", "X-Drop: 1")
        lab.check(urllib.parse.parse_qsl(said.decode()) == [("amount", "7"), ("keep", "é"), ("meta", '{"id":9}')] and b"keep=%C3%A9" in said, f"the form became {said}")
        lab.check("x-drop" not in {name.lower() for name in Origin.seen[-1][2]}, "a field that is removed came to the origin")
        said = curl(proxy, "/echo/part", "-F", f"photo=@{lab.path('places', 'dog.bin')};filename=dog.gif", "-F", "note=hi", "-F", 'meta={"id":1};type=application/json',
                    "-F", "gone=1")
        lab.check(bytes(range(256)) in said and b'filename="cat.png"' in said and b"changed" in said and b'{"id":11}' in said and b"gone" not in said,
                  f"the parts became {said}")
        said = curl(proxy, "/echo/xml", "-H", "Content-Type: application/xml", "-d", '<order id="1"><item>x</item><!-- c --></order>')
        lab.check(said == b'<order id="5"><item>a &lt; b</item><!-- c --></order>', f"XML became {said}")
        said = curl(proxy, "/packed", "--compressed", "-i")
        head, text = said.split(b"\r\n\r\n", 1)
        lab.check(b" 203 " in head and b"x-new: a" in head.lower() and json.loads(text) == {"env": "test-12-prod", "items": [{"price": 1, "name": "z"}]}, f"the answer became {said}")
        lab.check(curl(proxy, "/xml") == b'<a x="2"><b>x&amp;y</b><c/></a>', "an XML answer is not edited")
        lab.check(numbers_of(curl(proxy, "/events")) == [42] * 6, "events are not edited each by itself")
        lab.check(curl(proxy, "/method").startswith(b"PUT /method"), "the method is not edited")
        lab.check(curl(proxy, "/from/here?x=1").startswith(b"GET /to/here?x=1"), "the URL is not edited")
        lab.check(curl(proxy, "/chunked") == b"c" * 65536, "an answer without the place did not pass unchanged")
        lab.check(b" 451 " in curl(proxy, "/blocked", "-i"), "the first rule that blocks does not win")
    said = proxy.log.read_text()
    lab.check(proxy.code == 0, f"the recording with edits ended with {proxy.code}", proxy.log)
    for wanted in ('rule "no place": ', '"never met"', "never matched", 'rule "blocked": matched 1, applied to 1', 'rule "taken": matched 1, applied to 0'):
        lab.check(wanted in said, f"the report does not have {wanted}", proxy.log)
    notes = [line for line in said.splitlines() if 'rule "no place"' in line]
    lab.check(len(notes) >= 2, f"an edit without effect is silent: {notes}", proxy.log)


def numbers_of(text):
    return [int(number) for number in re.findall(rb'"n": ?(\d+)', text)]


# Nothing is silent

def counts(lab, origin):
    """Exit codes and counts of --fail-on rules, in the JSON, the report and JUnit; `config --try` says the same."""
    good = '  - { name: met, when: "~u /x", response: { status: 299 } }\n'
    cases = [("all met", good, 0), ("never met", good + '  - { name: idle, when: "~d nowhere.test", block: 403 }\n', 8),
             ("switched off", good + '  - { name: off, enabled: false, when: "~d nowhere.test", block: 403 }\n', 0),
             ("no file", good + '  - { name: missing, when: "~u /static", mapLocal: none }\n', 8),
             ("no place", good + '  - { name: place, when: "~u /x", response: { set: { "json:/a": 1 } } }\n', 8),
             ("share of nothing", good + '  - { name: never, when: "~u /x", fault: { status: 500, share: 0% } }\n', None)]
    tape = lab.path("counts", "tape.json")
    tape.parent.mkdir()
    with lab.proxy("record", tape) as proxy:
        fetch(proxy.url, f"{origin}/x")
    for name, rules, code in cases:
        file = lab.write(f"counts/{name}.yaml", "modify:\n" + rules)
        report, junit = lab.path("counts", f"{name}.json"), lab.path("counts", f"{name}.xml")
        for place in (report, junit):
            done = lab.client([lab.wiretape, "replay", tape, "--modify", file, "--fail-on", "rules", "--json", "--report", place, "--",
                               "curl", "-sS", f"{origin}/x", *([f"{origin}/static/a"] if name == "no file" else [])])
            if code is not None:
                lab.check(done.returncode == code, f"{name}: --fail-on rules ends with {done.returncode}: {done.stderr.decode()[-600:]}")
        found = {rule["name"]: rule for rule in json.loads(report.read_bytes())["rules"]}
        lab.check(found["met"]["matched"] == found["met"]["applied"] == 1 + (name == "no file" and 0), f"{name}: the report counts {found}")
        if code == 8:
            lab.check("<failure" in junit.read_text(), f"{name}: JUnit has no failure")
    file = lab.write("counts/try.yaml", "modify:\n" + cases[1][1] + '  - { name: later, when: "~u /x", block: 403 }\n')
    said = lab.client([lab.wiretape, "config", "--no-config", "--modify", file, "--try", f"GET {origin}/x"])
    text = said.stdout.decode()
    lab.check(said.returncode == 0 and '"idle"' in text and "does not match" in text and '"later"' in text and "403" in text, f"--try prints {text}")


# Hostile rules

# The rules, and what the error has to name: the line, the key, and the next step.
HOSTILE = [
    ("- { when: '~u \"(?=a)b\"', block: 403 }", "lookaround"), ("- { response: { replace: { in: body, match: '(a', with: b } } }", "add it"),
    ("- { response: { replace: { in: body, match: '(a{1000}){1000}', with: b } } }", "states"),
    ("- { response: { replace: { in: body, match: '(a)\\1', with: b } } }", "match"),
    ("- { mapLocal: /etc/passwd }", "folder"), ("- { mapLocal: ../secret }", "folder"), ("- { respond: { file: site/link } }", "link"),
    ("- { request: { set: { 'part:a': { file: site/link } } } }", "link"), ("- { mapRemote: 'ftp://a/b' }", "http"), ("- { mapRemote: 'http://u:p@a/' }", "Authorization"),
    ("- { blok: 403 }", '"block"'), ("- { block: 4o3 }", "close or reset"), ("- { block: 403, respond: { status: 200 } }", "two rules"), ("- { when: '~d a' }", "add one of"),
    ("- { when: [a], block: 403 }", "text"), ("- { when: '~c 500', block: 403 }", "request"), ("- { pace: { latency: 200 } }", "200ms"), ("- { pace: { latency: 5 parsecs } }", "200ms"),
    ("- { pace: { down: 100 } }", "1.5Mbit"), ("- { pace: warp }", "slow-3g"), ("- { fault: explode }", "truncate"), ("- { fault: { kind: reset, after: 64 } }", "64KiB"),
    ("- { fault: { kind: reset, share: 5 } }", "5%"), ("- { fault: { kind: reset, share: 101% } }", "100%"), ("- { fault: { kind: reset, first: 0 } }", "whole number"),
    ("- { fault: { status: 429, retryAfter: soon } }", "200ms"), ("- { fault: { kind: stall } }", "20s"), ("- { fault: { status: 429, kind: reset } }", "remove"),
    ("- { respond: { headers: { content-length: 5 } } }", "remove"), ("- { respond: { headers: { a: \"x\\r\\nb: c\" } } }", "remove"),
    ("- { respond: { body: '{{jsn:/id}}' } }", "json:/POINTER"), ("- { request: { set: { 'json:id': 5 } } }", "json:/id"), ("- { request: { set: { status: 5 } } }", '"response"'),
    ("- { name: a, block: 403 }\n  - { name: a, block: 404 }", "rename"), ("- { fault: { quota: { limit: 5 } } }", "window"),
]


def hostile(lab, origin):
    lab.write("hostile/site/a.txt", "a")
    lab.path("hostile/site/link").symlink_to("/etc/passwd")
    for number, (text, step) in enumerate(HOSTILE):
        file = lab.write(f"hostile/{number}.yaml", f"modify:\n  {text}\n")
        done = lab.client([lab.wiretape, "config", "--no-config", "--modify", file, "--try", "POST http://example.test/a"])
        said, line = done.stderr.decode(), 2 + text.count("\n")
        lab.check(done.returncode != 0 and f'{number}.yaml" line {line}: ' in said and step in said and len(said) < 1000, f"{text}: {done.returncode}, {said or done.stdout.decode()}")
    # A file that is passed has rules; a list of none is written [].
    for number, (text, accepted) in enumerate([("", False), ("# - block: 403\n", False), ("modify:\n", False), ("null\n", False), ("[]\n", True), ("modify: []\n", True)]):
        empty = lab.write(f"hostile/empty{number}.yaml", text)
        done = lab.client([lab.wiretape, "record", lab.path("hostile", "empty.json"), "--no-config", "--modify", empty, "--", "true"])
        lab.check((done.returncode == 0) == accepted and (b"has no rules: write each after" in done.stderr) != accepted, f"{text!r}: {done.returncode}, {done.stderr}")
    many = lab.write("hostile/many.yaml", "modify:\n" + "".join(f'  - {{ when: "~d h{number}.test", block: 403 }}\n' for number in range(1001)))
    done = lab.client([lab.wiretape, "config", "--no-config", "--modify", many, "--try", "GET http://h1.test/"])
    lab.check(done.returncode != 0 and b"line 1002" in done.stderr and b"1000 rules" in done.stderr, f"1,001 rules: {done.stderr}")
    # A pattern that backtracks elsewhere, on a text that makes it; a body of 64 MiB; a link in a folder; a path that leaves it; the proxy itself.
    rules = lab.write("hostile/rules.yaml", f"""
modify:
  - {{ name: pattern, when: '~u "(x+x+)+y"', block: 403 }}
  - {{ name: pattern of a body, when: "~u /echo", request: {{ replace: {{ in: body, match: "(x+x+)+y", with: z }} }} }}
  - {{ name: folder, when: "~u /static/", mapLocal: site }}
  - {{ name: everything, mapRemote: {origin} }}
""")
    with lab.proxy("record", lab.path("hostile", "tape.json"), "--modify", rules) as proxy:
        outcome = fetch(proxy.url, "http://a.test/" + "x" * 6000)
        lab.check(outcome.status == 200, f"a long path: {brief(outcome)}")
        outcome = fetch(proxy.url, "http://a.test/echo", "POST", {}, b"x" * (1 << 20))
        lab.check(outcome.body == b"x" * (1 << 20), f"1 MiB for a pattern: {brief(outcome)}")
        outcome = fetch(proxy.url, "http://a.test/echo", "POST", {}, b"x" * (32 << 20))
        lab.check(outcome.body == b"x" * (32 << 20), f"32 MiB: {brief(outcome)}")
        for path in ("link", "../rules.yaml", "%2e%2e/rules.yaml", "..%2frules.yaml", "a/../../rules.yaml", "%2e%2e%5crules.yaml"):
            outcome = fetch(proxy.url, f"http://a.test/static/{path}")
            lab.check(outcome.status == 404 or b"GET /" in outcome.body, f"mapLocal of {path}: {brief(outcome)}")
            lab.check(b"modify" not in outcome.body and b"root:" not in outcome.body, f"mapLocal of {path} leads out of its folder: {brief(outcome)}")
        loop = lab.write("hostile/loop.yaml", f"modify:\n  - {{ name: loop, mapRemote: 'http://127.0.0.1:{proxy.port}/' }}\n")
    lab.check("16 MiB" in proxy.log.read_text(), "a body that is too long for its edit is silent", proxy.log)
    with lab.proxy("record", lab.path("hostile", "loop.json"), "--listen", f"127.0.0.1:{proxy.port}", "--modify", loop) as proxy:
        outcome = fetch(proxy.url, "http://a.test/x")
        lab.check(outcome.status == 508 and b'traffic rules send the request there ("loop")' in outcome.body, f"a loop onto the proxy: {brief(outcome)}")
