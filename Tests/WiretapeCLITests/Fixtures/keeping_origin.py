"""An origin that keeps what it is sent: each request as a JSON line with its method, target, sorted field lines and body in base64.

keeping_origin.py FILE
"""
import base64
import http.server
import json
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            octets = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                octets += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return octets
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def keep(self):
        fields = sorted(f"{name}: {value}" for name, value in self.headers.items())
        kept = {
            "method": self.command, "target": self.path, "fields": fields,
            "body": base64.b64encode(self.body()).decode(),
        }
        with open(sys.argv[1], "a") as file:
            file.write(json.dumps(kept) + "\n")
        self.send_response(204)
        self.end_headers()

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.keep
        raise AttributeError(name)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
server.serve_forever()
