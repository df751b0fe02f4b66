"""A gRPC service whose clients wait for answers, and clients of it that do.

grpc_talks.py serve [CERTIFICATE KEY]
grpc_talks.py sync|aio PORT TALK...

Messages are bytes with a string as the first field of a message. A talk is a name below, with words after colons: ping:a:b. Prints one line of
JSON for each.
"""
import asyncio
import json
import os
import sys
import threading
from concurrent import futures

import grpc


def message(text):
    data = text.encode()
    length = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
    return b"\x0a" + length + data


def text(message):
    return message[2 if message[1] < 128 else 3:].decode()


class Talks(grpc.GenericRpcHandler):
    """Answers as soon as it is asked."""

    def service(self, details):
        return {
            "/talks.v1.Talks/Get": grpc.unary_unary_rpc_method_handler(self.get),
            "/talks.v1.Talks/Slow": grpc.unary_unary_rpc_method_handler(self.slow),
            "/talks.v1.Talks/List": grpc.unary_stream_rpc_method_handler(self.list),
            "/talks.v1.Talks/Add": grpc.stream_unary_rpc_method_handler(self.add),
            "/talks.v1.Talks/Ping": grpc.stream_stream_rpc_method_handler(self.ping),
            "/talks.v1.Talks/Greet": grpc.stream_stream_rpc_method_handler(self.greet),
            "/talks.v1.Talks/Two": grpc.stream_stream_rpc_method_handler(self.two),
            "/talks.v1.Talks/Deaf": grpc.stream_unary_rpc_method_handler(self.deaf),
        }.get(details.method)

    def get(self, request, context):
        return message("got " + text(request))

    def slow(self, request, context):
        threading.Event().wait(20)
        return message("late")

    def list(self, request, context):
        for number in range(3):
            yield message("%s %d" % (text(request), number))

    def add(self, requests, context):
        return message("+".join(text(request) for request in requests))

    def ping(self, requests, context):
        context.send_initial_metadata((("x-early", "yes"),))
        for request in requests:
            yield message("pong " + text(request))
        context.set_trailing_metadata((("x-end", "bye"),))

    def greet(self, requests, context):
        yield message("who is there?")
        for request in requests:
            yield message("hello " + text(request))

    def two(self, requests, context):
        for number, request in enumerate(requests):
            yield message("%d %s" % (number, text(request)))
            if number == 1:
                context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "two are enough")

    def deaf(self, requests, context):
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "nobody listens")


def serve(certificate=None, key=None):
    server = grpc.server(futures.ThreadPoolExecutor(80), handlers=[Talks()])
    if certificate:
        with open(key, "rb") as key, open(certificate, "rb") as certificate:
            port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key.read(), certificate.read())]))
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print("http://127.0.0.1:%d" % port, flush=True)
    server.wait_for_termination()


def channel(library, port):
    roots = os.environ.get("TALK_ROOTS")
    if not roots:
        return library.insecure_channel("127.0.0.1:" + port)
    with open(roots, "rb") as file:
        return library.secure_channel("localhost:" + port, grpc.ssl_channel_credentials(file.read()))


def failed(error):
    return [error.code().name, error.details()]


# A client with threads.


class Turns:
    """Requests one by one: the next is made when it is asked for."""

    def __init__(self, words):
        self.words = list(words)
        self.turn = threading.Semaphore(0)
        self.is_over = False

    def __iter__(self):
        for word in self.words:
            self.turn.acquire()
            if self.is_over:
                return
            yield message(word)
        self.turn.acquire()

    def go(self):
        self.turn.release()

    def end(self):
        self.is_over = True
        self.turn.release()


