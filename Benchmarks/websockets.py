"""WebSockets: what recording their messages costs beside a tunnel that nobody looks into.

Subjects are "wiretape", which records the messages, and "tunnel": the same program, asked for a protocol that it does not know, so that it
passes the same bytes on unread. The load client and the origin are those of socket.c.
"""
import json
import os
import re
import socket
import subprocess
import time

from processes import LOAD_CORE, SUBJECT_CORE, Process, established, free_port

PROTOCOLS = {"wiretape": "websocket", "tunnel": "chat"}
# "Hello" as RFC 7692, 7.2.3.1 deflates it, and masked with zeros.
DEFLATED = bytes.fromhex("c187 00000000 f248cdc9c90700")
PLAIN = bytes.fromhex("8185 00000000 48656c6c6f")


def program(bench):
    path = bench.work / "socket"
    if not path.exists():
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "socket.c")
        subprocess.run(["cc", "-O2", "-o", str(path), source], check=True)
    return str(path)


def origin(bench):
    port = free_port()
    return Process([program(bench), "serve", str(port)], port, LOAD_CORE, bench.folder("sockets"))


def recorder(bench, name="wiretape"):
    folder, port = bench.folder(name), free_port()
    command = [bench.wiretape, "record", str(folder / "tape.json"), "--listen", f"127.0.0.1:{port}", "--quiet", "--loops", "1"]
    return Process(command, port, SUBJECT_CORE, folder)


def run(bench, mode, process, origin_port, name, *arguments):
    """Runs the load to its end; gives its count and its seconds."""
    command = ["taskset", "-c", str(LOAD_CORE), program(bench), mode, process.port, origin_port, PROTOCOLS[name], *arguments]
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=600, text=True)
    if done.returncode:
        raise RuntimeError(f"socket {mode}: {done.stderr[-300:]}")
    count, seconds = done.stdout.split()
    return int(count), float(seconds)


def messages(bench, name):
    """How many messages each WebSocket of the cassette has, and how each ended."""
    tape = bench.work / name / "tape.json"
    found = []
    for interaction in json.loads(tape.read_bytes())["interactions"]:
        said = interaction.get("webSocket")
        count = len(said) if isinstance(said, list) else (said or {}).get("count", 0)
        found.append((count, interaction.get("outcome", "complete")))
    return found


def echo(bench, name):
    """64 conversations that say 100 bytes of JSON and hear them again: messages per second, and CPU for each"""
    with origin(bench) as server, recorder(bench, name) as process:
        run(bench, "echo", process, server.port, name, 64, 100, 0.5)
        before = process.settled_cpu()
        count, seconds = run(bench, "echo", process, server.port, name, 64, 100, bench.seconds)
        cpu = process.settled_cpu() - before
        code = process.stop()[1]
        bad = int(code != 0)
    if name == "wiretape":
        bad += sum(count for count, _ in messages(bench, name)) < count
    return dict(per_second=count / seconds, cpu_us=cpu / count * 1e6, messages=count, bad=bad)


def flooded(bench, name, size, count):
    with origin(bench) as server, recorder(bench, name) as process:
        before = process.settled_cpu()
        total, seconds = run(bench, "flood", process, server.port, name, size, count)
        cpu = process.settled_cpu() - before
        code = process.stop()[1]
        bad = int(code != 0)
    if name == "wiretape":
        bad += [found for found, _ in messages(bench, name)] != [count + 2]
    return dict(MBps=total / seconds / 1e6, per_second=count / seconds, cpu_us=cpu / count * 1e6, bad=bad)


def large(bench, name):
    """one conversation of 10,000 messages of 64 KB: MB/s"""
    return flooded(bench, name, 64_000, 10_000)


def burst(bench, name):
    """one conversation of 200,000 messages of 100 bytes, as fast as they are taken: messages per second"""
    return flooded(bench, name, 100, 200_000)


