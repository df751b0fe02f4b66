#!/usr/bin/env python3
"""Reads CHANGELOG.md: its versions, for packages and releases.

    changelog.py notes VERSION                    the section of a version
    changelog.py debian --date @SECONDS           all dated versions as a changelog of Debian
    changelog.py prepare VERSION --date 2026-11-28   dates what is unreleased, and sets the version in the sources and pages
"""
import argparse
import datetime
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "CHANGELOG.md"
VERSION_FILE = ROOT / "Sources/CassetteModel/Interaction/Version.swift"
# Where the version of the program stands besides.
PAGES = [
    "README.md", "docs/*.md", ":!docs/decisions", "Sources/*.docc/*.md", "Tests/DocumentationTests/Fixtures/Consumer/Package.swift", "action.yml",
    "packaging/wiretape.rb", "Drivers/*/README.md", "Drivers/python/pyproject.toml", "Drivers/node/package.json",
]
HEADING = re.compile(r"^## (?:(\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2})|(Unreleased))$", re.M)


def sections():
    """(version or "Unreleased", date or None, text) of each section, newest first."""
    text = FILE.read_text()
    marks = list(HEADING.finditer(text))
    headings = re.findall(r"^## .*$", text, re.M)
    if len(marks) != len(headings):
        sys.exit(f"changelog.py: a heading of {FILE.name} is neither \"## Unreleased\" nor \"## 1.2.3 - 2026-01-31\": {headings}")
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [(mark[1] or "Unreleased", mark[2], text[mark.end():end].strip("\n")) for mark, end in zip(marks, ends)]


def notes(version):
    for name, _, text in sections():
        if name == version:
            return text
    sys.exit(f"changelog.py: {FILE.name} has no section for {version}.")


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def items(text):
    """The entries without their Markdown, each in one line."""
    for entry in re.findall(r"^- (.*(?:\n  .*)*)", text, re.M):
        entry = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(entry.split()))
        yield re.sub(r"[`*]", "", entry)


def debian(moment):
    """Lines of at most 80 columns, as Debian's policy has them."""
    blocks = []
    for version, date, text in sections():
        if not date:
            continue
        when = moment if not blocks else datetime.datetime.fromisoformat(date + "T00:00:00+00:00")
        lines = [f"wiretape ({version}) unstable; urgency=medium", ""]
        for item in items(text):
            lines += textwrap.wrap(item, 76, initial_indent="  * ", subsequent_indent="    ", break_long_words=True, break_on_hyphens=False)
        lines += ["", f" -- The Wiretape authors <wiretape@example.test>  {when.strftime('%a, %d %b %Y %H:%M:%S +0000')}", ""]
        blocks.append("\n".join(lines))
    sys.stdout.write("\n".join(blocks))


def prepare(version, date):
    """Dates the unreleased changes, and writes the version wherever it stands. Writes nothing if something is wrong."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit(f"changelog.py: \"{version}\" is not a version like 0.2.0.")
    source = VERSION_FILE.read_text()
    old = re.search(r'current = "(.+)"', source)[1]
    known = {name: when for name, when, _ in sections()}
    if version in known:
        if old != version:
            sys.exit(f"changelog.py: {FILE.name} has {version}, and the sources have {old}: correct one of them.")
        print(f"{version} of {known[version]} is already prepared.")
        return
    if numbers(version) <= numbers(old):
        sys.exit(f"changelog.py: {version} is not newer than {old}.")
    if not notes("Unreleased"):
        sys.exit(f"changelog.py: there are no unreleased changes to release as {version}.")
    pages = subprocess.run(["git", "-C", ROOT, "grep", "-l", "-F", old, "--", *PAGES], capture_output=True, text=True).stdout.split()
    for page in pages:
        path = ROOT / page
        path.write_text(re.sub(rf"(?<![\d.]){re.escape(old)}(?![\d.]*\d)", version, path.read_text()))
    FILE.write_text(FILE.read_text().replace("## Unreleased\n", f"## Unreleased\n\n## {version} - {date}\n", 1))
    VERSION_FILE.write_text(source.replace(f'"{old}"', f'"{version}"'))
    print(f"changed {old} to {version} in {', '.join(pages + [FILE.name, VERSION_FILE.name])}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    forms = parser.add_subparsers(dest="form", required=True)
    forms.add_parser("notes").add_argument("version")
    forms.add_parser("debian").add_argument("--date", required=True)
    form = forms.add_parser("prepare")
    form.add_argument("version")
    form.add_argument("--date", required=True)
    chosen = parser.parse_args()
    if chosen.form == "notes":
        print(notes(chosen.version))
    elif chosen.form == "debian":
        debian(datetime.datetime.fromtimestamp(int(chosen.date.removeprefix("@")), datetime.timezone.utc))
    else:
        prepare(chosen.version, chosen.date)


if __name__ == "__main__":
    main()
