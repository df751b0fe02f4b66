#!/bin/sh
# Thousands of requests at once through what answers URLSession, in many processes, since a race kills the process it is in.
#
#   sh scripts/stress-client.sh [PROCESSES]     50 of each kind without a number
#
# Counts how many processes have died, hung or answered wrongly. Ends with 1 when one of ours has, and with 2 when none of those has that
# answer from any thread, as people write it: then nothing was tested.
set -eu
cd "$(dirname "$0")/.."
count=${1:-50}
seconds=${STRESS_SECONDS:-600}
export SWIFT_BACKTRACE=enable=no
# Apart from the program, which has other options.
swift build -c release --scratch-path .build/client --product ClientProbe
probe=$(swift build -c release --scratch-path .build/client --show-bin-path)/ClientProbe
end=$(($(date +%s) + seconds))

# Prints how it went, and leaves the number of bad processes in $bad.
run() {
    name=$1
    shift
    bad=0 done=0
    while [ "$done" -lt "$count" ] && [ "$(date +%s)" -lt "$end" ]; do
        done=$((done + 1))
        # The word SEED stands for another number each time.
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
