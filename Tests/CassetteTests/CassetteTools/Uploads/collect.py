#!/usr/bin/env python3
"""Collects uploads of real clients, broken by the mistakes that people make with them, and good ones.

Usage: collect.py uploads.json [--proxy URL]

Each client sends to a server on loopback that keeps the bytes. The file is committed, so that the tests need none of the clients.
Clients that are missing are reported and left out; their uploads stay as they are in the file.
"""
import asyncio
import base64
import gzip
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffdb") + b"\x00" * 20 + b"\xff\xd9"
cases = []


class Server:
    """Keeps the bytes of one request at a time, and answers when it has come or stopped coming."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.taken = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        connection.settimeout(1.5)
        data = b""
        try:
            while True:
                head, separator, body = data.partition(b"\r\n\r\n")
                if separator:
                    if b"expect: 100-continue" in head.lower() and not body:
                        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                    length = re.search(rb"(?im)^content-length: *(\d+)", head)
                    if re.search(rb"(?im)^transfer-encoding: *chunked", head):
                        if body.endswith(b"0\r\n\r\n"):
                            break
                    elif len(body) >= (int(length[1]) if length else 0):
                        body = body[:int(length[1]) if length else 0]
                        data = head + separator + body
                        break
                more = connection.recv(1 << 16)
                if not more:
                    break
                data += more
        except OSError:
            pass
        if data:
            self.taken.append(data)
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            connection.close()
        except OSError:
            pass


server = Server()
url = f"http://127.0.0.1:{server.port}/upload"
folder = tempfile.mkdtemp()
os.chdir(folder)
files = {"cat.png": PNG, "cat.jpg": JPEG, "notes.txt": "Café, 음식\n".encode(), "latin1.txt": "Café\n".encode("latin-1"), "a.json": b'{"a": 1}',
         "bad.json": b"{a: 1}", "cat.b64": base64.b64encode(PNG), "json.gz": gzip.compress(b'{"a": 1}', mtime=0), "empty.txt": b"", "report.pdf": b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n%%EOF\n"}
for name, data in files.items():
    with open(name, "wb") as file:
        file.write(data)
LF_BODY = b'--X\nContent-Disposition: form-data; name="a"\n\nhello\n--X--\n'
CRLF_BODY = LF_BODY.replace(b"\n", b"\r\n")
open("lf.body", "wb").write(LF_BODY)
open("crlf.body", "wb").write(CRLF_BODY)
environment = {**os.environ, "URL": url, "NODE_PATH": "/usr/share/nodejs", "no_proxy": "*", "NO_PROXY": "*"}


def case(name, *expects):
    """Registers a client's upload; without expected defects, it is a good one."""
    def register(send):
        server.taken.clear()
        try:
            send()
        except FileNotFoundError as missing:
            return print(f"- {name}: {missing}")
        except Exception as error:  # Clients complain about what they were made to send, too.
            if not server.taken:
                return print(f"- {name}: {type(error).__name__}: {error}")
        if not server.taken:
            return print(f"- {name}: nothing was sent")
        cases.append({"name": name, "expects": list(expects), "request": base64.b64encode(server.taken[0]).decode()})
    return register


def program(name, command, *expects):
    case(name, *expects)(lambda: subprocess.run(command, env=environment, timeout=15, capture_output=True, check=False))


def curl(name, arguments, *expects):
    program("curl " + name, ["curl", "-s", "--max-time", "3", *arguments, url], *expects)


def node(name, script, *expects):
    whole = f"""const fs = require("fs"); const url = process.env.URL; const png = fs.readFileSync("cat.png");
        (async () => {{ {script} }})().catch((error) => {{ console.error(error); process.exit(1) }});"""
    program("node " + name, ["node", "-e", whole], *expects)


# MARK: curl

