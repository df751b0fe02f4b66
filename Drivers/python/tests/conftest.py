import http.server
import os
import pathlib
import threading

import pytest

pytest_plugins = ["pytester"]
CASES = pathlib.Path(__file__).resolve().parents[2] / "cases"


class Origin:
    """A local server: GET /N is answered with N, and each answer is counted."""

    def __init__(self):
        origin = self
        self.count = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                origin.count += 1
                body = self.path.partition("?")[0].lstrip("/").encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def origin():
    origin = Origin()
    yield origin
    if origin.server.socket.fileno() >= 0:
        origin.stop()


@pytest.fixture(autouse=True)
def _outside_of_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def program():
    return os.environ.get("WIRETAPE", "wiretape")
