#!/usr/bin/env python3
"""Sends one upload of each kind to the URL given: uploads.sh and uploads.js spell the same otherwise."""
import gzip
import json
import sys
import urllib.request

origin = sys.argv[1]
boundary = "b0undary-from-python-123"


def part(name, data, more=""):
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
    return head.encode() + data + b"\r\n"


def send(path, body, kind, method="POST", **more):
    headers = {"Content-Type": kind} | more
    request = urllib.request.Request(origin + path, data=body, method=method, headers=headers)
    sys.stdout.write(urllib.request.urlopen(request).read().decode())


parts = part("a", b"1") + part("f", b"\x00\xff" * 500, '; filename="f.bin"\r\nContent-Type: application/octet-stream')
send("/parts", parts + f"--{boundary}--\r\n".encode(), f'multipart/form-data; boundary="{boundary}"')
value = json.dumps({"z": 1, "a": [1.0, "é"]}).encode()
send("/json?b=%7e&a=1", value, "application/json")
send("/form", b"q=a+b&x=%C3%A9", "application/x-www-form-urlencoded")
send("/put", b"\x00\xff" * 500, "application/octet-stream", "PUT")
send("/coded", gzip.compress(value), "application/json", **{"Content-Encoding": "gzip"})
send("/text", "grüße".encode("latin-1"), "text/plain; charset=iso-8859-1")