curl("with a form sent as JSON", ["-F", "a=1", "-F", "photo=@cat.png", "-H", "Content-Type: application/json"], "multipartHidden")
curl("with a form sent as urlencoded", ["-F", "photo=@cat.png", "-H", "Content-Type: application/x-www-form-urlencoded"], "multipartHidden")
curl("with JSON as -d", ["-d", '{"a": 1}'], "typeWrong")
curl("with a form as JSON", ["-d", "a=1&b=2", "-H", "Content-Type: application/json"], "typeWrong")
curl("with a form under a multipart type", ["-d", "a=1&b=2", "-H", "Content-Type: multipart/form-data"], "typeWrong")
curl("whose -d strips the line ends", ["-d", "@crlf.body", "-H", "Content-Type: multipart/form-data; boundary=X"], "lineEndsStripped")
curl("with a body of LF", ["--data-binary", "@lf.body", "-H", "Content-Type: multipart/form-data; boundary=X"], "lineFeedOnly")
curl("with another boundary", ["--data-binary", "@crlf.body", "-H", "Content-Type: multipart/form-data; boundary=Y"], "boundaryWrong")
curl("with the hyphens in the boundary", ["--data-binary", "@crlf.body", "-H", "Content-Type: multipart/form-data; boundary=--X"], "boundaryWrong")
curl("with a PNG as text", ["-F", "photo=@cat.png;type=text/plain"], "typeContradicted")
curl("with a JPEG as PNG", ["-F", "photo=@cat.jpg;type=image/png"], "typeContradicted")
curl("with text as PDF", ["-F", "report=@notes.txt;type=application/pdf"], "typeContradicted")
curl("with a file as a value", ["-F", "photo=<cat.png"], "fileNameMissing")
curl("with a length too large", ["-F", "a=1", "-H", "Content-Length: 999"], "contentLength")
curl("with broken JSON in a part", ["-F", "meta=<bad.json;type=application/json"], "notJSON")
curl("with broken JSON", ["--data-binary", "@bad.json", "-H", "Content-Type: application/json"], "notJSON")
curl("with a name twice", ["-F", "photo=@cat.png", "-F", "photo=cat.png"], "nameTwice")
curl("with Latin-1 as UTF-8", ["-F", "a=<latin1.txt;type=text/plain; charset=utf-8"], "charsetContradicted")
curl("with UTF-8 as Latin-1", ["-F", "a=<notes.txt;type=text/plain; charset=iso-8859-1"], "charsetContradicted")
curl("with a value in Latin-1", ["-F", "a=<latin1.txt"], "textNotUTF8")
curl("with a file name in Latin-1", ["-F", b"photo=@cat.png;filename=caf\xe9.png"], "fileNameNotUTF8")
curl("with base64", ["-F", "photo=@cat.png;encoder=base64"], "transferEncoding")
curl("with a fake path", ["-F", 'photo=@cat.png;filename="C:\\\\fakepath\\\\cat.png"'], "fileNamePath")
curl("with a PNG as data", ["--data-binary", "@cat.png"], "typeContradicted")
curl("with a PNG as data without line ends", ["-d", "@cat.png"], "typeContradicted")
curl("with a JPEG as data", ["-d", "@cat.jpg"], "typeContradicted")
curl("with a PDF as data", ["--data-binary", "@report.pdf"], "typeContradicted")
curl("that puts a JPEG as PNG", ["-T", "cat.jpg", "-H", "Content-Type: image/png"], "typeContradicted")
curl("that puts a PNG as text", ["-T", "cat.png", "-H", "Content-Type: text/plain"], "typeContradicted")
curl("that puts text as PDF", ["-T", "notes.txt", "-H", "Content-Type: application/pdf"], "typeContradicted")
curl("that puts base64 as PNG", ["-T", "cat.b64", "-H", "Content-Type: image/png"], "fileInBase64")
curl("with a comma too many in JSON", ["-d", '{"a": 1,}', "-H", "Content-Type: application/json"], "notJSON")
curl("with JSON that ends early", ["-d", '{"a": "b', "-H", "Content-Type: application/json"], "notJSON")
curl("with any type of image", ["-F", "photo=@cat.png;type=image/*", "-F", "clip=@cat.jpg;type=*/*"])
curl("with a PNG as any type of video", ["-F", "clip=@cat.png;type=video/*"], "typeContradicted")
curl("that puts a PNG", ["-T", "cat.png", "-H", "Content-Type: image/png"])
curl("that puts any type of image", ["-T", "cat.png", "-H", "Content-Type: image/*"])
curl("that puts base64", ["-T", "cat.b64", "-H", "Content-Type: application/octet-stream"])
curl("that puts a piece of a PNG", ["-T", "notes.txt", "-H", "Content-Type: image/png", "-H", "Content-Range: bytes 100-113/200"])
curl("with fields that begin as files do", ["-d", "OTTO=1&ID3=2"])
curl("with a field that is a signature", ["-d", "GIF89a=1"])
curl("with a coding that is unknown", ["--data-binary", "@cat.jpg", "-H", "Content-Type: application/json", "-H", "Content-Encoding: compress"])
curl("with gzip", ["--data-binary", "@json.gz", "-H", "Content-Type: application/json", "-H", "Content-Encoding: gzip"])
for name, text in {
    "a password": "Admin@123456", "an address": "first.Last@cafe", "a name of .NET": "System.Text.Json", "numbers": "[1 2 3]", "a map": "map[key]",
    "a tag": "<p>it crashed at 0x12</p>", "a hash": "HASH(sha256)", "an array of JSON": "[137, 80, 78, 71, 13, 10, 26, 10]", "an object": "[object]",
    "text of Go": "&{", "an instance": "Instance of a class", "an array of Perl in words": "ARRAY(0x55) is how Perl prints",
    "a digest": "pets@sha256:1b2c3d", "a handle": "@miso", "an entity": "&{name};", "a path of a URL": "/images/cat.png"}.items():
    curl(f"with {name} as text", ["--form-string", f"a={text}"])
