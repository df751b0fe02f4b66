"""A proxy in front of a server, which breaks some requests and answers: no server of the tests injects faults itself."""
import http.client
import http.server
import random
import threading
import time

KINDS = ["500", "503", "cut request", "cut answer", "lost answer", "wrong body", "expired token", "skew", "slow"]


class FaultProxy:
    """Listens on `port`. `share` of the requests have a fault, drawn from `seed`."""

    def __init__(self, port, seed, share, kinds=KINDS):
        self.draw, self.share, self.kinds = random.Random(seed), share, kinds
        self.lock, self.counts, self.requests = threading.Lock(), {}, 0
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_one(self):
                kind = proxy.kind()
                length = int(self.headers.get("Content-Length") or 0)
                if kind == "cut request":
                    self.rfile.read(length // 2)
                    return self.cut()
                body = self.rfile.read(length)
                if kind == "slow":
                    time.sleep(0.2)
                if kind == "500":
                    return self.answer(500, {}, b"")
                if kind == "503":
                    return self.answer(503, {}, b"<Error><Code>SlowDown</Code></Error>")
                if kind == "expired token":
                    # Servers answer like this for a moment, too, while a new token spreads; a client may give up.
                    return self.answer(400, {}, b"<Error><Code>ExpiredToken</Code></Error>")
                if kind == "skew":
                    return self.answer(403, {}, b"<Error><Code>RequestTimeTooSkewed</Code></Error>")
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                try:
                    connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                    for name, value in self.headers.items():
                        if name.lower() != "connection":
                            connection.putheader(name, value)
                    connection.endheaders(body)
                    answer = connection.getresponse()
                    data = answer.read()
                except OSError:
                    return self.cut()
                finally:
                    connection.close()
                fields = dict(answer.getheaders())
                if kind == "lost answer":
                    return self.cut()
                if kind == "wrong body" and self.command == "GET" and data and answer.status == 200:
                    data = bytes([data[0] ^ 1]) + data[1:]
                self.answer(answer.status, fields, data, cut=kind == "cut answer")

            do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = handle_one

            def answer(self, status, fields, data, cut=False):
                self.send_response_only(status)
                for name, value in fields.items():
                    if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                        self.send_header(name, value)
                length = {key.lower(): value for key, value in fields.items()}.get("content-length")
                self.send_header("Content-Length", length if self.command == "HEAD" and length else str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data[: len(data) // 2] if cut else data)
                if cut:
                    self.cut()

            def cut(self):
                self.close_connection = True

            def handle(self):
                try:
                    super().handle()
                except OSError:
                    pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def kind(self):
        with self.lock:
            self.requests += 1
            if self.draw.random() >= self.share:
                return None
            kind = self.draw.choice(self.kinds)
            self.counts[kind] = self.counts.get(kind, 0) + 1
            return kind

    def close(self):
        self.server.shutdown()
        self.server.server_close()
