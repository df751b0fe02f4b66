#!/usr/bin/env python3
"""Merges random histories of two branches with the git drivers, and compares each result with what both branches have.

  histories.py --wiretape PROGRAM [--rounds 50] [--seed 1]

The program must be called wiretape, because git calls it by its name.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

NAME = "Cassettes/m.json"


class Repository:
    def __init__(self, wiretape, folder):
        self.wiretape, self.folder = wiretape, pathlib.Path(folder)
        self.path = self.folder / NAME
        self.environment = {
            "HOME": str(self.folder), "PATH": f"{pathlib.Path(wiretape).parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "t@t" for who in ["AUTHOR", "COMMITTER"] for what in ["NAME", "EMAIL"]},
        }
        self.git("init", "-q", "-b", "main")
        self.run("git", "install")

    def git(self, *words, codes=(0,)):
        result = subprocess.run(["git", *words], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert result.returncode in codes, f"git {words} ended with {result.returncode}: {result.stdout}{result.stderr}"
        return result

    def run(self, *words, codes=(0,)):
        result = subprocess.run([self.wiretape, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert result.returncode in codes, f"{words} ended with {result.returncode}: {result.stdout}{result.stderr}"
        return result

    def write(self, exchanges, head):
        # Git removes empty folders.
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(json.dumps({"wiretape": 2, "recorder": "test", **head, "interactions": exchanges}, indent=2) + "\n")

    def read(self):
        document = json.loads(self.path.read_text())
        return document["interactions"], {name: value for name, value in document.items() if name not in ("wiretape", "recorder", "interactions")}

    def commit(self, exchanges, head):
        self.write(exchanges, head)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")


class Branch:
    """What a branch does: it records, edits, removes, and records again, each in a commit of its own."""

    def __init__(self, draw, name, exchanges):
        self.draw, self.name, self.exchanges = draw, name, [dict(exchange) for exchange in exchanges]
        # The marks of the ancestor's exchanges that this branch has edited or removed.
        self.edited, self.removed, self.added, self.number = {}, set(), [], 0

    def exchange(self, mark, second, connection):
        draw = self.draw
        return {
            "id": max([item["id"] for item in self.exchanges], default=0) + 1,
            # Some at the same moment.
            "started": f"2026-11-21T08:{second // 60:02}:{second % 60:02}.{draw.choice([0, 0, 5]):06}Z",
            "connection": {"id": connection, "remote": "192.0.2.1:80", "reused": draw.random() < 0.5},
            "request": {"method": draw.choice(["GET", "POST"]), "url": f"http://a.test/{mark}", "version": "HTTP/1.1", "headers": ["Host: a.test", f"X-Mark: {mark}"]},
            "response": {"status": 200, "reason": "OK", "version": "HTTP/1.1", "headers": ["Content-Length: 2"], "body": {"size": 2, "text": "ok"}},
            "timing": {"total": draw.randrange(1, 50)},
        }

    def record(self, shared):
        """Some exchanges, in order of start, as a recorder writes them; git takes a file that only one side has changed as it is."""
        connection = max([item["connection"]["id"] for item in self.exchanges], default=0) + 1
        for _ in range(self.draw.randrange(1, 5)):
            self.number += 1
            mark = f"{self.name}{self.number}"
            item = self.exchange(mark, self.draw.randrange(600), connection + self.draw.randrange(2))
            self.exchanges.append(item)
            self.added.append(mark)
        if shared and self.draw.random() < 0.5:
            # The same exchange arrives on both branches, as by a cherry-pick, with an id of its own.
            item = json.loads(json.dumps(self.draw.choice(shared)))
            if mark_of(item) not in self.added:
                item["id"] = max([each["id"] for each in self.exchanges], default=0) + 1
                self.exchanges.append(item)
                self.added.append(mark_of(item))
        self.exchanges.sort(key=lambda item: item["started"])

    def edit(self, open_marks):
        """Changes the answer of one of the ancestor's exchanges."""
        known = [item for item in self.exchanges if mark_of(item) in open_marks]
        if not known:
            return
        item = self.draw.choice(known)
        item["response"] = {**item["response"], "status": self.draw.choice([201, 202, 404, 500]), "reason": f"by {self.name}"}
        self.edited[mark_of(item)] = item["response"]["status"]

    def remove(self, open_marks):
        known = [item for item in self.exchanges if mark_of(item) in open_marks]
        if not known:
            return
        item = self.draw.choice(known)
        self.exchanges.remove(item)
        self.removed.add(mark_of(item))
        self.edited.pop(mark_of(item), None)


def mark_of(item):
    return item["request"]["url"].rsplit("/", 1)[1]


