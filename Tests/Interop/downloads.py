"""aria2c, axel, wget and curl: parallel ranges, resumed downloads, conditional requests."""
from harness import FileHandler, free_port, noise

NEEDS = "curl:curl wget:wget aria2c:aria2 axel:axel nginx:nginx-light"
BOUND = 600

BIG = noise(20 << 20)
SMALL = noise(380_000)
TEXT = b"".join(b"line %d\n" % number for number in range(20_000))

NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;
events {{ worker_connections 64; }}
http {{
  access_log off; default_type application/octet-stream;
  client_body_temp_path {folder}/n1; proxy_temp_path {folder}/n2; fastcgi_temp_path {folder}/n3; uwsgi_temp_path {folder}/n4; scgi_temp_path {folder}/n5;
  server {{ listen 127.0.0.1:{port}; root {folder}/site; }}
}}
"""


def run(lab):
    lab.write("site/big.bin", BIG)
    lab.write("site/small.bin", SMALL)
    lab.write("site/text.txt", TEXT)
    port = free_port()
    nginx = lab.write("nginx.conf", NGINX.format(folder=lab.folder, port=port))
    lab.start("nginx", ["nginx", "-c", nginx, "-p", lab.folder, "-e", "stderr"], port)
    origin = f"http://127.0.0.1:{port}"
    plain = lab.serve(FileHandler, files={"/big.bin": ("application/octet-stream", BIG), "/small.bin": ("application/octet-stream", SMALL),
                                          "/text.txt": ("text/plain", TEXT)})

    for name, url in [("nginx", origin), ("python", plain)]:
        # aria2 and axel divide a large file anew by how quick each connection is. All bytes are recorded, so any range can be computed.
        lab.record(f"aria2c-{name}", f"timeout 60 aria2c -q -x4 -s4 -k5M --file-allocation=none --no-conf -o big.bin {url}/big.bin", unused=True)
        lab.record(f"axel-{name}", f"timeout 60 axel -q -n4 -o big.bin {url}/big.bin", unused=True)
        # Parts of less than 100 KiB are divided by nobody.
        lab.record(f"axel-small-{name}", f"timeout 60 axel -q -n4 -o small.bin {url}/small.bin", unused=True)
        lab.record(f"wget-resumes-{name}", f"wget -nv -c {url}/big.bin", setup=part, normalize=but_stderr)
        lab.record(f"curl-resumes-{name}", f"curl -sS -C - -O {url}/big.bin", setup=part)
        lab.record(f"wget-has-all-{name}", f"wget -nv -c {url}/text.txt", setup=lambda run: (run / "text.txt").write_bytes(TEXT), normalize=but_stderr)
    for case in lab.cases:
        for file in (case.folder / "recorded").glob("*.bin"):
            content = lab.path("site", file.name).read_bytes()
            lab.check(file.read_bytes() == content, f"{case.name}: the recorded {file.name} is not the origin's", case.folder)

    ranges = {"first": "0-99", "next": "100-4095", "last": "-500", "open": "159000-", "overlap": "50-149", "one": "7-7"}
    words = [f"curl -sS -r {wanted} -o {name} {origin}/text.txt" for name, wanted in ranges.items()]
    lab.record("ranges", "\n".join(words), replayed="\n".join(reversed(words)))
    lab.record("ranges-parallel", parallel(words), replayed=parallel(reversed(words)))
    many = [f"curl -sS -r {start}-{start + 999} -o part{start // 1000:02} {origin}/text.txt" for start in range(0, 40_000, 1000)]
    lab.record("many-ranges-in-parallel", "\n".join(many), replayed=parallel(many))
    whole_too = [f"curl -sS -o whole {origin}/text.txt", *words]
    lab.record("whole-and-ranges", "\n".join(whole_too), replayed="\n".join(reversed(whole_too)))
    several = [f"curl -sS -r 0-9,100-109 -o several {origin}/text.txt", f"curl -sS -r 200-209,300-309 -o others {origin}/text.txt"]
    lab.record("several-ranges-in-one", "\n".join(several), replayed="\n".join(reversed(several)))
    lab.record("beyond-the-end", f"curl -sS -f -r 999999999- -o nothing {origin}/text.txt", exit=22)
    heads = [f"curl -sS -I {plain}/text.txt", f"curl -sS -I -r 0-9 {plain}/text.txt"]
    lab.record("heads", "\n".join(f"{word} >head{n}" for n, word in enumerate(heads)),
               replayed="\n".join(reversed([f"{word} >head{n}" for n, word in enumerate(heads)])))
    # The range is an answer for who has the right version, the whole for who has another one.
    conditions = [f"""curl -sS -r 0-9 -H 'If-Range: "another"' -o another {plain}/text.txt""",
                  f"""curl -sS -r 0-9 -H 'If-Range: Tue, 31 Dec 2024 00:00:00 GMT' -o dated {plain}/text.txt""",
                  f"curl -sS -r 0-9 -o unconditional {plain}/text.txt"]
    lab.record("if-range", "\n".join(conditions), replayed="\n".join(reversed(conditions)))

    code = "-w '%{http_code}\\n'"
    for name, url in [("nginx", origin), ("python", plain)]:
        first = f"curl -sS {code} --etag-save tag -o first {url}/text.txt >first.code"
        again = f"curl -sS {code} --etag-compare tag -o again {url}/text.txt >again.code"
        fresh = f"curl -sS {code} -o fresh {url}/text.txt >fresh.code"
        lab.record(f"etag-{name}", "\n".join([first, again, fresh]))
        # A client that has the tag already comes first, one without a cache after it.
        lab.record(f"etag-other-order-{name}", "\n".join([first, again]), replayed="\n".join(
            ["cp ../tag tag", again, first]), setup=keep_tag(f"etag-{name}"))
    # A server compares this date for equality: another one gets the whole.
    same, earlier = "Tue, 31 Dec 2024 00:00:00 GMT", "Mon, 30 Dec 2024 00:00:00 GMT"
    since = [f"curl -sS {code} -z '{same}' -o since {plain}/text.txt >since.code", f"curl -sS {code} -o fresh {plain}/text.txt >fresh.code",
             f"curl -sS {code} -z '{earlier}' -o before {plain}/text.txt >before.code"]
    lab.record("since", "\n".join(since), replayed="\n".join(reversed(since)))
    lab.record("since-then-fresh", "\n".join(since[:2]), replayed="\n".join(reversed(since[:2])))
    # Another client in the replay: wget keeps the file's date, and asks with it.
    lab.record("since-wget", f"wget -q -N {origin}/text.txt\nwget -q -N {origin}/text.txt")

    lab.replay()


def part(run):
    (run / "big.bin").write_bytes(BIG[:7_654_321])


def keep_tag(case):
    def copy(run):
        tag = run.parent.parent / case / "recorded" / "tag"
        if tag.exists():
            (run.parent / "tag").write_bytes(tag.read_bytes())
    return copy


def parallel(words):
    """The commands at once; the first that fails is the script's failure."""
    lines = [f"({word}) & jobs=\"$jobs $!\"" for word in words]
    return "\n".join(["jobs=", *lines, "for job in $jobs; do wait $job; done"])


def but_stderr(name, content):
    """wget prints the time of each download."""
    return None if name == "stderr" else content