curl("with a form", ["-F", "a=1", "-F", "photo=@cat.png"])
curl("with a form and its own type", ["-F", "a=1", "-H", "Content-Type: multipart/form-data"])
curl("with two files of a name", ["-F", "photos=@cat.png", "-F", "photos=@cat.jpg"])
curl("with many types", ["-F", "a=@a.json;type=application/json", "-F", "b=@report.pdf", "-F", "c=@notes.txt", "-F", "d=@empty.txt"])
curl("with JSON in a part", ["-F", 'meta={"a": 1};type=application/json', "-F", "photo=@cat.jpg"])
curl("with a charset", ["-F", "a=<latin1.txt;type=text/plain; charset=iso-8859-1"])
curl("with a Korean file name", ["-F", "photo=@cat.png;filename=고양이.png"])
curl("with an unknown type", ["-F", "photo=@cat.png;type=application/octet-stream"])
curl("with nothing in a field", ["-F", "a="])
curl("with JSON", ["--json", '{"a": 1}'])
curl("with a form in the body", ["-d", "a=1&b=%7B%7D"])
curl("with a file", ["-T", "cat.png"])
curl("with chunks", ["-F", "photo=@cat.png", "-H", "Transfer-Encoding: chunked"])
curl("with YAML", ["--data-binary", "---\na: 1\n", "-H", "Content-Type: application/yaml"])
curl("with Markdown", ["--data-binary", "---\ntitle: a\n---\ntext\n", "-H", "Content-Type: text/markdown"])

# MARK: Python

import http.client
import urllib.request
import uuid
from email.mime.multipart import MIMEMultipart
from email.mime.image import MIMEImage

try:
    import requests
    session = requests.Session()
    session.trust_env = False

    def post(**more):
        return lambda: session.post(url, timeout=5, **more)

    case("requests with a hand-set type", "boundaryWrong")(
        post(files={"photo": ("cat.png", PNG)}, headers={"Content-Type": "multipart/form-data"}))
    case("requests with a form sent as JSON", "multipartHidden")(
        post(files={"photo": ("cat.png", PNG)}, headers={"Content-Type": "application/json"}))
    case("requests with bytes as text", "objectAsText")(post(files={"photo": ("cat.png", str(PNG), "image/png")}))
    case("requests with a file as text", "objectAsText")(post(data={"photo": str(open("cat.png", "rb"))}, files={"a": ("a.txt", b"a")}))
    case("requests with a file in base64", "fileInBase64")(post(files={"photo": ("cat.png", base64.b64encode(PNG), "image/png")}))
    case("requests with a misread file name", "fileNameMisread")(
        post(files={"photo": ("café.png".encode().decode("latin-1"), PNG, "image/png")}))
    case("requests with JSON under a multipart type", "typeWrong")(
        post(data=json.dumps({"a": 1}), headers={"Content-Type": "multipart/form-data"}))
    case("requests with JSON as urlencoded", "typeWrong")(
        post(data=json.dumps({"a": 1}), headers={"Content-Type": "application/x-www-form-urlencoded"}))
    case("requests with a dictionary as JSON", "typeWrong")(post(data={"a": 1}, headers={"Content-Type": "application/json"}))
    case("requests with None as text", "objectAsText")(post(files={"meta": (None, str(PNG))}))
    case("requests with JSON in JSON", "jsonTwice")(post(json=json.dumps({"a": 1})))
    case("requests with a list in JSON in JSON", "jsonTwice")(post(json=json.dumps([{"a": 1}], indent=1)))
    case("requests with a dictionary as text", "notJSON")(post(data=str({"a": True}), headers={"Content-Type": "application/json"}))
    case("requests with JSON in UTF-16", "notJSON")(
        post(data='{"a": 1}'.encode("utf-16-le"), headers={"Content-Type": "application/json"}))
    case("requests with JSON with a mark", "notJSON")(
        post(data=b"\xef\xbb\xbf" + b'{"a": 1}', headers={"Content-Type": "application/json"}))
    case("requests with a length of characters in JSON", "notJSON")(
        post(data='{"a": "é"}'.encode()[:-1], headers={"Content-Type": "application/json"}))
    case("requests that says gzip", "contentEncoding")(
        post(data=b'{"a": 1}', headers={"Content-Type": "application/json", "Content-Encoding": "gzip"}))
    case("requests that says Brotli", "contentEncoding")(
        post(data=b'{"a": 1}', headers={"Content-Type": "application/json", "Content-Encoding": "br"}))
    case("requests with an object of a class", "objectAsText")(post(files={"pet": (None, str(object()))}))
    case("requests with a function", "objectAsText")(post(data={"pet": str(post)}))
    case("requests with a bytearray", "objectAsText")(post(files={"photo": (None, str(bytearray(PNG)))}))
    case("requests with a string in JSON")(post(json="a"))
    case("requests with a number in a string in JSON")(post(json="12"))
    case("requests with a form")(post(files={"photo": ("cat.png", PNG, "image/png")}, data={"a": "1", "b": "Café"}))
    case("requests with fields alone")(post(files={"a": (None, "1")}))
    case("requests with a Korean file name")(post(files={"photo": ("고양이.png", PNG)}))
    case("requests with JSON")(post(json={"a": 1}))
    case("requests with a list of files")(post(files=[("photos", ("a.png", PNG)), ("photos", ("b.jpg", JPEG))]))
    from requests_toolbelt import MultipartEncoder
    encoder = MultipartEncoder({"photo": ("cat.png", PNG, "image/png")})
    case("requests-toolbelt with an encoder")(post(data=encoder, headers={"Content-Type": encoder.content_type}))
    used = MultipartEncoder({"photo": ("cat.png", PNG, "image/png")}, boundary="used")
    case("requests-toolbelt with a hand-set type", "boundaryWrong")(post(data=used, headers={"Content-Type": "multipart/form-data"}))
