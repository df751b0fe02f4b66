#!/usr/bin/env python3
"""Tests the store against real servers: push, pull, replay offline on a second machine, collection, faults and kills.

  run.py --wiretape PROGRAM [--servers moto,rclone,localbucket,ceph,swift] [--storm SECONDS] [--seed N]

--storm runs pushers, pullers and a collection at once, with faults, and is off otherwise.
"""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import fault_proxy  # noqa: E402
import servers  # noqa: E402

# Seconds for one command, on a machine that is busy with other things.
PATIENCE = 900


class Machine:
    """A home folder with a cache of its own, and a clone of a repository."""

    def __init__(self, wiretape, folder, environment, store):
        self.wiretape, self.folder, self.store = wiretape, pathlib.Path(folder), store
        self.work = self.folder / "work"
        self.work.mkdir(parents=True)
        self.environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "TMPDIR": str(self.folder), "LC_ALL": "C.UTF-8", **environment}
        (self.work / "wiretape.yaml").write_text(f"store: {store}\n")

    def run(self, *words, codes=(0,), **more):
        result = subprocess.run(
            [self.wiretape, *map(str, words)], cwd=self.work, env={**self.environment, **more}, capture_output=True, text=True, timeout=PATIENCE)
        output = result.stdout + result.stderr
        secret = self.environment.get("AWS_SECRET_ACCESS_KEY")
        assert not secret or len(secret) < 8 or secret not in output, "a secret is in the output"
        assert codes is None or result.returncode in codes, f"{words} ended with {result.returncode}:\n{output}"
        return result

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=self.work, check=True, capture_output=True)


