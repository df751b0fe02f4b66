"""What the driver adds to a test: the same 200 tests with and without the marker, in medians over the rounds.

Each test sends one request. With the marker it is replayed; without, it goes to a local server that answers at once.
"""

import http.server
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading

TESTS = 200
ROUNDS = 5
SOURCE = """
import os, pytest, http.client, urllib.request
@pytest.mark.parametrize("number", range({tests}))
{marker}
def test_number(number):
    assert urllib.request.urlopen(os.environ["ORIGIN"] + "/pets").status == 200
"""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def seconds(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd=folder, capture_output=True, text=True)
    found = re.search(rf"{TESTS} passed in ([0-9.]+)s", done.stdout)
    if not found:
        sys.exit(done.stdout + done.stderr)
    return float(found[1])


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["ORIGIN"] = f"http://127.0.0.1:{server.server_address[1]}"
    os.environ.pop("CI", None)
    with tempfile.TemporaryDirectory() as folder:
        for name, marker in [("with", "@pytest.mark.wiretape"), ("without", "")]:
            with open(f"{folder}/test_{name}.py", "w") as file:
                file.write(SOURCE.format(tests=TESTS, marker=marker))
        with open(f"{folder}/pytest.ini", "w") as file:
            file.write("[pytest]\n")
        seconds(folder, "test_with.py")
        rounds = [(seconds(folder, "test_with.py", "--wiretape-mode", "none"), seconds(folder, "test_without.py")) for _ in range(ROUNDS)]
    differences = [(one - other) * 1000 / TESTS for one, other in rounds]
    print(json.dumps({
        "tests": TESTS, "rounds": ROUNDS, "milliseconds a test": round(statistics.median(differences), 2),
        "all": [round(value, 2) for value in sorted(differences)],
    }))


if __name__ == "__main__":
    main()
