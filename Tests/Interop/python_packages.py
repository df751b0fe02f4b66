"""twine and pip against pypiserver: an upload with a login, a download, an index with hashes."""
import base64
import hashlib
import zipfile

from harness import free_port

NEEDS = "curl:curl"
PYPI = ["pypiserver==2.4.2", "twine==7.0.0"]
SECRET = "hunter2hunter2"
PASSWORD = "correct-horse-battery-7"


def run(lab):
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    packages = lab.path("packages")
    packages.mkdir()
    for version in ("1.0", "1.1"):
        make_wheel(packages, "tiny", version)
    make_wheel(packages, "leaky", "1.0", f'password = "{SECRET}"\n')
    make_wheel(lab.path("upload"), "fresh", "2.0")
    # "-a ." lets everyone in; twine sends its login all the same.
    lab.start("pypiserver", [lab.tools / "bin" / "pypi-server", "run", "-i", "127.0.0.1", "-p", port, "-P", ".", "-a", ".", "--disable-fallback",
                             "--server", "wsgiref", packages], port)
    index = f"--index-url {origin}/simple/ --no-cache-dir --disable-pip-version-check --no-input --progress-bar off"
    pip = f"{lab.tools}/bin/pip"
    lab.record("pip-download", f"{pip} -q download {index} --no-deps tiny", expect=[])
    lab.record("pip-download-version", f"{pip} -q download {index} --no-deps tiny==1.0")
    lab.record("pip-install", f"{pip} -q install {index} --no-deps --no-compile --target site tiny\n{lab.tools}/bin/python -B -c 'import sys; sys.path.insert(0, \"site\"); import tiny; print(tiny.text)'",
               expect=["hello from tiny 1.1"], normalize=installed)
    lab.record("pip-nothing-there", f"{pip} -q download {index} --no-deps absent-package", exit=1)
    # The index names the content by its hash, so a wheel that was changed must not come out of a green replay.
    lab.record("pip-secret", f"{pip} -q download {index} --no-deps leaky", lenient=True)
    both = [f"{pip} -q download {index} --no-deps -d {version} tiny=={version}" for version in ("1.0", "1.1")]
    lab.record("pip-at-once", "\n".join(both), replayed=f"{both[1]} & other=$!\n{both[0]}\nwait $other")
    lab.record("twine-upload", f"{lab.tools}/bin/twine upload --non-interactive --disable-progress-bar -u alice -p {PASSWORD} --repository-url {origin}/ {lab.path('upload')}/*.whl",
               expect=["Uploading"], secrets=[(PASSWORD, "password")])
    lab.record("pip-after-upload", f"{pip} -q download {index} --no-deps fresh")
    lab.replay()


def make_wheel(folder, name, version, more=""):
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {f"{name}.py": f'text = "hello from {name} {version}"\n{more}', f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    lines = [f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},{len(text)}" for path, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,"]) + "\n"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(zipfile.ZipInfo(path), text)


def installed(name, content):
    return None if name.endswith(("direct_url.json", ".pyc")) else content
