#!/usr/bin/env python3
"""Fetches again what load.py has logged before a moment, octet for octet, and prints how many there were: refetch.py ORIGIN_PORT LOG MOMENT"""
import sys
import urllib.request

import items

origin, path, moment = sys.argv[1], sys.argv[2], float(sys.argv[3])
wanted = [int(line.split()[0]) for line in open(path) if line.endswith("\n") and float(line.split()[1]) < moment]
for number in wanted:
    with urllib.request.urlopen(f"http://127.0.0.1:{origin}/item?n={number}") as answer:
        body = answer.read()
    assert body == items.item(number)[1], f"item {number} has other octets"
print(len(wanted))
