#!/usr/bin/env python3
"""Fetches again what load.py has logged before a moment, octet for octet, and prints how many there were: refetch.py ORIGIN_PORT LOG MOMENT"""
import sys
import urllib.error
import urllib.request

import items

origin, path, moment = sys.argv[1], sys.argv[2], float(sys.argv[3])
logged = [line.split() for line in open(path) if line.endswith("\n")]
wanted = [(int(number), float(at)) for number, at in logged if float(at) < moment]
lost = []
for number, at in wanted:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{origin}/item?n={number}") as answer:
            body = answer.read()
        assert body == items.item(number)[1], f"item {number} has other octets"
    except urllib.error.HTTPError as error:
        lost.append(f"item {number}, {1000 * (moment - at):.0f} ms before the last moment that counts ({error.code})")
print(len(wanted))
if lost:
    sys.exit(f"{len(lost)} of {len(wanted)} acknowledged exchanges are lost: " + "; ".join(lost[:20]))
