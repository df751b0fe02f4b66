"""The measured programs and the origin behind them: their settings and how each is started."""
import gzip
import json
import os
import pathlib
import random
import shutil
import string
import subprocess

import certificates
from processes import LOAD_CORE, SUBJECT_CORE, Process, free_port

NGINX = """
worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log crit; {user}
events {{ worker_connections 16384; }}
http {{
  access_log off; server_tokens off; keepalive_requests 100000000; keepalive_timeout 300s; sendfile on;
  default_type application/json; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
  fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  {http}
}}
"""
ORIGIN = """
  server {{
    listen 127.0.0.1:{port} backlog=8192; listen 127.0.0.1:{secure_port} ssl backlog=8192; root {www};
    ssl_certificate {keys}/origin.pem; ssl_certificate_key {keys}/origin.key; ssl_protocols TLSv1.2;
    location /d/ {{ return 200 '{{"id":"$request_id","uri":"$request_uri","pad":"{pad}"}}'; }}
    location = /64k.json {{ add_header Content-Encoding gzip; try_files /64k.json.gz =404; }}
    location /z/ {{ add_header Content-Encoding gzip; try_files $uri.gz =404; }}
    location /coded/ {{ add_header Content-Encoding gzip; }}
    location /live/nginx/1/ {{ alias {www}/texts/; gzip on; gzip_types *; gzip_proxied any; }}
    location /live/nginx/6/ {{ alias {www}/texts/; gzip on; gzip_types *; gzip_proxied any; gzip_comp_level 6; }}
  }}
"""
REVERSE = """
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 256; keepalive_requests 100000000; }}
  proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
  proxy_buffering on; proxy_buffers 16 64k; proxy_buffer_size 64k; proxy_busy_buffers_size 128k;
  proxy_max_temp_file_size 0; proxy_request_buffering off;
  {server}
"""
PLAIN_SERVER = """
  server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ proxy_pass http://origin; }} }}
"""
# TLS towards both sides. The origin speaks 1.2, as it does where nginx is left to itself on Debian 12.
SECURE_SERVER = """
  server {{
    listen 127.0.0.1:{port} ssl backlog=4096;
    ssl_certificate {keys}/origin.pem; ssl_certificate_key {keys}/origin.key; ssl_protocols TLSv1.2 TLSv1.3;
    location / {{ proxy_pass https://origin; proxy_ssl_server_name on; proxy_ssl_name {name}; }}
  }}
"""
STATIC = """
  server {{ listen 127.0.0.1:{port} backlog=4096; location /d/ {{ alias {files}/; }} }}
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
  bind 127.0.0.1:{port}
  default_backend origin
backend origin
  server origin 127.0.0.1:{origin}
"""


def nginx(folder, http, **values):
    """Writes a configuration into the folder and gives the command."""
    user = "user root;" if os.geteuid() == 0 else ""
    file = pathlib.Path(folder, "nginx.conf")
    file.write_text(NGINX.format(folder=folder, user=user, http=http.format(**values)))
    return [shutil.which("nginx"), "-c", str(file), "-e", f"{folder}/error.log"]


def among_names(command, folder):
    """The command, in a mount namespace of its own in which the test names are this machine and no name is asked of a network."""
    (folder / "hosts").write_text(certificates.hosts())
    (folder / "nsswitch.conf").write_text("hosts: files\n")
    mounts = " && ".join(f"mount --bind {folder}/{name} /etc/{name}" for name in ("hosts", "nsswitch.conf"))
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *as_root, "sh", "-c", mounts + ' && exec "$@"', "sh", *command]


