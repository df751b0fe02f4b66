#!/usr/bin/env python3
"""Checks that every file under Sources imports only what its target may import, with an access level, and Linux-only modules only under #if.

  check_imports.py [ROOT]      prints what is wrong as file:line: message; exit code 1 if anything is
  check_imports.py --self-test
"""
import pathlib
import re
import sys
import tempfile

# The target Platform wraps the C library; the rest is part of the language's toolchain.
PLATFORM = ["Swift", "Synchronization", "Dispatch", "Platform"]
MODEL = ["TapeBytes", "CassetteModel"]
FORMAT = [*MODEL, "CassetteFormat"]
# The targets that read, search and replay a cassette.
FOR_PLAYBACK = [*FORMAT, "CassetteStore", "CassetteRedaction"]
PLAYBACK = [*FOR_PLAYBACK, "CassettePlayback"]

# What each target may import; a name that ends in * stands for every module with that prefix. Everything else is forbidden.
TABLE = {
    "CZlib": [],
    "CYaml": [],
    "CBrotli": [],
    "CDeflate": [],
    "CZstd": [],
    "COpenSSL": [],
    "CNghttp2": [],
    "CCurl": [],
    "Platform": ["Glibc", "Musl", "Darwin", "Android"],
    "CJSONScan": [],
    "CSHA256": [],
    "TapeBytes": [*PLATFORM, "CZlib", "CJSONScan", "CSHA256", "CryptoKit"],
    "CassetteModel": [*PLATFORM, "TapeBytes"],
    "CassetteFormat": ["Swift", *MODEL, "CZlib", "CBrotli", "CZstd", "CDeflate"],
    "CassetteStore": [*PLATFORM, *FORMAT, "CJSONScan"],
    "CAnchorScan": [],
    "CArguments": [],
    "CRecordedClock": [],
    "CassetteRedaction": [*PLATFORM, *FORMAT, "CAnchorScan"],
    "CassettePlayback": [*PLATFORM, *FOR_PLAYBACK],
    "CassetteTools": [*PLATFORM, *FOR_PLAYBACK, "CassettePlayback"],
    "TrafficRules": [*PLATFORM, *PLAYBACK, "TapeExchange"],
    "ClientCapabilities": [*PLATFORM, "TapeBytes"],
    "TapeTrust": [*PLATFORM, "TapeBytes"],
    "TapeExchange": ["Swift", *MODEL],
    "LocalHTTP": ["Swift", *MODEL, "TapeExchange"],
    "TapeRecorder": [*PLATFORM, *FOR_PLAYBACK, "TapeExchange"],
    "TapeYAML": ["Swift", "CYaml"],
    "CassetteImport": [*PLATFORM, *FOR_PLAYBACK, "TapeExchange", "TapeRecorder", "TapeYAML"],
    "CassetteExport": ["Swift", *FOR_PLAYBACK, "CassetteTools"],
    "CassetteRun": ["Swift", *PLAYBACK, "TapeRecorder"],
    "CassetteRemote": [*PLATFORM, *FORMAT, "CassetteStore", "COpenSSL", "CZstd", "CCurl"],
    "TapeTLS": [*PLATFORM, "TapeBytes", "COpenSSL"],
    "TapeHTTP2": ["Swift", "CassetteModel", "TapeExchange", "CNghttp2", "NIOCore"],
    "TapeProxy": [
        *PLATFORM, *PLAYBACK, "CassetteRun", "CassetteTools", "LocalHTTP", "TapeTrust", "TapeExchange", "TapeHTTP2", "TapeIsolation", "TapeRecorder", "TapeTLS", "TrafficRules", "COpenSSL", "NIO*",
        "Logging",
    ],
    "CIsolation": [],
    "TapeIsolation": [*PLATFORM, "TapeBytes", "TapeExchange", "CIsolation"],
    "CInspectorPage": [],
    "TapeInspector": [*PLATFORM, *PLAYBACK, "CassetteTools", "TapeExchange", "LocalHTTP", "TrafficRules", "CInspectorPage", "NIO*"],
    "Wiretape": [
        *PLATFORM, *PLAYBACK, "CassetteRun", "ClientCapabilities", "TapeTrust", "TapeExchange", "TapeRecorder", "TapeYAML", "TrafficRules", "Foundation",
        "FoundationNetworking", "Security", "UniformTypeIdentifiers",
    ],
    "WiretapeTesting": [*PLATFORM, *PLAYBACK, "Wiretape", "Foundation", "FoundationNetworking", "Testing", "XCTest"],
    "WiretapeHTTPTypes": ["Wiretape", "HTTPTypes", "Foundation", "FoundationNetworking"],
    "WiretapeAlamofire": ["Dispatch", "Platform", "TapeBytes", "TapeTrust", "Wiretape", "Foundation", "FoundationNetworking"],
    "WiretapeAsyncHTTPClient": [
        "CassetteFormat", "CassetteModel", "TapeBytes", "TapeTrust", "Wiretape", "Foundation", "FoundationNetworking", "AsyncHTTPClient", "NIO*",
    ],
    "WiretapeCLI": [
        "CArguments",
        *PLATFORM, *PLAYBACK, "CassetteExport", "CassetteImport", "CassetteRemote", "CassetteRun", "CassetteTools", "ClientCapabilities", "LocalHTTP", "TapeTrust", "TapeExchange", "TapeInspector", "TapeIsolation", "TapeRecorder",
        "TapeTLS", "TapeProxy", "TapeYAML", "TrafficRules",
        "ArgumentParser", "Logging",
    ],
    "DemoOrigin": [*PLATFORM, "CZlib", "NIO*"],
}

