"""A client of `wiretape mcp --live`: records two requests to a server of its own, replays them, edits one, and leaves a recording open.

  mcp_live.py WIRETAPE FOLDER CA_DIR      prints one JSON object for each call: its tool and its result, or the refusal
"""
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request

wiretape, folder, authority = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    count = 0

    def do_GET(self):
        Handler.count += 1
        body = json.dumps({"count": Handler.count, "path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=origin.serve_forever, daemon=True).start()
server = subprocess.Popen([wiretape, "mcp", folder, "--no-config", "--live", "--allow", "record,edit,send"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env={**os.environ, "WIRETAPE_CA_DIR": authority})
numbers = iter(range(1, 1000))


def call(tool, **arguments):
    message = {"jsonrpc": "2.0", "id": next(numbers), "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
    result = json.loads(server.stdout.readline())["result"]
    found = result.get("structuredContent", {"refused": result["content"][0]["text"]})
    print(json.dumps({"tool": tool, **found}))
    return found


def get(run, path):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": run["environment"]["http_proxy"]}))
    try:
        answer = opener.open(f"http://127.0.0.1:{origin.server_port}{path}", timeout=60).read().decode()
    except urllib.error.HTTPError as error:
        answer = str(error.code)
    print(json.dumps({"answer": answer, "reached": Handler.count}))


run = call("start_recording", file="new/pets.json")
get(run, "/one")
get(run, "/two")
call("start_replay")
call("stop")
call("start_recording", file="new/pets.json")
run = call("start_replay")
get(run, "/one")
get(run, "/three")
call("status")
call("stop")
call("edit_exchange", number=1, pointer="/response/body/json/count", value={"of": [7]})
call("edit_exchange", number=1, pointer="/response/status", value="many")
call("send", number=2)
call("stop")
get(call("start_recording", file="left.json"), "/four")
server.stdin.close()
print(json.dumps({"ended": server.wait(60)}))
