#!/usr/bin/env python3
"""What the program is made of: Swift packages, Swift's own library, and the system's libraries that it loads.

    components.py sbom PROGRAM         an SPDX 2.3 document on standard output
    components.py licenses FOLDER      copies the licences and notices of what is inside of the program
    components.py copyright            the same as a copyright file of Debian

An unknown component is an error: nothing is left out in silence.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKOUTS = ROOT / ".build/checkouts"
# Part of the toolchain, and of no lock file. In the program if it does not load the library, and has these bytes; licences as in their repositories.
TOOLCHAIN = [
    ("swift", "swiftlang/swift", "libswiftCore", b"", "Apache-2.0 WITH Swift-exception"),
    ("swift-corelibs-libdispatch", "swiftlang/swift-corelibs-libdispatch", "libdispatch", b"", "Apache-2.0 WITH Swift-exception"),
    ("swift-foundation", "swiftlang/swift-foundation", "libFoundationEssentials", b"FoundationEssentials", "Apache-2.0 WITH Swift-exception"),
    ("swift-corelibs-foundation", "swiftlang/swift-corelibs-foundation", "libFoundation.so", b"10Foundation6NSData", "Apache-2.0 WITH Swift-exception"),
    ("swift-foundation-icu", "swiftlang/swift-foundation-icu", "lib_FoundationICU", b"icudt", "Apache-2.0 WITH Swift-exception AND Unicode-3.0"),
]
# By Debian's names of source packages: dpkg knows versions, and licences only as prose.
SYSTEM_LICENSES = {
    "brotli": "MIT",
    "curl": "curl",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "libdeflate": "MIT",
    "libyaml": "MIT",
    "libzstd": "BSD-3-Clause OR GPL-2.0-only",
    "nghttp2": "MIT",
    "openssl": "Apache-2.0",
    "zlib": "Zlib",
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def version():
    return re.search(r'current = "(.+)"', (ROOT / "Sources/CassetteModel/Interaction/Version.swift").read_text())[1]


def swift_version():
    return re.search(r"Swift version (\S+)", run("swift", "--version"))[1]


def swift_packages():
    """(name, version, revision, location, licence) of each pinned package."""
    for pin in sorted(json.loads((ROOT / "Package.resolved").read_text())["pins"], key=lambda pin: pin["identity"]):
        text = " ".join((CHECKOUTS / pin["identity"] / "LICENSE.txt").read_text().split())
        if "Apache License Version 2.0" not in text:
            sys.exit(f"components.py: the licence of {pin['identity']} is not the Apache License 2.0: name it here.")
        licence = "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
        yield pin["identity"], pin["state"]["version"], pin["state"]["revision"], pin["location"], licence


def toolchain_parts(program):
    code, loaded = program.read_bytes(), run("ldd", program)
    for name, repository, library, mark, licence in TOOLCHAIN:
        if library not in loaded and mark in code:
            yield name, repository, licence


def system_libraries(program):
    """(library, package, version, licence) of everything that the dynamic linker loads."""
    for line in sorted(run("ldd", program).splitlines()):
        match = re.search(r"(/\S+) \(0x", line)
        if "not found" in line:
            sys.exit(f"components.py: {line.strip()}")
        if not match:
            continue
        path = pathlib.Path(match[1])
        # Debian merged /lib into /usr/lib, and dpkg knows some files by the old name only.
        for candidate in (path, path.resolve(), pathlib.Path("/usr" + str(path)), pathlib.Path(str(path.resolve()).removeprefix("/usr"))):
            found = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True)
            if found.returncode == 0:
                break
        else:
            sys.exit(f"components.py: no package contains {path}")
        package = found.stdout.split(": ")[0].split(",")[0]
        number, source = run("dpkg-query", "-W", "-f", "${Version}\t${source:Package}", package).split("\t")
        licence = SYSTEM_LICENSES.get(re.sub(r"-\d+$", "", source))
        if licence is None:
            sys.exit(f"components.py: the licence of {source} ({path}) is not known here: name it in SYSTEM_LICENSES.")
        yield path.name, package.split(":")[0], number, licence


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", text)


def sbom(program):
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    packages, relations = [], [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-wiretape")]

    def add(name, number, licence, location="NOASSERTION", purl=None, relation=None, **more):
        package = {
            "SPDXID": identifier(name), "name": name, "versionInfo": number, "downloadLocation": location, "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more,
        }
        if purl:
            package["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
        packages.append(package)
        if relation:
            relations.append(("SPDXRef-wiretape", relation, package["SPDXID"]))

    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    add("wiretape", version(), "Apache-2.0", primaryPackagePurpose="APPLICATION")
    for name, number, revision, location, licence in swift_packages():
        path = location.removeprefix("https://").removesuffix(".git")
        add(name, number, licence, f"git+{location}@{revision}", f"pkg:swift/{path}@{number}", "STATIC_LINK")
    for name, repository, licence in toolchain_parts(program):
        number = swift_version()
        add(name, number, licence, f"git+https://github.com/{repository}", f"pkg:github/{repository}@swift-{number}-RELEASE", "STATIC_LINK")
    for library, package, number, licence in system_libraries(program):
        add(library, number, licence, purl=f"pkg:deb/debian/{package}@{number}", relation="DYNAMIC_LINK")
    json.dump(
        {
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"wiretape-{version()}",
            "documentNamespace": f"https://example.test/wiretape/spdx/{version()}/{digest}",
            "creationInfo": {
                "created": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "creators": [f"Tool: wiretape-components-{version()}"],
            },
            "packages": packages,
            "relationships": [
                {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations
            ],
        },
        sys.stdout, indent=1)
    print()


def texts():
    """(file name, path) of the licences and notices of what is linked into the program."""
    for name, *_ in swift_packages():
        for path in sorted(CHECKOUTS.glob(f"{name}/LICENSE*")) + sorted(CHECKOUTS.glob(f"{name}/NOTICE*")):
            yield f"{name}-{path.stem.lower()}.txt", path
    toolchain = pathlib.Path(shutil.which("swift")).resolve().parent.parent
    yield "swift-license.txt", toolchain / "share/swift/LICENSE.txt"


def paragraph(path):
    """Text of a field of a Debian control file: lines begin with a space, empty ones have a period."""
    lines = path.read_text().strip("\n").expandtabs(4).splitlines()
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in lines)


def copyright():
    print("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/")
    print("Upstream-Name: wiretape\nSource: https://example.test/wiretape\n")
    print("Files: *\nCopyright: 2026 The Wiretape authors\nLicense: Apache-2.0\n")
    print("License: Apache-2.0\n On Debian systems, the text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.\n")
    print("Comment:\n The program contains these Swift packages, under the Apache License 2.0, some with the Swift Runtime Library Exception:")
    for name, number, _, location, licence in swift_packages():
        print(f" {name} {number}, {location}: {licence}")
    print(f" Swift {swift_version()} with Dispatch and Foundation, https://www.swift.org: Apache-2.0 WITH Swift-exception")
    for name, path in texts():
        if "notice" in name:
            print(f" .\n Notice of {name.removesuffix('-notice.txt')}:\n .\n{paragraph(path)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    forms = parser.add_subparsers(dest="form", required=True)
    forms.add_parser("sbom").add_argument("program", type=pathlib.Path)
    forms.add_parser("licenses").add_argument("folder", type=pathlib.Path)
    forms.add_parser("copyright")
    chosen = parser.parse_args()
    if chosen.form == "sbom":
        sbom(chosen.program)
    elif chosen.form == "licenses":
        for name, path in texts():
            shutil.copyfile(path, chosen.folder / name)
    else:
        copyright()


if __name__ == "__main__":
    main()
