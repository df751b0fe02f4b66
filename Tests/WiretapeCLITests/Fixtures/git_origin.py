#!/usr/bin/env python3
"""Serves the repositories of a folder by git's own http-backend (a CGI program): git_origin.py FOLDER. Prints its URL.

Over TLS with a certificate and its key: git_origin.py FOLDER CERTIFICATE KEY.
"""
import http.server
import os
import ssl
import subprocess
import sys


class Exchange(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": sys.argv[1], "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
            "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_ADDR": "127.0.0.1",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        head, _, answer = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE, check=True).stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
        self.send_response(status)
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = serve

    def log_message(self, *arguments):
        pass


class Origin(http.server.ThreadingHTTPServer):
    """A handshake runs in its connection's own thread: a client that never finishes it stops nobody else."""

    context = None

    def finish_request(self, request, client_address):
        if self.context:
            request = self.context.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)
        if self.context:
            request.close()

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


with Origin(("127.0.0.1", 0), Exchange) as origin:
    if len(sys.argv) > 2:
        origin.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        origin.context.load_cert_chain(sys.argv[2], sys.argv[3])
    print(f"{'https' if origin.context else 'http'}://127.0.0.1:{origin.server_address[1]}", flush=True)
    origin.serve_forever(poll_interval=3600)
