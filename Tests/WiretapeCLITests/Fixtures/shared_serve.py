"""Starts wiretape serve --share as drivers do. Prints "ok", or fails on what is not as the protocol says: shared_serve.py PROGRAM FOLDER"""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

program, folder = sys.argv[1:3]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def start(*arguments):
    process = subprocess.Popen([program, "serve", "--share", "--folder", folder, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return process, json.loads(process.stdout.readline())


def ask(ready, method, path, body=None):
    request = urllib.request.Request(
        ready["control"] + path, json.dumps(body).encode() if body else None, {"Authorization": "Bearer " + ready["token"], "Content-Type": "application/json"},
        method=method)
    try:
        with opener.open(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


def check(condition, *values):
    if not condition:
        sys.exit(f"{values}")


# The folder is made, and the second process gets the first one's server.
first, ready = start()
second, same = start()
check(ready == same and ready["protocol"] == "1" and os.path.isdir(folder), ready, same)
other, different = start("--repeat", "last")
check(different["control"] != ready["control"], different)
other.stdin.close()
check(other.wait(30) == 0)

# A process that starts nothing else owns a session until it ends, however it ends.
owner = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
order = {"cassette": "made/pets.json", "folders": True, "label": "pets > lists [1]", "owner": owner.pid}
session = ask(ready, "POST", "/sessions", order)
check(session["label"] == order["label"] and session["env"]["http_proxy"] == session["proxy"], session)
check(os.path.isfile(session["trust"]["bundle"]), session)
check(ask(ready, "POST", "/sessions", order)["error"]["code"] == "cassette-in-use")
owner.kill()
owner.wait()
check(ask(ready, "POST", "/sessions", {**order, "owner": os.getpid()}).get("records"), "the session of a process that was killed is in the way")
check(ask(ready, "POST", "/sessions", {"cassette": "a.json", "owner": owner.pid})["error"]["code"] == "invalid")

# The server is the first process; it stays for the second, in whichever order they end.
first.stdin.close()
check(ask(ready, "GET", "/sessions")["sessions"][0]["label"] == order["label"])
second.send_signal(signal.SIGKILL)
check(first.wait(30) == 0)

# A server that was killed is not waited for.
first, ready = start()
first.send_signal(signal.SIGKILL)
first.wait()
again, new = start()
check(new["control"] != ready["control"] and ask(new, "GET", "/sessions") == {"sessions": []}, new)
again.stdin.close()
check(again.wait(30) == 0)
print("ok")
