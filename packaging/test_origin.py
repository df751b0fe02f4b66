"""Serves a folder over HTTP, and over HTTPS if there is a certificate; prints both ports."""

import functools
import http.server
import pathlib
import ssl
import sys
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def main():
    folder, certificate, key = sys.argv[1:4]
    ports = []
    servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))]
    if pathlib.Path(certificate).is_file():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)))
        servers[1].socket = context.wrap_socket(servers[1].socket, server_side=True)
    for server in servers:
        threading.Thread(target=server.serve_forever).start()
        ports.append(str(server.server_address[1]))
    print(*ports, flush=True)


main()
