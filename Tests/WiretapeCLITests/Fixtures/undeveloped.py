#!/usr/bin/env python3
"""Writes a cassette as a recorder leaves it that was killed while it was behind: one body raw, in gzip. undeveloped.py FILE"""
import gzip
import json
import pathlib
import sys
import zlib

path = pathlib.Path(sys.argv[1])
body = gzip.compress(b'{"name": "Bori", "kinds": ["dog", "dog again"]}', 6, mtime=0)
folder = path.with_suffix(".bodies")
folder.mkdir()
(folder / "undeveloped.raw").write_bytes(b"something before" + body)
raw = {"file": f"{folder.name}/undeveloped.raw", "offset": 16, "size": len(body), "crc32": f"{zlib.crc32(body):08x}"}
request = {"method": "GET", "url": "http://pets.test/1", "version": "HTTP/1.1", "headers": ["Host: pets.test"]}
fields = ["Content-Type: application/json", "Content-Encoding: gzip", f"Content-Length: {len(body)}"]
response = {"status": 200, "reason": "OK", "version": "HTTP/1.1", "headers": fields, "body": {"size": len(body), "raw": raw}}
interaction = {"id": 1, "started": "2026-11-21T04:19:28.123456Z", "request": request, "response": response}
path.write_text(json.dumps({"wiretape": 1, "recorder": "by hand", "interactions": [interaction]}, indent=2) + "\n")
