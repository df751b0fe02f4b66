#!/usr/bin/env python3
"""Measures a replay of many long prompts, as a day of an agent's tests leaves them: how long the cassette takes to open, and one request to be answered.

  prompts.py WIRETAPE [COUNT [FOLDER]]

Writes COUNT (10,000) requests to one URL with JSON bodies of 200 KB, each in a file of its own as the recorder keeps them, 2 GB in all. They differ in the
last message. Replays answer 200 of them, in the recorded order and in an order drawn by chance: without rules, for the recorded requests, and with the rules
of --preset openai, for a client whose ids and date are new. The goal: open within 2 s, answer within 5 ms. A replay reads recorded bodies until one is equal,
and each once, so the first request that is far from the beginning takes longer.
"""
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

SIZE = 200_000
ASKED = 200


def prompt(number, run):
    """The body of a request in one of two runs: its date and the id of a tool call are new in each."""
    day, call = ("2026-11-29", f"call_a{number:023}") if run == 1 else ("2027-02-03", f"call_b{number:023}")
    messages = [
        {"role": "system", "content": f"You are an agent. Today is {day}. " + "Be brief, be polite, and cite the page. " * (SIZE // 40 - 20)},
        {"role": "assistant", "tool_calls": [{"id": call, "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": call, "content": "noon"},
        {"role": "user", "content": f"What is in document {number}?"},
    ]
    return json.dumps({"model": "gpt-5", "messages": messages}).encode()


def write(folder, count, head):
    """The cassette; its bodies are written as the recorder writes them."""
    path, bodies = folder / "prompts.json", folder / "prompts.bodies"
    bodies.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        file.write('{\n  "wiretape": 2,\n  "recorder": "wiretape 0.2.0",\n' + head + '  "redaction": {},\n  "interactions": [')
        for number in range(count):
            body = prompt(number, 1)
            name = hashlib.sha256(body).hexdigest() + ".json"
            if not (bodies / name).exists():
                (bodies / name).write_bytes(body)
            one = {"id": number + 1, "started": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1_790_000_000 + number)) + ".000000Z",
                   "request": {"method": "POST", "url": "http://model.test/v1/chat/completions", "version": "HTTP/1.1",
                               "headers": ["Host: model.test", "Content-Type: application/json", f"Content-Length: {len(body)}"],
                               "body": {"size": len(body), "file": f"prompts.bodies/{name}"}},
                   "response": {"status": 200, "reason": "OK", "version": "HTTP/1.1", "headers": ["Content-Type: application/json", f"Content-Length: {len(str(number)) + 11}"],
                                "body": {"size": len(str(number)) + 11, "json": {"answer": number}}}}
            file.write(("," if number else "") + "\n    " + json.dumps(one))
        file.write("\n  ]\n}\n")
    return path


def preset_head(wiretape):
    """The rules of the preset as the head of a cassette has them."""
    table = subprocess.run([wiretape, "config", "--no-config", "--preset", "openai", "--json"], capture_output=True, check=True, text=True).stdout
    rules = {}
    for row in json.loads(table):
        if row["source"] == "preset openai":
            rules.setdefault(row["name"], []).append(row["value"])
    return f'  "match": {json.dumps(rules)},\n'


def measure(wiretape, path, run, numbers):
    """Seconds until the replay listens, and milliseconds for each of some requests."""
    start = time.monotonic()
    replay = subprocess.Popen([wiretape, "replay", path, "--no-config", "--listen", "127.0.0.1:0", "--fail-on", "none"], stderr=subprocess.PIPE, text=True)
    try:
        for line in replay.stderr:
            if found := re.search(r"listening on http://127\.0\.0\.1:([0-9]+)", line):
                break
        opened = time.monotonic() - start
        connection, times = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=600), []
        for number in numbers:
            body = prompt(number, run)
            start = time.monotonic()
            connection.request("POST", "http://model.test/v1/chat/completions", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            times.append((time.monotonic() - start) * 1000)
            if answer.status != 200 or json.loads(text)["answer"] != number:
                sys.exit(f"prompts.py: request {number} got {answer.status} {text[:300]}")
        memory = re.search(r"VmHWM:\s+([0-9]+)", pathlib.Path(f"/proc/{replay.pid}/status").read_text())
        return opened, times, int(memory[1]) >> 10
    finally:
        replay.terminate()
        replay.wait()


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    wiretape, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with tempfile.TemporaryDirectory(prefix="prompts-") as temporary:
        folder = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else pathlib.Path(temporary)
        orders = (("in order", list(range(min(ASKED, count)))), ("by chance", random.Random(7).sample(range(count), min(ASKED, count))))
        for name, head, run in (("no rules", "", 1), ("--preset openai", preset_head(wiretape), 2)):
            path = write(folder, count, head)
            for order, numbers in orders:
                opened, times, memory = measure(wiretape, path, run, numbers)
                print(f"{name}, {order}: opened in {opened:.2f} s; answered in {statistics.median(times):.1f} ms (median), {sorted(times)[len(times) * 95 // 100]:.1f} ms (95 of 100), "
                      f"first {times[0]:.0f} ms, all {sum(times) / 1000:.1f} s; {memory} MiB", flush=True)


if __name__ == "__main__":
    main()