def cassette(path, bodies, seed):
    """Writes a cassette with bodies in files."""
    draw = random.Random(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = path.with_suffix(".bodies")
    interactions = []
    for number in range(bodies):
        data = draw.randbytes(draw.randrange(16_384, 60_000))
        digest = hashlib.sha256(data).hexdigest()
        folder.mkdir(exist_ok=True)
        (folder / f"{digest}.bin").write_bytes(data)
        interactions.append({
            "id": number + 1, "started": f"2026-11-21T08:{number // 60:02}:{number % 60:02}.000000Z",
            "request": {"method": "GET", "url": f"http://a.test/{seed}/{number}", "version": "HTTP/1.1", "headers": ["Host: a.test"]},
            "response": {
                "status": 200, "reason": "OK", "version": "HTTP/1.1",
                "headers": ["Content-Type: application/octet-stream", f"Content-Length: {len(data)}"],
                "body": {"size": len(data), "file": f"{folder.name}/{digest}.bin"},
            },
            "timing": {"total": 1},
        })
    path.write_text(json.dumps({"wiretape": 2, "recorder": "test", "interactions": interactions}, indent=2))


def whole(machine, name, source):
    """Whether the pulled cassette has the bytes of the pushed one."""
    machine.run("verify", f"{name}.tape")
    exported = machine.run("export", f"{name}.tape", "--ndjson").stdout
    assert exported == source.run("export", name, "--ndjson").stdout, f"{name} differs"


def basics(one, two):
    """Two machines, one store."""
    one.run("store", "check")
    for number in range(3):
        cassette(one.work / f"Cassettes/c{number}.json", 4 + number, seed=number)
    one.git("init", "-q", "-b", "main")
    (one.work / ".gitignore").write_text("*.json\n*.bodies\n")
    assert "would store" in one.run("push", "Cassettes", "--dry-run").stdout
    assert not list(one.work.glob("Cassettes/*.tape"))
    one.run("push", "Cassettes")
    assert "nothing to store" in one.run("push", "Cassettes").stdout
    one.git("add", "-A")
    one.git("commit", "-qm", "pointers")
    subprocess.run(["git", "clone", "-q", str(one.work), str(two.work / "clone")], check=True)
    two.work /= "clone"
    missing = two.run("verify", "Cassettes/c0.json", codes=[2]).stderr
    assert "wiretape pull Cassettes/c0.json.tape" in missing, missing
    two.run("pull")
    offline = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    for number in range(3):
        whole(two, f"Cassettes/c{number}.json", one)
    two.run("pull", **offline)
    answer = two.run("replay", "Cassettes/c1.json", "--fail-on", "none", "--", "curl", "-sf", "http://a.test/1/2", "-o", "answer", **offline)
    assert (two.work / "answer").read_bytes() in [path.read_bytes() for path in one.work.glob("Cassettes/c1.bodies/*")], answer.stderr
    # A collection keeps what the pointers name, and removes the rest when it is old enough.
    cassette(one.work / "Cassettes/c9.json", 3, seed=99)
    one.run("push", "Cassettes/c9.json")
    (one.work / "Cassettes/c9.json.tape").unlink()
    assert "would remove 0 objects" in one.run("store", "gc").stdout
    time.sleep(2.1)  # dates of objects have whole seconds
    removed = one.run("store", "gc", "--grace", "1s", "--delete").stdout
    assert removed.startswith("removed 5 objects"), removed
    two.run("pull", "--check")
    one.run("store", "status", "--remote", "Cassettes/c0.json")
    two.run("store", "ls")


def shards(one, two):
    """Machines that record one run into cassettes of the same name; one cassette is made of theirs."""
    for machine, seed in [(one, 50), (two, 51)]:
        cassette(machine.work / "shard.json", 4, seed=seed)
        machine.run("push", "shard.json", "--shard", "nightly-1")
    assert "no shard" in one.run("merge", "all.json", f"{one.store}/runs/nightly-2/", codes=[1]).stderr
    one.run("merge", "all.json", f"{one.store}/runs/nightly-1/")
    one.run("verify", "all.json")
    urls = {item["request"]["url"] for item in json.loads((one.work / "all.json").read_text())["interactions"]}
    assert urls == {f"http://a.test/{seed}/{number}" for seed in (50, 51) for number in range(4)}, urls
    for machine in (one, two):
        for path in machine.work.glob("shard.bodies/*"):
            assert (one.work / "all.bodies" / path.name).read_bytes() == path.read_bytes()
    time.sleep(2.1)  # dates of objects have whole seconds
    # Without the pointers of the shards, only the run needs them.
    for machine in (one, two):
        (machine.work / "shard.json.tape").unlink()
    assert "would remove 0 objects" in one.run("store", "gc").stdout
    removed = one.run("store", "gc", "--grace", "1s", "--delete").stdout
    # Eight bodies, two cassettes, two manifests, and two pointers.
    assert removed.startswith("removed 14 objects"), removed
    assert "no shard" in one.run("merge", "again.json", f"{one.store}/runs/nightly-1/", codes=[1]).stderr


def refusals(machine):
    """Wrong settings end in an error that names what to do."""
    good = machine.environment
    for change, words in [
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "cannot be reached"), ({"AWS_ENDPOINT_URL": "http://example.com"}, "not encrypted"),
        ({"AWS_ACCESS_KEY_ID": ""}, "no credentials"),
    ]:
        error = machine.run("store", "ls", codes=[1], **change).stderr
        assert words in error, error
    assert "no bucket" in machine.run("store", "ls", "--store", "s3://nothing-here/x", codes=[1]).stderr
    assert good is machine.environment


