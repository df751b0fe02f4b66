"""Prints the body of a URL by requests, with no settings of its own."""
import sys

import requests

answer = requests.get(sys.argv[1], timeout=60)
answer.raise_for_status()
sys.stdout.buffer.write(answer.content)
