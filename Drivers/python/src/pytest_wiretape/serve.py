"""Talks to `wiretape serve`: docs/drivers.md has the protocol. Knows nothing of pytest."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
import tempfile
import urllib.parse

PROTOCOL = "1"


class ServerError(Exception):
    """`wiretape serve` did not start, or refused a request. Its text is for people."""

    def __init__(self, message: str, code: str = "start"):
        super().__init__(message)
        self.code = code


class Server:
    """One `wiretape serve`, shared by all processes that start it alike. It ends with the last of them."""

    def __init__(self, program: str, folder: str, arguments: tuple[str, ...] = ()):
        self.program = program
        self._errors = tempfile.TemporaryFile("w+")
        command = [program, "serve", "--share", "--folder", folder, *arguments]
        try:
            # In a session of its own: Ctrl-C in a terminal is for the tests, which then end the server.
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, start_new_session=True)
        except OSError as error:
            raise ServerError(f'cannot run "{program}" ({error.strerror}): install wiretape, or name it with WIRETAPE') from error
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            raise ServerError(self._errors.read().strip() or f'"{program} serve" ended at once')
        ready = json.loads(line)
        if ready["protocol"] != PROTOCOL:
            raise ServerError(f'"{program}" speaks protocol {ready["protocol"]}, and this driver {PROTOCOL}: update the older one')
        self.folder, self.trust, self.proxy = ready["folder"], ready["trust"], ready["proxy"]
        self._token, self.control = ready["token"], urllib.parse.urlsplit(ready["control"]).netloc

    def ask(self, method: str, path: str, body: dict | None = None) -> dict:
        """One request to the control API. The time limit is for a server that hangs; closing a large cassette may take a while."""
        connection = http.client.HTTPConnection(self.control, timeout=120)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, json.dumps(body).encode() if body is not None else None, headers)
            answer = json.load(connection.getresponse())
        except OSError as error:
            raise ServerError(f"wiretape serve does not answer ({error}): was its process ended?", "connection") from error
        finally:
            connection.close()
        if "error" in answer:
            raise ServerError(answer["error"]["message"], answer["error"]["code"])
        return answer

    def open(self, **order) -> Session:
        """Opens a session with the members of `POST /sessions`."""
        return Session(self, self.ask("POST", "/sessions", {"folders": True, "owner": os.getpid(), **order}))

    def stop(self) -> None:
        """Lets go of the server, which ends if nobody else uses it."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()


class Session:
    """One cassette that is recorded or replayed, and what clients need for it."""

    def __init__(self, server: Server, answer: dict):
        self.server, self.answer = server, answer
        self.proxy: str = answer["proxy"]
        self.environment: dict[str, str] = answer["env"]
        self.bundle: str = answer["trust"]["bundle"]

    def ssl_context(self) -> ssl.SSLContext:
        """Trusts the system's roots and the recorder."""
        return ssl.create_default_context(cafile=self.bundle)

    def urllib3(self, **options):
        """A pool manager of urllib3, which reads no environment."""
        import urllib3

        parts = urllib.parse.urlsplit(self.proxy)
        headers = urllib3.make_headers(proxy_basic_auth=f"{parts.username}:{parts.password}")
        return urllib3.ProxyManager(
            f"http://{parts.hostname}:{parts.port}", proxy_headers=headers, ca_certs=self.bundle, **options)

    def report(self) -> dict:
        return self.server.ask("GET", f"/sessions/{self.answer['id']}")

    def end(self, failed: bool = False) -> dict:
        """Ends the session and returns its last report. After a failed test a new recording does not replace an older one."""
        return self.server.ask("DELETE", f"/sessions/{self.answer['id']}" + ("?failed=true" if failed else ""))
