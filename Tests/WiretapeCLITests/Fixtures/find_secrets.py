#!/usr/bin/env python3
"""Looks for secrets in every octet of every file of a folder, in all spellings that Wiretape knows; prints where they are.

find_secrets.py FOLDER SECRET...
"""
import base64
import gzip
import json
import os
import sys
import urllib.parse


def spellings(secret):
    octets = secret.encode()
    yield "plain", octets
    yield "percent", urllib.parse.quote(secret, safe="").encode()
    yield "percent, all", "".join("%%%02x" % octet for octet in octets).encode()
    yield "percent, all, upper", "".join("%%%02X" % octet for octet in octets).encode()
    yield "plus", urllib.parse.quote_plus(secret).encode()
    yield "json", json.dumps(secret)[1:-1].encode()
    yield "json, slashes", json.dumps(secret)[1:-1].replace("/", "\\/").encode()
    for alignment in range(3):
        text = base64.b64encode(b"\0" * alignment + octets)
        # Only characters that the secret alone decides.
        core = text[(alignment * 8 + 5) // 6:(alignment + len(octets)) * 8 // 6]
        yield "base64+%d" % alignment, core
        yield "base64url+%d" % alignment, core.replace(b"+", b"-").replace(b"/", b"_")


def contents(path):
    with open(path, "rb") as file:
        octets = file.read()
    yield "", octets
    if octets[:2] == b"\x1f\x8b":
        yield ", decompressed", gzip.decompress(octets)


found = 0
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        for how, octets in contents(os.path.join(folder, name)):
            for number, secret in enumerate(sys.argv[2:]):
                for spelling, needle in spellings(secret):
                    offset = octets.find(needle)
                    if offset >= 0:
                        found += 1
                        print("%s%s: secret %d, %s, at %d: %r" % (name, how, number, spelling, offset, octets[max(0, offset - 60):offset + 20]))
sys.exit(1 if found else 0)
