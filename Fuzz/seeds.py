#!/usr/bin/env python3
"""Writes the inputs that the fuzz targets begin with: seeds.py FOLDER. Each target reads its own shape, told in Fuzz/Targets."""
import base64
import gzip
import json
import pathlib
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PART = b'Content-Disposition: form-data; name="a"; filename="\xed\x95\x9c.png"\r\nContent-Type: image/png\r\n\r\n'
NESTED = b"Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n"
MULTIPARTS = [
    b"--b\r\n" + PART + b"data\r\n--b\r\n" + PART + b"\r\n--b--\r\n",
    b"preamble\r\n--b \r\n" + PART + b"--bb\r\n--b\n\nlf only\n--b--epilogue",
    b"--b\r\n" + NESTED + b"\r\n--b--",
    b"\r\n--b\r\n" + PART + b"cut",
    b"--b\r\n\r\na stream\r\n",
    # Levels that pass the small limits, with more after that.
    b"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\na long preamble\r\n--c\r\n\r\nx\r\n--c\r\n\r\ny\r\n--b\r\n\r\nz\r\n--b--",
    b"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c--\r\na long epilogue\r\n--b\r\n" + PART + b"z\r\n--b--epilogue",
]
TEXTS = [b'{"a": [1, 2.50, -0, "\\u00e9\\n\xc3\xa9", true, null, {}]}\n', b"[\n  1,\n  [ ]\n]", b"a=1&b=%20+&c", b"plain \xff\x00 text",
         "한글".encode("euc-kr"), "﻿text".encode("utf-16"), b"data: 1\n\ndata: 2\n\n", b'{"a":1}\n{"b":2}\n']
REQUESTS = [
    b"POST http://a/b?c HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    b"POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\n",
]
RESPONSES = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"HTTP/1.0 404\r\nServer: x\r\n\r\nbody"]


def raw(octets):
    coder = zlib.compressobj(6, zlib.DEFLATED, -15)
    return coder.compress(octets) + coder.flush()


def frame(opcode, payload, final=True, reserved=0, mask=None):
    length = bytes([len(payload)]) if len(payload) < 126 else b"\x7e" + len(payload).to_bytes(2, "big")
    head = bytes([final << 7 | reserved << 4 | opcode, length[0] | (128 if mask else 0)]) + length[1:]
    return head + (mask + bytes(octet ^ mask[place % 4] for place, octet in enumerate(payload)) if mask else payload)


def conversation(mask=None):
    """Fragments with a ping between them, a text, a close; and messages that share a window."""
    plain = frame(1, b"Hel", final=False, mask=mask) + frame(9, b"!", mask=mask) + frame(0, b"lo", mask=mask) + frame(2, b"\x00" * 200, mask=mask)
    coder = zlib.compressobj(6, zlib.DEFLATED, -15)
    coded = b""
    for text in (b"Hello, hello", b"Hello, hello, again", b"", b"Hello" * 50):
        payload = (coder.compress(text) + coder.flush(zlib.Z_SYNC_FLUSH))[:-4] or b"\x00"
        coded += frame(1, payload[:5], final=False, reserved=4, mask=mask) + frame(0, payload[5:], mask=mask)
    close = frame(8, b"\x03\xe8done", mask=mask)
    return plain + close, coded + close


