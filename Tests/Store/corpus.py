#!/usr/bin/env python3
"""Runs the DuckDB recipes of docs/store.md on exported exchanges, and on cassettes as they are.

  corpus.py --wiretape PROGRAM [--lines N]     with --lines, also measures the first recipe on that many lines
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def recipes():
    text = (ROOT / "docs/store.md").read_text()
    found = re.findall(r"```sql\n(.*?)```", text, re.S)
    assert len(found) == 2, "docs/store.md has other recipes than this test"
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wiretape", required=True)
    parser.add_argument("--tools", default=".build/store-tools")
    parser.add_argument("--lines", type=int, default=0)
    options = parser.parse_args()
    tools = pathlib.Path(options.tools).resolve()
    if "WIRETAPE_CORPUS" not in os.environ:
        # Again, with DuckDB.
        if not (tools / "bin/python").exists():
            subprocess.run(["python3", "-m", "venv", tools], check=True)
        if subprocess.run([tools / "bin/python", "-c", "import duckdb"], capture_output=True).returncode:
            subprocess.run([tools / "bin/pip", "install", "-q", "duckdb"], check=True)
        os.environ["WIRETAPE_CORPUS"] = "1"
        os.execv(tools / "bin/python", [str(tools / "bin/python"), *sys.argv])
    import duckdb

    wiretape = pathlib.Path(options.wiretape).resolve()
    query, raw = recipes()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        lines = []
        for cassette in sorted((ROOT / "Cassettes").glob("*.json")):
            subprocess.run([wiretape, "export", cassette, "--ndjson", "-o", f"{cassette.stem}.ndjson"], check=True, capture_output=True)
            lines += [json.loads(line) for line in pathlib.Path(f"{cassette.stem}.ndjson").read_text().splitlines()]
        rows = duckdb.sql(query).fetchall()
        assert sum(row[2] for row in rows) == len(lines) > 10, rows
        assert {(row[0], row[1]) for row in rows} == {(line["host"], line.get("status")) for line in lines}, rows
        types = duckdb.sql("SELECT response_headers['content-type'] FROM read_json('*.ndjson', format = 'newline_delimited', "
                           "columns = {response_headers: 'MAP(VARCHAR, VARCHAR)'})").fetchall()
        assert len(types) == len(lines)
        # The second recipe, on this machine in place of a store.
        count = duckdb.sql(raw.replace("s3://tapes/shop/objects/*/*.json.zst", f"{ROOT}/Cassettes/*.json")).fetchall()
        assert count == [(3,)], count
        print(f"duckdb {duckdb.__version__}: {len(lines)} exchanges, recipes ok")
        if options.lines:
            text = "".join(json.dumps(line) + "\n" for line in lines)
            with open("many.ndjson", "w") as many:
                for _ in range(options.lines // len(lines)):
                    many.write(text)
            started = time.monotonic()
            rows = duckdb.sql(query.replace("*.ndjson", "many.ndjson")).fetchall()
            print(f"{sum(row[2] for row in rows)} exchanges, {os.path.getsize('many.ndjson') / 1e6:.0f} MB: {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
