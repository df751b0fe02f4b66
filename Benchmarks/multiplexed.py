"""HTTP/2 with TLS towards both sides: h2load asks, nginx answers, and what stands between speaks HTTP/2 to either.

wiretape is asked by CONNECT, which h2load does not know: a socat on the load client's core puts a tunnel before each connection.
"""
import contextlib
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import time

from certificates import ORIGIN
from client import missing
from processes import LOAD_CORE, SUBJECT_CORE, Process, established, free_port, tree
from subjects import among_names, nginx

CLIENTS, STREAMS = 8, 32

SERVER = """
  http2_max_concurrent_streams 128;
  server {{
    listen 127.0.0.1:{port} ssl http2 backlog=8192; root {www};
    ssl_certificate {keys}/origin.pem; ssl_certificate_key {keys}/origin.key;
  }}
"""
HAPROXY = """
global
  nbthread 1
  maxconn 8192
defaults
  mode http
  timeout client 300s
  timeout server 300s
  timeout connect 5s
  http-reuse always
frontend front
  bind 127.0.0.1:{port} ssl crt {folder}/pair.pem alpn h2
  default_backend origin
backend origin
  server origin 127.0.0.1:{origin} ssl verify none alpn h2 sni str({name})
"""


@contextlib.contextmanager
def origin(bench):
    folder, port = bench.folder("origin2"), free_port()
    with Process(nginx(folder, SERVER, port=port, keys=bench.keys, www=bench.www), port, LOAD_CORE, folder):
        yield port


@contextlib.contextmanager
def subject(bench, name, origin_port):
    """The program, and the port that h2load connects to."""
    folder, port = bench.folder(name), free_port()
    if name == "haproxy":
        (folder / "pair.pem").write_text((bench.keys / "origin.pem").read_text() + (bench.keys / "origin.key").read_text())
        (folder / "haproxy.cfg").write_text(HAPROXY.format(port=port, folder=folder, origin=origin_port, name=ORIGIN))
        command = [shutil.which("haproxy"), "-db", "-f", str(folder / "haproxy.cfg")]
    elif name == "nghttpx":
        command = [shutil.which("nghttpx"), "--conf=/dev/null", f"--frontend=127.0.0.1,{port}", "--workers=1", "--log-level=ERROR",
                   f"--backend=127.0.0.1,{origin_port};;proto=h2;tls;sni={ORIGIN}", "--insecure", "--backend-connections-per-host=8",
                   "--frontend-http2-max-concurrent-streams=128", str(bench.keys / "origin.key"), str(bench.keys / "origin.pem")]
    else:
        command = [bench.wiretape, "record", str(bench.tape), "--listen", f"127.0.0.1:{port}", "--quiet", "--loops", "1",
                   "--ca-dir", str(folder / "authority"), "--upstream-ca", str(bench.keys / "ca.pem")]
        command = among_names(command, folder)
    with Process(command, port, SUBJECT_CORE, folder) as process:
        if name != "wiretape":
            yield process, port
            return
        shim = free_port()
        tunnel = f"PROXY:127.0.0.1:{ORIGIN}:{origin_port},proxyport={port}"
        listen = f"TCP-LISTEN:{shim},bind=127.0.0.1,fork,reuseaddr,nodelay,backlog=4096"
        with Process([shutil.which("socat"), "-b65536", listen, tunnel + ",nodelay"], shim, LOAD_CORE, folder):
            yield process, shim