def h2(kind, payload=b"", flags=0, stream=0):
    """A frame of HTTP/2."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def literal(name, value):
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


GET = b"\x82\x87\x84\x41\x01a"  # GET https://a/, by the static table (RFC 7541)
POST = b"\x83\x87\x84\x41\x01a"


def multiplexed():
    """What clients send, and after each its half: requests with bodies, cookies, trailers, Huffman codes, CONTINUATION, and what breaks rules."""
    settings = h2(4)
    yield settings + h2(4, flags=1) + h2(1, GET, 5, 1) + h2(1, GET + literal(b"cookie", b"a=1") + literal(b"cookie", b"b=2"), 5, 3)
    yield settings + h2(1, POST + literal(b"content-length", b"5"), 4, 1) + h2(0, b"hello", 1, 1)
    yield settings + h2(1, POST + literal(b"te", b"trailers"), 4, 1) + h2(0, b"a" * 100, 0, 1) + h2(0, b"\x02bb\0\0", 8, 1) + h2(1, literal(b"t", b"u"), 5, 1)
    yield settings + h2(1, GET[:4], 1, 1) + h2(9, GET[4:], 4, 1) + h2(1, b"\x82\x87\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff", 5, 3)
    yield h2(4, b"\0\3\0\0\0\1\0\4\0\0\0\5") + h2(1, GET, 5, 1) + h2(8, b"\0\0\1\0", 0, 1) + h2(6, b"12345678") + h2(3, b"\0\0\0\x08", 0, 1)
    yield settings + h2(1, GET, 5, 1) + h2(2, b"\0\0\0\0\x10", 0, 3) + h2(7, b"\0\0\0\0\0\0\0\0bye") + h2(0x20, b"x")
    yield settings + h2(1, GET + literal(b"x", b"a\r\nb: c"), 5, 1) + h2(1, GET + literal(b"host", b"b"), 5, 3)
    yield settings + b"".join(h2(1, GET + literal(b"name%d" % n, b"v" * 40), 5, 2 * n + 1) for n in range(6)) + b"".join(
        h2(1, b"\x20\x82\x87\x84\x41\x01a" + b"\x40\x01y\x01z\xbe", 4, 2 * n + 1) for n in range(6, 9))


def multiplexed_answers():
    """What an origin sends on streams 1 to 7."""
    settings = h2(4)
    yield settings + h2(1, b"\x88", 5, 1) + h2(1, b"\x88" + literal(b"content-length", b"2"), 4, 3) + h2(0, b"ok", 1, 3)
    yield settings + h2(1, b"\x08\x03103", 4, 1) + h2(1, b"\x8d", 4, 1) + h2(0, b"gone", 0, 1) + h2(1, literal(b"grpc-status", b"0"), 5, 1)
    yield settings + h2(3, b"\0\0\0\x07", 0, 1) + h2(7, b"\0\0\0\3\0\0\0\0") + h2(1, b"\x89", 5, 3) + h2(5, b"\0\0\0\2" + GET, 4, 1)


def hello(name=b"a.test"):
    server_name = b"\x00\x00" + (len(name) + 5).to_bytes(2, "big") + (len(name) + 3).to_bytes(2, "big") + b"\x00" + len(name).to_bytes(2, "big") + name
    body = b"\x03\x03" + bytes(32) + b"\x00\x00\x02\x13\x01\x01\x00" + len(server_name).to_bytes(2, "big") + server_name
    message = b"\x01" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + len(message).to_bytes(2, "big") + message


def field(number, value):
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value


def prefixed(payload, flag=0):
    """A message of gRPC."""
    return bytes([flag]) + len(payload).to_bytes(4, "big") + payload


def descriptors():
    """A service a.B with a method C, whose request has fields of several types."""
    types = [(1, 9, 1), (2, 12, 1), (3, 5, 3), (4, 17, 1), (5, 1, 1), (6, 8, 1)]
    fields = b"".join(field(2, field(1, b"f%d" % n) + field(3, n) + field(4, label) + field(5, kind)) for n, kind, label in types)
    fields += field(2, field(1, b"m") + field(3, 7) + field(4, 1) + field(5, 11) + field(6, b".a.M"))
    service = field(1, b"B") + field(2, field(1, b"C") + field(2, b".a.M") + field(3, b".a.M"))
    return field(1, field(2, b"a") + field(4, field(1, b"M") + fields) + field(6, service))


PROTOS = [field(1, b"Rex") + field(3, 7), field(7, field(1, b"\n") + field(2, b"\xff")), field(3, b"\x01\x02") + b"\x2d\x00\x00\x20\x40",
          b"\x0b\x08\x01\x0c", b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b""]


def recordings():
    """A file of each format that is imported."""
    request, answer = REQUESTS[0], RESPONSES[0]
    yield request + b"\r\n" + answer + b"\r\n" + REQUESTS[1] + RESPONSES[1]
    yield b"httprr trace v1\n" + b"%d %d\n" % (len(request), len(answer)) + request + answer

    def record(kind, number, block, concurrent=b""):
        head = b"WARC/1.1\r\nWARC-Type: " + kind + b"\r\nWARC-Record-ID: <urn:%d>\r\nWARC-Target-URI: http://a/b?c\r\n" % number + concurrent
        return head + b"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n"

    archive = record(b"response", 1, answer) + record(b"request", 2, request, b"WARC-Concurrent-To: <urn:1>\r\n") + record(b"revisit", 3, b"HTTP/1.1 304 x\r\n\r\n")
    yield archive
    yield gzip.compress(archive, mtime=0)
    item = b"<item><url><![CDATA[http://a/b?c]]></url><host>a</host><port>80</port><protocol>http</protocol><request base64=\"true\"><![CDATA[%s]]></request><response base64=\"false\">%s</response></item>"
    yield b"<?xml version=\"1.0\"?>\n<items burpVersion=\"1\">" + item % (base64.b64encode(request), b"HTTP/1.1 200 OK\n\na &amp; b") + b"</items>"
    body = {"size": 2, "text": "hi"}
    entry = {"startedDateTime": "2024-01-02T03:04:05Z", "request": {"method": "POST", "url": "http://a/b", "headers": [], "postData": {"params": [{"name": "a", "value": "b"}]}},
             "response": {"status": 200, "headers": [{"name": "Content-Encoding", "value": "gzip"}], "content": body}, "timings": {"receive": 1}}
    yield json.dumps({"log": {"entries": [entry], "pages": []}}).encode()
    yield json.dumps([{"scope": "http://a:80", "method": "GET", "path": "/b", "status": 200, "response": ["1f8b"], "rawHeaders": ["A", "b"]}]).encode()
    yield json.dumps([{"status": "COMPLETE", "method": "GET", "scheme": "http", "host": "a", "actualPort": 80, "path": "/b", "response": {"status": 200, "body": {"text": "x"}}}]).encode()
    yield json.dumps({"info": {"schema": "https://schema.getpostman.com/x"}, "item": [{"request": {"url": "http://{{h}}/b"}, "response": [{"code": 200, "body": "x"}]}]}).encode()
    yield json.dumps({"mappings": [{"request": {"method": "GET", "urlPath": "/b", "queryParameters": {"q": {"equalTo": "a b"}}}, "response": {"jsonBody": {}}}]}).encode()
    yield json.dumps({"data": {"pairs": [{"request": {"path": [{"matcher": "exact", "value": "/b"}]}, "response": {"status": 200, "body": "x"}}]}}).encode()
    yield b"http_interactions:\n- request: {method: get, uri: '<HOST>/b', body: {encoding: UTF-8, string: &a x}, headers: {}}\n  response: {status: {code: 200}, headers: {}, body: {string: *a}}\nrecorded_with: VCR\n"
    yield b"interactions:\n- request: {method: GET, uri: 'http://a/b', body: null, headers: {A: [b]}}\n  response: {status: {code: 200, message: OK}, headers: {}, body: {string: !!binary AAH/}}\nversion: 1\n"
    def typed(value):
        """A typed netstring, as mitmproxy writes flows."""
        if isinstance(value, dict):
            text, kind = b"".join(typed(name) + typed(element) for name, element in value.items()), b"}"
        elif isinstance(value, list):
            text, kind = b"".join(typed(element) for element in value), b"]"
        elif isinstance(value, int):
            text, kind = b"%d" % value, b"#"
        else:
            text, kind = value, b";" if value.isascii() else b","
        return b"%d:" % len(text) + text + kind

    request = {b"method": b"GET", b"scheme": b"http", b"host": b"a", b"port": 80, b"path": b"/b", b"headers": [[b"A", b"b"]], b"content": b""}
    answer = {b"status_code": 200, b"reason": b"OK", b"headers": [], b"content": b"\xff\x00"}
    yield typed({b"type": b"http", b"request": request, b"response": answer})


def seeds():
    for message in PROTOS:
        schema = descriptors()
        yield "proto", len(schema).to_bytes(2, "big") + b"\x03" + schema + message
        for kind in (14, 15, 16):
            yield "body", bytes([kind, 0]) + prefixed(message) + prefixed(message)
            yield "body", bytes([kind, 2]) + prefixed(gzip.compress(message, mtime=0), 1) + b"\x00\x00"
    for body in MULTIPARTS:
        for cuts in (0, 3, 6):
            yield "multipart", bytes([cuts]) + b"b\n" + body
        for kind in (5, 6):
            yield "body", bytes([kind, 0]) + body
            yield "body", bytes([kind, 2]) + gzip.compress(body, mtime=0)
    for text in TEXTS:
        coded = [gzip.compress(text, mtime=0), zlib.compress(text), raw(text)]
        for kind in range(3):
            yield "inflate", bytes([kind, 0]) + coded[kind]
        yield "inflate", b"\x03\x03" + coded[0] + coded[0] + b"behind"
        yield "inflate", b"\x04\x01" + gzip.compress(coded[1], mtime=0)
        for kind in range(14):
            yield "body", bytes([kind, 0]) + text
        yield "body", b"\x00\x02" + coded[0]
        yield "body", b"\x00\x03" + coded[1]
        yield "body", b"\x00\x06" + gzip.compress(coded[0], mtime=0)
    for request in REQUESTS:
        yield "message", b"\x03" + request
    for response in RESPONSES:
        yield "message", b"\x83" + response
    for reader, mask in ((0, None), (1, None), (2, b"\x01\x02\x03\x04")):
        plain, coded = conversation(mask)
        yield "websocket", bytes([reader, 2]) + plain
        yield "websocket", bytes([reader | 32, 3]) + plain
        for agreed in (4, 12, 20):
            yield "websocket", bytes([reader | agreed, 3]) + coded
    for role, inputs in ((0, multiplexed()), (1, multiplexed_answers())):
        for octets in inputs:
            for limits in (0, 2, 4, 6):
                for answers in (0, 3, 0x16, 0x5A, 0xBF):
                    yield "http2", bytes([role | limits, answers]) + octets
    yield from (("import", octets) for octets in recordings())
    yield from (("rules", octets) for octets in rules())
    yield from (("names", octets) for octets in name_queries())
    yield "hello", hello()
    yield "hello", hello()[:5] + hello()[5:]
    for tape in sorted([*ROOT.glob("Cassettes/**/*.json"), *ROOT.glob("Tests/CassetteTests/CassetteFormat/Golden/**/*.json")]):
        octets = tape.read_bytes()
        if len(octets) <= 8192:
            yield "cassette", octets
        try:
            interactions = json.loads(octets).get("interactions", [])
        except (ValueError, AttributeError):
            continue
        for interaction in interactions:
            alone = json.dumps(interaction, ensure_ascii=False).encode()
            if len(alone) <= 4096:
                yield "cassette", alone
                yield "cassette", b'{ "wiretape": 1,\n  "interactions": [\n    ' + alone + b"\n  ]\n}\n"


def name_queries():
    """Queries for names: addresses, another record, with EDNS, and the root."""
    for name, kind, additional in ((b"\1a\4test\0", 1, b""), (b"\3Two\1a\4TEST\0", 28, b"\0\0\x29\x10\0\0\0\0\0\0\0"), (b"\5_http\4_tcp\1a\4test\0", 33, b""), (b"\0", 65, b"")):
        yield b"\x12\x34\1\0\0\1\0\0\0\0\0" + bytes([bool(additional)]) + name + bytes([0, kind, 0, 1]) + additional


def rules():
    """Lists of traffic rules, each with a body."""
    lists = [
        [{"when": "~m POST & !~bq x", "block": 403}],
        [{"when": "~u ^http://h\\.test/", "mapRemote": "http://other.test/x/"}, {"request": {"set": {"header:x": "y", "json:/a": 2}}}],
        [{"respond": {"status": 201, "json": {"id": "{{json:/id}}", "list": [1, True, None]}}}],
        [{"response": {"status": 500, "set": {"json:/a/b": "c"}, "remove": ["json:/d/*/e"], "replace": [{"in": "body", "match": "(a)b", "with": "$1"}]}}],
        [{"request": {"set": {"form:a": "1", "part:p": "text", "filename:p": "f.png", "query:b": 2}, "remove": ["form:c"]}}],
        [{"pace": {"profile": "3g", "jitter": "50ms", "each": "host"}}, {"fault": {"status": 429, "retryAfter": "2s", "first": 2}}],
        [{"fault": {"quota": {"limit": 1, "window": "10s", "by": "json:/id"}}}],
    ]
    lists += [[{"fault": {"kind": kind, "after": after}}] for kind in ("cut", "truncate", "reset", "close", "garbage", "timeout") for after in ("3B", "50%", "1 events")]
    lists += [[{"fault": {"kind": kind, "after": "1 events"}}] for kind in ("drop", "repeat", "reorder")]
    lists += [[{"fault": {"kind": "slice", "bytes": 3}}], [{"fault": "corrupt"}], [{"fault": {"kind": "stall", "for": "1s", "share": "50%"}}]]
    bodies = [b'{"id": 7, "a": {"b": 1}, "d": [{"e": 1}]}', b"data: {}\n\ndata: b\n\n", b"a=1&c=2", b'--b\r\nContent-Disposition: form-data; name="p"; filename="q"\r\n\r\nx\r\n--b--\r\n']
    for number, one in enumerate(lists):
        yield json.dumps(one).encode() + b"\0" + bodies[number % len(bodies)]


def main(folder):
    for number, (target, octets) in enumerate(seeds()):
        place = pathlib.Path(folder, target)
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:04}").write_bytes(octets)


if __name__ == "__main__":
    main(sys.argv[1])
