#!/bin/sh
# Runs the tests of Examples/Seeds: with the example's cassettes, then recorded again and replayed from the new ones without the server and
# with CI set. "record" as the argument records the example's cassettes again, "sanitize" replays and records under ThreadSanitizer.
# SEEDS_BUILD names the build folder.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
example=Examples/Seeds
options=
build=${SEEDS_BUILD:-$root/.build-seeds}
if [ "${1:-}" = sanitize ]; then
    options=--sanitize=thread
    build=$build-thread
    # Foundation, Dispatch and libcurl are not instrumented, and nothing is suppressed.
    export TSAN_OPTIONS=exitcode=66
fi
work=$(mktemp -d)
server=

stop_server() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    server=
}
trap 'stop_server; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
fail() {
    echo "seeds: $*" >&2
    exit 1
}
# Shows the output only of a command that fails.
quietly() {
    "$@" >"$work/out" 2>&1 || {
        cat "$work/out" >&2
        return 1
    }
}
start_server() { # PORT
    python3 $example/origin.py "$1" >"$work/server" 2>&1 &
    server=$!
    until grep -q '^http' "$work/server"; do
        kill -0 $server 2>/dev/null || fail "the server did not start: $(cat "$work/server")"
        sleep 0.1
    done
    SEEDS_URL=$(grep -m 1 '^http' "$work/server")
    export SEEDS_URL
}
offline="python3 scripts/without_network.py"
test="swift test $options --package-path $example --scratch-path $build --skip-build"
# Keeps the machine's own settings out of the tests.
unset CI SEEDS_URL WIRETAPE_MODE WIRETAPE_CASSETTES http_proxy HTTP_PROXY https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY

echo "1. Building $example, without the server's side of Wiretape."
# shellcheck disable=SC2086 # options are words
swift build $options --package-path $example --scratch-path "$build" --build-tests

# shellcheck disable=SC2086 # commands are words from here on
if [ "${1:-}" = record ]; then
    start_server 18190
    rm -rf $example/Cassettes
    mkdir $example/Cassettes
    quietly env WIRETAPE_MODE=all $test || fail "recording failed"
    exit 0
fi

echo "2. Replaying the cassettes of $example, with no network and CI=true."
# shellcheck disable=SC2086
quietly $offline env CI=true $test || fail "the tests fail with the cassettes that come with them"

echo "3. Recording all of them anew."
start_server 0
mkdir "$work/cassettes"
# shellcheck disable=SC2086
quietly env WIRETAPE_CASSETTES="$work/cassettes" WIRETAPE_MODE=all $test || fail "recording failed"

echo "4. Stopping the server, and replaying them at another address."
stop_server
unset SEEDS_URL
# shellcheck disable=SC2086
quietly $offline env CI=true WIRETAPE_CASSETTES="$work/cassettes" $test || fail "the new recordings are not replayed"

echo "5. A test whose cassette lacks an exchange fails, and only that one."
printf '{"wiretape": 1, "match": {"ignore": ["host", "port"]}, "interactions": []}\n' >"$work/cassettes/serializers/json.json"
# shellcheck disable=SC2086
! $offline env CI=true WIRETAPE_CASSETTES="$work/cassettes" $test >"$work/out" 2>&1 || fail "the tests pass without a recorded answer"
[ "$(grep -c 'Test [A-Za-z]*() failed' "$work/out")" = 1 ] || fail "other tests fail with it: $(grep 'failed' "$work/out")"
grep -qF 'miss: no recorded exchange answers "GET http://*/pets"' "$work/out" || fail "the issue has no report: $(cat "$work/out")"
echo "   All of it works."
