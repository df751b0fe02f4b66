#!/usr/bin/env python3
"""Runs scenarios of real clients: run.py [--wiretape PROGRAM] [--keep] [NAME ...]; without a name all of them.

Each scenario runs in a process of its own with a bound in time, and everything it started ends with it.
"""
import argparse
import ast
import importlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOLS = ROOT / ".build" / "interop"
NOT_SCENARIOS = {"run", "harness"}
# Written into the environment of a scenario, so that its processes are known wherever they are.
MARK = "INTEROP_FOLDER"
# Of the language ecosystems, which install packages of many languages.
ECOSYSTEMS_BOUND = 1800


def constants(name):
    """The constants and the description of a scenario, without importing what it imports."""
    module = ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))
    values = {"DOC": (ast.get_docstring(module) or "").split("\n")[0]}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            try:
                values[statement.targets[0].id] = ast.literal_eval(statement.value)
            except ValueError:
                pass
    return values


def scenarios():
    names = sorted(file.stem for file in HERE.glob("*.py") if file.stem not in NOT_SCENARIOS)
    return {name: values for name in names if (values := constants(name)) and ("NEEDS" in values or name == "ecosystems")}


def needs(chosen):
    """What setup.sh has to look for, in its own notation."""
    found = {}
    for name in chosen:
        values = scenarios()[name]
        packages = values.get("PACKAGES", [])
        for need in values.get("NEEDS", "").split() + [f"={name}:{name}" for name in (packages.split() if isinstance(packages, str) else packages)]:
            found[need] = None
    return " ".join(found)


def install(chosen):
    """Makes a virtual environment that has the chosen scenarios' packages of PyPI."""
    wanted = sorted({package for name in chosen for package in scenarios()[name].get("PYPI", [])})
    stamp = TOOLS / "installed.txt"
    have = set(stamp.read_text().split()) if stamp.exists() else set()
    if not (TOOLS / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", TOOLS], check=True)
        have = set()
    if missing := [package for package in wanted if package not in have]:
        print(f"interop: installing {' '.join(missing)}", flush=True)
        # One by one: together, some of them exclude each other by the versions of a library that both can use.
        for package in missing:
            subprocess.run([TOOLS / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", package], check=True)
        stamp.write_text("\n".join(sorted(have | set(missing))) + "\n")


def run_here(name, wiretape, folder):
    """One scenario in this process; the exit code says whether it holds."""
    import harness
    lab = harness.Lab(name, wiretape, folder, TOOLS)
    try:
        importlib.import_module(name).run(lab)
    finally:
        lab.stop_origins()
    print(f"  {lab.checks} checks, {len(lab.failures)} failures", flush=True)
    return 1 if lab.failures or not lab.checks else 0


def run_apart(name, wiretape, folder, bound):
    """One scenario in a process of its own, within its time."""
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy") and not key.startswith("WIRETAPE_")}
    environment |= {MARK: str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    if name == "ecosystems":
        command = [sys.executable, HERE / "ecosystems.py", "--wiretape", wiretape]
    else:
        command = [TOOLS / "bin" / "python", HERE / "run.py", "--wiretape", wiretape, "--folder", folder, "--one", name]
    process = subprocess.Popen([str(word) for word in command], env=environment, start_new_session=True, cwd=ROOT)
    try:
        code = process.wait(bound)
    except subprocess.TimeoutExpired:
        print(f"  FAIL {name} did not end within {bound} s", flush=True)
        code = 1
    finally:
        end_marked(folder, process)
    return code


def end_marked(folder, process):
    """Ends what a scenario left running: the processes of its session, and those with its mark."""
    if process.poll() is None:
        process.kill()
        process.wait()
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            session = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[3])
            marked = f"{MARK}={folder}\0".encode() in (entry / "environ").read_bytes()
            if session == process.pid or marked:
                os.kill(int(entry.name), signal.SIGKILL)
        except (OSError, IndexError, ValueError):
            continue


def main():
    known = scenarios()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="\n".join(f"  {name:12} {values['DOC']}" for name, values in known.items()))
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenarios to run, all by default")
    parser.add_argument("--wiretape", default=ROOT / ".build" / "debug" / "wiretape", help="the program to try (default: .build/debug/wiretape)")
    parser.add_argument("--keep", action="store_true", help="keep the files of scenarios that hold, too")
    parser.add_argument("--needs", action="store_true", help="print what the scenarios need, as scripts/setup.sh reads it")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        sys.exit(run_here(arguments.one, arguments.wiretape, arguments.folder))
    if unknown := [name for name in arguments.names if name not in known]:
        parser.error(f"there is no scenario {unknown[0]!r}: the scenarios are {', '.join(known)}")
    chosen = arguments.names or list(known)
    if arguments.needs:
        print(needs(chosen))
        return
    wiretape = pathlib.Path(arguments.wiretape).resolve()
    if not os.access(wiretape, os.X_OK):
        parser.error(f"there is no program {wiretape}: build it with \"swift build --product wiretape\", or name one with --wiretape")
    install(chosen)
    failed = []
    for name in chosen:
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"interop-{name}-")).resolve()
        bound = known[name].get("BOUND", ECOSYSTEMS_BOUND if name == "ecosystems" else 300)
        print(f"{name}: {known[name]['DOC']}", flush=True)
        start = time.monotonic()
        code = run_apart(name, wiretape, folder, bound)
        verdict = "ok" if code == 0 else f"failed, see {folder}"
        print(f"{name}: {verdict} ({time.monotonic() - start:.0f} s)", flush=True)
        if code != 0:
            failed.append(name)
        elif not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
    if failed:
        sys.exit(f"interop: {len(failed)} of {len(chosen)} scenarios failed: {', '.join(failed)}")
    print(f"interop: all {len(chosen)} scenarios hold")


if __name__ == "__main__":
    main()
