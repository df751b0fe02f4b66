"""curl: one URL whose answer depends on Accept, Accept-Language, SOAPAction, Depth, X-Amz-Target and the like."""
import gzip

from harness import Handler

NEEDS = "curl:curl"

# A field, its values, the method, and whether the origin says Vary.
KINDS = [
    ("Accept", ["application/json", "text/html", "text/csv", "application/xml;q=0.9, text/plain;q=0.5"], "GET", True),
    ("Accept", ["application/vnd.github.v3+json", "application/vnd.github.v3.raw", "application/vnd.github.v3.html"], "GET", False),
    ("Accept-Language", ["de", "en-GB, en;q=0.8", "fr"], "GET", True),
    ("Accept-Language", ["de", "en-GB, en;q=0.8", "fr"], "GET", False),
    ("SOAPAction", ['"urn:shop#Price"', '"urn:shop#Stock"', '""'], "POST", False),
    ("X-HTTP-Method-Override", ["PATCH", "DELETE", "PUT"], "POST", False),
    ("X-HTTP-Method", ["MERGE", "DELETE"], "POST", False),
    ("Depth", ["0", "1", "infinity"], "PROPFIND", False),
    ("Prefer", ["return=minimal", "return=representation", "respond-async"], "PUT", True),
    ("Prefer", ["return=minimal", "return=representation"], "PUT", False),
    ("X-Amz-Target", ["DynamoDB_20120810.GetItem", "DynamoDB_20120810.DeleteItem", "DynamoDB_20120810.Query"], "POST", False),
    ("X-Requested-With", ["XMLHttpRequest", ""], "GET", True),
    ("HX-Request", ["true", ""], "GET", True),
    ("RSC", ["1", ""], "GET", True),
    ("X-API-Version", ["1", "2"], "GET", True),
    ("Git-Protocol", ["version=2", ""], "GET", False),
    ("Overwrite", ["T", "F"], "MOVE", False),
    ("If-Match", ['"one"', '"two"'], "PUT", False),
    ("X-GitHub-Api-Version", ["2022-11-28", "2026-03-10"], "GET", True),
]


class Echo(Handler):
    """Says what it was asked, so that a swapped answer shows."""

    def respond(self):
        content = self.body()
        _, field, vary = self.path.split("/")
        if field == "page":
            return self.page()
        value = self.headers.get(field, "")
        fields = {"Vary": field} if vary == "vary" else {}
        self.answer(200, f"{self.command} {field}: {value} with {content.decode()}\n", **fields)

    def page(self):
        plain = b'{"text": "' + b"the same words again and again, " * 200 + b'"}'
        fields = {"Vary": "Accept-Encoding"} if self.path.endswith("vary") else {}
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            return self.answer(200, gzip.compress(plain, mtime=0), "application/json", Content_Encoding="gzip", **fields)
        self.answer(200, plain, "application/json", **fields)

    do_GET = do_POST = do_PUT = do_PROPFIND = do_MOVE = do_DELETE = respond


def run(lab):
    origin = lab.serve(Echo)
    for number, (field, values, method, vary) in enumerate(KINDS):
        path = f"{origin}/{field}/{'vary' if vary else 'plain'}"
        body = "--data-raw 'a=1'" if method in ("POST", "PUT") else ""
        words = [f"curl -sS -X {method} {body} {given(field, value)} -o {n} {path}" for n, value in enumerate(values)]
        name = f"{field}-{'vary' if vary else 'plain'}-{number}"
        lab.record(f"{name}-reversed", "\n".join(words), replayed="\n".join(reversed(words)))
        at_once = [f"({word}) & jobs=\"$jobs $!\"" for word in words[1:] + words[:1]]
        lab.record(f"{name}-at-once", "\n".join(words), replayed="\n".join(["jobs=", *at_once, "for job in $jobs; do wait $job; done"]))
        # Each as often as it was recorded, in another order.
        lab.record(f"{name}-twice", "\n".join(words + [word.replace("-o ", "-o again") for word in words]),
                   replayed="\n".join([word.replace("-o ", "-o again") for word in reversed(words)] + words))

    # The operation is in the field: another one was never recorded, whatever else is equal.
    for field, recorded, other, method in [("X-Amz-Target", "Queue.Read", "Queue.Delete", "POST"), ("SOAPAction", '"urn:a"', '"urn:b"', "POST"),
                                           ("X-HTTP-Method-Override", "PATCH", "DELETE", "POST"), ("Depth", "0", "1", "PROPFIND")]:
        command = f"curl -sS -f -X {method} {{}} -o answer {origin}/{field}/plain"
        lab.record(f"other-{field}", command.format(given(field, recorded)), replayed=command.format(given(field, other)) + " || true", wiretape=3,
                   compare=False)

    for vary in ("vary", "plain"):
        url = f"{origin}/page/{vary}"
        lab.record(f"gzip-then-plain-{vary}", f"curl -sS --compressed -o page {url}", replayed=f"curl -sS -o page {url}")
        lab.record(f"plain-then-gzip-{vary}", f"curl -sS -o page {url}", replayed=f"curl -sS --compressed -o page {url}")
        lab.record(f"gzip-then-identity-{vary}", f"curl -sS --compressed -o page {url}", replayed=f"curl -sS -H 'Accept-Encoding: identity' -o page {url}")
        both = [f"curl -sS --compressed -o packed {url}", f"curl -sS -o plain {url}"]
        lab.record(f"both-encodings-{vary}", "\n".join(both), replayed="\n".join(reversed(both)))
    lab.replay()


def given(field, value):
    return f"-H '{field}: {value}'" if value else ""
