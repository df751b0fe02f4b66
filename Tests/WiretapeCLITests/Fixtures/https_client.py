#!/usr/bin/env python3
"""HTTPS with what a Python program would use, and none of its settings touched: https_client.py urllib|requests|httpx URL...

Writes the bodies to standard output, one after the other.
"""
import sys


def urllib(urls):
    import urllib.request

    for url in urls:
        with urllib.request.urlopen(url, timeout=20) as response:
            yield response.read()


def requests(urls):
    import requests

    with requests.Session() as session:
        for url in urls:
            response = session.get(url, timeout=20)
            response.raise_for_status()
            yield response.content


def httpx(urls):
    import httpx

    with httpx.Client(timeout=20) as client:
        for url in urls:
            yield client.get(url).raise_for_status().content


for body in {"urllib": urllib, "requests": requests, "httpx": httpx}[sys.argv[1]](sys.argv[2:]):
    sys.stdout.buffer.write(body)
