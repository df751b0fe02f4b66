#!/usr/bin/env python3
"""HTTP/2 in Python: h2_peer.py serve CERTIFICATE KEY FOLDER (hypercorn), or h2_peer.py get URL... (httpx), which follows https_proxy."""
import asyncio
import pathlib
import socket
import sys


def serve(certificate, key, folder):
    import hypercorn.asyncio
    import hypercorn.config

    async def answer(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        file = pathlib.Path(folder + scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/octet-stream")]})
        await send({"type": "http.response.body", "body": file.read_bytes()})

    async def app(scope, receive, send):
        if scope["type"] == "http":
            await answer(scope, receive, send)

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = hypercorn.config.Config()
    config.bind = ["fd://%d" % listener.fileno()]
    config.certfile, config.keyfile, config.alpn_protocols = certificate, key, ["h2"]
    config.errorlog = None
    listener.listen()
    print("https://127.0.0.1:%d" % listener.getsockname()[1], flush=True)
    asyncio.run(hypercorn.asyncio.serve(app, config))


async def get(urls):
    import httpx

    async with httpx.AsyncClient(http2=True, timeout=20) as client:
        for answer in await asyncio.gather(*(client.get(url) for url in urls)):
            print(answer.http_version, answer.status_code, len(answer.content), hash_of(answer.content))


def hash_of(octets):
    import hashlib

    return hashlib.sha256(octets).hexdigest()


if sys.argv[1] == "serve":
    serve(*sys.argv[2:])
else:
    asyncio.run(get(sys.argv[2:]))
