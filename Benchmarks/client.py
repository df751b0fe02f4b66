"""Runs the load client, and counts what a cassette lacks."""
import json
import subprocess

from certificates import ORIGIN
from processes import LOAD_CORE


def load_command(bench, name, process, *options, secure=False, host=ORIGIN):
    """wiretape is asked as a forward proxy, in absolute form or by CONNECT; the others stand where the origin would."""
    command = ["taskset", "-c", str(LOAD_CORE), str(bench.work / "load"), "-s", f"127.0.0.1:{process.port}"]
    command += ["-t", f"{host}:{bench.secure_port}" if secure else f"127.0.0.1:{bench.origin_port}"]
    if name == "wiretape":
        command += ["-m", "connect" if secure else "proxy"]
    elif secure:
        command += ["-S"]
    size = bench.sizes.get(options[options.index("-P") + 1])
    if size is not None:
        command += ["-z", str(size)]
    return command + [str(option) for option in options]


def wrong(result, wanted=1):
    """How many answers of a run were wrong, and how many of those wanted did not come."""
    return result["bad_status"] + result["bad_size"] + result["conn_err"] + max(0, wanted - result["reqs"])


def load(bench, name, process, *options, **manner):
    """Runs the load client to its end; `bad` is added to what it prints."""
    command = load_command(bench, name, process, *options, **manner)
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=300, check=True)
    result = json.loads(done.stdout)
    if manner.get("secure") and "hs_us" not in result:
        raise RuntimeError(f"{name} finished no TLS handshake of {result['conn_err']} connections")
    result["bad"] = wrong(result, options[options.index("-n") + 1] if "-n" in options else 1)
    return result


def missing(bench, answers, secure=False):
    """How many of the answers the cassette lacks, by its layout.

    An interaction has its id, the URL, the status and what went wrong on lines of their own; one that went wrong, or another scheme's,
    does not count.
    """
    scheme = b"https" if secure else b"http"
    count = 0
    asked = answered = False
    with open(bench.tape, "rb") as tape:
        for line in tape:
            if line.startswith(b'      "id":'):
                count += asked and answered
                asked = answered = False
            elif line.startswith(b'        "url": '):
                asked = line[15:].startswith(b'"' + scheme + b"://")
            elif line.startswith(b'        "status": '):
                answered = line[18:].startswith(b"200")
            elif line.startswith(b'      "outcome":'):
                answered = False
    return max(0, answers - count - (asked and answered))
