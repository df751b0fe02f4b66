#!/bin/sh
# Runs the example app's tests: from their cassettes, then recorded by the proxy and replayed by the client, then the other way around.
# Replays run without a network where the kernel permits it, and everywhere without the server.
# WIRETAPE and DEMO_ORIGIN name programs to use instead of a debug build; SWIFT_BUILD holds options for the example's own build. With
# "record" as the argument, it only records the example's cassettes again.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
example=Examples/PetShop
work=.build/example
server=

stop_server() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    server=
}
trap stop_server EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
fail() {
    echo "example: $*" >&2
    exit 1
}

if [ -z "${WIRETAPE:-}" ] || [ -z "${DEMO_ORIGIN:-}" ]; then
    swift build --product wiretape
    swift build --product DemoOrigin
    bin=$(swift build --show-bin-path)
fi
wiretape=${WIRETAPE:-$bin/wiretape}
demo_origin=${DEMO_ORIGIN:-$bin/DemoOrigin}
# Keeps the machine's own settings out of the tests.
unset WIRETAPE_MODE WIRETAPE_CASSETTES PETSHOP_URL http_proxy HTTP_PROXY https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
rm -rf $work
mkdir -p $work

echo "1. Building the example and its tests, without the server's side of Wiretape."
# shellcheck disable=SC2086 # options are words
swift build --package-path $example --build-tests ${SWIFT_BUILD:-}
python3 scripts/check_consumer.py $example

# Shows the output only of a command that fails.
quietly() {
    "$@" >$work/out 2>&1 || {
        cat $work/out >&2
        return 1
    }
}
offline="python3 scripts/without_network.py"
test="swift test --package-path $example --skip-build"
# The names of the suite's tests, each of which has a cassette of its own.
names=$(sed -n 's/.*@Test func \([A-Za-z]*\)().*/\1/p' $example/Tests/PetShopTests/PetShopTests.swift)
[ -n "$names" ] || fail "there are no tests in $example"
# shellcheck disable=SC2086 # commands are words from here on

start_server() { # PORT
    : >$work/server.log
    "$demo_origin" "$1" >>$work/server.log 2>&1 &
    server=$!
    url=
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
        url=$(grep -o -m 1 'http://127\.0\.0\.1:[0-9]*' $work/server.log) && break
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    [ -n "$url" ] || fail "the server did not start; see $work/server.log"
}

# Records each test by itself, so that each gets a cassette: FOLDER
record_by_proxy() {
    for name in $names; do
        mkdir -p "$1/shop"
        quietly "$wiretape" record "$1/shop/$name.json" -- env WIRETAPE_MODE=live $test --filter "PetShopTests/$name\\(\\)" ||
            fail "recording $name failed"
    done
}

if [ "${1:-}" = record ]; then
    start_server 18180
    record_by_proxy $example/Cassettes
    exit 0
fi

echo "2. Replaying the cassettes of $example, with no network: swift test"
quietly $offline env WIRETAPE_MODE=none $test || fail "the tests fail without a network"

echo "3. Recording each test by the proxy: wiretape record NAME.json -- swift test --filter NAME"
start_server 0
export PETSHOP_URL="$url"
record_by_proxy $work/proxy

echo "4. Recording each test by the client: WIRETAPE_MODE=all swift test"
quietly env WIRETAPE_CASSETTES="$root/$work/client" WIRETAPE_MODE=all $test || fail "recording by the client failed"

echo "5. Stopping the server: from here on only cassettes can answer."
stop_server

echo "6. Replaying in the client what the proxy recorded, and what the client recorded."
for from in proxy client; do
    quietly $offline env WIRETAPE_CASSETTES="$root/$work/$from" WIRETAPE_MODE=none $test ||
        fail "the client does not replay the cassettes in $work/$from"
done

echo "7. Replaying in the proxy what the client recorded: wiretape replay NAME.json -- swift test --filter NAME"
for name in $names; do
    quietly $offline "$wiretape" replay --fail-on miss,unused $work/client/shop/$name.json -- \
        env WIRETAPE_MODE=live $test --filter "PetShopTests/$name\\(\\)" ||
        fail "the proxy does not replay $work/client/shop/$name.json"
done

echo "8. A test whose cassette lacks an exchange fails, by name and with the reason."
cp -R $work/client $work/less
printf '{"wiretape": 1, "interactions": []}\n' >$work/less/shop/listsPets.json
if env WIRETAPE_CASSETTES="$root/$work/less" WIRETAPE_MODE=none $test --filter PetShopTests/ >$work/out 2>&1; then
    fail "the tests pass without a recorded answer"
fi
grep -q 'Test listsPets() recorded an issue' $work/out || fail "the issue is not that of the test; see $work/out"
grep -q 'miss: no recorded exchange answers "GET .*/pets"' $work/out || fail "the issue has no report; see $work/out"
[ "$(grep -c 'Test [A-Za-z]*() failed' $work/out)" = 1 ] || fail "other tests fail with it; see $work/out"

echo "   All of it works. The cassettes are in $work."
