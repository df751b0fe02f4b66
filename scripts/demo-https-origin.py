"""Serves one page over HTTPS on a free port of this machine and prints its URL: demo-https-origin.py CERTIFICATE KEY"""

import http.server
import ssl
import sys


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = '{"pets": [{"name": "보리", "weight": 1.50e1}]}\n'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
context.set_alpn_protocols(["http/1.1"])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(f"https://localhost:{server.server_port}/pets", flush=True)
server.serve_forever()
