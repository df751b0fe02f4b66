#!/bin/sh
# Sends thousands of requests at once through the client's answers to URLSession, in many processes, because a race kills its own process.
#
#   sh scripts/stress-client.sh [PROCESSES]     50 of each kind by default
#
# Counts how many processes have died, hung or answered wrongly. Exits with 1 if one of ours has. Exits with 2 if none of the
# control processes has, which answer from any thread as people often do: then nothing was tested.
set -eu
cd "$(dirname "$0")/.."
count=${1:-50}
seconds=${STRESS_SECONDS:-600}
export SWIFT_BACKTRACE=enable=no
# Built apart from the program, which has other options.
swift build -c release --scratch-path .build/client --product ClientProbe
probe=$(swift build -c release --scratch-path .build/client --show-bin-path)/ClientProbe
end=$(($(date +%s) + seconds))

# Prints the result, and leaves the number of bad processes in $bad.
run() {
    name=$1
    shift
    bad=0 done=0
    while [ "$done" -lt "$count" ] && [ "$(date +%s)" -lt "$end" ]; do
        done=$((done + 1))
        # Replaces the word SEED by a different number each time.
        "$probe" stress $(echo "$@" | sed "s/SEED/$done/") >/dev/null 2>&1 || bad=$((bad + 1))
    done
    echo "$name: $bad of $done processes died, hung or answered wrongly"
}

failed=0
for style in adapter facade; do
    run "$style" --$style
    failed=$((failed + bad))
    run "$style with cancellations" --$style --cancels SEED
    failed=$((failed + bad))
done
run "from any thread, as a control" --unsafe
[ "$failed" -eq 0 ] || exit 1
[ "$bad" -gt 0 ] || exit 2
