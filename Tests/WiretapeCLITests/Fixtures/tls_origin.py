#!/usr/bin/env python3
"""An HTTPS origin that does one thing no web server does: tls_origin.py KIND FOLDER, with what certificates.sh has put there. Prints its URL.

  client-required       ends the handshake where the client has no certificate of the authority (TLS 1.3: seen at the first read)
  client-required-1.2   the same in TLS 1.2: seen in the handshake
  clean                 ends a body of no stated length with close_notify
  truncated             ends it without: nobody can tell whether it is whole
  closes, resets        at the ClientHello
  plain                 answers the ClientHello with HTTP in clear
  silent                takes the ClientHello and never answers
"""
import os
import socket
import ssl
import struct
import sys
import threading

KINDS = ["client-required", "client-required-1.2", "clean", "truncated", "closes", "resets", "plain", "silent"]
kind, folder = sys.argv[1:]
if kind not in KINDS:
    sys.exit(f"tls_origin: there is no kind \"{kind}\": take one of {', '.join(KINDS)}")

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{folder}/good.pem", f"{folder}/good.key")
if kind.startswith("client-required"):
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(f"{folder}/authority.pem")
if kind.endswith("1.2"):
    context.maximum_version = ssl.TLSVersion.TLSv1_2


def drained(connection):
    while connection.recv(65536):
        pass


def in_clear(connection):
    connection.recv(65536)
    if kind == "resets":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif kind == "plain":
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        drained(connection)
    elif kind == "silent":
        drained(connection)
    connection.close()


def over_tls(connection):
    secured = context.wrap_socket(connection, server_side=True)
    head = b""
    while b"\r\n\r\n" not in head:
        octets = secured.recv(65536)
        if not octets:
            return
        head += octets
    common_name = dict(pair for name in (secured.getpeercert() or {}).get("subject", ()) for pair in name).get("commonName", "nobody")
    secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" + f"hello {common_name}\n".encode())
    if kind == "truncated":
        os.close(secured.detach())
    else:
        secured.unwrap()


def serve(connection):
    try:
        (in_clear if kind in ("closes", "resets", "plain", "silent") else over_tls)(connection)
    except OSError:
        pass
    finally:
        connection.close()


with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
    print(f"https://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        accepted, _ = listener.accept()
        threading.Thread(target=serve, args=[accepted], daemon=True).start()
