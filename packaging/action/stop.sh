#!/bin/sh
# Ends the run of start.sh, prints what it has to say, and has its exit code. Without a run there is nothing to do.
set -eu
folder=$RUNNER_TEMP/wiretape
[ -e "$folder/pid" ] || exit 0
kill -TERM "$(cat "$folder/pid")" 2>/dev/null || true
while [ ! -e "$folder/status" ]; do sleep 0.1; done
cat "$folder/log"
rm "$folder/pid"
status=$(cat "$folder/status")
[ "$status" = 0 ] || echo "::error::wiretape exits with $status: its lines above say why"
exit "$status"
