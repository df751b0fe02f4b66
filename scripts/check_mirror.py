#!/usr/bin/env python3
"""Checks that every source file with behaviour has a test file of its name: Sources/X/Sub/Name.swift, Tests/XTests/Sub/NameTests.swift.

A file needs tests when it holds a function, subscript, computed property or deinit with a body, a property observer, or an init that
does more than assign its parameters or literals to properties one by one. Stored properties, cases, protocols and such inits need none. The
file with @main needs none either: scripts and process tests start it.

A test file without its source file is reported too. Tests that cover more than one source file go into a folder whose name ends in "Suites".
So is a folder that Package.swift has no target for: it would never be built, and its tests never fail.

  check_mirror.py [ROOT]      prints what is wrong; exit code 1 if anything is
  check_mirror.py --self-test
"""
import pathlib
import re
import sys
import tempfile

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|(#*)""".*?"""\1|(#+)".*?"\2|"(?:\\.|[^"\\\n])*"', re.S)
DECLARATION = (
    r"(?:func|var|let|init|case|static|public|private|internal|package|fileprivate|mutating|associatedtype|subscript|typealias|@\w+)\b"
)
ASSIGNMENT = re.compile(r"self\.\w+ = (?:[\w.]+|\[:?\]|\"\"|-?[\d_.]+)$|self\.init\(\)$")


def blanked(text):
    """The text without comments, and with every string literal emptied."""
    return TOKEN.sub(lambda match: '""' if match.group()[0] in '"#' else " ", text)


def balanced(text, start, opening, closing):
    """The index behind the bracket that closes the one at start."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == opening) - (text[index] == closing)
        if depth == 0:
            return index + 1
    return len(text)


def body(text, start):
    """The braces' content behind a declaration's signature at start, or None where it has no body (in a protocol)."""
    parenthesis = text.find("(", start)
    after = balanced(text, parenthesis, "(", ")") if parenthesis >= 0 else start
    brace = text.find("{", after)
    if brace < 0 or "}" in text[after:brace] or re.search(r"\n\s*" + DECLARATION, text[after:brace]):
        return None
    return text[brace + 1 : balanced(text, brace, "{", "}") - 1]


def behaviour(source):
    """A word on the first behaviour found, or None."""
    text = blanked(source)
    if re.search(r"^\s*@main\b", text, re.M):
        return None
    for match in re.finditer(r"\b(func|subscript)\b", text):
        if body(text, match.end()) is not None:
            return match.group(1)
    if re.search(r"\bdeinit\s*\{", text):
        return "deinit"
    for match in re.finditer(r"\binit[?!]?\s*[(<]", text):
        if text[: match.start()].endswith((".", "`")):
            continue
        content = body(text, match.start())
        statements = [line.strip() for line in re.split(r"[\n;]", content or "") if line.strip()]
        if not all(ASSIGNMENT.match(statement) for statement in statements):
            return "init"
    for match in re.finditer(r"\bvar\s+`?\w+`?\s*(?::[^={}\n]+)?(=[^{}\n]*)?\{", text):
        content = text[match.end() : balanced(text, match.end() - 1, "{", "}") - 1]
        observed = re.match(r"\s*(?:willSet|didSet)\b", content)
        required = re.fullmatch(r"\s*(?:get|set|async|throws|mutating|nonmutating|\s)+", content)
        if not required and (observed or not match.group(1)):
            return "property with code"
    return None


def targets(root):
    """The folders that Package.swift makes targets of."""
    text = "\n".join(line for line in (root / "Package.swift").read_text().splitlines() if not line.lstrip().startswith("//"))
    declaration = r'\.(systemLibrary|target|executableTarget|testTarget)\(\s*name: "(\w+)"([^\n]*path: "([^"]+)")?'
    # A dependency on a target is written alike, with a condition.
    for kind, name, _, path in re.findall(declaration, re.sub(r'\.target\(name: "\w+", condition:', "", text)):
        yield path or ("Tests/" if kind == "testTarget" else "Sources/") + name


def problems(root):
    built = set(targets(root))
    for folder in sorted(path for parent in ("Sources", "Tests") for path in (root / parent).iterdir() if path.is_dir()):
        name = str(folder.relative_to(root))
        if not any(path == name or path.startswith(name + "/") for path in built):
            yield f"{name}: Package.swift has no target for it; add one"
    for folder in sorted(path for path in (root / "Sources").iterdir() if path.is_dir()):
        for file in sorted(folder.rglob("*.swift")):
            inner = file.relative_to(folder)
            test = root / "Tests" / f"{folder.name}Tests" / inner.with_name(inner.stem + "Tests.swift")
            found = behaviour(file.read_text())
            if found and not test.exists():
                yield f"{file.relative_to(root)}: has a {found} and no tests; write {test.relative_to(root)}"
    for file in sorted((root / "Tests").rglob("*Tests.swift")):
        target, *inner = file.relative_to(root / "Tests").parts
        if any(part.endswith("Suites") for part in inner[:-1]):
            continue
        source = pathlib.Path("Sources", target.removesuffix("Tests"), *inner[:-1], inner[-1].removesuffix("Tests.swift") + ".swift")
        if not (root / source).exists():
            yield f"{file.relative_to(root)}: there is no {source}; move the tests to where the source is, or into a folder named …Suites"


def self_test():
    plain = [
        "struct A { var b: Int; let c = 1 }",
        "public struct A {\n  public var b: Int\n  public init(b: Int = 2) {\n    self.b = b\n    self.c = 0\n    self.d = []\n  }\n}",
        "enum A { case b, c(Int)\n static let d = A(x: 1) }",
        "protocol A {\n  func b() -> Int\n  var c: Int { get set }\n  init(d: Int)\n  static func e() throws\n}\nstruct F {}",
        "// func a() { }\n/* var b: Int { 1 } */\nlet c = \"func d() { }\"",
        "struct A { let b = \"\"\"\n func c() { }\n \"\"\" }",
        "internal import X\n@main struct A { static func main() { run() } }",
        "struct A { var b: [Int] = [] }\nstruct C {}",
        "struct A { static let table = Dictionary(uniqueKeysWithValues: []) }",
    ]
    behaving = [
        "struct A { func b() { print(1) } }",
        "func a(b: Int = (1)) -> [Int: Int] where Int == Int\n{ [:] }",
        "struct A { var b: Int { 1 } }",
        "struct A { var b: Int {\n get { 1 }\n set { } } }",
        "struct A { var b = 1 { didSet { print(b) } } }",
        "struct A { var b: Int = 1 { didSet { print(b) } } }",
        "struct A { init(b: Int) { precondition(b > 0); self.b = b } }",
        "struct A { init(b: Int) { self.b = b + 1 } }",
        "struct A { init?(b: Int) { return nil } }",
        "class A { deinit { close() } }",
        "struct A { subscript(b: Int) -> Int { b } }",
        "struct A { static func < (a: A, b: A) -> Bool { a.c < b.c } }",
        "extension A { var description: String { \"x\" } }",
        "protocol A { func b() }\nextension A { func b() {} }",
    ]
    for text, wanted in [(text, False) for text in plain] + [(text, True) for text in behaving]:
        if bool(behaviour(text)) != wanted:
            return f"check_mirror: wanted behaviour {wanted} in {text!r}"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "Package.swift").write_text(
            '.target(name: "X", dependencies: [.target(name: "Y", condition: c)]),\n.testTarget(\n  name: "XTests"),'
        )
        (root / "Sources/X/Sub").mkdir(parents=True)
        (root / "Tests/XTests/Sub").mkdir(parents=True)
        (root / "Sources/X/Sub/A.swift").write_text(behaving[0])
        (root / "Sources/X/Sub/Plain.swift").write_text(plain[0])
        if len(list(problems(root))) != 1:
            return "check_mirror: a missing test file was not reported"
        (root / "Tests/XTests/Sub/ATests.swift").write_text("")
        if list(problems(root)):
            return "check_mirror: a test file in its place was not found"
        (root / "Tests/XTests/ATests.swift").write_text("")
        (root / "Tests/XTests/WireSuites").mkdir()
        (root / "Tests/XTests/WireSuites/WholeTests.swift").write_text("")
        if len(list(problems(root))) != 1:
            return "check_mirror: a test file in the wrong place was not reported"
        (root / "Tests/XTests/ATests.swift").unlink()
        (root / "Sources/Y").mkdir()
        (root / "Tests/YTests").mkdir()
        if len(list(problems(root))) != 2:
            return "check_mirror: folders without a target were not reported"
        (root / "Package.swift").write_text(
            '.target(name: "X"),\n.testTarget(name: "XTests"),\n.executableTarget(name: "Y"),\n'
            '.target(name: "YTests", path: "Tests/YTests"),'
        )
        if list(problems(root)):
            return "check_mirror: a target with a path of its own was not found"


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return self_test()
    found = list(problems(pathlib.Path(arguments[0] if arguments else __file__ + "/../..").resolve()))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