def talk(channel, name, words):
    method = "/talks.v1.Talks/"
    seconds = float(os.environ.get("TALK_SECONDS", "20"))
    said = []
    try:
        if name in ("get", "slow"):
            said.append(text(channel.unary_unary(method + name.title())(message(words[0]), timeout=seconds)))
        elif name == "list":
            said += [text(one) for one in channel.unary_stream(method + "List")(message(words[0]), timeout=seconds)]
        elif name == "add":
            said.append(text(channel.stream_unary(method + "Add")(iter(map(message, words)), timeout=seconds)))
        elif name == "deaf":
            turns = Turns(["never"])
            try:
                said.append(text(channel.stream_unary(method + "Deaf")(iter(turns), timeout=seconds)))
            finally:
                turns.end()
        elif name == "wait":
            # The head first, and then the messages.
            turns = Turns(words)
            call = channel.stream_stream(method + "Ping")(iter(turns), timeout=seconds)
            said.append([value for key, value in call.initial_metadata() if key == "x-early"])
            for word in words:
                turns.go()
                said.append(text(next(call)))
            turns.go()
            said += [text(one) for one in call]
        elif name == "cancel":
            turns = Turns(words)
            call = channel.stream_stream(method + "Ping")(iter(turns), timeout=seconds)
            for word in words:
                turns.go()
                said.append(text(next(call)))
            call.cancel()
            turns.end()
            said.append(call.code().name)
        else:
            turns = Turns(words)
            call = channel.stream_stream(method + name.title())(iter(turns), timeout=seconds)
            try:
                if name == "greet":
                    said.append(text(next(call)))
                for word in words:
                    turns.go()
                    said.append(text(next(call)))
                # `two` is not told that this was all.
                if name != "two":
                    turns.go()
                said += [text(one) for one in call]
                said.append([list(pair) for pair in call.trailing_metadata() if pair[0] == "x-end"])
            finally:
                turns.end()
    except grpc.RpcError as error:
        said.append(failed(error))
    return said


# A client without.


async def aio_talk(channel, name, words):
    method = "/talks.v1.Talks/"
    seconds = float(os.environ.get("TALK_SECONDS", "20"))
    said = []
    try:
        if name in ("get", "slow"):
            said.append(text(await channel.unary_unary(method + name.title())(message(words[0]), timeout=seconds)))
        elif name == "list":
            said += [text(one) async for one in channel.unary_stream(method + "List")(message(words[0]), timeout=seconds)]
        elif name == "add":
            said.append(text(await channel.stream_unary(method + "Add")(iter(map(message, words)), timeout=seconds)))
        elif name == "deaf":
            call = channel.stream_unary(method + "Deaf")(timeout=seconds)
            said.append(text(await call))
        else:
            call = channel.stream_stream(method + ("Ping" if name in ("wait", "cancel") else name.title()))(timeout=seconds)
            if name == "wait":
                said.append([value for key, value in await call.initial_metadata() if key == "x-early"])
            if name == "greet":
                said.append(text(await call.read()))
            for word in words:
                await call.write(message(word))
                answer = await call.read()
                if answer is grpc.aio.EOF:
                    break
                said.append(text(answer))
            if name == "cancel":
                call.cancel()
                said.append((await call.code()).name)
                return said
            if name != "two":
                await call.done_writing()
            while True:
                answer = await call.read()
                if answer is grpc.aio.EOF:
                    break
                said.append(text(answer))
            if await call.code() != grpc.StatusCode.OK:
                said.append([(await call.code()).name, await call.details()])
            else:
                said.append([list(pair) for pair in await call.trailing_metadata() if pair[0] == "x-end"])
    except grpc.RpcError as error:
        said.append(failed(error))
    except asyncio.InvalidStateError:
        said.append([(await call.code()).name, await call.details()])
    return said


def show(name, said):
    print(json.dumps([name] + said, ensure_ascii=False), flush=True)


def talks(kind, port, names):
    talks = [name.split(":") for name in names]
    together = os.environ.get("TALK_TOGETHER")
    if kind == "sync":
        with channel(grpc, port) as one:
            if together:
                with futures.ThreadPoolExecutor(len(talks)) as pool:
                    for (name, *words), said in zip(talks, pool.map(lambda talk_: talk(one, talk_[0], talk_[1:]), talks)):
                        show(name, said)
            else:
                for name, *words in talks:
                    show(name, talk(one, name, words))
    else:
        async def run():
            async with channel(grpc.aio, port) as one:
                if together:
                    for (name, *_), said in zip(talks, await asyncio.gather(*(aio_talk(one, name, words) for name, *words in talks))):
                        show(name, said)
                else:
                    for name, *words in talks:
                        show(name, await aio_talk(one, name, words))

        asyncio.run(run())


if sys.argv[1] == "serve":
    serve(*sys.argv[2:])
else:
    talks(sys.argv[1], sys.argv[2], sys.argv[3:])
