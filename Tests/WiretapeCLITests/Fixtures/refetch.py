#!/usr/bin/env python3
"""Fetches what load.py has logged from a replay, octet for octet, and prints how many there were, and the number of one: refetch.py ORIGIN_PORT LOG

Fails if an exchange is missing that had ended before another one began that is there, or if more is missing than a recorder's queue holds.
"""
import sys
import urllib.error
import urllib.request

import items

# The queue, and as much again that was taken from it and is being written.
QUEUE = 2 * 8 << 20

origin, path = int(sys.argv[1]), sys.argv[2]
logged = [line.split() for line in open(path) if line.endswith("\n")]
found, missing = [], []
for number, started, ended in ((int(number), float(started), float(ended)) for number, started, ended in logged):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{origin}/item?n={number}") as answer:
            body = answer.read()
        assert body == items.item(number)[1], f"item {number} has other octets"
        found.append((started, number))
    except urllib.error.HTTPError as error:
        missing.append((number, ended, error.code))
print(len(found), found[0][1] if found else "")
newest = max(found, default=(0, 0))[0]
lost = [f"item {number}, {1000 * (newest - ended):.3f} ms before one that is there ({code})" for number, ended, code in missing if ended < newest]
if lost:
    sys.exit(f"{len(lost)} of {len(logged)} acknowledged exchanges are lost: " + "; ".join(lost[:20]))
if sum(len(items.item(number)[1]) for number, _, _ in missing) > QUEUE:
    sys.exit(f"{len(missing)} of {len(logged)} acknowledged exchanges are lost, more than a queue holds")
