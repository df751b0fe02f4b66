#!/usr/bin/env python3
"""Fetches one item after the other through a proxy, in four threads, and logs each whole answer: load.py PROXY_PORT ORIGIN_PORT LOG

A line has the item's number, and the monotonic times at which its request was sent and its answer was complete. Ends when the proxy does.
"""
import http.client
import itertools
import os
import sys
import threading
import time

import items

proxy, origin, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
numbers = itertools.count()
log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def fetch():
    connection = http.client.HTTPConnection("127.0.0.1", proxy, timeout=20)
    while True:
        number = next(numbers)
        started = time.monotonic()
        try:
            connection.request("GET", f"http://127.0.0.1:{origin}/item?n={number}")
            body = connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            return
        ended = time.monotonic()
        assert body == items.item(number)[1], number
        os.write(log, b"%d %.9f %.9f\n" % (number, started, ended))


threads = [threading.Thread(target=fetch) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
