#!/bin/sh
# Starts a run in the background, and sets the variables that lead the programs of the following steps through it.
set -eu
folder=$RUNNER_TEMP/wiretape
mkdir -p "$folder"
rm -f "$folder/log" "$folder/status"
# shellcheck disable=SC2086 # the arguments are words
(
    status=0
    nohup wiretape run "$CASSETTE" --mode "$MODE" --listen 127.0.0.1:0 --report "$folder/report.json" --report "$folder/report.xml" \
        $ARGUMENTS >"$folder/log" 2>&1 </dev/null & echo $! >"$folder/pid"
    wait $! || status=$?
    echo "$status" >"$folder/status"
) >/dev/null 2>&1 &
until address=$(sed -n 's|.*listening on http://||p' "$folder/log" 2>/dev/null) && [ -n "$address" ]; do
    if [ -e "$folder/status" ]; then
        echo "::error::$(cat "$folder/log")"
        exit 1
    fi
    sleep 0.1
done
wiretape ping --proxy "$address" --wait 10
wiretape env --proxy "$address" --json |
    python3 -c 'import json, sys; [print(f"{name}={value}") for name, value in json.load(sys.stdin).items()]' >>"$GITHUB_ENV"
echo "WIRETAPE_PROXY=$address" >>"$GITHUB_ENV"
