"""skopeo against a registry of container images: copies there and back; an image whose configuration has a secret."""
import gzip
import hashlib
import io
import json
import tarfile

from harness import free_port

NEEDS = "skopeo:skopeo docker-registry:docker-registry"
SECRET = "hunter2hunter2"

REGISTRY = """
version: 0.1
log: {{level: warn}}
storage: {{filesystem: {{rootdirectory: {folder}/registry}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:{port}", secret: constant}}
"""


def run(lab):
    port = free_port()
    config = lab.write("registry.yml", REGISTRY.format(folder=lab.folder, port=port))
    lab.start("registry", ["docker-registry", "serve", config], port)
    # Go takes no proxy for localhost and loopback addresses. It takes this short form of one for a name.
    host = f"127.1:{port}"
    lab.write("policy.json", '{"default": [{"type": "insecureAcceptAnything"}]}')
    # Each repository has content of its own: skopeo remembers, beyond its run, in which others it saw the same.
    configs = {name: make_image(lab.path("images", name), variables, name) for name, variables in [
        ("plain", ["COLOR=blue"]), ("docker", ["COLOR=red"]), ("secret", ["COLOR=blue", f"PASSWORD={SECRET}"])]}
    skopeo = f"skopeo --policy {lab.path('policy.json')} copy -q"
    up = f"{skopeo} --dest-tls-verify=false oci:{{image}}:latest docker://{host}/{{name}}:1"
    down = f"{skopeo} --src-tls-verify=false docker://{host}/{{name}}:1 oci:image:latest"
    inspect = f"skopeo inspect --tls-verify=false docker://{host}/{{name}}:1"
    plain = {"name": "plain", "image": lab.path("images", "plain")}
    lab.record("push", up.format(**plain))
    lab.record("push-again", up.format(**plain))
    lab.record("pull", down.format(**plain))
    lab.record("inspect", inspect.format(**plain), expect=["Digest"])
    lab.record("docker-format", f"{skopeo} --format v2s2 --dest-tls-verify=false oci:{lab.path('images', 'docker')}:latest docker://{host}/docker:1\n"
               f"{skopeo} --src-tls-verify=false docker://{host}/docker:1 docker-archive:image.tar:plain:1")

    # A digest of the whole content is an address here, so no placeholder can stand in it: the recording has to say so.
    seeded = lab.client(["sh", "-c", up.format(name="secret", image=lab.path("images", "secret")).replace(host, f"127.0.0.1:{port}")])
    lab.check(seeded.returncode == 0, f"the registry was not filled: {seeded.stderr.decode()}", lab.path("registry.log"))
    case = lab.record("pull-secret", down.format(name="secret"), secrets=[(SECRET, "password")])
    log = (case.folder / "record.log").read_text(errors="replace")
    lab.check("digest" in log.lower(), "pull-secret: the recording does not say that a digest names a body that was changed", case.folder / "record.log")
    lab.cases.remove(case)
    # What it says to do about it has to help.
    keep = ["--keep", f"body:{configs['secret']}"]
    lab.check(" ".join(keep) in log, f"pull-secret: the recording does not name the option {' '.join(keep)}", case.folder / "record.log")
    lab.record("pull-kept", down.format(name="secret"), record_options=keep)

    lab.replay()
    # The client refuses content that does not fit its address. A green replay would have to have what was recorded.
    if case.ready:
        code, _ = case._run("replay", case.command, ["replay", case.cassette])
        recorded, replayed = (sorted(path.name for path in (case.folder / run).rglob("*")) for run in ("recorded", "replayed"))
        lab.check(code != 0 or recorded == replayed, "pull-secret: the replay is green with other files", case.folder)


def make_image(folder, variables, text):
    """Makes an image of one layer with one file, as a folder of the OCI image layout, and returns the digest of its configuration."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def blob(content, kind, **more):
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)} | more

    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        content = "".join(f"{text} {n}\n" for n in range(5000)).encode()
        entry = tarfile.TarInfo("etc/motd")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    plain = archive.getvalue()
    layer = blob(gzip.compress(plain, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip")
    config = blob(json.dumps({
        "created": "2025-01-01T00:00:00Z", "architecture": "amd64", "os": "linux", "config": {"Env": variables, "Cmd": ["/bin/true"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]},
        "history": [{"created": "2025-01-01T00:00:00Z", "created_by": "make_image"}],
    }).encode(), "application/vnd.oci.image.config.v1+json")
    manifest = blob(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [layer]}).encode(),
                    "application/vnd.oci.image.manifest.v1+json", annotations={"org.opencontainers.image.ref.name": "latest"})
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return config["digest"]
