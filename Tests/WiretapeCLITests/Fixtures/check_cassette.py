#!/usr/bin/env python3
"""Checks cassettes against the schema with jsonschema, and that their inline and sidecar bodies are there: check_cassette.py SCHEMA FILE..."""
import hashlib
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    sys.exit('python3 has no "jsonschema": "scripts/setup.sh test" installs Debian\'s python3-jsonschema')


def bodies(cassette):
    for interaction in cassette["interactions"]:
        for message in ("request", "response"):
            body = interaction.get(message, {}).get("body")
            if body is not None:
                yield f"{interaction['id']} {message}", body


def parts(content):
    """The parts of a multipart on all levels."""
    for part in content["parts"] if isinstance(content, dict) else content:
        yield part
        yield from parts(part.get("multipart", []))


def problems(path, validator):
    cassette = json.loads(path.read_bytes().decode("utf-8"))
    for error in validator.iter_errors(cassette):
        yield f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
    starts = [interaction["started"] for interaction in cassette["interactions"]]
    if starts != sorted(starts):
        yield "the interactions are not in order of their start"
    for name, body in bodies(cassette):
        for file, size, digest in [
            (body.get("file"), body.get("fileSize", body.get("size")), body.get("fileSha256", None if body.get("codings") else body.get("sha256"))),
            *((part.get("file"), part.get("size"), part.get("sha256")) for part in parts(body.get("multipart", []))),
        ]:
            if file is None:
                continue
            octets = (path.parent / file).read_bytes()
            if len(octets) != size:
                yield f"{name}: {file} has {len(octets)} octets and not {size}"
            if hashlib.sha256(octets).hexdigest() not in (digest, pathlib.Path(file).name.split(".")[0]):
                yield f"{name}: {file} has another digest"


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    found = [f"{path}: {problem}" for path in sys.argv[2:] for problem in problems(pathlib.Path(path), validator)]
    print(*found, sep="\n")
    return 1 if found else 0


sys.exit(main())