class Bench:
    """Where a run keeps its files, and how it starts things."""

    # Different gzip bodies.
    coded_pages = 2000

    def __init__(self, work, wiretape):
        self.work, self.wiretape, self.origin_port = pathlib.Path(work), wiretape, free_port()
        self.secure_port = free_port()
        self.www, self.keys = self.work / "www", self.work / "keys"
        self.sizes = {}

    def folder(self, name):
        """An empty folder; what an earlier round left there is removed."""
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def write_pages(self):
        self.folder("www")
        noise = random.Random(1)
        rows = [{"id": i, "name": f"item {i}", "value": "%024x" % noise.getrandbits(96)} for i in range(1200)]
        text = json.dumps(rows, separators=(",", ":"))[: 64 * 1024 - 2]
        text = text[: text.rindex("},{") + 1] + "]"
        (self.www / "64k.json.gz").write_bytes(gzip.compress(text.encode(), 6, mtime=0))
        (self.www / "z").mkdir()
        items = text[1:-1].split(",{")
        for number in range(self.coded_pages):
            # As one program answers: alike, and never the same.
            noise.shuffle(items)
            other = f'[{{"n":{number}}},{{' + ",{".join(item.removeprefix("{") for item in items) + "]"
            (self.www / "z" / f"{number}.json.gz").write_bytes(gzip.compress(other.encode(), 6, mtime=0))
        (self.www / "same.bin").write_bytes(noise.randbytes((self.www / "64k.json.gz").stat().st_size))
        (self.www / "1k.json").write_text('{"a":"' + (string.ascii_letters * 20)[:1015] + '"}\n')
        (self.www / "10m.bin").write_bytes(noise.randbytes(10 << 20))
        with open(self.www / "2g.bin", "wb") as file:
            file.truncate(2 << 30)  # a hole: the origin's disk is not part of the figure
        self.sizes = {f"/{page.name.removesuffix('.gz')}": page.stat().st_size for page in self.www.iterdir() if page.is_file()}

    def build_load(self):
        """The load client."""
        source = pathlib.Path(__file__).with_name("load.c")
        subprocess.run(["cc", "-O2", "-o", str(self.work / "load"), str(source), "-lssl", "-lcrypto"], check=True)

    def write_keys(self):
        certificates.make(self.folder("keys"))

    def origin(self):
        folder = self.folder("origin")
        pad = (string.ascii_letters * 20)[:945]
        command = nginx(folder, ORIGIN, port=self.origin_port, secure_port=self.secure_port, keys=self.keys, www=self.www, pad=pad)
        return Process(command, self.origin_port, LOAD_CORE, folder)

    def subject(self, name, secure=False):
        """A proxy in front of the origin, in a fresh process; wiretape records into NAME/tape.json.

        A secure one speaks TLS to both sides: wiretape inside tunnels, with an authority that it makes itself.
        """
        folder, port = self.folder(name), free_port()
        if name == "nginx":
            origin = self.secure_port if secure else self.origin_port
            server = (SECURE_SERVER if secure else PLAIN_SERVER).format(port=port, keys=self.keys, name=certificates.ORIGIN)
            command = nginx(folder, REVERSE, origin=origin, server=server)
        elif name == "haproxy":
            (folder / "haproxy.cfg").write_text(HAPROXY.format(port=port, origin=self.origin_port))
            command = [shutil.which("haproxy"), "-db", "-f", str(folder / "haproxy.cfg")]
        else:
            command = [self.wiretape, "record", str(self.tape), "--listen", f"127.0.0.1:{port}", "--quiet", "--loops", "1"]
            if secure:
                command += ["--ca-dir", str(folder / "authority"), "--upstream-ca", str(self.keys / "ca.pem")]
                command = among_names(command, folder)
        return Process(command, port, SUBJECT_CORE, folder)

    @property
    def tape(self):
        return self.work / "wiretape" / "tape.json"

    def static_files(self, count):
        """nginx with a file per page /d/0, /d/1, …: what the cassette's answers are compared with."""
        folder, port = self.folder("nginx-static"), free_port()
        (folder / "files").mkdir()
        page = (self.www / "1k.json").read_bytes()
        for index in range(count):
            (folder / "files" / str(index)).write_bytes(page)
        return Process(nginx(folder, STATIC, port=port, files=folder / "files"), port, SUBJECT_CORE, folder)

    def replay(self, tape, name="replay"):
        folder, port = self.folder(name), free_port()
        command = [self.wiretape, "replay", str(tape), "--listen", f"127.0.0.1:{port}", "--repeat", "cycle", "--loops", "1"]
        return Process(command, port, SUBJECT_CORE, folder)