def history(repository, draw):
    """One merge. Returns what it was."""
    begin = Branch(draw, "base", [])
    for _ in range(draw.randrange(0, 4)):
        begin.record([])
    base = begin.exchanges
    isolated = draw.random() < 0.5
    marks = [mark_of(item) for item in base]
    if base or draw.random() < 0.5:
        repository.commit(base, {})
    else:
        # Both branches create the cassette.
        repository.git("add", ".gitattributes")
        repository.git("commit", "-qm", "empty")
    start = repository.git("rev-parse", "HEAD").stdout.strip()
    shared = [Branch(draw, "shared", []).exchange(f"shared{number}", draw.randrange(600), 1000 + number) for number in range(2)]
    # In half of the histories, each branch keeps to its own half of the ancestor's exchanges, so that no conflict can be.
    halves = [set(marks[::2]), set(marks[1::2])] if isolated else [set(marks), set(marks)]
    branches = []
    for name, half in zip(["ours", "theirs"], halves):
        repository.git("checkout", "-qB", name, start)
        branch = Branch(draw, name, base)
        for _ in range(draw.randrange(1, 5)):
            branch_change = draw.choice(["record", "record", "edit", "remove"])
            if branch_change == "record":
                branch.record(shared)
            elif branch_change == "edit":
                branch.edit(half)
            else:
                branch.remove(half)
            repository.commit(branch.exchanges, {})
        branches.append(branch)
    ours, theirs = branches

    conflicts = set()
    for mark in marks:
        one, other = [branch.edited.get(mark, "removed" if mark in branch.removed else None) for branch in branches]
        if one and other and one != other or one and one == other and one != "removed" and base_differs(ours, theirs, mark):
            conflicts.add(mark)
    wanted = {mark for mark in marks if not any(mark in branch.removed and not (mark in conflicts) for branch in branches)}
    wanted |= set(ours.added) | set(theirs.added)

    results = []
    for this, other, how in [("ours", "theirs", "merge"), ("theirs", "ours", "merge"), ("ours", "theirs", "rebase"), ("ours", "theirs", "cherry-pick")]:
        repository.git("checkout", "-qB", "try", this)
        if how != "merge" and not isolated:
            # Commit by commit, there are conflicts that the ends of the branches do not have.
            continue
        if how == "merge":
            result = repository.git("merge", "-q", "--no-edit", other, codes=(0, 1))
        elif how == "rebase":
            result = repository.git("rebase", "-q", other, codes=(0, 1))
        else:
            result = repository.git("cherry-pick", f"{start}..{other}", "--allow-empty", "--keep-redundant-commits", codes=(0, 1))
        assert result.returncode == bool(conflicts), f"{how}: ended with {result.returncode}, conflicts {conflicts}: {result.stdout}{result.stderr}"
        items, head = repository.read()
        found = [mark_of(item) for item in items]
        twice = conflicts - {mark for mark in marks if "removed" in [branch.edited.get(mark, "removed" if mark in branch.removed else None) for branch in branches]}
        assert set(found) == wanted, f"{how}: lost {wanted - set(found)}, more {set(found) - wanted}"
        for mark in wanted:
            assert found.count(mark) == (2 if mark in twice else 1), f"{how}: {mark} stands {found.count(mark)} times"
        starts = [item["started"] for item in items]
        assert starts == sorted(starts), f"{how}: not in order of start"
        ids = [item["id"] for item in items]
        assert len(set(ids)) == len(ids), f"{how}: ids stand twice: {ids}"
        for item in items:
            mark = mark_of(item)
            noted = "conflict" in item
            assert noted == (mark in conflicts), f"{how}: {mark} has {'a' if noted else 'no'} note"
            if mark not in conflicts:
                expected = {branch.edited[mark] for branch in branches if mark in branch.edited} or {200}
                assert {item["response"]["status"]} == expected, f"{how}: {mark} has {item['response']['status']}, not {expected}"
        # Exchanges of both sides that shared a connection still do, and no others. A rebase merges commit by commit, which may join numbers.
        for branch in branches if how == "merge" else []:
            old = {mark_of(item): item["connection"]["id"] for item in branch.exchanges if mark_of(item).startswith(branch.name)}
            new = {mark_of(item): item["connection"]["id"] for item in items}
            pairs = {(old[mark], new[mark]) for mark in old}
            assert len(pairs) == len({left for left, _ in pairs}) == len({right for _, right in pairs}), f"{how}: connections were mixed: {pairs}"
        mine = {item["connection"]["id"] for item in items if mark_of(item).startswith("ours")}
        assert how != "merge" or not mine & {item["connection"]["id"] for item in items if mark_of(item).startswith("theirs")}, f"{how}: two branches share a connection"
        repository.run("verify", NAME, codes=[1 if conflicts else 0])
        if how == "merge":
            results.append(repository.path.read_bytes())
        if result.returncode:
            repository.git("merge", "--abort")
    assert results[0] == results[1], "the result depends on which side is merged"
    return f"{len(base)} of the ancestor, {len(ours.added)} and {len(theirs.added)} added, {len(conflicts)} conflicts"


def base_differs(ours, theirs, mark):
    """Whether both branches edited it, and differently."""
    sides = [next((item for item in branch.exchanges if mark_of(item) == mark), None) for branch in (ours, theirs)]
    return sides[0] is not None and sides[1] is not None and sides[0]["response"] != sides[1]["response"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wiretape", required=True)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wiretape = pathlib.Path(options.wiretape).absolute()
    if wiretape.name != "wiretape":
        sys.exit("histories.py: the program must be called wiretape, because git calls it by its name")
    counts = {"clean": 0, "with conflicts": 0, "wrong": 0}
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            try:
                text = history(Repository(wiretape, folder), random.Random(options.seed * 1_000_000 + number))
                counts["clean" if text.endswith(" 0 conflicts") else "with conflicts"] += 1
            except AssertionError as error:
                counts["wrong"] += 1
                print(f"history {number} of seed {options.seed}: {error}", flush=True)
    print(f"{options.rounds} histories of seed {options.seed}: {', '.join(f'{count} {name}' for name, count in counts.items())}")
    sys.exit(1 if counts["wrong"] else 0)


if __name__ == "__main__":
    main()
