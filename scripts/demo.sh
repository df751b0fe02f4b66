#!/bin/sh
# Records curl's requests to a small local server, stops the server, replays them, and compares every answer; then does the same over HTTPS.
# WIRETAPE and DEMO_ORIGIN name programs to use instead of a release build.
set -eu
cd "$(dirname "$0")/.."
work=.build/demo
server=
# Keeps the demo away from the user's own certificate authority.
export WIRETAPE_CA_DIR="$PWD/$work/ca"

stop_server() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    server=
}
trap stop_server EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
fail() {
    echo "demo: $*" >&2
    exit 1
}

if [ -z "${WIRETAPE:-}" ] || [ -z "${DEMO_ORIGIN:-}" ]; then
    scripts/setup.sh demo
    echo "1. Building wiretape and the demo's server (the first time this takes some minutes)."
    sh scripts/release.sh --product wiretape -Xlinker -s
    sh scripts/release.sh --product DemoOrigin
    bin=$(sh scripts/release.sh --show-bin-path)
fi
wiretape=${WIRETAPE:-$bin/wiretape}
demo_origin=${DEMO_ORIGIN:-$bin/DemoOrigin}
rm -rf $work
mkdir -p $work

# Starts a command in the background and stores the URL that it prints in $url.
start_server() {
    : >$work/server.log
    "$@" >>$work/server.log 2>&1 &
    server=$!
    url=
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
        url=$(grep -o -m 1 'https*://[a-z0-9.]*:[0-9/a-z]*' $work/server.log) && break
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    [ -n "$url" ] || fail "the server did not start; see $work/server.log"
    echo "   It listens on $url."
}

echo "2. Starting the server on a free port of this machine."
start_server "$demo_origin"

echo "3. Recording curl's requests: wiretape record $work/pets.json -- sh scripts/demo-requests.sh"
"$wiretape" record $work/pets.json -- sh scripts/demo-requests.sh "$url" $work/recorded || fail "recording failed with exit code $?"

echo "4. What is on the cassette: wiretape inspect $work/pets.json"
"$wiretape" inspect $work/pets.json || fail "inspecting failed with exit code $?"
echo "   It is a text file. It begins:"
head -n 30 $work/pets.json | cut -c 1-120 | sed 's/^/   | /'

echo "5. Stopping the server: from here on only the cassette can answer."
stop_server
if curl -q --silent --noproxy '*' --max-time 5 --output /dev/null "$url/pets"; then fail "the server still answers on $url"; fi

echo "6. Replaying the same requests: wiretape replay $work/pets.json -- sh scripts/demo-requests.sh"
"$wiretape" replay $work/pets.json -- sh scripts/demo-requests.sh "$url" $work/replayed || fail "replaying failed with exit code $?"

echo "7. Comparing each answer with the recorded one: status, header fields, and the body byte for byte."
# These fields belong to a connection, not to the message (RFC 9110, 7.6.1).
fields() { grep -v -i -E '^(connection|keep-alive|proxy-connection):' "$1"; }
differences=0 count=0
for head in $work/recorded/*.head; do
    name=$(basename "$head" .head)
    count=$((count + 1))
    fields "$head" >$work/wanted.head
    fields "$work/replayed/$name.head" >$work/got.head || true
    if ! cmp $work/wanted.head $work/got.head; then
        diff $work/wanted.head $work/got.head || true
        differences=$((differences + 1))
    elif [ ! -e "$work/recorded/$name.body" ] && [ ! -e "$work/replayed/$name.body" ]; then
        echo "   $name: the same head, no body"
    elif ! cmp "$work/recorded/$name.body" "$work/replayed/$name.body"; then
        differences=$((differences + 1))
    else
        echo "   $name: the same"
    fi
done
[ $count -gt 0 ] || fail "nothing was recorded"
[ $differences = 0 ] || fail "$differences of $count answers differ; both sets are in $work"
echo "   All $count answers came from the cassette and are the same as the server's."

echo "8. HTTPS: starting a server whose certificate openssl makes for this run."
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $work/server.key -out $work/server.pem -days 2 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>$work/openssl.log || fail "no certificate; see $work/openssl.log"
start_server python3 scripts/demo-https-origin.py $work/server.pem $work/server.key

echo "9. Recording: wiretape record $work/https.json --upstream-ca $work/server.pem -- curl $url"
ask() { # NAME, wiretape's arguments before "--"
    name=$1
    shift
    "$wiretape" "$@" -- curl -q --silent --show-error --max-time 20 --noproxy '' --suppress-connect-headers \
        --dump-header "$work/$name.head" --output "$work/$name.body" "$url"
}
ask recorded record $work/https.json --upstream-ca $work/server.pem || fail "recording failed with exit code $?"
echo "   What is on the cassette of the server's TLS: wiretape inspect $work/https.json 1"
"$wiretape" inspect $work/https.json 1 | sed -n '/^connection/,/^timing/{/^timing/d;s/^/   | /;p;}'

echo "10. Stopping the server, and replaying: wiretape replay $work/https.json -- curl $url"
stop_server
if curl -q --silent --noproxy '*' --insecure --max-time 5 --output /dev/null "$url"; then fail "the server still answers on $url"; fi
ask replayed replay $work/https.json || fail "replaying failed with exit code $?"
cmp $work/recorded.head $work/replayed.head && cmp $work/recorded.body $work/replayed.body || fail "the answers differ; both are in $work"
echo "   The same head and body. The cassettes are $work/pets.json and $work/https.json."