except ImportError as missing:
    print(missing)

try:
    import httpx
    client = httpx.Client(trust_env=False, timeout=5)
    case("httpx with a form sent as JSON", "multipartHidden")(
        lambda: client.post(url, files={"photo": ("cat.png", PNG)}, headers={"Content-Type": "application/json"}))
    case("httpx with JSON as urlencoded", "typeWrong")(
        lambda: client.post(url, content='{"a": [1]}', headers={"Content-Type": "application/x-www-form-urlencoded"}))
    case("httpx with a file as text", "objectAsText")(
        lambda: client.post(url, data={"photo": repr(open("cat.png", "rb"))}, files={"a": ("a.txt", b"a")}))
    case("httpx with a form")(lambda: client.post(url, files={"photo": ("cat.png", PNG, "image/png")}, data={"a": "1"}))
    case("httpx with a Korean name")(lambda: client.post(url, files={"사진": ("고양이.png", PNG)}))
except ImportError as missing:
    print(missing)

try:
    import aiohttp

    def aio(fill):
        async def send():
            form = aiohttp.FormData()
            fill(form)
            async with aiohttp.ClientSession() as session:
                await session.post(url, data=form)
        return lambda: asyncio.run(send())

    case("aiohttp that names the file itself")(aio(lambda form: form.add_field("photo", PNG, content_type="image/png")))
    case("aiohttp with a form")(aio(lambda form: (form.add_field("a", "1"), form.add_field("photo", PNG, filename="cat.png"))))
    case("aiohttp with a type")(aio(lambda form: form.add_field("photo", JPEG, filename="고양이.jpg", content_type="image/jpeg")))
except ImportError as missing:
    print(missing)


def by_hand(body, kind, **more):
    return lambda: urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
        urllib.request.Request(url, data=body, headers={"Content-Type": kind, **more}), timeout=5).read()


def part(name, data, more="", empty="\r\n"):
    return f'--B\r\nContent-Disposition: form-data; name="{name}"{more}\r\n{empty}'.encode() + data + b"\r\n"


