#!/usr/bin/env python3
"""A test runner's workers: each starts a session over the control API, fetches through it, ends it, and looks at the verdict.

  sessions.py CONTROL TOKEN ORIGIN WORKERS      records each worker's cassette from the origin, then replays all at once from a dead port
"""
import base64
import http.client
import json
import sys
import threading

CONTROL, TOKEN, ORIGIN, WORKERS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def control(method, path, order=None):
    connection = http.client.HTTPConnection(CONTROL, timeout=60)
    fields = {"Authorization": "Bearer " + TOKEN}
    body = None
    if order is not None:
        body = json.dumps(order)
        fields["Content-Type"] = "application/json"
    connection.request(method, path, body, fields)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def get(proxy, urls):
    """The bodies, over one connection to the shared port."""
    user, address = proxy.removeprefix("http://").split("@")
    fields = {"Proxy-Authorization": "Basic " + base64.b64encode(user.encode()).decode()}
    connection = http.client.HTTPConnection(address, timeout=60)
    bodies = []
    for url in urls:
        connection.request("GET", url, headers=fields)
        answer = connection.getresponse()
        body = answer.read().decode()
        assert answer.status == 200, (url, answer.status, body)
        bodies.append(body)
    return bodies


def together(work):
    """Runs a function for each worker at once; what one raises ends the program."""
    results, problems = {}, []

    def run(number):
        try:
            results[number] = work(number)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
    return results


def record(number):
    status, session = control("POST", "/sessions", {"cassette": f"{number}.json", "name": f"w{number}"})
    assert status == 201 and session["records"], session
    # Equal URLs; the origin's answer is another each time.
    bodies = get(session["proxy"], [f"http://{ORIGIN}/counter"] * 5)
    status, verdict = control("DELETE", f"/sessions/w{number}")
    assert status == 200 and verdict["exit"] == 0 and verdict["recording"]["recorded"] == 5, verdict
    return bodies


def replay(number):
    status, session = control("POST", "/sessions", {"cassette": f"{number}.json", "mode": "none"})
    assert status == 201 and session["replays"], session
    bodies = get(session["proxy"], [f"http://{ORIGIN}/counter"] * 5)
    status, verdict = control("DELETE", "/sessions/" + session["id"])
    assert status == 200 and verdict["exit"] == 0, verdict
    assert verdict["verdict"]["hits"] == 5 and verdict["verdict"]["unused"] == 0, verdict
    return bodies


recorded = together(record)
everything = [body for bodies in recorded.values() for body in bodies]
assert len(set(everything)) == 5 * WORKERS, everything
replayed = together(replay)
assert replayed == recorded, (recorded, replayed)
print(len(everything))
