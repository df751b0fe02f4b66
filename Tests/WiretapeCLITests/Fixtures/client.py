#!/usr/bin/env python3
"""Python's own HTTP client, through the proxy that http_proxy names or without one: client.py FOLDER METHOD URL [NAME=VALUE...]

Leaves the answer's head in FOLDER/head and its body in FOLDER/body.
"""
import http.client
import os
import pathlib
import sys
import urllib.parse


def main():
    folder, method, url, *fields = sys.argv[1:]
    target = urllib.parse.urlsplit(url)
    proxy = urllib.parse.urlsplit(os.environ.get("http_proxy", ""))
    connection = http.client.HTTPConnection(proxy.hostname or target.hostname, proxy.port or target.port, timeout=20)
    connection.request(method, url if proxy.hostname else url.removeprefix(f"http://{target.netloc}"), headers=dict(field.split("=", 1) for field in fields))
    response = connection.getresponse()
    body = response.read()
    head = f"{response.version} {response.status} {response.reason}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in response.getheaders())
    pathlib.Path(folder, "head").write_bytes(head.encode("latin-1") + b"\r\n")
    pathlib.Path(folder, "body").write_bytes(body)


main()
