"""git over smart HTTP: clone, fetch and push, both protocols, shallow, in another order and at once."""
import subprocess

from harness import Handler, noise

NEEDS = "git:git curl:curl"
PASSWORD = "correct-horse-battery-7"


class GitHandler(Handler):
    """`git http-backend` as a CGI program; below /private/ with a Basic login."""

    root, environment = None, {}

    def respond(self):
        content = self.body()
        path, _, query = self.path.partition("?")
        variables = {"GIT_PROJECT_ROOT": str(self.root), "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command, "QUERY_STRING": query,
                     "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(content)), "REMOTE_ADDR": "127.0.0.1",
                     "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        if path.startswith("/private/"):
            if not self.headers.get("Authorization"):
                return self.answer(401, "who are you?\n", WWW_Authenticate='Basic realm="git"')
            path, variables["REMOTE_USER"] = path.removeprefix("/private"), "alice"
        done = subprocess.run(["git", "http-backend"], input=content, env=self.environment | variables | {"PATH_INFO": path}, capture_output=True, check=False)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
        self.send_response(status)
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = respond


def run(lab):
    lab.environment |= {
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_AUTHOR_NAME": "Tester", "GIT_AUTHOR_EMAIL": "tester@example.test", "GIT_COMMITTER_NAME": "Tester",
        "GIT_COMMITTER_EMAIL": "tester@example.test", "GIT_AUTHOR_DATE": "2025-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2025-01-01T00:00:00Z",
        "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "init.defaultBranch", "GIT_CONFIG_VALUE_0": "main", "GIT_CONFIG_KEY_1": "pack.threads", "GIT_CONFIG_VALUE_1": "1",
    }
    root = lab.path("repositories")
    root.mkdir()
    make_repository(lab, root / "project.git")
    for name in ("pushed", "private"):
        shell(lab, f"git clone -q --bare project.git {name}.git && git -C {name}.git config http.receivepack true", root)
    origin = lab.serve(GitHandler, root=root, environment=dict(lab.environment))
    url = f"{origin}/project.git"

    protocols = {"v2": "-c protocol.version=2", "v1": "-c protocol.version=1", "v0": "-c protocol.version=0"}
    for name, setting in protocols.items():
        record(lab, f"clone-{name}", f"git {setting} clone -q {url} clone\ngit -C clone log --oneline --all")
        record(lab, f"ls-remote-{name}", f"git {setting} ls-remote {url}")
        record(lab, f"shallow-{name}", f"git {setting} clone -q --depth 1 {url} clone\ngit -C clone {setting} fetch -q --depth 3\ngit -C clone {setting} fetch -q --unshallow\n"
               "git -C clone log --oneline")
        record(lab, f"partial-{name}", f"git {setting} clone -q --single-branch -b topic {url} clone\ngit -C clone {setting} fetch -q origin main\ngit -C clone log --oneline FETCH_HEAD")
    clones = [f"git {setting} clone -q {url} {name}" for name, setting in protocols.items()]
    record(lab, "protocols-in-another-order", "\n".join(clones), replayed="\n".join(reversed(clones)))
    shallow = [f"git clone -q --depth {depth} {url} depth{depth}" for depth in (1, 2, 3)]
    record(lab, "depths-in-another-order", "\n".join(shallow), replayed="\n".join(reversed(shallow)))
    at_once = [f"({word}) & jobs=\"$jobs $!\"" for word in clones + shallow]
    record(lab, "clones-at-once", "\n".join(clones + shallow), replayed="\n".join(["jobs=", *at_once, "for job in $jobs; do wait $job; done"]))

    push = ("git clone -q {url} clone\ncd clone\nseq 1 20000 >numbers\ngit add numbers\ngit commit -q -m numbers\ngit push -q origin HEAD:refs/heads/numbers\n"
            "git push -q origin :refs/heads/topic\ngit fetch -q --prune\ngit branch -a\n")
    record(lab, "push", push.format(url=f"{origin}/pushed.git"), expect=["remotes/origin/numbers"])
    # A body that is larger than git's buffer is sent in chunks, after a request that only asks.
    large = "git clone -q {url} clone\ncd clone\ncp ../../../../noise .\ngit add noise\ngit commit -q -m noise\ngit push -q origin HEAD:refs/heads/noise\n"
    lab.write("noise", noise(3 << 20))
    record(lab, "push-in-chunks", large.format(url=f"{origin}/pushed.git"))
    login = origin.replace("://", f"://alice:{PASSWORD}@")
    record(lab, "login", push.format(url=f"{login}/private/private.git"), secrets=[(PASSWORD, "password")])
    record(lab, "nothing-there", f"git clone -q {origin}/absent.git clone", exit=128)
    lab.replay()


def record(lab, name, command, **settings):
    settings.setdefault("normalize", repository)
    lab.record(name, command, **settings)


def repository(name, content):
    """Without the index, which has times of files, and without what git keeps of the URL with its login."""
    return None if name.endswith((".git/index", ".git/config")) else content


def make_repository(lab, folder):
    work = lab.path("work")
    work.mkdir()
    script = "git init -q\n" + "".join(
        f"seq {n} {n + 3000} >file{n}; git add .; git commit -q -m 'commit {n}'; git tag -a -m tag v{n}\n" for n in range(5)) + \
        "git checkout -q -b topic HEAD~2\necho topic >topic; git add .; git commit -q -m topic\ngit checkout -q main\n"
    shell(lab, script, work)
    shell(lab, f"git clone -q --bare {work} {folder}", lab.folder)


def shell(lab, script, folder):
    subprocess.run(["sh", "-euc", script], cwd=folder, env=lab.environment, check=True, timeout=120)
