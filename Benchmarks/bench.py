#!/usr/bin/env python3
"""Measures wiretape beside nginx and haproxy on loopback, and compares the figures with the marks.

Prints a table and writes one JSON line per figure to Benchmarks/out/. Exit code 1 when a measured mark is missed.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from marks import judged, report
from processes import CORES
from scenarios import SCENARIOS
from subjects import Bench

HERE = pathlib.Path(__file__).resolve().parent


def version(*command):
    """The first version number a program prints about itself."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except OSError:
        return None
    found = re.search(r"\d+\.\d+[\w.+~-]*", done.stdout + done.stderr)
    return found and found.group()


def machine(wiretape):
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True)
    return dict(
        date=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), system=platform.platform(),
        processor=processor.group(1) if processor else platform.machine(), cores=len(CORES), load=os.getloadavg()[0],
        python=platform.python_version(), nginx=version("nginx", "-v"), haproxy=version("haproxy", "-v"),
        wiretape=version(wiretape, "--version") if wiretape else None, commit=commit.stdout.strip() or None,
    )


def options():
    listing = "\n".join(f"  {name:12} {entry[0].__doc__}" for name, entry in SCENARIOS.items())
    parser = argparse.ArgumentParser(description=__doc__, epilog="scenarios:\n" + listing,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    release = HERE.parent / ".build/release/wiretape"
    parser.add_argument("--wiretape", default=os.environ.get("WIRETAPE", str(release)), metavar="PATH",
                        help="the program to measure (or WIRETAPE; default: the release build)")
    parser.add_argument("--scenarios", default=",".join(SCENARIOS), help="some of them, with commas between")
    parser.add_argument("--subjects", default="nginx,haproxy,nghttpx,nginx-static,tunnel,wiretape", help="some of them, with commas between")
    parser.add_argument("--rounds", type=int, help="rounds of every scenario, in place of its own number")
    parser.add_argument("--seconds", type=float, default=3, help="length of a timed run (default 3)")
    parser.add_argument("--exchanges", type=int, default=100_000, help="exchanges of the scenario \"many\" (default 100000)")
    parser.add_argument("--work", metavar="FOLDER",
                        help="where bodies and cassettes are written meanwhile, some gigabytes (default: the system's temporary folder)")
    chosen = parser.parse_args()
    for name in chosen.scenarios.split(","):
        if name not in SCENARIOS:
            parser.error(f"there is no scenario \"{name}\"; see --help")
    return chosen


def measure(bench, chosen, subjects, out):
    rows = []
    failed = set()
    for name in chosen.scenarios.split(","):
        function, members, rounds = SCENARIOS[name]
        for number in range(chosen.rounds or rounds):
            # Interleaved, so that whatever else the machine does falls on all of them.
            for subject in (member for member in members if member in subjects and (name, member) not in failed):
                try:
                    figures = function(bench, subject)
                except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
                    figures = dict(error=" ".join(f"{type(error).__name__}: {error}".split())[:300])
                    failed.add((name, subject))  # a program that hangs costs a minute each time
                figures = {key: round(figure, 4) if isinstance(figure, float) else figure for key, figure in figures.items()}
                rows.append(dict(scenario=name, subject=subject, round=number, **figures))
                print(json.dumps(rows[-1]), file=out, flush=True)
                print(f"{name} {number + 1} {subject}: {json.dumps(figures)}", file=sys.stderr, flush=True)
                shutil.rmtree(bench.work / subject, ignore_errors=True)
    return rows


def main():
    chosen = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything started is stopped
    subjects = chosen.subjects.split(",")
    wiretape = chosen.wiretape if shutil.which(chosen.wiretape) else None
    if "wiretape" in subjects and not wiretape:
        print(f"bench: there is no program {chosen.wiretape}; its marks stay open. Build it with make program", file=sys.stderr)
        subjects = [name for name in subjects if name not in ("wiretape", "tunnel")]
    if len(CORES) < 2:
        print("bench: there is one core; the client competes with what it measures", file=sys.stderr)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    (HERE / "out").mkdir(exist_ok=True)
    about = machine(wiretape)
    path = HERE / "out" / f"{about['date'].replace(':', '')[:17]}.jsonl"
    with tempfile.TemporaryDirectory(prefix="wiretape-bench-", dir=chosen.work) as work, open(path, "w") as out:
        print(json.dumps(about), file=out, flush=True)
        os.environ["WIRETAPE_CA_DIR"] = f"{work}/authority"  # not the one of whoever runs this
        bench = Bench(work, wiretape and os.path.abspath(shutil.which(wiretape)))
        bench.seconds, bench.exchanges = chosen.seconds, chosen.exchanges
        bench.write_pages()
        bench.write_keys()
        bench.build_load()
        with bench.origin():
            rows = measure(bench, chosen, subjects, out)
    print("\n" + ", ".join(f"{key} {value}" for key, value in about.items()))
    print("\n" + report(rows) + f"\n\nAll figures: {os.path.relpath(path)}")
    return 1 if any(verdict == "MISS" for *_, verdict in judged(rows)) else 0


if __name__ == "__main__":
    sys.exit(main())