FORM = "multipart/form-data; boundary=B"
END = b"--B--\r\n"
case("urllib without the last hyphens", "notClosed")(by_hand(part("a", b"1") + b"--B\r\n", FORM))
case("urllib without a closing delimiter", "notClosed")(by_hand(part("a", b"1"), FORM))
case("urllib without the empty line", "emptyLineMissing")(by_hand(part("a", b"1", empty="") + END, FORM))
case("urllib with two empty lines", "lineEndDoubled")(by_hand(part("a", b"1", empty="\r\n\r\n") + END, FORM))
case("urllib with a line end first", "lineEndBeforeFirst")(by_hand(b"\r\n" + part("a", b"1") + END, FORM))
case("urllib without a line end before the delimiter", "lineEndMissing")(by_hand(part("a", PNG, '; filename="a.png"')[:-2] + END, FORM))
case("urllib without a name", "nameMissing")(by_hand(b'--B\r\nContent-Disposition: form-data; filename="a.png"\r\n\r\n' + PNG + b"\r\n" + END, FORM))
case("urllib as an attachment", "notFormData")(by_hand(part("a", b"1").replace(b"form-data", b"attachment") + END, FORM))
case("urllib with a long boundary", "boundaryTooLong")(
    by_hand(b"".join([part("a", b"1"), END]).replace(b"--B", b"--" + b"b" * 80), "multipart/form-data; boundary=" + "b" * 80))
case("urllib with a quoted boundary", "boundaryQuoted")(by_hand(part("a", b"1") + END, 'multipart/form-data; boundary="B"'))
case("urllib without a boundary", "boundaryWrong")(by_hand(part("a", b"1") + END, "multipart/form-data"))
case("urllib with an empty name", "nameEmpty")(by_hand(part("", b"1") + END, FORM))
case("urllib with the wrong type", "multipartHidden")(by_hand(part("a", b"1") + END, "application/octet-stream"))
case("urllib with a data URL", "fileInBase64")(
    by_hand(part("photo", b"data:image/png;base64," + base64.b64encode(PNG), '; filename="a.png"\r\nContent-Type: image/png') + END, FORM))
case("urllib with decoded bytes", "typeContradicted")(
    by_hand(part("photo", PNG.decode("utf-8", "replace").encode(), '; filename="a.png"\r\nContent-Type: image/png') + END, FORM))
for name in ["System.Byte[]", "System.Collections.Generic.List`1[System.String]", "System.IO.MemoryStream"]:
    case(f"urllib with {name} as .NET writes it", "objectAsText")(by_hand(part("tags", name.encode()) + END, FORM))
case("urllib with a form")(by_hand(part("a", b"1") + part("f", PNG, '; filename="a.png"\r\nContent-Type: image/png') + END, FORM))
case("urllib with nested parts")(
    by_hand(b"--B\r\nContent-Type: multipart/alternative; boundary=C\r\n\r\n--C\r\nContent-Type: text/plain\r\n\r\na\r\n--C--\r\n\r\n--B--\r\n",
            "multipart/mixed; boundary=B"))
case("urllib with a Korean value")(by_hand(part("a", "음식".encode()) + END, FORM))
case("urllib with a multipart response as text")(by_hand(b"-- a comment\nselect 1\n", "application/sql"))


def raw(headers, body):
    def send():
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.putrequest("POST", "/upload")
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(body)
        connection.getresponse().read()
    return send


KOREAN = part("a", "음식과 반려동물".encode()) + END
case("http.client that counts characters", "notClosed")(raw([("Content-Type", FORM), ("Content-Length", str(len(KOREAN.decode())))], KOREAN))
case("http.client with a length too large", "contentLength")(raw([("Content-Type", FORM), ("Content-Length", str(len(KOREAN) + 9))], KOREAN))
case("http.client with the type twice", "contentTypeTwice")(
    raw([("Content-Type", "multipart/form-data"), ("Content-Type", FORM), ("Content-Length", str(len(KOREAN)))], KOREAN))
mail = MIMEMultipart("form-data", boundary="M")
photo = MIMEImage(PNG, "png")
photo.add_header("Content-Disposition", "form-data", name="photo", filename="cat.png")
mail.attach(photo)
case("email.mime as a form", "transferEncoding")(
    by_hand(mail.as_bytes().split(b"\n\n", 1)[1].replace(b"\n", b"\r\n"), 'multipart/form-data; boundary=M'))

# MARK: Node

node("fetch with a hand-set type", """const form = new FormData(); form.append("photo", new Blob([png]), "cat.png");
    await fetch(url, { method: "POST", body: form, headers: { "Content-Type": "multipart/form-data" } });""", "boundaryWrong")
node("fetch with a form sent as JSON", """const form = new FormData(); form.append("a", "1");
    await fetch(url, { method: "POST", body: form, headers: { "Content-Type": "application/json" } });""", "multipartHidden")
node("fetch with an object", """await fetch(url, { method: "POST", body: { a: 1 } });""", "objectAsText")
node("fetch with an object as JSON", """await fetch(url, { method: "POST", body: { a: 1 }, headers: { "Content-Type": "application/json" } });""", "objectAsText")
node("fetch with an object in a form", """const form = new FormData(); form.append("meta", { a: 1 });
    await fetch(url, { method: "POST", body: form });""", "objectAsText")
