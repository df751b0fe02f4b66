"""A WebSocket server and clients of the library websockets: serve, talk PORT, or call PORT, which makes ids of its own. They print what they hear."""
import asyncio
import json
import sys
import uuid

import websockets


async def answer(socket):
    await socket.send(json.dumps({"hello": "who is there?"}))
    try:
        async for message in socket:
            if message == "bye":
                await socket.close(4001, "bye then")
            elif isinstance(message, str) and message.startswith('{"id"'):
                call = json.loads(message)
                for number in range(2):
                    await socket.send(json.dumps({"id": call["id"], "type": "next", "payload": [call["name"], number]}))
            elif isinstance(message, str) and message.startswith("{"):
                await socket.send(json.dumps({"echo": json.loads(message)["op"]}))
                for number in range(3):
                    await socket.send(json.dumps({"tick": number}))
            else:
                await socket.send(message)
    except websockets.ConnectionClosed:
        pass


async def serve():
    async with websockets.serve(answer, "127.0.0.1", 0, max_size=None) as server:
        print("http://127.0.0.1:%d" % server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()


async def talk(port, word):
    async with websockets.connect(f"ws://127.0.0.1:{port}/chat?token=secret-of-the-test", max_size=None) as socket:
        print(await socket.recv())
        await socket.send(json.dumps({"op": word, "password": "hunter2 is mine"}))
        for _ in range(4):
            print(await socket.recv())
        await socket.send(b"\x00\x01\xff")
        print(await socket.recv())
        await socket.send("x" * 100_000)
        print(len(await socket.recv()))
        await socket.send(["in ", "three ", "pieces"])
        print(await socket.recv())
        await (await socket.ping())
        await socket.send("bye")
        try:
            print(await socket.recv())
        except websockets.ConnectionClosed as closed:
            print("closed", closed.rcvd)


async def call(port):
    async with websockets.connect(f"ws://127.0.0.1:{port}/calls") as socket:
        print(await socket.recv())
        for name in ["cats", "dogs"]:
            own = str(uuid.uuid4())
            await socket.send(json.dumps({"id": own, "type": "subscribe", "name": name}))
            for _ in range(2):
                answer = json.loads(await socket.recv())
                print("own" if answer["id"] == own else "another's", answer["payload"])


try:
    if sys.argv[1] == "call":
        asyncio.run(call(sys.argv[2]))
    else:
        asyncio.run(serve() if sys.argv[1] == "serve" else talk(sys.argv[2], sys.argv[3]))
except websockets.ConnectionClosed as closed:
    print("cut short", closed.rcvd)
