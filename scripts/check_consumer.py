#!/usr/bin/env python3
"""Checks that a package that uses Wiretape with `traits: []` neither fetches nor builds nor links anything of the server.

  check_consumer.py [PACKAGE]   the package, built with its tests; by default Examples/PetShop. Prints what is wrong; exit code 1 if anything is
  check_consumer.py --self-test [PACKAGE]
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# All targets of Wiretape that the client library consists of.
OURS = {
    "Platform", "TapeBytes", "CassetteModel", "CassetteFormat", "CJSONScan", "CSHA256", "CassetteStore", "CAnchorScan", "CassetteRedaction", "CassettePlayback", "CassetteRun",
    "ClientCapabilities", "TapeTrust", "TapeExchange", "TapeRecorder", "Wiretape", "WiretapeTesting",
}
# Libraries that only the server's traits link. The platform's libcurl may need some of them, but none of our programs does itself.
LIBRARIES = re.compile(r"lib(ssl|crypto|brotli\w*|zstd|yaml|deflate)\.(so|dylib)")
# Prefixes of names: modules as Swift mangles them, and functions of OpenSSL.
SYMBOLS = re.compile(r"\$s(?:\d+_?NIO\w|14ArgumentParser|7Logging|7TapeTLS|9TapeProxy|11WiretapeCLI)|\b(?:SSL|EVP|X509|BIO)_\w+|\bBrotliDecoder|\bZSTD_|\byaml_parser_")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"check_consumer: {' '.join(map(str, command))} failed: {done.stderr.strip()}")
    return done.stdout


def dependency_problems(tree):
    """Finds dependencies of the packages that the package names itself."""
    for package in tree["dependencies"]:
        for inner in package["dependencies"]:
            yield f"{package['name']} brings {inner['identity']} along; say traits: [] where {tree['name']} depends on it"


def fetch_problems(build):
    for folder in ["checkouts", "repositories", "artifacts"]:
        for found in sorted((build / folder).glob("*")):
            if found.is_dir() and not (folder == "artifacts" and found.name == "extract"):
                yield f"{found.name} was fetched into {folder}; remove {build} and look at the dependencies"


def module_problems(modules, own):
    for name in sorted(modules - OURS - own):
        yield f"the module {name} was built; only {', '.join(sorted(OURS))} are the client's"


def library_problems(needed):
    for name in sorted(needed):
        if LIBRARIES.search(name):
            yield f"the test program is linked with {name}"


def symbol_problems(symbols):
    found = sorted({match.group() for match in map(SYMBOLS.search, symbols) if match})
    for name in found[:10]:
        yield f"the test program has the symbol {name}"


def built_modules(products):
    """The names of targets with at least one object file."""
    return {folder.name.removesuffix(".build") for folder in products.glob("*.build") if any(folder.rglob("*.o"))}


def own_modules(description):
    names = {target["name"] for target in description["targets"]}
    return names | {f"{description['name']}PackageTests", f"{description['name']}PackageDiscoveredTests"}


def problems(package):
    tree = json.loads(run("swift", "package", "--package-path", package, "show-dependencies", "--format", "json"))
    yield from dependency_problems(tree)
    description = json.loads(run("swift", "package", "--package-path", package, "describe", "--type", "json"))
    products = pathlib.Path(run("swift", "build", "--package-path", package, "--show-bin-path").strip())
    program = products / f"{description['name']}PackageTests.xctest"
    if not program.is_file():
        raise SystemExit(f"check_consumer: there is no {program}; run swift build --build-tests --package-path {package}")
    yield from fetch_problems(package / ".build")
    yield from module_problems(built_modules(products), own_modules(description))
    yield from library_problems(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program)))
    yield from symbol_problems(run("nm", program).splitlines())


def self_test(package):
    tree = {"name": "shop", "dependencies": [{"name": "wiretape", "dependencies": [{"identity": "swift-nio"}]}]}
    cases = [
        ("dependencies", dependency_problems(tree), 1),
        ("modules", module_problems({"NIOCore", "TapeTLS", "TapeBytes", "Shop"}, {"Shop"}), 2),
        ("no modules", module_problems({"Shop"} | OURS, {"Shop"}), 0),
        ("libraries", library_problems({"libssl.so.3", "libcrypto.so.3", "libzstd.so.1", "libz.so.1", "libFoundation.so", "libcurl.so.4"}), 3),
        ("symbols", symbol_problems(["0 T $s7NIOCore4Some", "U SSL_new", "U EVP_sha256@OPENSSL", "U yaml_parser_parse", "0 T $s8Wiretape7SessionC"]), 4),
        ("more symbols", symbol_problems(["0 t $s8NIOPosixA", "0 T $s9TapeProxy1x", "U ZSTD_decompress", "0 T $s9TapeBytes4BIO_"]), 3),
    ]
    for name, found, wanted in cases:
        found = list(found)
        if len(found) != wanted:
            return f"check_consumer: wanted {wanted} problems of {name}, found {found}"
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        for name in ["checkouts/swift-nio", "debug/NIOCore.build", "debug/TapeTLS.build"]:
            (build / name).mkdir(parents=True)
        (build / "debug/NIOCore.build/a.o").touch()
        if len(list(fetch_problems(build))) != 1 or built_modules(build / "debug") != {"NIOCore"}:
            return "check_consumer: what was fetched and built is not seen"
        # With the server's trait enabled, SwiftPM itself must report what the same package then depends on.
        copy = build / "copy"
        copy.mkdir()
        manifest = (package / "Package.swift").read_text()
        changed = manifest.replace("traits: []", 'traits: ["Server"]').replace('path: "../.."', f'path: "{ROOT}"')
        if changed.count('traits: ["Server"]') != 1 or changed.count(str(ROOT)) != 1:
            return f"check_consumer: {package}/Package.swift does not depend on Wiretape with traits: []"
        (copy / "Package.swift").write_text(changed)
        shutil.copytree(package / "Sources", copy / "Sources")
        shutil.copytree(package / "Tests", copy / "Tests")
        tree = json.loads(run("swift", "package", "--package-path", copy, "show-dependencies", "--format", "json"))
        found = " ".join(dependency_problems(tree))
        if not all(name in found for name in ["swift-nio", "swift-argument-parser", "swift-log"]):
            return f"check_consumer: with the trait on, only this was found: {found or 'nothing'}"


def main(arguments):
    is_self_test = arguments[:1] == ["--self-test"]
    named = arguments[1:] if is_self_test else arguments
    package = pathlib.Path(named[0] if named else ROOT / "Examples" / "PetShop").resolve()
    if is_self_test:
        return self_test(package)
    found = list(problems(package))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