node("fetch with undefined", """const form = new FormData(); form.append("id", undefined);
    await fetch(url, { method: "POST", body: form });""", "objectAsText")
node("fetch with a form of form-data", """const Form = require("form-data"); const form = new Form(); form.append("photo", png, "cat.png");
    await fetch(url, { method: "POST", body: form });""", "objectAsText")
node("fetch with JSON as text in a form", """const form = new FormData(); form.append("meta", new Blob(["{a: 1}"], { type: "application/json" }), "a.json");
    await fetch(url, { method: "POST", body: form });""", "notJSON")
node("fetch with binary as a string", """const form = new FormData(); form.append("photo", new Blob([png.toString()], { type: "image/png" }), "cat.png");
    await fetch(url, { method: "POST", body: form });""", "typeContradicted")
node("fetch with URLSearchParams of objects", """await fetch(url, { method: "POST", body: new URLSearchParams({ a: { b: 1 } }) });""", "objectAsText")
node("fetch with an array of files", """const form = new FormData(); const file = new File([png], "cat.png"); form.append("photos", [file, file]);
    await fetch(url, { method: "POST", body: form });""", "objectAsText")
node("fetch with JSON in JSON", """await fetch(url, { method: "POST", body: JSON.stringify(JSON.stringify({ a: 1 })), headers: { "Content-Type": "application/json" } });""", "jsonTwice")
node("fetch with a PNG as urlencoded", """await fetch(url, { method: "POST", body: png, headers: { "Content-Type": "application/x-www-form-urlencoded" } });""", "typeContradicted")
node("fetch that says gzip", """await fetch(url, { method: "POST", body: JSON.stringify({ a: 1 }), headers: { "Content-Type": "application/json", "Content-Encoding": "gzip" } });""", "contentEncoding")
node("fetch with lines of JSON", """await fetch(url, { method: "POST", body: '{"a":1}\\n{"a":2}\\n', headers: { "Content-Type": "application/x-ndjson" } });""")
node("fetch with a form", """const form = new FormData(); form.append("a", "1"); form.append("photo", new Blob([png], { type: "image/png" }), "cat.png");
    await fetch(url, { method: "POST", body: form });""")
node("fetch with JSON", """await fetch(url, { method: "POST", body: JSON.stringify({ a: 1 }), headers: { "Content-Type": "application/json" } });""")
node("fetch with URLSearchParams", """await fetch(url, { method: "POST", body: new URLSearchParams({ a: "b c" }) });""")
node("form-data without a file name", """const Form = require("form-data"); const http = require("http"); const form = new Form(); form.append("photo", png);
    await new Promise((done) => form.submit(url, done));""", "fileNameMissing")
node("form-data with a form", """const Form = require("form-data"); const form = new Form(); form.append("photo", png, "cat.png"); form.append("a", "1");
    await new Promise((done) => form.submit(url, done));""")
node("axios with JSON as urlencoded", """const axios = require("axios"); await axios.post(url, JSON.stringify({ a: 1 }), { headers: { "Content-Type": "application/x-www-form-urlencoded" } });""", "typeWrong")
node("axios with a hand-set type", """const axios = require("axios"); const Form = require("form-data"); const form = new Form(); form.append("photo", png, "cat.png");
    await axios.post(url, form.getBuffer(), { headers: { "Content-Type": "multipart/form-data" } });""", "boundaryWrong")
node("axios with a form sent as JSON", """const axios = require("axios"); const Form = require("form-data"); const form = new Form(); form.append("photo", png, "cat.png");
    await axios.post(url, form.getBuffer(), { headers: { "Content-Type": "application/json" }, transformRequest: [(data) => data] });""", "multipartHidden")
node("axios with a form", """const axios = require("axios"); const Form = require("form-data"); const form = new Form(); form.append("photo", png, "cat.png");
    await axios.post(url, form, { headers: form.getHeaders() });""")
node("axios with JSON", """const axios = require("axios"); await axios.post(url, { a: 1 });""")
node("node-fetch with a form", """const fetch2 = require("node-fetch"); const Form = require("form-data"); const form = new Form(); form.append("photo", png, "cat.png");
    await (fetch2.default || fetch2)(url, { method: "POST", body: form });""")
node("http with a misread file name", """const http = require("http"); const name = Buffer.from("고양이.png").toString("latin1");
    const body = Buffer.concat([Buffer.from(`--B\\r\\nContent-Disposition: form-data; name="a"; filename="${name}"\\r\\n\\r\\n`), png, Buffer.from("\\r\\n--B--\\r\\n")]);
    await new Promise((done) => http.request(url, { method: "POST", headers: { "Content-Type": "multipart/form-data; boundary=B", "Content-Length": body.length } }, done).end(body));""", "fileNameMisread")

