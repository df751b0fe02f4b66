"""What is measured: each scenario takes the bench and a subject's name, and gives figures.

A scenario's `subjects` and `rounds` say which programs take part and how often. `bad` counts what went wrong: wrong statuses, broken
connections, requests not sent, exchanges missing on the cassette. Figures of a run with `bad` above 0 say nothing.
"""
import json
import os
import subprocess
import time

import bodies
import multiplexed
import sizes
import websockets
from certificates import NAMES, NUMBERED
from client import load, load_command, missing, wrong
from processes import established

PROXIES = ("nginx", "haproxy", "wiretape")


# So many different pages that none is asked for twice: a recorder may remember what it has seen.
DIFFERENT = ("-P", "/d/%ld", "-k", 1_000_000_000)


def latencies(run):
    return {f"{name}_us": run["lat_us"][name] for name in ("p50", "p99", "p999")}


def traffic(bench, name, connections, *options, secure=False):
    """CPU per request with all connections busy, each request another page; the warm-up is not counted."""
    with bench.subject(name, secure) as process:
        warm = load(bench, name, process, *DIFFERENT, "-o", 2_000_000_000, "-c", 8, "-n", 200, "-d", 10, *options, secure=secure)
        before = process.settled_cpu()
        run = load(bench, name, process, *DIFFERENT, "-c", connections, "-d", bench.seconds, *options, secure=secure)
        cpu = process.settled_cpu() - before
        close_s, code = process.stop()
    figures = dict(cpu_us=cpu / max(1, run["reqs"]) * 1e6, rps=run["rps"], **latencies(run), requests=run["reqs"], bad=warm["bad"] + run["bad"])
    if name == "wiretape":
        figures.update(close_s=close_s, stop_cpu_us=process.stop_cpu / max(1, run["reqs"]) * 1e6, exit=code,
                       bytes_per_exchange=os.path.getsize(bench.tape) / max(1, run["reqs"]))
        figures["bad"] += missing(bench, warm["answers"] + run["answers"], secure) + (code != 0)
    return figures


def small(bench, name):
    """1 KiB answers, each another one, on 64 keep-alive connections: CPU per request"""
    return traffic(bench, name, 64)


def gzip(bench, name):
    """2,000 different gzip-coded bodies of 64 KiB JSON, each once, on 16 keep-alive connections: CPU per request, and what is left for the stop"""
    count = bench.coded_pages
    with bench.subject(name) as process:
        warm = load(bench, name, process, "-P", "/1k.json", "-c", 8, "-n", 200, "-d", 10)
        before = process.settled_cpu()
        run = load(bench, name, process, "-P", "/z/%ld.json", "-c", 16, "-n", count, "-k", count, "-d", 60)
        during = process.cpu()
        after = process.settled_cpu()
        close_s, code = process.stop()
    figures = dict(cpu_us=(during - before) / count * 1e6, rps=run["rps"], **latencies(run), bad=warm["bad"] + run["bad"])
    if name == "wiretape":
        figures.update(later_cpu_us=(after - during + process.stop_cpu) / count * 1e6, stop_ms=close_s / count * 1000, exit=code)
        figures["bad"] += missing(bench, warm["answers"] + run["answers"]) + (code != 0)
    return figures


def https(bench, name):
    """1 KiB answers, each another one, on 64 keep-alive connections inside TLS, each tunnel intercepted: CPU per request"""
    return traffic(bench, name, 64, secure=True)


def handshake(bench, name):
    """a new connection, tunnel and TLS handshake for each 1 KiB answer, 16 at once, the leaf cached: CPU per request"""
    return traffic(bench, name, 16, "-N", secure=True)


def contact(bench, name):
    """first contact with 200 names, one after another: milliseconds until the TLS handshake is done, and at the second contact"""
    with bench.subject(name, secure=True) as process:
        warm = load(bench, name, process, "-P", "/1k.json", "-n", 5, "-d", 10, "-N", secure=True)
        before = process.settled_cpu()
        asked = ("-P", "/1k.json", "-n", NAMES, "-k", NAMES, "-d", 60, "-N")
        first = load(bench, name, process, *asked, secure=True, host=NUMBERED)
        cpu = process.settled_cpu() - before
        again = load(bench, name, process, *asked, secure=True, host=NUMBERED)
        memory, code = process.memory()[0], process.stop()[1]
    figures = {"p50_ms": first["hs_us"]["p50"] / 1000, "p99_ms": first["hs_us"]["p99"] / 1000, "again_p50_ms": again["hs_us"]["p50"] / 1000,
               "cpu_ms": cpu / NAMES * 1000, "memory_MiB": memory, "bad": warm["bad"] + first["bad"] + again["bad"]}
    if name == "wiretape":
        figures["bad"] += missing(bench, warm["answers"] + first["answers"] + again["answers"], secure=True) + (code != 0)
    return figures


