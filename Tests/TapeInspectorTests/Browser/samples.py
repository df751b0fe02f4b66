"""Cassettes that the page is tried on: one of everything, a hostile one, and large ones."""
import base64
import json
import struct
import zlib

START = 1_795_248_445_000_000


def time(microseconds):
    from datetime import datetime, timedelta, timezone

    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=microseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def png(width=64, height=40, green=120):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"".join(bytes((min(255, x * 4), green, y * 6 % 256)) for x in range(width)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Cassette:
    def __init__(self):
        self.interactions = []

    def add(self, method, url, status=200, *, request=None, response=None, at=None, **more):
        number = len(self.interactions) + 1
        host = url.split("/")[2]
        sent = {"method": method, "url": url, "version": "HTTP/1.1", "headers": [f"Host: {host}", "Accept: */*"]}
        extra = (request or {}).pop("headers", []) if request else []
        sent["headers"] += extra
        sent.update(request or {})
        one = {"id": number, "started": time(START + (at if at is not None else number * 13_000)), "request": sent}
        if status:
            answer = {"status": status, "reason": "OK" if status == 200 else "", "version": "HTTP/1.1", "headers": ["Server: sample"]}
            answer["headers"] += (response or {}).pop("headers", []) if response else []
            answer.update(response or {})
            one["response"] = answer
        one["timing"] = {"dns": 0.4, "connect": 1.25, "send": 0.1, "wait": 4 + number % 7, "receive": 0.8, "total": 6.5 + number % 7}
        one["connection"] = {"id": 1, "remote": "127.0.0.1:9000"}
        one.update(more)
        self.interactions.append(one)
        return number

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write('{\n  "wiretape": 2,\n  "recorder": "samples",\n  "interactions": [')
            for index, one in enumerate(self.interactions):
                text = json.dumps(one, ensure_ascii=False, indent=2).replace("\n", "\n    ")
                file.write(("," if index else "") + "\n    " + text)
            file.write("\n  ]\n}\n" if self.interactions else "]\n}\n")
        return path


def body_of(data, **more):
    if isinstance(data, bytes):
        return {"size": len(data), "base64": base64.b64encode(data).decode(), **more}
    return {"size": len(data.encode()), "text": data, **more}


def everything(path):
    tape = Cassette()
    pets = '{"pets": [{"id": 1, "name": "Miso", "weight": 12345678901234567890, "tags": ["small", "asleep"]}, {"id": 2, "name": "보리", "price": 1.10}]}'
    tape.add("GET", "http://api.example/pets?page=1", response={"headers": ["Content-Type: application/json"], "body": body_of(pets)})
    tape.add("GET", "http://api.example/bori.png", response={"headers": ["Content-Type: image/png"], "body": body_of(png())})
    boundary = "4711"
    form = (f'--{boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\n보리의 사진\r\n--{boundary}\r\n'
            'Content-Disposition: form-data; name="avatar"; filename="bori.png"\r\nContent-Type: image/png\r\n\r\n').encode() + png() + (
        f'\r\n--{boundary}\r\nContent-Disposition: form-data; name="nested"\r\nContent-Type: multipart/mixed; boundary=in\r\n\r\n'
        '--in\r\nContent-Type: text/plain\r\n\r\none\r\n--in\r\nContent-Type: application/json\r\n\r\n{"two": 2}\r\n--in--\r\n').encode()
    tape.add("POST", "http://api.example/upload", 422, request={
        "headers": [f"Content-Type: multipart/form-data; boundary={boundary}"], "body": body_of(form)},
        response={"headers": ["Content-Type: application/json"], "body": body_of('{"error": "no end"}')})
    events = 'id: 1\nevent: price\ndata: {"cents": 5}\n\nid: 2\ndata: two\ndata: lines\n\n'
    tape.add("GET", "http://api.example/prices", response={"headers": ["Content-Type: text/event-stream"], "body": {
        "size": len(events), "events": [{"id": "1", "event": "price", "data": '{"cents": 5}'}, {"id": "2", "data": ["two", "lines"]}],
        "arrival": {"chunks": [[1.5, 38], [240.25, len(events) - 38]]}}})
    tape.add("GET", "http://api.example/socket", 101, request={"headers": ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]},
             response={"headers": ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="]},
             webSocket=[{"at": 1, "from": "client", "text": "hello"}, {"at": 2.5, "from": "server", "text": "안녕하세요"},
                        {"at": 3, "from": "server", "base64": base64.b64encode(bytes(range(80))).decode()}, {"at": 9, "from": "client", "ping": "beat"},
                        {"at": 40, "from": "server", "json": {"pets": [1, 2, 3]}}, {"at": 41, "from": "client", "close": {"code": 1000, "reason": "done"}}])
    tape.add("POST", "http://api.example/pets.Shop/List", request={"version": "HTTP/2.0", "headers": ["Content-Type: application/grpc"], "body": {"size": 10, "grpc": [{"proto": [["1:name", "Rex"]]}]}},
             response={"version": "HTTP/2.0", "headers": ["Content-Type: application/grpc"], "body": {"size": 19, "grpc": [{"proto": [["1:pet", [["1:name", "Rex"], ["2:age", 3]]]]}]},
                       "trailers": ["grpc-status: 5", "grpc-message: no%20such%20pet"]})
    tape.add("GET", "http://down.example/", 0, outcome={"failed": "refused", "message": "connection refused"})
    tape.add("GET", "http://api.example/cut", response={"headers": ["Content-Type: text/plain"], "body": body_of("half", complete=False)}, outcome={"cut": "origin", "reason": "closed after 4 of 10 bytes"})
    tape.add("GET", "http://api.example/me", request={"headers": ["Authorization: Bearer {{access_token:1}}"]},
             response={"headers": ["Content-Type: application/json"], "body": body_of('{"token": "{{access_token:1}}", "mail": "{{mail:1}}"}')})
    tape.add("GET", "https://tls.example/", connection={"id": 2, "remote": "127.0.0.1:443", "tls": {
        "version": "TLSv1.3", "cipher": "TLS_AES_256_GCM_SHA384", "alpn": "http/1.1", "sni": "tls.example", "chain": [
            {"sha256": "ab" * 32, "subject": "CN=tls.example", "issuer": "CN=Sample CA", "notBefore": "2025-01-01T00:00:00Z", "notAfter": "2026-01-01T00:00:00Z"}]}},
        response={"headers": ["Content-Type: text/html; charset=utf-8"], "body": body_of("<p>Hello</p>")})
    tape.add("POST", "http://api.example/login", request={"headers": ["Content-Type: application/x-www-form-urlencoded"], "body": body_of("user=bori&note=%EC%95%88%EB%85%95+%26+hi")}, status=302, response={"headers": ["Location: /"]})
    tape.add("GET", "http://api.example/arabic", response={"headers": ["Content-Type: text/plain; charset=utf-8", "X-Title: مرحبا بالعالم"], "body": body_of("مرحبا بالعالم — שלום עולם — 안녕하세요\n두 번째 줄\n")})
    tape.add("GET", "http://api.example/gone", 404)
    tape.add("GET", "http://api.example/broken", 500, response={"headers": ["Content-Type: application/json"], "body": body_of('{"pets": [1, 2,')})
    return tape.write(path)


SCRIPT = "<script>alert(1);fetch('http://evil.test/')</script><img src=x onerror=alert(2)><svg onload=alert(3)>"


def hostile(path):
    tape = Cassette()
    svg = f'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(4)</script><image href="http://evil.test/a.png"/></svg>'
    html = f"<!doctype html><meta http-equiv=refresh content='0;url=http://evil.test/'>{SCRIPT}<form action=http://evil.test/><iframe src=javascript:alert(5)></iframe>"
    tape.add("GET", f"http://evil.example/%3Cscript%3E?q={SCRIPT.replace(' ', '+')}", response={
        "reason": SCRIPT, "headers": ["Content-Type: text/html", f"X-Script: {SCRIPT}", "Refresh: 0;url=http://evil.test/", "Link: <http://evil.test/a.css>; rel=stylesheet", "Content-Security-Policy: default-src *"],
        "body": body_of(html)})
    tape.add("GET", "http://evil.example/a.svg", response={"headers": ["Content-Type: image/svg+xml"], "body": body_of(svg)})
    tape.add("GET", "http://evil.example/a.png", response={"headers": ["Content-Type: image/png"], "body": body_of(b"\x89PNG\r\n\x1a\n" + svg.encode())})
    tape.add("GET", "http://evil.example/json", response={"headers": ["Content-Type: application/json"], "body": body_of(json.dumps({SCRIPT: SCRIPT, "__proto__": {"x": 1}, "constructor": "c", "javascript:alert(6)": "javascript:alert(7)"}))})
    tape.add("POST", "http://evil.example/form", request={"headers": ["Content-Type: multipart/form-data; boundary=b"], "body": body_of(
        f'--b\r\nContent-Disposition: form-data; name="{SCRIPT.replace(chr(34), "")}"; filename="../../{SCRIPT.split("<img")[0]}.html"\r\nContent-Type: text/html\r\n\r\n{html}\r\n--b--\r\n')})
    tape.add("GET", "http://evil.example/\u202egnp.exe", response={"headers": ["Content-Type: text/plain", "X-Bidi: a\u202eb\u2066c\u200fd", "X-Control: a\u001b[31mred\u0007"], "body": body_of("a\u202ebcd\u0000e\u001b]0;title\u0007\u2028f")})
    tape.add("GET", "http://evil.example/" + "a" * 5000, 0, outcome={"failed": "reset", "message": SCRIPT})
    deep = "[" * 3000 + "]" * 3000
    tape.add("GET", "http://evil.example/deep", response={"headers": ["Content-Type: application/json"], "body": body_of(deep)})
    tape.add("GET", "http://evil.example/socket", 101, response={"headers": ["Upgrade: websocket"]}, webSocket=[{"at": 1, "from": "server", "text": SCRIPT}, {"at": 2, "from": "client", "close": {"code": 1000, "reason": "<b>x"}}])
    tape.add(SCRIPT.split(" ")[0].replace("<", "").replace(">", "")[:20] or "GET", "javascript:alert(8)//x/y")
    return tape.write(path)


def large(path, count=100_000, size=900):
    """Exchanges in the recorder's layout, written one by one."""
    kinds = ["application/json", "text/html", "image/png", "application/grpc"]
    with open(path, "w", encoding="utf-8") as file:
        file.write('{\n  "wiretape": 2,\n  "recorder": "samples",\n  "interactions": [')
        for number in range(1, count + 1):
            status = 500 if number % 997 == 0 else 404 if number % 97 == 0 else 201 if number % 5 == 0 else 200
            text = json.dumps("x" * (size - 40) + f" pet {number} " + ("needle" if number % 20_000 == 0 else ""))
            file.write(("," if number > 1 else "") + f'''
    {{
      "id": {number},
      "started": "{time(START + number * 1700)}",
      "request": {{
        "method": "{"POST" if number % 5 == 0 else "GET"}",
        "url": "http://api.example/pets/{number}?page={number % 50}",
        "version": "HTTP/1.1",
        "headers": [
          "Host: api.example",
          "Accept: */*",
          "User-Agent: sample/1.0"
        ]
      }},
      "response": {{
        "status": {status},
        "reason": "OK",
        "version": "HTTP/1.1",
        "headers": [
          "Content-Type: {kinds[number % 3]}",
          "Server: sample",
          "X-Number: {number}"
        ],
        "body": {{
          "size": {size},
          "text": {text}
        }}
      }},
      "timing": {{ "send": 0.1, "wait": {number % 40 + 0.5}, "receive": {number % 7}, "total": {number % 40 + number % 7 + 0.6} }},
      "connection": {{ "id": {number % 6 + 1}, "remote": "127.0.0.1:9000", "reused": true }}
    }}''')
        file.write("\n  ]\n}\n")
    return path


if __name__ == "__main__":
    import sys

    {"everything": everything, "hostile": hostile, "large": large}[sys.argv[1]](sys.argv[2])
