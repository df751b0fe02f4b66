#!/usr/bin/env python3
"""Writes manual pages, or the reference docs/cli.md, from the help that the program has of itself.

    wiretape --experimental-dump-help | help_pages.py man FOLDER --version 0.2.0 --date 2026-11-28
    wiretape --experimental-dump-help | help_pages.py markdown > docs/cli.md

swift-argument-parser's own generator drops every character that is not ASCII, and takes a build of four minutes.
"""
import argparse
import json
import pathlib
import sys

# Of Sources/WiretapeCLI/CommandEnd.swift.
EXIT_CODES = [
    ("0", "Done."),
    ("1", "Something failed; the message explains what. For verify, diff, check, store check and store status: something was found. For git merge: a conflict."),
    ("2", "verify, diff, check, store check or store status failed."),
    ("3", "A replay had requests that the cassette does not contain."),
    ("4", "A replay got no request at all, or left exchanges unused and --fail-on names unused."),
    ("5", "Requests came out of order, with --order strict or with --fail-on order."),
    ("6", "The cassette contains a secret, or --fail-on unsearched is set and something could not be searched for secrets."),
    ("7", "The cassette is older than --max-age, with --on-expired fail."),
    ("8", "A traffic rule matched nothing or could not be carried out, with --fail-on rules."),
    ("9", "The verdict on the client found something, with --fail-on client."),
    ("10", "An isolated program tried to get past the proxy, with --fail-on escapes."),
    ("11", "An upload in the cassette is broken, with --fail-on lint."),
    ("64", "The command line is wrong."),
    ("127", 'The command after "--" was not found.'),
]
EXIT_RULE = (
    'If the command after "--" fails, wiretape exits with the command\'s code. If it succeeds but the run has problems, '
    "wiretape exits with the code of the problem; if there are several, with the smallest."
)
# swift-argument-parser adds these to every command, and a command of its own for help.
COMMON = {"help", "version"}


def commands(command, path=()):
    """The command and all below it, in the order of the help, each with its full name."""
    path = (*path, command["commandName"])
    if path[-1] != "help":
        yield path, command
        for sub in command.get("subcommands", []):
            yield from commands(sub, path)


def names(argument):
    """-q, --quiet"""
    return sorted((("-" if name["kind"] == "short" else "--") + name["name"] for name in argument.get("names", [])), key=len)


def options(command):
    return [a for a in command.get("arguments", []) if a["kind"] != "positional" and a["shouldDisplay"]]


def positionals(command):
    return [a for a in command.get("arguments", []) if a["kind"] == "positional" and a["shouldDisplay"]]


def sections(command):
    """Options by the titles of their groups, in the order of the help; the untitled ones first."""
    groups = {None: []}
    for option in options(command):
        groups.setdefault(option.get("sectionTitle"), []).append(option)
    return [(title, group) for title, group in groups.items() if group]


def synopsis(path, command):
    words = [" ".join(path)]
    if command.get("subcommands"):
        return words[0] + " COMMAND"
    if any(option["preferredName"]["name"] not in COMMON for option in options(command)):
        words.append("[OPTION…]")
    for argument in positionals(command):
        name = argument["valueName"].upper() + ("…" if argument["isRepeating"] else "")
        if argument["parsingStrategy"] == "postTerminator":
            name = "-- " + name
        words.append(f"[{name}]" if argument["isOptional"] else name)
    return " ".join(words)


def description(argument):
    text = argument.get("abstract", "")
    values = argument.get("allValues")
    if values and not all(value in text for value in values):
        text += f" One of: {', '.join(values)}."
    if argument.get("defaultValue") and "efault" not in text:
        text += f" Default: {argument['defaultValue']}."
    return text


def paragraphs(command):
    """The text of a command as (kind, lines): prose, or lines that keep their breaks, such as examples."""
    for block in command.get("discussion", "").split("\n\n"):
        lines = block.strip("\n").split("\n")
        if len(lines) > 1 and all(line.startswith("  ") for line in lines[1:]):
            yield "title", lines[:1]
            yield "code", [line[2:] for line in lines[1:]]
        elif block.strip() and not lines[0].startswith("Exit codes:"):
            yield "prose", lines


