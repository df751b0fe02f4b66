#!/bin/sh
# Records the cassettes in Cassettes/ from the demo's server, on a free port of this machine.
# WIRETAPE and DEMO_ORIGIN name programs to use instead of a debug build.
set -eu
cd "$(dirname "$0")/.."
bin=.build/debug
wiretape=${WIRETAPE:-$bin/wiretape}
demo_origin=${DEMO_ORIGIN:-$bin/DemoOrigin}
answers=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; rm -rf "$answers"' EXIT

: >"$answers/url"
"$demo_origin" >>"$answers/url" &
server=$!
url=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
    url=$(grep -o -m 1 'http://127\.0\.0\.1:[0-9]*' "$answers/url") && break
    sleep 0.1
done
mkdir -p Cassettes
"$wiretape" record Cassettes/pets.json -- curl -q --silent --show-error --noproxy '' --output /dev/null "$url/pets" \
    --next --silent --header 'Accept-Encoding: gzip' --output /dev/null "$url/pets.gz"
"$wiretape" record Cassettes/stream.json -- curl -q --silent --show-error --noproxy '' --output /dev/null "$url/stream"
"$wiretape" record Cassettes/demo.json -- sh scripts/demo-requests.sh "$url" "$answers"