def merges(machine):
    """Two branches that both recorded merge without a conflict; with one that both edited, nothing is lost."""
    path = machine.work / "Cassettes/m.json"

    def change(edit):
        document = json.loads(path.read_text())
        edit(document["interactions"])
        path.write_text(json.dumps(document, indent=2))
        machine.git("commit", "-qam", "change")

    def add(url, second):
        def edit(interactions):
            interactions.append({**interactions[0], "id": len(interactions) + 1, "started": f"2026-11-22T00:00:0{second}.000000Z",
                                 "request": {**interactions[0]["request"], "url": url}})
        return edit

    def status(code):
        def edit(interactions):
            interactions[0]["response"]["status"] = code
        return edit

    cassette(path, 2, seed=5)
    machine.git("init", "-q", "-b", "main")
    machine.run("git", "install")
    machine.git("add", "-A")
    machine.git("commit", "-qm", "base")
    machine.git("checkout", "-qb", "side")
    change(add("http://a.test/side", 2))
    machine.git("checkout", "-q", "main")
    change(add("http://a.test/main", 1))
    environment = {**machine.environment, "PATH": f"{pathlib.Path(machine.wiretape).parent}:{machine.environment['PATH']}"}
    words = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    shown = subprocess.run([*words, "diff", "HEAD~1"], cwd=machine.work, env=environment, capture_output=True, text=True, check=True).stdout
    assert "+ 3 GET http://a.test/main" in shown, shown
    subprocess.run([*words, "merge", "-q", "side"], cwd=machine.work, env=environment, capture_output=True, check=True)
    urls = [item["request"]["url"] for item in json.loads(path.read_text())["interactions"]]
    assert urls[2:] == ["http://a.test/main", "http://a.test/side"], urls
    machine.run("verify", "Cassettes/m.json")
    machine.git("checkout", "-qb", "edit")
    change(status(201))
    machine.git("checkout", "-q", "main")
    change(status(202))
    assert subprocess.run([*words, "merge", "edit"], cwd=machine.work, env=environment, capture_output=True).returncode == 1
    codes = [item["response"]["status"] for item in json.loads(path.read_text())["interactions"]]
    assert sorted(codes) == [200, 200, 200, 201, 202], codes
    machine.run("verify", "Cassettes/m.json", codes=[1])
    machine.git("merge", "--abort")
    # Without the program, git marks the conflict in the text.
    subprocess.run([*words, "merge", "edit"], cwd=machine.work, env={**machine.environment, "PATH": "/usr/bin:/bin"}, capture_output=True)
    assert "<<<<<<<" in path.read_text()


def kills(one, two, rounds, draw):
    """Kills pushes and pulls at random moments: both sides stay right."""
    cassette(one.work / "Cassettes/k.json", 40, seed=7)
    started = time.monotonic()
    subprocess.run([one.wiretape, "push", "Cassettes/k.json", "--dry-run"], cwd=one.work, env=one.environment, capture_output=True, check=True)
    longest = max(0.3, 3 * (time.monotonic() - started))
    for machine, words in [(one, ["push", "Cassettes/k.json"]), (two, ["pull", "Cassettes/k.json.tape"])]:
        if machine is two:
            (two.work / "Cassettes/k.json.tape").write_bytes((one.work / "Cassettes/k.json.tape").read_bytes())
        for _ in range(rounds):
            process = subprocess.Popen([machine.wiretape, *words], cwd=machine.work, env=machine.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draw.random() * longest)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if machine is one and (one.work / "Cassettes/k.json.tape").exists():
                one.run("store", "status", "--remote", "Cassettes/k.json")
            if machine is two:
                two.run("verify", "Cassettes/k.json.tape", codes=[0, 2])
        machine.run(*words)
    whole(two, "Cassettes/k.json", one)