class ManPage:
    """One page in man(7) macros, UTF-8."""

    def __init__(self, path, command, version, date):
        self.name = "-".join(path)
        self.lines = [f'.TH {self.name.upper()} 1 {date} "wiretape {version}" "User Commands"', ".nh", ".ad l"]
        self.section("NAME")
        self.prose(f"{self.name} \\- {self.escaped(command['abstract'].rstrip('.'))}", escape=False)
        self.section("SYNOPSIS")
        self.prose(synopsis(path, command))
        self.section("DESCRIPTION")
        self.prose(command["abstract"])
        examples = []
        for kind, lines in paragraphs(command):
            if kind == "title":
                examples.append(lines[0])
            elif kind == "code":
                if examples and examples[-1] == "Examples:":
                    examples[-1] = lines
                else:
                    self.lines.append(".PP")
                    self.prose(examples.pop())
                    self.code(lines)
            else:
                self.lines.append(".PP")
                self.prose(" ".join(lines))
        if positionals(command):
            self.section("ARGUMENTS")
            for argument in positionals(command):
                self.item(f"\\fI{self.escaped(argument['valueName'].upper())}\\fR", description(argument))
        for title, group in sections(command):
            if title:
                self.lines.append(f'.SS "{self.escaped(title)}"')
            else:
                self.section("OPTIONS")
            for option in group:
                tag = ", ".join(f"\\fB{self.escaped(name)}\\fR" for name in names(option))
                if option["kind"] == "option":
                    tag += f" \\fI{self.escaped(option['valueName'].upper())}\\fR"
                self.item(tag, description(option))
        subcommands = [sub for sub in command.get("subcommands", []) if sub["commandName"] != "help"]
        if subcommands:
            self.section("COMMANDS")
            for sub in subcommands:
                self.item(f"\\fB{self.escaped(self.name)}\\-{self.escaped(sub['commandName'])}\\fR(1)", sub["abstract"])
        for lines in examples:
            self.section("EXAMPLES")
            self.code(lines)
        self.section("EXIT STATUS")
        if len(path) == 1:
            for code, meaning in EXIT_CODES:
                self.item(f"\\fB{code}\\fR", meaning)
            self.lines.append(".PP")
            self.prose(EXIT_RULE)
        else:
            self.prose("See \\fBwiretape\\fR(1).", escape=False)
        parent = "-".join(path[:-1])
        self.section("SEE ALSO")
        self.prose(f"\\fB{self.escaped(parent or 'wiretape-record')}\\fR(1)", escape=False)

    def section(self, title):
        self.lines.append(f".SH {title}" if " " not in title else f'.SH "{title}"')

    @staticmethod
    def escaped(text):
        """A backslash and the minus of options; groff would print a typographic hyphen, which nobody can copy."""
        return text.replace("\\", "\\e").replace("-", "\\-")

    def prose(self, text, escape=True):
        text = self.escaped(text) if escape else text
        # A period or an apostrophe at the start of a line begins a request.
        self.lines.append("\\&" + text if text[:1] in ".'" else text)

    def item(self, tag, text):
        self.lines += [".TP", tag]
        self.prose(text)

    def code(self, lines):
        self.lines += [".PP", ".nf", ".RS 4"]
        for line in lines:
            self.prose(line)
        self.lines += [".RE", ".fi"]

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


def markdown(root):
    """One page of all commands. Markdown's own characters are escaped in prose; options and examples are code."""

    def prose(text):
        for character in "\\`*_<>|":
            text = text.replace(character, "\\" + character)
        return text

    lines = [
        "# Command reference",
        "",
        "Generated from the program's own help by `make cli-reference`; a test fails if it is out of date.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        *(f"| {code} | {prose(meaning)} |" for code, meaning in EXIT_CODES),
        "",
        EXIT_RULE,
    ]
    for path, command in commands(root):
        lines += ["", f"{'#' * min(len(path) + 1, 4)} {' '.join(path)}", "", f"`{synopsis(path, command)}`", "", prose(command["abstract"])]
        for kind, text in paragraphs(command):
            if kind == "code":
                lines += ["", "```", *text, "```"]
            else:
                lines += ["", prose(" ".join(text))]
        for argument in positionals(command):
            if argument is positionals(command)[0]:
                lines += ["", "| argument | |", "|---|---|"]
            lines.append(f"| `{argument['valueName'].upper()}` | {prose(description(argument))} |")
        for title, group in sections(command):
            group = [option for option in group if option["preferredName"]["name"] not in COMMON]
            if not group:
                continue
            lines += ["", f"| {prose(title) if title else 'option'} | |", "|---|---|"]
            for option in group:
                value = f" {option['valueName'].upper()}".replace("|", "\\|") if option["kind"] == "option" else ""
                lines.append(f"| `{', '.join(names(option))}{value}` | {prose(description(option))} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    forms = parser.add_subparsers(dest="form", required=True)
    man = forms.add_parser("man", help="one page for each command into a folder")
    man.add_argument("folder", type=pathlib.Path)
    man.add_argument("--version", required=True)
    man.add_argument("--date", required=True)
    forms.add_parser("markdown", help="one page of all commands on standard output")
    chosen = parser.parse_args()

    dump = json.load(sys.stdin)
    if dump["serializationVersion"] != 0:
        sys.exit(f"help_pages.py: the help has version {dump['serializationVersion']}, and this reads version 0: adapt it.")
    if chosen.form == "markdown":
        sys.stdout.write(markdown(dump["command"]))
        return
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for path, command in commands(dump["command"]):
        page = ManPage(path, command, chosen.version, chosen.date)
        (chosen.folder / f"{page.name}.1").write_text(page.text, encoding="utf-8")


if __name__ == "__main__":
    main()
