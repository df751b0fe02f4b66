"""Prints the body of a URL by http.client, with no settings of its own."""
import http.client
import sys
import urllib.parse

url = urllib.parse.urlsplit(sys.argv[1])
kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
connection = kind(url.netloc, timeout=60)
connection.request("GET", url.path)
answer = connection.getresponse()
if answer.status != 200:
    sys.exit(f"status {answer.status}")
sys.stdout.buffer.write(answer.read())
