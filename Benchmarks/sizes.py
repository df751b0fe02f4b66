"""A scenario of size: a cassette of 100,000 exchanges beside one of 1,000, both replayed."""
import http.client
import os
import time

import large_cassette
from client import load

LARGE, SMALL = 100_000, 1_000
TURNS = 3


def first_reply(process, origin, path):
    """Milliseconds from the start of the process until one request has its whole answer."""
    begun = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", process.port, timeout=30)
    connection.request("GET", f"http://{origin}{path}")
    answer = connection.getresponse()
    whole = len(answer.read()) == 1024 and answer.status == 200
    connection.close()
    return process.start_ms + (time.perf_counter() - begun) * 1000, whole


def replay_large(bench, name):
    """100,000 recorded exchanges: the first reply after the start, the memory, and, after each was asked for once, the rate beside that with
    1,000"""
    origin = f"127.0.0.1:{bench.origin_port}"
    tapes = {}
    for count in (SMALL, LARGE):
        tape = bench.work / f"{count}.json"
        if not tape.exists():
            large_cassette.write(tape, count, origin)
            # Else the system writes it to the disk beside what is measured.
            os.sync()
        tapes[count] = tape
    path, figures, bad = "/v1/accounts/17/items/%ld?page=1&size=20", {}, 0
    with bench.replay(tapes[LARGE], "large") as large, bench.replay(tapes[SMALL], "small") as small:
        # The last of the GET requests: what is found only by reading the whole file.
        figures["first_reply_ms"], whole = first_reply(large, origin, path % (LARGE * 95 // 100 - 1))
        figures["opened_MiB"] = large.memory()[1]
        for count, process, what in ((SMALL, small, None), (LARGE, large, "once_rps")):
            pages = count * 95 // 100
            run = load(bench, name, process, "-P", path, "-c", 64, "-n", pages, "-k", pages, "-d", 60)
            bad += run["bad"]
            if what:
                figures[what] = run["rps"]
        rates, spent = {LARGE: [], SMALL: []}, {LARGE: [], SMALL: []}
        for _ in range(TURNS):
            for count, process in ((SMALL, small), (LARGE, large)):
                before = process.settled_cpu()
                run = load(bench, name, process, "-P", path, "-c", 64, "-k", count * 95 // 100, "-r", 7, "-d", bench.seconds)
                spent[count].append((process.settled_cpu() - before) / max(1, run["reqs"]) * 1e6)
                rates[count].append(run["rps"])
                bad += run["bad"]
        figures["resident_MiB"] = large.memory()[1]
        codes = [process.stop()[1] for process in (large, small)]
    middle = TURNS // 2
    figures.update(large_rps=sorted(rates[LARGE])[middle], small_rps=sorted(rates[SMALL])[middle], large_cpu_us=sorted(spent[LARGE])[middle],
                   small_cpu_us=sorted(spent[SMALL])[middle])
    figures["large_to_small"] = figures["large_rps"] / figures["small_rps"]
    return dict(figures, bad=bad + (not whole) + sum(code != 0 for code in codes))
