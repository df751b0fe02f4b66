#!/bin/sh
# Runs the tests that are built: test.sh COMMANDS LATER. Those that COMMANDS matches, which wait for other programs most of the time, beside all
# others; those that LATER matches and those of crashes are left for later.
set -eu
cd "$(dirname "$0")/.."
log=.build/commands-tests.log

# Neither builds anything, so they need not wait for each other.
swift test --skip-build --ignore-lock --filter "$1" --skip CrashTests >$log 2>&1 &
commands=$!
trap 'kill $commands 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
status=0
swift test --skip-build --ignore-lock --skip "$1" --skip "$2" --skip CrashTests || status=$?
wait $commands || {
    status=$?
    cat $log
}
trap - EXIT
tail -n 1 $log
exit $status
