"""Prints the body of a URL by urllib, with no settings of its own."""
import shutil
import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1], timeout=60) as answer:
    shutil.copyfileobj(answer, sys.stdout.buffer)