def h2load(port, page, origin_port, *options):
    """Runs it to its end; gives how many requests were answered well, how many were not, and its seconds."""
    command = ["taskset", "-c", str(LOAD_CORE), shutil.which("h2load"), f"--connect-to=127.0.0.1:{port}", *map(str, options),
               f"https://{ORIGIN}:{origin_port}{page}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=300, check=True, text=True)
    found = re.search(r"requests: (\d+) total, \d+ started, \d+ done, (\d+) succeeded, (\d+) failed", done.stdout)
    finished = re.search(r"finished in ([\d.]+)(ms|s|m)", done.stdout)
    if not found or not finished:
        raise RuntimeError(f"h2load: {done.stdout[-300:]}")
    seconds = float(finished[1]) * {"ms": 0.001, "s": 1, "m": 60}[finished[2]]
    # Statuses other than 2xx count as failures.
    return int(found[2]), int(found[1]) - int(found[2]), seconds


def loop_time(process, name):
    """CPU seconds of the event loop's thread: what forwarding costs, and listening, without the recorder's thread. Of the others, all."""
    if name != "wiretape":
        return process.cpu()
    for pid in tree(process.child.pid):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            if (task / "comm").read_text().startswith("NIO-ELT"):
                return int((task / "schedstat").read_text().split()[0]) / 1e9
    raise RuntimeError("the program has no thread NIO-ELT")


def http2(bench, name):
    """1 KiB answers on 8 connections of HTTP/2 with 32 streams each, TLS towards both sides: CPU per request, in all and of the loop"""
    count = int(bench.seconds * 10000)
    with origin(bench) as origin_port, subject(bench, name, origin_port) as (process, port):
        warm, bad, _ = h2load(port, "/1k.json", origin_port, "-c", CLIENTS, "-m", STREAMS, "-n", 2000)
        before, loop = process.settled_cpu(), loop_time(process, name)
        good, worse, seconds = h2load(port, "/1k.json", origin_port, "-c", CLIENTS, "-m", STREAMS, "-n", count)
        cpu, loop = process.settled_cpu() - before, loop_time(process, name) - loop
        code = process.stop()[1]
        bad += worse
        if name == "wiretape":
            bad += missing(bench, warm + good, secure=True) + (code != 0)
    return dict(cpu_us=cpu / max(1, good) * 1e6, loop_us=loop / max(1, good) * 1e6, rps=good / seconds, requests=good, bad=bad)


def http2_contact(bench, name):
    """a new connection with a tunnel, a handshake and one request each, one after another: CPU per connection"""
    count = 300
    with origin(bench) as origin_port, subject(bench, name, origin_port) as (process, port):
        warm, bad, _ = h2load(port, "/1k.json", origin_port, "-c", 8, "-n", 8)
        before, done = process.settled_cpu(), 0
        begun = time.perf_counter()
        for _ in range(count // 50):
            good, worse, _ = h2load(port, "/1k.json", origin_port, "-c", 50, "-m", 1, "-n", 50)
            done, bad = done + good, bad + worse
        seconds, cpu = time.perf_counter() - begun, process.settled_cpu() - before
        code = process.stop()[1]
        if name == "wiretape":
            bad += missing(bench, warm + done, secure=True) + (code != 0)
    return dict(cpu_us=cpu / max(1, done) * 1e6, per_second=done / seconds, bad=bad)


def http2_held(bench, name):
    """memory of 1,000 connections of HTTP/2 in TLS that are idle after one request each"""
    count, held = 1000, []
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    with origin(bench) as origin_port, subject(bench, name, origin_port) as (process, port):
        _, bad, _ = h2load(port, "/1k.json", origin_port, "-c", CLIENTS, "-m", STREAMS, "-n", 5000)
        time.sleep(0.5)
        before = process.memory()[0]
        try:
            for _ in range(count):
                held.append(open_one(context, process.port, origin_port, is_proxy=name == "wiretape"))
            time.sleep(1)
            after, open_now = process.memory()[0], established(process.port)
        finally:
            for connection in held:
                connection.close()
        code = process.stop()[1]
    return dict(KiB_each=(after - before) * 1024 / count, memory_MiB=after, still_open=open_now, bad=bad + (code != 0))


def open_one(context, port, origin_port, is_proxy):
    """A connection that has asked once and read the answer: GET /1k.json by the static table and literals (RFC 7541)."""
    raw = socket.create_connection(("127.0.0.1", port))
    raw.settimeout(20)
    if is_proxy:
        raw.sendall(f"CONNECT {ORIGIN}:{origin_port} HTTP/1.1\r\nHost: {ORIGIN}:{origin_port}\r\n\r\n".encode())
        if b" 200 " not in raw.recv(1000):
            raise RuntimeError("no tunnel")
    connection = context.wrap_socket(raw, server_hostname=ORIGIN)
    if connection.selected_alpn_protocol() != "h2":
        raise RuntimeError("no HTTP/2")
    authority = f"{ORIGIN}:{origin_port}".encode()
    block = b"\x82\x87\x04\x08/1k.json\x01" + bytes([len(authority)]) + authority
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04\x00" + bytes(4)
                       + len(block).to_bytes(3, "big") + b"\x01\x05\x00\x00\x00\x01" + block)
    received = b""
    while not ends(received):
        more = connection.recv(65536)
        if not more:
            raise RuntimeError("the connection ended without an answer")
        received += more
    return connection


def ends(received):
    """Whether a frame with END_STREAM has come."""
    while len(received) >= 9:
        length = int.from_bytes(received[:3], "big")
        if len(received) < 9 + length:
            return False
        if received[3] in (0, 1) and received[4] & 1:
            return True
        received = received[9 + length:]
    return False
