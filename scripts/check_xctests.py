#!/usr/bin/env python3
"""Checks that Tests/EntryPoint.swift lists every test method of XCTest: one that is missing would never run in a build without an index.

  check_xctests.py             prints what is missing or not there; exit code 1 if anything is
  check_xctests.py --self-test
"""
import pathlib
import re
import sys

CLASS = re.compile(r"^(?:\w+ )*class (\w+): XCTestCase\b.*?^}", re.M | re.S)
METHOD = re.compile(r"^    func (test\w*)\(\)", re.M)
LISTED = re.compile(r'\("(test\w*)", (?:asyncTest\()?(\w+)\.(test\w*)\)')


def methods(text):
    """The test methods of the classes in a file, as Class.method."""
    return {f"{found[1]}.{name}" for found in CLASS.finditer(text) for name in METHOD.findall(found[0])}


def listed(text):
    """The test methods that the entry point lists, and what is wrong with a line."""
    rows = LISTED.findall(text)
    return {f"{owner}.{method}" for _, owner, method in rows}, [f'"{name}" runs {method}' for name, _, method in rows if name != method]


def problems(files, entry):
    found = set().union(*map(methods, files))
    there, wrong = listed(entry)
    return wrong + [f"{name} is missing" for name in sorted(found - there)] + [f"{name} does not exist" for name in sorted(there - found)]


def self_test():
    file = "final class A: XCTestCase {\n    func testOne() {\n    }\n    func testTwo() async throws {}\n    func helper() {}\n}\n"
    right = '("testOne", A.testOne), ("testTwo", asyncTest(A.testTwo)),'
    assert problems([file], right) == []
    assert problems([file], '("testOne", A.testOne),') == ["A.testTwo is missing"]
    assert problems([], right) == ["A.testOne does not exist", "A.testTwo does not exist"]
    assert problems([file], right.replace('("testOne"', '("testTwo"')) == ['"testTwo" runs testOne']


if sys.argv[1:] == ["--self-test"]:
    self_test()
    sys.exit()
tests = pathlib.Path(__file__).resolve().parent.parent / "Tests"
entry = tests / "EntryPoint.swift"
lines = problems([path.read_text() for path in tests.rglob("*.swift") if path.name not in ("EntryPoint.swift", "XCTMain.swift")], entry.read_text())
for line in lines:
    print(f"Tests/EntryPoint.swift: {line}")
sys.exit(1 if lines else 0)
