"""A gRPC service without a schema, and a client of it: grpc_pets.py serve, or grpc_pets.py call PORT [inner].

Messages are bytes, so that no generated code is needed; they are the same as those of a message with a string as its first field.
"""
import json
import sys
from concurrent import futures

import grpc


def message(text):
    data = text.encode()
    return bytes([0x0A, len(data)]) + data


def text(message):
    return message[2:].decode()


class Pets(grpc.GenericRpcHandler):
    def service(self, details):
        return {
            "/pets.v1.Pets/Get": grpc.unary_unary_rpc_method_handler(self.get),
            "/pets.v1.Pets/List": grpc.unary_stream_rpc_method_handler(self.list),
            "/pets.v1.Pets/Add": grpc.stream_unary_rpc_method_handler(self.add),
            "/pets.v1.Pets/Chat": grpc.stream_stream_rpc_method_handler(self.chat),
        }.get(details.method)

    def get(self, request, context):
        if text(request) == "missing":
            context.abort(grpc.StatusCode.NOT_FOUND, "there is no such pet")
        context.set_trailing_metadata((("x-length", str(len(request))),))
        return message("found " + text(request))

    def list(self, request, context):
        for number in range(3):
            yield message("%s %d" % (text(request), number))

    def add(self, requests, context):
        return message("+".join(text(request) for request in requests))

    def chat(self, requests, context):
        for request in requests:
            yield message("hello " + text(request))


def serve():
    server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[Pets()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print("http://127.0.0.1:%d" % port, flush=True)
    server.wait_for_termination()


def call(port):
    channel = grpc.insecure_channel("127.0.0.1:%s" % port)
    get = channel.unary_unary("/pets.v1.Pets/Get")
    said = {}
    answer, call = get.with_call(message("보리"), timeout=20)
    said["get"] = [text(answer), [list(pair) for pair in call.trailing_metadata()]]
    said["gzip"] = text(get(message("bori" * 20), timeout=20, compression=grpc.Compression.Gzip))
    try:
        get(message("missing"), timeout=20)
    except grpc.RpcError as error:
        said["missing"] = [error.code().name, error.details()]
    said["list"] = [text(one) for one in channel.unary_stream("/pets.v1.Pets/List")(message("pet"), timeout=20)]
    said["add"] = text(channel.stream_unary("/pets.v1.Pets/Add")(iter(map(message, "abc")), timeout=20))
    said["chat"] = [text(one) for one in channel.stream_stream("/pets.v1.Pets/Chat")(iter(map(message, "xyz")), timeout=20)]
    print(json.dumps(said, ensure_ascii=False))


if sys.argv[1] == "serve":
    serve()
else:
    call(sys.argv[2])