def download(bench, name, page, size, count, connections, secure=False):
    # Straight from the origin once, so that its file is in memory for every subject.
    straight = [str(bench.work / "load"), "-s", f"127.0.0.1:{bench.origin_port}", "-P", page, "-n", "1", "-d", "60"]
    subprocess.run(straight, stdout=subprocess.DEVNULL, timeout=120, check=True)
    with bench.subject(name, secure) as process:
        warm = load(bench, name, process, "-P", "/1k.json", "-n", 50, "-d", 10, secure=secure)
        process.reset_peak()
        memory, before = process.memory()[1], process.settled_cpu()
        run = load(bench, name, process, "-P", page, "-c", connections, "-n", count, "-d", 120, secure=secure)
        growth = process.memory()[2] - memory
        cpu = process.settled_cpu() - before
        close_s, code = process.stop()
    figures = dict(MBps=count * size / run["secs"] / 1e6, growth_MiB=growth, cpu_s_per_GB=cpu / (count * size) * 1e9,
                   bad=warm["bad"] + run["bad"])
    if name == "wiretape":
        figures.update(close_s=close_s, exit=code)
        figures["bad"] += missing(bench, 50 + count, secure) + (code != 0)
    return figures


def large(bench, name):
    """40 downloads of 10 MiB, four at once: MB/s and memory growth"""
    return download(bench, name, "/10m.bin", 10 << 20, 40, 4)


def https_large(bench, name):
    """40 downloads of 10 MiB inside TLS, four at once: MB/s and memory growth"""
    return download(bench, name, "/10m.bin", 10 << 20, 40, 4, secure=True)


def huge(bench, name):
    """one download of 2 GiB: memory growth"""
    return download(bench, name, "/2g.bin", 2 << 30, 1, 1)


