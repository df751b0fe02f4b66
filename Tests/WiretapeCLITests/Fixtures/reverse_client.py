#!/usr/bin/env python3
"""urllib that is told nothing of a proxy or a certificate but WIRETAPE_REVERSE: reverse_client.py ORIGIN."""
import http.cookiejar
import os
import sys
import urllib.request

jar = http.cookiejar.CookieJar()
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(jar))
base = os.environ["WIRETAPE_REVERSE"] + sys.argv[1]
for path, body in [("/start", None), ("/made", b"a=b"), ("/echo", b"0123456789")]:
    with opener.open(base + path, body, timeout=20) as answer:
        sys.stdout.write(answer.read().decode())
        assert answer.geturl().startswith(base), answer.geturl()