# MARK: Others

program("php with the old file syntax", ["php", "-r", """$c = curl_init(getenv("URL")); curl_setopt_array($c, [CURLOPT_POST => 1, CURLOPT_POSTFIELDS => ["photo" => "@/tmp/cat.png"], CURLOPT_RETURNTRANSFER => 1]); curl_exec($c);"""], "pathAsText")
program("php with a query under a multipart type", ["php", "-r", """$c = curl_init(getenv("URL")); curl_setopt_array($c, [CURLOPT_POSTFIELDS => http_build_query(["a" => 1]), CURLOPT_HTTPHEADER => ["Content-Type: multipart/form-data"], CURLOPT_RETURNTRANSFER => 1]); curl_exec($c);"""], "typeWrong")
program("php with a form", ["php", "-r", """$c = curl_init(getenv("URL")); curl_setopt_array($c, [CURLOPT_POSTFIELDS => ["a" => "1", "photo" => new CURLFile("cat.png", "image/png")], CURLOPT_RETURNTRANSFER => 1]); curl_exec($c);"""])
RUBY = 'require "net/http"; u = URI(ENV["URL"]); r = Net::HTTP::Post.new(u); %s; Net::HTTP.start(u.host, u.port, nil) { |h| h.request(r) }'
program("ruby with a form under a multipart type", ["ruby", "-e", RUBY % 'r.set_form_data("a" => "1"); r["Content-Type"] = "multipart/form-data"'], "typeWrong")
program("ruby with a file as text", ["ruby", "-e", RUBY % 'r.set_form([["photo", File.open("cat.png").inspect]], "multipart/form-data")'], "objectAsText")
program("ruby with an object as text", ["ruby", "-e", RUBY % 'r.set_form([["pet", Object.new.to_s]], "multipart/form-data")'], "objectAsText")
program("ruby with a form", ["ruby", "-e", RUBY % 'r.set_form([["a", "1"], ["photo", File.open("cat.png")]], "multipart/form-data")'])
PERL = 'use LWP::UserAgent; my $ua = LWP::UserAgent->new(timeout => 5); $ua->post($ENV{URL}, %s);'
program("perl with a form sent as JSON", ["perl", "-e", PERL % '"Content-Type" => "application/json", Content => "a=1&b=2"'], "typeWrong")
program("perl with a hash as text", ["perl", "-e", PERL % 'Content_Type => "form-data", Content => [pet => "" . { a => 1 }]'], "objectAsText")
program("perl with an array as text", ["perl", "-e", PERL % 'Content => [tags => "" . [1, 2]]'], "objectAsText")
program("perl with a file handle as text", ["perl", "-e", 'open my $f, "<", "cat.png";' + PERL % 'Content_Type => "form-data", Content => [photo => "$f"]'], "objectAsText")
program("perl with an object as text", ["perl", "-e", PERL % 'Content_Type => "form-data", Content => [pet => "" . bless({}, "Pet::Cat")]'], "objectAsText")
GO = """package main
import ("bytes"; "fmt"; "mime/multipart"; "net/http"; "os")
type Pet struct { Name string; Age int }
func main() { png, _ := os.ReadFile("cat.png"); _ = png; var b bytes.Buffer; w := multipart.NewWriter(&b)
w.WriteField("field", fmt.Sprint(%s)); w.Close()
r, err := http.Post(os.Getenv("URL"), w.FormDataContentType(), &b); if err != nil { fmt.Println(err); return }; r.Body.Close() }
"""
for name, text in [("bytes", "png"), ("a structure", '&Pet{"Miso", 3}'), ("a map", 'map[string]int{"a": 1}')]:
    if shutil.which("go"):
        open("up.go", "w").write(GO % text)
        subprocess.run(["go", "build", "-o", "up", "up.go"], check=False, env={**environment, "GOFLAGS": "-mod=mod", "GO111MODULE": "off"})
    program(f"go with {name} as text", ["./up"], "objectAsText")
JAVA = """import java.net.*; import java.net.http.*; import java.io.*;
public class Up { public static void main(String[] a) throws Exception { var text = %s;
String body = "--J\\r\\nContent-Disposition: form-data; name=\\"field\\"\\r\\n\\r\\n" + text + "\\r\\n--J--\\r\\n";
HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build().send(HttpRequest.newBuilder(URI.create(System.getenv("URL")))
.header("Content-Type", "multipart/form-data; boundary=J").POST(HttpRequest.BodyPublishers.ofString(body)).build(), HttpResponse.BodyHandlers.discarding()); } }
"""
for name, text in [("bytes", "new byte[3]"), ("strings", "new String[3]"), ("a stream", "new ByteArrayInputStream(new byte[3])"),
                   ("an object", "new Up()")]:
    open("Up.java", "w").write(JAVA % text)
    program(f"java with {name} as text", ["java", "Up.java"], "objectAsText")
