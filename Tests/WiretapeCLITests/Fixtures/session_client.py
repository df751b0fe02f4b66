#!/usr/bin/env python3
"""Fetches one URL again and again through a session's proxy, over one connection, and prints the bodies.

  session_client.py http://NAME:TOKEN@HOST:PORT URL COUNT
"""
import base64
import http.client
import sys

PROXY, URL, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
user, address = PROXY.removeprefix("http://").split("@")
fields = {"Proxy-Authorization": "Basic " + base64.b64encode(user.encode()).decode()}
connection = http.client.HTTPConnection(address, timeout=60)
for _ in range(COUNT):
    connection.request("GET", URL, headers=fields)
    answer = connection.getresponse()
    body = answer.read().decode()
    sys.stdout.write(body if answer.status == 200 else f"status {answer.status}\n")
