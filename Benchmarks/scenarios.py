"""What is measured: each scenario takes the bench and a subject's name, and gives figures.

A scenario's `subjects` and `rounds` say which programs take part and how often. `bad` counts what went wrong: wrong statuses, broken
connections, requests not sent, exchanges missing on the cassette. Figures of a run with `bad` above 0 say nothing.
"""
import json
import os
import subprocess
import time

from processes import LOAD_CORE, established

PROXIES = ("nginx", "haproxy", "wiretape")


def load_command(bench, name, process, *options):
    """wiretape is asked as a forward proxy, in absolute form; the others stand where the origin would."""
    command = ["taskset", "-c", str(LOAD_CORE), str(bench.work / "load"), "-s", f"127.0.0.1:{process.port}"]
    command += ["-t", f"127.0.0.1:{bench.origin_port}"] + (["-m", "proxy"] if name == "wiretape" else [])
    return command + [str(option) for option in options]


def load(bench, name, process, *options):
    """Runs the load client to its end; `bad` is added to what it prints."""
    done = subprocess.run(load_command(bench, name, process, *options), stdout=subprocess.PIPE, timeout=300, check=True)
    result = json.loads(done.stdout)
    wanted = options[options.index("-n") + 1] if "-n" in options else 1
    result["bad"] = result["bad_status"] + result["conn_err"] + max(0, wanted - result["reqs"])
    return result


def missing(bench, sent):
    """How many exchanges the cassette lacks, by its layout: each interaction has its id on a line of its own."""
    count = 0
    with open(bench.tape, "rb") as tape:
        for line in tape:
            count += line.startswith(b'      "id":')
    return max(0, sent - count)


def traffic(bench, name, page, connections):
    """CPU per request with all connections busy; the warm-up is not counted."""
    with bench.subject(name) as process:
        warm = load(bench, name, process, "-P", page, "-c", 8, "-n", 200, "-d", 10)
        before = process.settled_cpu()
        run = load(bench, name, process, "-P", page, "-c", connections, "-d", bench.seconds)
        cpu = process.settled_cpu() - before
        close_s, code = process.stop()
    figures = dict(cpu_us=cpu / max(1, run["reqs"]) * 1e6, rps=run["rps"], p50_us=run["lat_us"]["p50"], p99_us=run["lat_us"]["p99"],
                   requests=run["reqs"], bad=warm["bad"] + run["bad"])
    if name == "wiretape":
        figures.update(close_s=close_s, exit=code, bytes_per_exchange=os.path.getsize(bench.tape) / max(1, run["reqs"]))
        figures["bad"] += missing(bench, 200 + run["reqs"]) + (code != 0)
    return figures


def small(bench, name):
    """1 KiB answers on 64 keep-alive connections: CPU per request"""
    return traffic(bench, name, "/1k.json", 64)


def gzip(bench, name):
    """64 KiB JSON, gzip-coded, on 16 keep-alive connections: CPU per request"""
    return traffic(bench, name, "/64k.json", 16)


def download(bench, name, page, size, count, connections):
    # Straight from the origin once, so that its file is in memory for every subject.
    straight = [str(bench.work / "load"), "-s", f"127.0.0.1:{bench.origin_port}", "-P", page, "-n", "1", "-d", "60"]
    subprocess.run(straight, stdout=subprocess.DEVNULL, timeout=120, check=True)
    with bench.subject(name) as process:
        warm = load(bench, name, process, "-P", "/1k.json", "-n", 50, "-d", 10)
        process.reset_peak()
        memory, before = process.memory()[1], process.settled_cpu()
        run = load(bench, name, process, "-P", page, "-c", connections, "-n", count, "-d", 120)
        growth = process.memory()[2] - memory
        cpu = process.settled_cpu() - before
        close_s, code = process.stop()
    figures = dict(MBps=count * size / run["secs"] / 1e6, growth_MiB=growth, cpu_s_per_GB=cpu / (count * size) * 1e9,
                   bad=warm["bad"] + run["bad"])
    if name == "wiretape":
        figures.update(close_s=close_s, exit=code)
        figures["bad"] += missing(bench, 50 + count) + (code != 0)
    return figures


def large(bench, name):
    """40 downloads of 10 MiB, four at once: MB/s and memory growth"""
    return download(bench, name, "/10m.bin", 10 << 20, 40, 4)


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


def held(bench, name):
    """memory of 1,000 keep-alive connections that are idle after one request each"""
    with bench.subject(name) as process:
        # What the requests themselves leave behind is not a connection's cost.
        bad = load(bench, name, process, "-P", "/1k.json", "-c", 64, "-n", 5000, "-d", 20)["bad"]
        time.sleep(0.5)
        before = process.memory()[0]
        command = load_command(bench, name, process, "-P", "/1k.json", "-c", 1000, "-n", 1000, "-d", 30, "-i")
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
            run = json.loads(client.stdout.readline())
            time.sleep(1)
            after, open_now = process.memory()[0], established(process.port)
            client.stdin.close()
            client.wait(20)
    bad += run["bad_status"] + run["conn_err"]
    return dict(KiB_each=(after - before) * 1024 / 1000, memory_MiB=after, still_open=open_now, bad=bad)


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
    return dict(cpu_us=cpu / max(1, run["reqs"]) * 1e6, rps=run["rps"], p50_us=run["lat_us"]["p50"], memory_MiB=memory, bad=bad)


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
}