program("perl with a form", ["perl", "-e", PERL % 'Content_Type => "form-data", Content => [a => 1, photo => ["cat.png"]]'])
program("httpie with a form", ["http", "--ignore-stdin", "--form", "POST", url, "a=1", "photo@cat.png"])
program("httpie with a part in JSON", ["http", "--ignore-stdin", "--multipart", "POST", url, "a=1", "meta@bad.json;type=application/json"], "notJSON")

# MARK: A browser

try:
    from playwright.sync_api import sync_playwright
    chromium = shutil.which("chromium")
    if chromium:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--no-proxy-server"])
            page = browser.new_page()
            page.route("**/*", lambda route: route.fulfill(body="<p>", content_type="text/html") if route.request.method == "GET" else route.continue_())
            page.goto(url)
            code = """async ([script, png]) => { const bytes = Uint8Array.from(atob(png), (one) => one.charCodeAt(0));
                const photo = new File([bytes], "cat.png", { type: "image/png" }); const form = new FormData();
                await (Object.getPrototypeOf(async () => {}).constructor("form", "photo", "url", script))(form, photo, location.href); }"""

            def browse(name, script, *expects):
                case("chromium " + name, *expects)(lambda: page.evaluate(code, [script, base64.b64encode(PNG).decode()]))

            browse("with a hand-set type", """form.append("photo", photo); await fetch(url, { method: "POST", body: form, headers: { "Content-Type": "multipart/form-data" } });""", "boundaryWrong")
            browse("with a form sent as JSON", """form.append("photo", photo); await fetch(url, { method: "POST", body: form, headers: { "Content-Type": "application/json" } });""", "multipartHidden")
            browse("with a data URL as a file", """const data = await new Promise((done) => { const reader = new FileReader(); reader.onload = () => done(reader.result); reader.readAsDataURL(photo); });
                form.append("photo", new File([data], "cat.png", { type: "image/png" })); await fetch(url, { method: "POST", body: form });""", "fileInBase64")
            browse("with a promise", """form.append("photo", photo.arrayBuffer()); await fetch(url, { method: "POST", body: form });""", "objectAsText")
            browse("with the input's value", """form.append("photo", "C:\\\\fakepath\\\\cat.png"); await fetch(url, { method: "POST", body: form });""", "pathAsText")
            browse("with JSON as urlencoded", """const request = new XMLHttpRequest(); request.open("POST", url); request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
                await new Promise((done) => { request.onloadend = done; request.send('{"a": 1}'); });""", "typeWrong")
            browse("with a form", """form.append("photo", photo); form.append("a", "1"); await fetch(url, { method: "POST", body: form });""")
            browse("with two files", """form.append("photos", photo); form.append("photos", photo, "고양이 2.png"); await fetch(url, { method: "POST", body: form });""")
            browse("with an empty file input", """form.append("photo", new File([], "", { type: "application/octet-stream" })); await fetch(url, { method: "POST", body: form });""")
            browse("with a JSON part", """form.append("meta", new Blob(['{"a": 1}'], { type: "application/json" })); await fetch(url, { method: "POST", body: form });""")
            browse("with a binary body", """await fetch(url, { method: "POST", body: photo });""")
            browser.close()
except ImportError as missing:
    print(missing)

out = sys.argv[1] if os.path.isabs(sys.argv[1]) else os.path.join(os.environ["OLDPWD_OF_COLLECT"], sys.argv[1])
port = f"127.0.0.1:{server.port}".encode()
kept = []
for one in cases:
    data = base64.b64decode(one["request"]).replace(port, b"127.0.0.1:8080")
    # What differs in each run and says nothing.
    data = re.sub(rb"(?im)^(user-agent|date|x-powered-by): [^\r\n]*\r\n", b"", data, count=2)
    one["request"] = base64.b64encode(data).decode()
    kept.append(one)
names = {one["name"] for one in kept}
try:
    old = json.load(open(out))
except FileNotFoundError:
    old = []
kept += [one for one in old if one["name"] not in names]
with open(out, "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in kept) + "\n]\n")
print(f"{sum(1 for one in kept if one['expects'])} broken, {sum(1 for one in kept if not one['expects'])} good")
shutil.rmtree(folder)