def storm(wiretape, folder, environment, store, seed, seconds):
    """8 pushers, 4 pullers and a collection at once, through a proxy with faults. Nothing is lost, wrong or half."""
    draw = random.Random(seed)
    port = int(environment["AWS_ENDPOINT_URL"].rsplit(":", 1)[1])
    proxy = fault_proxy.FaultProxy(port, seed, share=0.08)
    faulty = {**environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.port}"}
    # A collection makes hundreds of requests and ends at the first answer that cannot be repeated, so its faults are those that can.
    calmer = fault_proxy.FaultProxy(port, seed + 1, share=0.04, kinds=["500", "503", "cut request", "cut answer", "lost answer", "slow"])
    end = time.monotonic() + seconds
    # Far longer than a push takes here, and shorter than the storm.
    grace = max(30, seconds // 5)
    problems, published, counts, lock = [], {}, {}, threading.Lock()

    def count(what):
        with lock:
            counts[what] = counts.get(what, 0) + 1

    def guarded(work):
        def run(*arguments):
            try:
                work(*arguments)
            except BaseException as error:  # noqa: BLE001
                problems.append(f"{work.__name__}{arguments[1:]}: {error!r}"[:3000])

        return run

    @guarded
    def push(machine, number):
        turn = 0
        while time.monotonic() < end and not problems:
            turn += 1
            name = f"Cassettes/p{number}-{turn}.json"
            # Some bodies are those of others.
            cassette(machine.work / name, 3, seed=f"{seed}-{draw.randrange(20)}-{turn % 3}")
            result = machine.run("push", name, "--grace", f"{grace}s", codes=[0, 1])
            pointer = machine.work / f"{name}.tape"
            count(f"push {result.returncode}")
            assert pointer.exists() == (result.returncode == 0), result.stderr
            if result.returncode == 0:
                with lock:
                    published[(number, turn)] = (machine, name, pointer.read_text())

    @guarded
    def pull(machine, number):
        turn = 0
        while time.monotonic() < end and not problems:
            with lock:
                choice = random.choice(list(published.values())) if published else None
            if not choice:
                time.sleep(0.1)
                continue
            turn += 1
            name = f"q{turn}.json"
            (machine.work / f"{name}.tape").write_text(choice[2])
            result = machine.run("pull", f"{name}.tape", codes=[0, 1])
            count(f"pull {result.returncode}")
            assert "is missing in" not in result.stderr and "is not in \"s3" not in result.stderr, result.stderr
            if result.returncode == 0:
                whole_text = machine.run("export", f"{name}.tape", "--ndjson").stdout.replace('"q%d"' % turn, "")
                wanted = choice[0].run("export", choice[1], "--ndjson").stdout
                assert [json.loads(line)["response_sha256"] for line in whole_text.splitlines()] == [
                    json.loads(line)["response_sha256"] for line in wanted.splitlines()], "wrong bytes"
            else:
                machine.run("verify", f"{name}.tape", codes=[0, 2])

    @guarded
    def collect(machine, _):
        turn = 0
        while time.monotonic() < end and not problems:
            turn += 1
            with lock:
                pointers = [value[2] for value in published.values()]
            if not pointers:
                time.sleep(0.1)
                continue
            for index, text in enumerate(pointers):
                (machine.work / f"keep{index}.json.tape").write_text(text)
            result = machine.run("store", "gc", "--grace", f"{grace}s", "--delete", codes=[0, 1])
            count(f"gc {result.returncode}")
            time.sleep(0.5)

    threads = []
    for role, amount, work in [("push", 8, push), ("pull", 4, pull), ("gc", 1, collect)]:
        for number in range(amount):
            own = {**environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{calmer.port}"} if role == "gc" else faulty
            machine = Machine(wiretape, folder / f"{role}{number}", own, store)
            machine.git("init", "-q")
            threads.append(threading.Thread(target=work, args=(machine, number)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    proxy.close()
    calmer.close()
    assert not problems, "\n".join(problems)
    assert published and counts.get("pull 0") and counts.get("gc 0"), f"the storm did nothing: {counts}"
    # Without faults, everything that was published comes back.
    last = Machine(wiretape, folder / "last", environment, store)
    for index, (machine, name, text) in enumerate(published.values()):
        (last.work / f"z{index}.json.tape").write_text(text)
    last.run("pull", "--check")
    for index, (machine, name, text) in enumerate(published.values()):
        last.run("verify", f"z{index}.json.tape")
    print(f"  storm of {seconds} s, seed {seed}: {counts}, {proxy.requests} requests, faults {proxy.counts}, {len(published)} cassettes whole")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wiretape", required=True)
    parser.add_argument("--servers", default=",".join(servers.SERVERS))
    parser.add_argument("--tools", default=".build/store-tools")
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--storm", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # Not resolved: git calls the program by its name.
    wiretape = pathlib.Path(options.wiretape).absolute()
    tools = servers.tools(pathlib.Path(options.tools).resolve())
    with tempfile.TemporaryDirectory() as folder:
        merges(Machine(wiretape, folder, {}, "s3://tape/none"))
    print("merges in git: ok", flush=True)
    for name in options.servers.split(","):
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            folder = pathlib.Path(folder)
            environment = stack.enter_context(servers.SERVERS[name](tools, folder))
            one = Machine(wiretape, folder / "one", environment, "s3://tape/team/x")
            two = Machine(wiretape, folder / "two", environment, "s3://tape/team/x")
            basics(one, two)
            shards(one, two)
            refusals(one)
            kills(one, two, options.kills, random.Random(options.seed))
            if options.storm:
                storm(wiretape, folder / "storm", environment, f"s3://tape/storm{options.seed}", options.seed, options.storm)
        print(f"{name}: ok ({time.monotonic() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
