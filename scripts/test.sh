#!/bin/sh
# Runs the tests that are already built: test.sh COMMANDS LATER. The tests that match COMMANDS mostly wait for other programs, so they run
# in parallel with the others. Skips those that match LATER and the tests of crashes.
set -eu
cd "$(dirname "$0")/.."
log=.build/commands-tests.log

# Neither run builds anything, so they need not wait for each other.
swift test --enable-swift-testing --skip-build --ignore-lock --filter "$1" --skip CrashTests >$log 2>&1 &
commands=$!
trap 'kill $commands 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
status=0
swift test --enable-swift-testing --skip-build --ignore-lock --skip "$1" --skip "$2" --skip CrashTests || status=$?
wait $commands || {
    status=$?
    cat $log
}
trap - EXIT
tail -n 1 $log
exit $status