def huge(bench, name):
    """one message of 100 MB: seconds, and memory growth"""
    with origin(bench) as server, recorder(bench, name) as process:
        run(bench, "echo", process, server.port, name, 1, 100, 0.2)
        before = process.memory()[0]
        process.reset_peak()
        total, seconds = run(bench, "flood", process, server.port, name, 100_000_000, 1)
        process.settled_cpu()
        growth = process.memory()[2] - before
        code = process.stop()[1]
    files = [file.stat().st_size for file in (bench.work / name / "tape.bodies").glob("*.bin")]
    return dict(MBps=total / seconds / 1e6, growth_MiB=growth, bad=int(code != 0) + (files != [100_000_000]))


def many(bench, name):
    """1,000,000 messages of 100 bytes in one conversation: memory growth between the first tenth and the last"""
    count = 1_000_000
    with origin(bench) as server, recorder(bench, name) as process:
        run(bench, "flood", process, server.port, name, 100, count // 10)
        process.settled_cpu()
        before = process.memory()[0]
        process.reset_peak()
        total, seconds = run(bench, "flood", process, server.port, name, 100, count)
        process.settled_cpu()
        after, _, peak = process.memory()
        code = process.stop()[1]
    bad = int(code != 0) + ([found for found, _ in messages(bench, name)] != [count // 10 + 2, count + 2])
    return dict(per_second=count / seconds, growth_MiB=after - before, peak_growth_MiB=peak - before, bad=bad)


def opening(bench, name):
    """a recorded conversation of 100,000 messages: milliseconds from the question to its first replayed message, and from the start"""
    count = 100_000
    with origin(bench) as server, recorder(bench, name) as process:
        run(bench, "flood", process, server.port, name, 100, count)
        process.stop()
        server_port = server.port
    folder, port = bench.folder("replay"), free_port()
    command = [bench.wiretape, "replay", str(bench.work / name / "tape.json"), "--listen", f"127.0.0.1:{port}", "--loops", "1"]
    begun = time.perf_counter()
    with Process(command, port, SUBJECT_CORE, folder) as process:
        asked = time.perf_counter()
        connection = ask(process.port, server_port, f"/flood/100/{count}")
        received = len(connection.recv(1))
        first = time.perf_counter()
        while received < count * 102 + 4:
            got = len(connection.recv(1 << 20))
            if not got:
                break
            received += got
        seconds = time.perf_counter() - asked
        connection.close()
    return dict(opens_ms=(first - asked) * 1000, with_start_ms=(first - begun) * 1000, all_ms=seconds * 1000,
                bad=int(received < count * 102 + 4))


def ask(port, origin_port, path, *fields):
    """A WebSocket through the proxy."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.settimeout(60)
    lines = [f"GET http://127.0.0.1:{origin_port}{path} HTTP/1.1", f"Host: 127.0.0.1:{origin_port}", "Upgrade: websocket", "Connection: Upgrade",
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", *fields]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.recv(1)
    if not re.match(rb"HTTP/1.1 101", head):
        raise RuntimeError(f"no WebSocket: {head[:100]}")
    return connection


def holding(bench, name, deflates):
    count, held = 1000, []
    fields = ["Sec-WebSocket-Extensions: permessage-deflate"] if deflates else []
    frame = DEFLATED if deflates else PLAIN
    with origin(bench) as server, recorder(bench, name) as process:
        run(bench, "echo", process, server.port, name, 64, 100, 0.3)
        process.settled_cpu()
        before = process.memory()[0]
        try:
            for _ in range(count):
                held.append(ask(process.port, server.port, "/echo", *fields))
                held[-1].sendall(frame)
                if held[-1].recv(100) != frame:
                    raise RuntimeError("no echo")
            time.sleep(5)  # what is quiet for two seconds gives its memory back
            after, open_now = process.memory()[0], established(process.port)
        finally:
            for connection in held:
                connection.close()
        code = process.stop()[1]
    return dict(KiB_each=(after - before) * 1024 / count, memory_MiB=after, still_open=open_now, bad=int(code != 0))


def held(bench, name):
    """memory of 1,000 open conversations that are quiet after a message each way"""
    return holding(bench, name, deflates=False)


def held_deflated(bench, name):
    """memory of 1,000 open conversations that deflate, quiet after a message each way"""
    return holding(bench, name, deflates=True)
