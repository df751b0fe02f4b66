"""An origin whose answers are files of a folder, read anew for each request; notes each request's method, target and body.

drifting_origin.py FOLDER
"""
import http.server
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kept = {"method": self.command, "target": self.path, "body": body.decode(), "fields": sorted(self.headers.keys())}
        with open(folder / "requests", "a") as file:
            file.write(json.dumps(kept) + "\n")
        file = folder / "answers" / self.path.split("?")[0].strip("/")
        content = file.read_bytes() if file.is_file() else b""
        self.send_response(200 if file.is_file() else 404)
        self.send_header("Content-Type", "application/json" if file.suffix == ".json" else "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_OPTIONS = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
server.serve_forever()
