"""Event streams and WebSockets of the library aiohttp: serve, talk PORT, or browse CHROMIUM PORT. What is heard is printed."""
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import urllib.request

PAGE = """<!doctype html><title>live</title><script>
const lines = []
function events() {
    return new Promise(done => {
        const source = new EventSource('/events')
        source.onmessage = event => {
            lines.push(`event ${event.lastEventId} ${event.data}`)
            if (event.lastEventId == '4') { source.close(); done() }
        }
    })
}
function talk() {
    return new Promise(done => {
        const socket = new WebSocket(`ws://${location.host}/talk`, ['other', 'chat'])
        socket.binaryType = 'arraybuffer'
        socket.onopen = () => {
            lines.push(`open ${socket.protocol} ${socket.extensions}`)
            for (const text of ['a', 'again and '.repeat(20), 'long '.repeat(30000)]) socket.send(text)
            socket.send(new Uint8Array([0, 1, 255]))
            socket.send('bye')
        }
        socket.onmessage = event => lines.push(typeof event.data == 'string'
            ? `text ${event.data.length} ${event.data.slice(0, 20)}` : `binary ${new Uint8Array(event.data)}`)
        socket.onclose = event => { lines.push(`closed ${event.code} ${event.reason} ${event.wasClean}`); done() }
    })
}
const live = events().then(talk).then(() => lines.join('\\n'))
</script>"""


async def serve():
    from aiohttp import web

    async def page(request):
        return web.Response(text=PAGE, content_type="text/html")

    async def events(request):
        """Two events at a time: the client connects anew, and names the last one."""
        last = int(request.headers.get("Last-Event-ID", "0"))
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        for number in (last + 1, last + 2):
            await answer.write(f"retry: 10\nid: {number}\ndata: after {last}\n\n".encode())
        if last > 0:
            await asyncio.Future()
        return answer

    async def talk(request):
        socket = web.WebSocketResponse(protocols=["chat"], max_msg_size=0, compress=True)
        await socket.prepare(request)
        async for message in socket:
            if message.data == "bye":
                await socket.close(code=4002, message=b"so long")
            elif isinstance(message.data, str):
                await socket.send_str(message.data.upper())
            else:
                await socket.send_bytes(message.data)
        return socket

    application = web.Application()
    application.router.add_get("/page", page)
    application.router.add_get("/events", events)
    application.router.add_get("/talk", talk)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print("http://127.0.0.1:%d" % site._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Future()


async def talk(port):
    import aiohttp

    async with aiohttp.ClientSession(trust_env=True) as session:
        async with session.ws_connect(
            f"http://127.0.0.1:{port}/talk", protocols=["chat"], compress=15, max_msg_size=0, autoclose=True
        ) as socket:
            print("open", socket.protocol, socket.compress)
            for text in ("a", "again and " * 20, "long " * 30000):
                await socket.send_str(text)
                heard = (await socket.receive()).data
                print("text", len(heard), heard[:20])
            await socket.send_bytes(b"\x00\x01\xff")
            print("binary", (await socket.receive()).data)
            await socket.send_str("bye")
            closed = await socket.receive()
            print(closed.type.name, socket.close_code, closed.extra)
        last = None
        for _ in range(2):
            headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
            async with session.get(f"http://127.0.0.1:{port}/events", headers=headers) as answer:
                seen = 0
                async for line in answer.content:
                    print("event", line)
                    if line.startswith(b"id: "):
                        last = line[4:].decode().strip()
                    seen += line == b"\n"
                    if seen == 2:
                        break


async def browse(chromium, port):
    """A page in a browser, asked over the browser's own port for what it heard."""
    import websockets

    proxy = os.environ.get("http_proxy")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
            "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}", "--remote-debugging-port=0",
            # Names with a dot go past the proxy, and to nobody: the browser asks its makers for much that no page wants.
            "--proxy-bypass-list=<-loopback>;*.*", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
        ] + ([f"--proxy-server={proxy}"] if proxy else []) + [f"http://localhost:{port}/page"]
        browser = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            line = next(line for line in browser.stderr if "DevTools listening on" in line)
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            pages = json.load(direct.open("http://" + line.split("ws://")[1].split("/")[0] + "/json"))
            page = next(page for page in pages if page["type"] == "page")
            async with websockets.connect(page["webSocketDebuggerUrl"], max_size=None, proxy=None) as socket:
                while True:
                    order = {"id": 1, "method": "Runtime.evaluate", "params": {"expression": "live", "awaitPromise": True}}
                    await socket.send(json.dumps(order))
                    while (answer := json.loads(await socket.recv())).get("id") != 1:
                        pass
                    value = answer["result"]["result"].get("value")
                    # The page may not have come so far.
                    if value:
                        return print(value)
                    await asyncio.sleep(0.02)
        finally:
            browser.terminate()
            browser.wait()


asyncio.run(serve() if sys.argv[1] == "serve" else talk(sys.argv[2]) if sys.argv[1] == "talk" else browse(sys.argv[2], sys.argv[3]))
