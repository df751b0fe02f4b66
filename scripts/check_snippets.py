#!/usr/bin/env python3
"""Type-checks the Swift code blocks of documents against built modules.

  check_snippets.py [--prelude FILE] [--modules DIR] [--swift 5|6] [--isolated] [--list] [--minimum COUNT] PAGE...
  check_snippets.py --self-test

A block that a reader would paste counts: it is put into a function of its own, next to the prelude, which has the types and values that pages
speak of. Blocks that only quote a declaration do not count: a signature without a body, or one that is public or open. The placeholders of
documents are filled in, and a type that the block uses and an earlier block of the page declares is declared again: `...` as an argument is a URL, a handler, a label or a credential by its place, `...` as a statement is left out, and
`= // Some X` is a value of the prelude. Nothing else is changed. Exit code 1 if a block does not compile, or if fewer than COUNT do.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
URL = '"https://httpbin.org/get"'


def blocks(page):
    """(line, text) of each Swift block."""
    found, start, lines = [], 0, []
    for number, line in enumerate(page.splitlines(), 1):
        fence = line.strip().startswith("```")
        if fence and not start:
            start, language, indent = number, line.strip().strip("`").split(" ")[0].lower(), len(line) - len(line.lstrip())
            lines = []
        elif fence:
            if language == "swift":
                found.append((start, "\n".join(line[indent:] for line in lines)))
            start = 0
        elif start:
            lines.append(line)
    return found


def quotes_declaration(text):
    """Whether a block shows a declaration of the library rather than its use."""
    code = "\n".join(line for line in text.splitlines() if not line.strip().startswith("//")).strip()
    if re.match(r"(public|open) ", code):
        return True
    # It shows only signatures if every statement begins a function and none has a body.
    if code.startswith("func ") and "{" not in code:
        return True
    # The library's extension of a Foundation type.
    return code.startswith("extension URLRequest")


def filled(text):
    """The text with the placeholders of documents filled in."""
    text = re.sub(r"= // Some (\w+)", r"= some\1", text)
    text = re.sub(r"= \.\.\. // Some Session\.", "= Session()", text)
    text = re.sub(r"URLCredential\(\.\.\.\)", 'URLCredential(user: "a", password: "b", persistence: .none)', text)
    text = re.sub(r"\.(response|responseStream)\(\.\.\.\)", r".\1 { _ in }", text)
    text = re.sub(r"Session\(\.\.\., ", "Session(", text)
    text = re.sub(r"label: \.\.\.", 'label: "label"', text)
    text = re.sub(r"\(\.\.\.?(?=[,)])", f"({URL}", text)
    # A closure that must return a value, which the page leaves to the reader.
    text = re.sub(r"(\.validate \{[^\n]*\n)\s*\.\.\.\n", r"\1    return .success(())\n", text)
    return re.sub(r"^\s*\.\.\.\s*$", "", text, flags=re.M)


def parts(text):
    """(declarations at file level, statements): an extension cannot be inside a function."""
    outer, inner, depth, is_outer = [], [], 0, False
    for line in text.splitlines():
        if depth == 0:
            is_outer = re.match(r"(@\w+ )?extension ", line) is not None
        (outer if is_outer else inner).append(line)
        depth = max(0, depth + line.count("{") - line.count("}"))
    return "\n".join(outer), "\n".join(inner)


DECLARATION = re.compile(r"^(?:final )?(?:struct|class|enum|actor) (\w+)", re.M)


def with_earlier_types(found):
    """The blocks, each preceded by the types that it uses, as last declared in an earlier block of its page."""
    complete, declared, page = [], {}, None
    for block_page, line, text in found:
        if block_page != page:
            page, declared = block_page, {}
        own = set(DECLARATION.findall(text))
        needed = [name for name in declared if name not in own and re.search(rf"\b{name}\b", text)]
        texts = list(dict.fromkeys(text for name in needed for text in declared[name]))
        complete.append((block_page, line, "\n".join([*texts, text])))
        # Only types are kept, not the statements that use them.
        if own and re.match(r"(final )?(struct|class|enum|actor) ", text) and re.search(r"^\}\s*\Z", text, re.M):
            for name in own:
                declared[name] = [*texts, text]
    return complete


def source(number, text, imports, is_isolated):
    """A file with the block in a function."""
    outer, inner = parts(filled(text))
    isolation = "@MainActor " if is_isolated else ""
    # A method, perhaps after a property, of a type that the text around it describes.
    if re.match(r"(let \w+: \w+\n\s*)?func adapt\(", inner.strip()):
        values = re.sub(r"^let (\w+): String$", r'let \1 = ""', inner, flags=re.M)
        inner = f"struct Speaker: RequestInterceptor {{\n{values}\n}}"
    return f"{imports}\n{outer}\n{isolation}func block{number}() async throws {{\n#sourceLocation(file: \"block{number}\", line: 1)\n{inner}\n#sourceLocation()\n}}\n"


def include_flags(modules):
    flags = ["-I", str(modules)]
    # The maps of system libraries, and those that SwiftPM generates for C targets.
    for map_file in sorted(ROOT.glob("Sources/*/module.modulemap")) + sorted(modules.parent.glob("*.build/module.modulemap")):
        flags += ["-Xcc", f"-fmodule-map-file={map_file}"]
    return flags


def errors_of(command, files, folder):
    """Errors by number of the block; -1 means the prelude."""
    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, cwd=folder)
    errors = {}
    for line in done.stderr.splitlines():
        match = re.match(r"(?:.*/)?(?:block(\d+)|Block(\d+)\.swift|Prelude\.swift):\d+:\d+: error: (.*)", line)
        if match:
            number = int(match.group(1) or match.group(2) or -1)
            errors.setdefault(number, []).append(match.group(3))
    if done.returncode and not errors:
        raise SystemExit(f"check_snippets: the compiler failed:\n{done.stderr[:2000]}")
    return errors


def check(found, arguments):
    """Errors by number of the block."""
    imports = "\n".join(f"import {name}" for name in arguments.imports.split(","))
    imports += "\n#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif"
    command = ["swiftc", "-parse-as-library", "-suppress-warnings", "-swift-version", arguments.swift, "-module-name", "Snippets"]
    if arguments.isolated:
        command += ["-default-isolation", "MainActor"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = {}
        if arguments.prelude:
            files[-1] = folder / "Prelude.swift"
            files[-1].write_text(pathlib.Path(arguments.prelude).read_text())
        for number, (_, _, text) in enumerate(found):
            files[number] = folder / f"Block{number}.swift"
            files[number].write_text(source(number, text, imports, arguments.isolated))
        # Blocks that do not even parse would keep the compiler from checking the others.
        errors = errors_of([*command, "-parse"], files.values(), folder)
        rest = [file for number, file in files.items() if number not in errors]
        errors.update(errors_of([*command, "-typecheck", "-whole-module-optimization", *include_flags(arguments.modules)], rest, folder))
        return errors


def self_test():
    page = "text\n```swift\nlet a = 1\n```\n   ```swift\n   b(...)\n   ```\n```sh\nls\n```\n"
    assert blocks(page) == [(2, "let a = 1"), (5, "b(...)")], blocks(page)
    assert quotes_declaration("// A\nfunc a(\n  b: Int) -> Int") and quotes_declaration("public enum A {\n}")
    assert not quotes_declaration("func a() {\n}") and not quotes_declaration("struct A {}")
    assert filled("AF.request(...)\n...\na.response(...)") == f"AF.request({URL})\n\na.response {{ _ in }}"
    page = [(1, 1, "struct A {\n}"), (1, 5, "let a = A()"), (2, 1, "A()")]
    assert [text for *_, text in with_earlier_types(page)] == ["struct A {\n}", "struct A {\n}\nlet a = A()", "A()"]
    assert parts("extension A {\n  b\n}\nlet c = 1") == ("extension A {\n  b\n}", "let c = 1")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--prelude")
    parser.add_argument("--modules", type=pathlib.Path, default=ROOT / ".build/debug/Modules")
    parser.add_argument("--imports", default="Foundation,Wiretape,WiretapeAlamofire")
    parser.add_argument("--swift", default="6")
    parser.add_argument("--isolated", action="store_true", help="in a module that is isolated to the main actor")
    parser.add_argument("--list", action="store_true", help="print each error")
    parser.add_argument("--minimum", type=int)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    found = [(page, line, text) for page in arguments.pages for line, text in blocks(page.read_text()) if not quotes_declaration(text)]
    errors = check(with_earlier_types(found), arguments)
    for number, messages in sorted(errors.items()):
        place = f"{found[number][0].name}:{found[number][1]}" if number >= 0 else "the prelude"
        print(f"{place}: {messages[0]}")
        for message in messages[1:] if arguments.list else []:
            print(f"    {message}")
    compiled = len(found) - len([number for number in errors if number >= 0])
    print(f"{compiled} of {len(found)} blocks compile")
    return 1 if -1 in errors or compiled < (len(found) if arguments.minimum is None else arguments.minimum) else 0


if __name__ == "__main__":
    sys.exit(main())
