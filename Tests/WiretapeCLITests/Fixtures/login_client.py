#!/usr/bin/env python3
"""Logs in and uses what it gets. Fails where an answer is not what a client can use.

login_client.py ORIGIN PASSWORD APIKEY SIZE
"""
import json
import gzip
import sys
import urllib.parse
import urllib.request

ORIGIN, PASSWORD, KEY, SIZE = sys.argv[1:5]


def send(path, body=None, **fields):
    request = urllib.request.Request(ORIGIN + path, data=body, headers={n.replace("_", "-"): v for n, v in fields.items()})
    with urllib.request.urlopen(request) as answer:
        return answer.headers, answer.read()


early = send("/early")[1].decode()
form = urllib.parse.urlencode({"user": "ann", "password": PASSWORD}).encode()
headers, body = send("/login", form)
token = json.loads(body)["access_token"]
cookie = headers["Set-Cookie"].split(";")[0]
headers, body = send("/me?api_key=" + urllib.parse.quote(KEY), Authorization="Bearer " + token, Cookie=cookie)
me = json.loads(gzip.decompress(body))
assert me["seen"] == "token " + token, me
assert early == "remember " + token + ".\n", early
chunked = send("/chunks", Authorization="Bearer " + token)[1].decode()
assert chunked == "a line with " + token + " in it\n", chunked

boundary = "----wiretape5c0ffee"
parts = [
    'Content-Disposition: form-data; name="api_key"\r\n\r\n' + KEY,
    'Content-Disposition: form-data; name="note"; filename="note.txt"\r\nContent-Type: text/plain\r\n\r\nthe key is ' + KEY + "!",
]
body = "".join("--" + boundary + "\r\n" + part + "\r\n" for part in parts) + "--" + boundary + "--\r\n"
send("/upload", body.encode(), Content_Type="multipart/form-data; boundary=" + boundary)

size = int(SIZE)
if size:
    # Across the edge of the first block, and of a later one; and at the very end.
    big = bytearray(b"0123456789abcde\n" * (size // 16))
    for offset in (65536 - 10, 1048576 - 7, size - len(KEY)):
        big[offset:offset + len(KEY)] = KEY.encode()
    send("/upload", bytes(big), Content_Type="application/octet-stream")
print(token)
