"""A WebSocket and an event stream that do not end: serve, or talk PORT. The client says when it has heard all there is, and holds both open."""
import base64
import hashlib
import os
import re
import socket
import struct
import sys
import threading
import urllib.parse

EVENTS = b"".join(b"id: %d\ndata: %s\n\n" % (number, b"x" * 1000) for number in range(100)) + b"data: last\n\n"
WORDS = [b"one", b"two", b"three"]


def frame(payload, masked):
    assert len(payload) < 126
    if not masked:
        return bytes([0x81, len(payload)]) + payload
    mask = os.urandom(4)
    return bytes([0x81, 0x80 | len(payload)]) + mask + bytes(octet ^ mask[i % 4] for i, octet in enumerate(payload))


def head(connection):
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(1)
    return received.decode()


def answer(connection):
    asked = head(connection)
    if asked.startswith("GET /events"):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + EVENTS)
    else:
        key = re.search(r"(?i)sec-websocket-key: (.*)\r", asked)[1]
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                           + base64.b64encode(digest) + b"\r\n\r\n" + b"".join(frame(word, False) for word in WORDS))
    connection.recv(100_000)
    while connection.recv(1000):
        pass


def serve():
    listener = socket.create_server(("127.0.0.1", 0))
    print("http://127.0.0.1:%d" % listener.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=answer, args=[listener.accept()[0]], daemon=True).start()


def ask(port, proxy, path, *fields):
    connection = socket.create_connection(("127.0.0.1", proxy))
    lines = [f"GET http://127.0.0.1:{port}{path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *fields, "", ""]
    connection.sendall("\r\n".join(lines).encode())
    head(connection)
    return connection


def expect(connection, wanted):
    received = b""
    while len(received) < len(wanted):
        received += connection.recv(len(wanted) - len(received))
    assert received == wanted, received


def talk(port, proxy):
    events = ask(port, proxy, "/events")
    expect(events, EVENTS)
    chat = ask(port, proxy, "/chat", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
               "Sec-WebSocket-Version: 13")
    expect(chat, b"".join(frame(word, False) for word in WORDS))
    chat.sendall(frame(b"four", True))
    print("ready", flush=True)
    threading.Event().wait()


serve() if sys.argv[1] == "serve" else talk(int(sys.argv[2]), int(sys.argv[3]))
