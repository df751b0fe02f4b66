#!/usr/bin/env python3
"""Fills the disk under a recorder by its traffic, makes room, and goes on: full_disk_client.py ORIGIN_PORT ERRORS BALLAST

ERRORS is the file with what the recorder says. BALLAST is a file to remove to make room, or "limit" to lift the recorder's file size limit.
"""
import os
import pathlib
import resource
import sys
import time
import urllib.request

import random

origin, errors, ballast = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
size, fetched = 30_000, 0


def fetch(path, wanted):
    global fetched
    with urllib.request.urlopen(f"http://127.0.0.1:{origin}/{path}") as answer:
        assert answer.status == 200 and answer.read() == wanted, path
    fetched += 1


def fetch_sized():
    fetch(f"sized?n={size}", random.Random(size).randbytes(size))


def until_said(text):
    deadline = time.monotonic() + 30
    while text not in errors.read_text():
        assert time.monotonic() < deadline, f"the recorder never said {text!r}"
        fetch_sized()


until_said("traffic goes on")
for _ in range(5):
    fetch_sized()
if ballast == "limit":
    resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
else:
    os.unlink(ballast)
until_said("recording again")
fetch("json?last", urllib.request.urlopen(f"http://127.0.0.1:{origin}/json?first").read())
print(fetched)
