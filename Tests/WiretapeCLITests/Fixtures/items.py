"""Bodies that are known by their number, so that whoever holds one can check it without having seen it before."""
import hashlib
import json
import random


def item(number):
    """Media type and octets: text, JSON, binary, and now and then something large enough for a file of its own."""
    source = random.Random(number)
    kind = number % 5
    if kind == 0:
        return "text/plain; charset=utf-8", "".join(f"line {source.random()} 보리\n" for _ in range(source.randrange(40))).encode()
    if kind == 1:
        value = {"number": number, "values": [source.random() for _ in range(source.randrange(60))]}
        return "application/json", json.dumps(value, indent=source.choice([None, 1, 2])).encode()
    if kind == 2:
        return "application/octet-stream", source.randbytes(source.randrange(4000))
    if kind == 3:
        return "image/png", b"\x89PNG\r\n\x1a\n" + source.randbytes(source.randrange(20000))
    return "application/octet-stream", source.randbytes(source.randrange(60000, 200000) if number % 25 == 4 else 10)


def digest(octets):
    return hashlib.sha256(octets).hexdigest()
