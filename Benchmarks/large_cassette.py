#!/usr/bin/env python3
"""Writes a cassette of many small exchanges, to measure how long a replay takes to open it and to find a request.

  large_cassette.py FILE [COUNT [HOST]]

Of 100,000 exchanges (the default; 177 MB), 95,000 are GET requests to URLs of their own and 5,000 are POST requests to one URL with JSON bodies of
their own. Each answer is 1 KiB of JSON.
"""
import datetime
import json
import sys

START = datetime.datetime(2026, 11, 21)


def get(number, host):
    return {
        "method": "GET",
        "url": f"http://{host}/v1/accounts/17/items/{number}?page=1&size=20",
        "version": "HTTP/1.1",
        "headers": [f"Host: {host}", "User-Agent: curl/7.88.1", "Accept: */*", "X-Request: 0123456789abcdef0123456789"],
    }


def post(number, host):
    body = {"query": "{a}", "n": number}
    size = len(json.dumps(body, separators=(",", ":")))
    return {
        "method": "POST",
        "url": f"http://{host}/graphql",
        "version": "HTTP/1.1",
        "headers": [f"Host: {host}", "Content-Type: application/json", f"Content-Length: {size}"],
        "body": {"size": size, "json": body},
    }


def write(path, count=100_000, host="api.example.test"):
    posts = count * 95 // 100
    answer = {"size": 1024, "json": {"data": "x" * 1013}}
    headers = ["Content-Type: application/json", "Content-Length: 1024"]
    response = {"status": 200, "reason": "OK", "version": "HTTP/1.1", "headers": headers, "body": answer}
    with open(path, "w") as file:
        file.write('{\n  "wiretape": 1,\n  "recorder": "wiretape 0.1.0",\n  "interactions": [')
        for number in range(count):
            started = (START + datetime.timedelta(milliseconds=number)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            request = get(number, host) if number < posts else post(number - posts, host)
            text = json.dumps({"id": number + 1, "started": started, "request": request, "response": response}, indent=2)
            file.write(("," if number else "") + "\n    " + text.replace("\n", "\n    "))
        file.write("\n  ]\n}\n")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    write(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:])