def many(bench, name):
    """100,000 different exchanges on 32 connections: rate of the first and last tenth, memory, opening the cassette"""
    total, at, rates, bad = bench.exchanges, 0, [], 0
    with bench.subject(name) as process:
        bad += load(bench, name, process, "-P", "/1k.json", "-n", 200, "-d", 10)["bad"]
        process.reset_peak()
        memory = process.memory()[1]
        for part in (total // 10, total - 2 * (total // 10), total // 10):
            run = load(bench, name, process, "-P", "/d/%ld", "-c", 32, "-n", part, "-k", part, "-o", at, "-d", 120)
            at += part
            bad += run["bad"]
            rates.append(run["rps"])
        _, resident, peak = process.memory()
        close_s, code = process.stop()
    figures = dict(first_rps=rates[0], last_rps=rates[-1], last_to_first=rates[-1] / rates[0], growth_MiB=peak - memory,
                   after_MiB=resident, bad=bad)
    if name == "wiretape":
        begun = time.perf_counter()
        command = [bench.wiretape, "inspect", str(bench.tape), str(total)]
        opened = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        figures.update(open_s=time.perf_counter() - begun, opens=int(opened.returncode == 0), close_s=close_s, exit=code)
        figures["cassette_MB"] = os.path.getsize(bench.tape) / 1e6
        figures["bad"] += missing(bench, 200 + total) + (code != 0)
    return figures


def idle(bench, name):
    """memory after the start, without traffic"""
    with bench.subject(name) as process:
        time.sleep(1)
        return dict(memory_MiB=process.memory()[0], bad=0)


def holding(bench, name, secure=False):
    with bench.subject(name, secure) as process:
        # What the requests themselves leave behind is not a connection's cost.
        bad = load(bench, name, process, "-P", "/1k.json", "-c", 64, "-n", 5000, "-d", 20, secure=secure)["bad"]
        time.sleep(0.5)
        before = process.memory()[0]
        command = load_command(bench, name, process, "-P", "/1k.json", "-c", 1000, "-n", 1000, "-d", 30, "-i", secure=secure)
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
            run = json.loads(client.stdout.readline())
            time.sleep(1)
            after, open_now = process.memory()[0], established(process.port)
            client.stdin.close()
            client.wait(20)
        code = process.stop()[1]
    bad += wrong(run, 1000)
    if name == "wiretape":
        bad += missing(bench, 6000, secure) + (code != 0)
    return dict(KiB_each=(after - before) * 1024 / 1000, memory_MiB=after, still_open=open_now, bad=bad)


def held(bench, name):
    """memory of 1,000 keep-alive connections that are idle after one request each"""
    return holding(bench, name)


def https_held(bench, name):
    """memory of 1,000 intercepted connections that are idle after one request each"""
    return holding(bench, name, secure=True)


def start(bench, name):
    """milliseconds from the start of the process until it accepts connections, median of 7"""
    times = []
    for _ in range(7):
        with bench.subject(name) as process:
            times.append(process.start_ms)
    return dict(start_ms=sorted(times)[3], fastest_ms=min(times), bad=0)


def replay(bench, name):
    """1,000 recorded 1 KiB answers in random order on 64 connections, against nginx serving files: CPU per request"""
    pages, tape, bad = 1000, bench.work / "replayed.json", 0
    if name == "wiretape" and not tape.exists():
        with bench.subject(name) as process:
            bad += load(bench, name, process, "-P", "/d/%ld", "-c", 16, "-n", pages, "-k", pages, "-d", 30)["bad"]
            process.stop()
        bad += missing(bench, pages)
        os.rename(bench.tape, tape)
    with bench.replay(tape) if name == "wiretape" else bench.static_files(pages) as process:
        bad += load(bench, name, process, "-P", "/d/%ld", "-c", 8, "-n", pages, "-k", pages, "-d", 10)["bad"]
        before = process.settled_cpu()
        run = load(bench, name, process, "-P", "/d/%ld", "-c", 64, "-k", pages, "-r", 7, "-d", bench.seconds)
        cpu, memory = process.settled_cpu() - before, process.memory()[0]
        code = process.stop()[1]
    bad += run["bad"] + (name == "wiretape" and code != 0)
    return dict(cpu_us=cpu / max(1, run["reqs"]) * 1e6, rps=run["rps"], **latencies(run), memory_MiB=memory, bad=bad)


# name: (function, subjects, rounds)
SCENARIOS = {
    "small": (small, PROXIES, 3),
    "gzip": (gzip, PROXIES, 3),
    "large": (large, ("nginx", "wiretape"), 3),
    "huge": (huge, ("nginx", "wiretape"), 1),
    "many": (many, ("nginx", "wiretape"), 1),
    "idle": (idle, PROXIES, 1),
    "held": (held, PROXIES, 1),
    "start": (start, PROXIES, 1),
    "replay": (replay, ("nginx-static", "wiretape"), 3),
    "replay-large": (sizes.replay_large, ("wiretape",), 1),
    "https": (https, ("nginx", "wiretape"), 3),
    "handshake": (handshake, ("nginx", "wiretape"), 3),
    "contact": (contact, ("nginx", "wiretape"), 3),
    "https-large": (https_large, ("nginx", "wiretape"), 3),
    "https-held": (https_held, ("nginx", "wiretape"), 1),
    "http2": (multiplexed.http2, ("haproxy", "nghttpx", "wiretape"), 3),
    "http2-contact": (multiplexed.http2_contact, ("haproxy", "nghttpx", "wiretape"), 3),
    "http2-held": (multiplexed.http2_held, ("haproxy", "wiretape"), 1),
    "websocket": (websockets.echo, ("tunnel", "wiretape"), 3),
    "websocket-large": (websockets.large, ("tunnel", "wiretape"), 3),
    "websocket-burst": (websockets.burst, ("tunnel", "wiretape"), 3),
    "websocket-huge": (websockets.huge, ("wiretape",), 1),
    "websocket-many": (websockets.many, ("wiretape",), 1),
    "websocket-held": (websockets.held, ("wiretape",), 1),
    "websocket-deflated": (websockets.held_deflated, ("wiretape",), 1),
    "websocket-opening": (websockets.opening, ("wiretape",), 3),
    "loop": (bodies.loop, ("wiretape",), 3),
    "upload": (bodies.upload, ("wiretape",), 1),
    "restored": (bodies.restored, ("wiretape",), 1),
}