# Elsewhere it is part of Foundation.
LINUX_ONLY = "FoundationNetworking"

IMPORT = re.compile(
    r"^\s*(?P<attributes>(?:@\w+(?:\([^)]*\))?\s+)*)(?P<level>(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:typealias|struct|class|enum|protocol|let|var|func)\s+)?(?P<module>\w+)"
)


def allowed(target, module):
    return any(module.startswith(name[:-1]) if name.endswith("*") else module == name for name in TABLE[target])


def without_comments(text):
    """The same lines, with comments and multi-line strings blanked."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|""".*?"""', lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S)


def conditional_lines(text):
    """Each line with the `#if` conditions that apply to it."""
    open_conditions = []
    for line in text.splitlines():
        directive = line.strip()
        if directive.startswith("#if"):
            open_conditions.append(directive)
        elif directive.startswith(("#else", "#elseif")) and open_conditions:
            open_conditions[-1] = directive
        elif directive.startswith("#endif") and open_conditions:
            open_conditions.pop()
        yield line, list(open_conditions)


def problems(root):
    for folder in sorted(path for path in (root / "Sources").iterdir() if path.is_dir()):
        target = folder.name
        if target not in TABLE:
            yield f"{folder.relative_to(root)}: not in the table; add what it may import to scripts/check_imports.py"
            continue
        for file in sorted(folder.rglob("*.swift")):
            for number, (line, conditions) in enumerate(conditional_lines(without_comments(file.read_text())), 1):
                # Several statements can share a line.
                for statement in line.split(";"):
                    found = IMPORT.match(statement)
                    if not found:
                        continue
                    where, module = f"{file.relative_to(root)}:{number}", found["module"]
                    if not allowed(target, module):
                        yield f"{where}: {target} may not import {module}; move the code to a target that may"
                    if module == LINUX_ONLY and not any(f"canImport({LINUX_ONLY})" in condition for condition in conditions):
                        yield f"{where}: Apple platforms have no {module}; import it under #if canImport({module})"
                    if not found["level"]:
                        yield f"{where}: import {module} has no access level; write internal import, or public where a signature needs it"


def self_test():
    cases = [  # target, text, number of problems
        ("CassetteStore", "internal import Platform\npublic import CassetteFormat\n", 0),
        ("CassetteStore", "internal import CassetteRedaction\n", 1),
        ("CassetteModel", "internal import NIOCore\n", 1),
        ("CassetteModel", "#if canImport(FoundationNetworking)\ninternal import FoundationNetworking\n#endif\n", 1),
        ("Wiretape", "public import Foundation\npublic import FoundationNetworking\n#if canImport(FoundationNetworking)\n#endif\n", 1),
        ("Wiretape", "#if canImport(FoundationNetworking)\npublic import FoundationNetworking\n#else\npublic import Foundation\n#endif\n", 0),
        ("Wiretape", "#if canImport(FoundationNetworking)\n#else\npublic import FoundationNetworking\n#endif\n", 1),
        ("CassetteFormat", "import CZlib\n", 1),
        ("CassetteFormat", "import ArgumentParser\n", 2),
        ("CassetteFormat", "// import NIOCore\n/*\nimport NIOCore\n*/\nlet text = \"\"\"\nimport NIOCore\n\"\"\"\nlet important = 1\n", 0),
        ("CassetteFormat", "let a = 1; internal import NIOCore\n", 1),
        ("CassetteRedaction", "internal import CassetteStore\n", 1),
        ("CassettePlayback", "internal import CassetteTools\n", 1),
        ("TapeBytes", "internal import CassetteModel\n", 1),
        ("TapeRecorder", "internal import Glibc\n", 1),
        ("TapeExchange", "internal import Platform\n", 1),
        ("TapeExchange", "public import struct CassetteModel.HeaderFields\n", 0),
        ("TapeRecorder", "internal import CassetteStore\npackage import TapeExchange\ninternal import Dispatch\n", 0),
        ("TapeRecorder", "internal import CassettePlayback\n", 1),
        ("TapeRecorder", "internal import NIOCore\ninternal import TapeTLS\n", 2),
        ("TapeTLS", "@preconcurrency internal import NIOCore\n", 1),
        ("TapeTLS", "@_exported public import CassetteModel\n", 1),
        ("TapeTLS", "internal import class NIOCore.Channel\n", 1),
        ("TapeProxy", "public import NIOCore\ninternal import TapeTLS\n", 0),
        ("TapeProxy", "internal import WiretapeCLI\n", 1),
        ("Wiretape", "internal import NIOCore\ninternal import COpenSSL\n", 2),
        ("WiretapeTesting", "public import Testing\npublic import Wiretape\n", 0),
        ("WiretapeCLI", "internal import COpenSSL\ninternal import Wiretape\n", 2),
        ("Unheard", "", 1),
    ]
    for target, text, wanted in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "Sources" / target / "Deep").mkdir(parents=True)
            (root / "Sources" / target / "Deep" / "File.swift").write_text(text)
            found = list(problems(root))
        if len(found) != wanted:
            return f"check_imports: wanted {wanted} problems in {target} with {text!r}, found {found}"


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return self_test()
    found = list(problems(pathlib.Path(arguments[0] if arguments else __file__ + "/../..").resolve()))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
