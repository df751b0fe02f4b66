#!/usr/bin/env python3
"""Writes the tables of settings in docs/configuration.md and docs/control-api.md: settings_table.py DOCS

DOCS has the schema, which `wiretape config --schema` prints. A table is between the two comments of its page.
"""
import json
import pathlib
import sys

BEGIN, END = "<!-- settings: made by make cli-reference -->\n", "<!-- end of settings -->\n"


def rows(schema):
    return schema["$defs"]["settings"]["properties"].items()


def table(schema):
    """The lines of the table of all settings, from the schema as an object."""
    lines = ["| key | option | values | meaning |", "|---|---|---|---|"]
    for key, row in rows(schema):
        option = f"`{row['x-option']}`" if "x-option" in row else ""
        lines.append(f"| `{key}` | {option} | {values(row)} | {meaning(row)} |")
    return "\n".join(lines) + "\n"


def session_table(schema):
    """The lines of the table of those that a session has as members."""
    lines = ["| member | values | meaning |", "|---|---|---|"]
    lines += [f"| `{key}` | {values(row)} | {meaning(row)} |" for key, row in rows(schema) if row.get("x-session")]
    return "\n".join(lines) + "\n"


def meaning(row):
    return row["description"].replace("|", "\\|")


def values(row):
    if "enum" in row:
        return ", ".join(f"`{word}`" for word in row["enum"])
    if row.get("type") == "boolean":
        return "`true`, `false`"
    if row.get("type") == "integer":
        return f"{row['minimum']} to {row['maximum']}" if "maximum" in row else f"a number from {row['minimum']}"
    if "$ref" in row:
        return "strings" if row["$ref"].startswith("#") else "a list of rules"
    if "anyOf" in row and row["anyOf"][0] == {"type": "string"}:
        return "names"
    return "a string" if row.get("type") == "string" else "`client`, or thresholds"


PAGES = {"configuration.md": table, "control-api.md": session_table}


def replaced(page, lines):
    """The page with these lines as its table."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + lines + END + rest.split(END)[1]


def main():
    docs = pathlib.Path(sys.argv[1])
    schema = json.loads((docs / "wiretape.schema.json").read_text())
    for name, make in PAGES.items():
        page = docs / name
        page.write_text(replaced(page.read_text(), make(schema)))


if __name__ == "__main__":
    main()
