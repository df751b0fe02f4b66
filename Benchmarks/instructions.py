"""Counts the instructions of a recorded 1 KiB request outside of the kernel, those of the stop among them, with valgrind's callgrind.

Counts of one program differ by one or two parts in a hundred, rarely by ten, since what is done in one turn of a loop depends on the time: the median of some rounds tells changes that
the times of a shared machine do not. They are not times: what waits for memory or for another thread costs more than it counts, and the kernel is not in them.
"""
import argparse
import collections
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import client
from subjects import Bench


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wiretape", required=True, metavar="FILE", help="the release build's program")
    parser.add_argument("--requests", type=int, default=2000, metavar="N", help="of the first of two runs, whose difference counts; the second has twice as many")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of two runs each; the median counts")
    parser.add_argument("--connections", type=int, default=64, metavar="N")
    parser.add_argument("--functions", type=int, default=30, metavar="N", help="how many functions are listed, those with the most instructions of their own first")
    chosen = parser.parse_args()
    if not os.access(chosen.wiretape, os.X_OK):
        parser.error(f"there is no program {chosen.wiretape}: build it with sh scripts/release.sh --product wiretape")
    return chosen


def counted(path):
    """Instructions by function, without what it calls: a position's cost that follows `calls=` is the callee's."""
    names, counts = {}, collections.Counter()
    function, is_call = None, False
    text = path.read_text(errors="replace")
    for line in text.splitlines():
        if line.startswith("fn="):
            number, name = re.match(r"fn=\((\d+)\)(?: (.*))?", line).groups()
            function = names.setdefault(number, name)
        elif line.startswith("cfn="):
            number, name = re.match(r"cfn=\((\d+)\)(?: (.*))?", line).groups()
            names.setdefault(number, name)
        elif line.startswith("calls="):
            is_call = True
        elif function and re.match(r"[+*\-\d]", line):
            if not is_call:
                counts[function] += int(line.split()[-1])
            is_call = False
    if sum(counts.values()) != int(re.search(r"^totals: (\d+)", text, re.M).group(1)):
        sys.exit(f"instructions: the functions of {path} do not add up to its total: the profile has lines that are not understood")
    return counts


def run(bench, chosen, program, count):
    """The instructions of a whole recording with so many requests, start and stop included."""
    profile = bench.work / f"profile.{count}"
    wrapper = bench.work / "under-callgrind"
    wrapper.write_text(f'#!/bin/sh\nexec valgrind --tool=callgrind --callgrind-out-file={shlex.quote(str(profile))} {shlex.quote(str(program))} "$@"\n')
    wrapper.chmod(0o755)
    bench.wiretape = str(wrapper)
    with bench.subject("wiretape") as process:
        result = client.load(bench, "wiretape", process, "-P", "/d/%ld", "-k", 1_000_000_000, "-c", chosen.connections, "-n", count, "-d", 280)
        _, code = process.stop()
    bad = result["bad"] + client.missing(bench, result["answers"])
    if bad or code:
        sys.exit(f"instructions: {bad} of {count} answers were wrong or are not in the cassette, exit code {code}: {process.log.read_text(errors='replace')[-400:]}")
    return counted(profile)


def difference(bench, chosen, program):
    """Instructions of a request by function."""
    once, twice = (run(bench, chosen, program, count) for count in (chosen.requests, 2 * chosen.requests))
    return {name: (twice[name] - once[name]) / chosen.requests for name in twice}


def main():
    chosen = options()
    with tempfile.TemporaryDirectory(prefix="wiretape-bench-") as work:
        os.environ["WIRETAPE_CA_DIR"] = f"{work}/authority"  # not the user's own
        bench = Bench(work, chosen.wiretape)
        program = pathlib.Path(work, "wiretape-without-debug-information")
        # Valgrind cannot read all of what the compiler writes.
        subprocess.run(["strip", "--strip-debug", "-o", program, chosen.wiretape], check=True)
        bench.build_load()
        bench.write_pages()
        bench.write_keys()
        with bench.origin():
            rounds = sorted((difference(bench, chosen, program) for _ in range(chosen.rounds)), key=lambda each: sum(each.values()))
    each = rounds[len(rounds) // 2]
    least, median, most = (sum(counts.values()) for counts in (rounds[0], each, rounds[-1]))
    print(f"{median:,.0f} instructions a recorded request ({least:,.0f} to {most:,.0f}), in")
    lines = "".join(f"{each[name]:8,.0f}  {name}\n" for name in sorted(each, key=each.get, reverse=True)[: chosen.functions])
    print(subprocess.run(["swift", "demangle", "--simplified"], input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout, end="")


if __name__ == "__main__":
    main()
