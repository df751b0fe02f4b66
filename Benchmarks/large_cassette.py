#!/usr/bin/env python3
"""Writes a cassette of many small exchanges, to measure how long a replay takes to open it and to find a request.

  large_cassette.py FILE [COUNT]

Of 100,000 exchanges (the default; 177 MB), 95,000 are GET requests to URLs of their own and 5,000 are POST requests to one URL with JSON bodies of
their own. Each answer is 1 KiB of JSON.
"""
import datetime
import json
import sys

START = datetime.datetime(2026, 11, 21)


def get(number):
    return {
        "method": "GET",
        "url": f"http://api.example.test/v1/accounts/{number % 1000}/items/{number}?page={number % 50}&size=20",
        "version": "HTTP/1.1",
        "headers": ["Host: api.example.test", "User-Agent: curl/7.88.1", "Accept: */*", "X-Request: 0123456789abcdef0123456789"],
    }


def post(number):
    body = {"query": "{a}", "n": number}
    size = len(json.dumps(body, separators=(",", ":")))
    return {
        "method": "POST",
        "url": "http://api.example.test/graphql",
        "version": "HTTP/1.1",
        "headers": ["Host: api.example.test", "Content-Type: application/json", f"Content-Length: {size}"],
        "body": {"size": size, "json": body},
    }


def main(path, count):
    posts = count * 95 // 100
    answer = {"size": 1024, "json": {"data": "x" * 1013}}
    headers = ["Content-Type: application/json", "Content-Length: 1024"]
    response = {"status": 200, "reason": "OK", "version": "HTTP/1.1", "headers": headers, "body": answer}
    with open(path, "w") as file:
        file.write('{\n  "wiretape": 1,\n  "recorder": "wiretape 0.1.0",\n  "interactions": [')
        for number in range(count):
            started = (START + datetime.timedelta(milliseconds=number)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            request = get(number) if number < posts else post(number - posts)
            text = json.dumps({"id": number + 1, "started": started, "request": request, "response": response}, indent=2)
            file.write(("," if number else "") + "\n    " + text.replace("\n", "\n    "))
        file.write("\n  ]\n}\n")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 100_000)
