#!/bin/sh
# Runs the steps of the action as GitHub does, with the tarball in .build/dist.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/../version.sh"
work=$(mktemp -d)
servers=
trap 'for server in $servers; do kill "$server" 2>/dev/null || true; done; rm -rf "$work"' EXIT
RUNNER_TEMP=$work/temp GITHUB_PATH=$work/path GITHUB_ENV=$work/env
export RUNNER_TEMP GITHUB_PATH GITHUB_ENV
mkdir -p "$RUNNER_TEMP" "$work/releases/v$version" "$work/site"
cp "$root/.build/dist/wiretape-$version-linux-$machine.tar.gz" "$root/.build/dist/SHA256SUMS" "$work/releases/v$version/"
cd "$work"

echo '== a tarball that was changed is refused'
mkdir -p "$work/bad/v$version"
cp "$work/releases/v$version/"* "$work/bad/v$version/"
echo >>"$work/bad/v$version/wiretape-$version-linux-$machine.tar.gz"
if VERSION=$version DOWNLOADS=file://$work/bad sh "$here/install.sh" >/dev/null 2>&1; then echo "it was installed" >&2; exit 1; fi

echo '== install'
VERSION=$version DOWNLOADS=file://$work/releases sh "$here/install.sh"
PATH=$(cat "$GITHUB_PATH"):$PATH

echo hello >"$work/site/pets"
python3 "$here/../test_origin.py" "$work/site" none none >"$work/ports" &
servers=$!
while [ ! -s "$work/ports" ]; do kill -0 "$servers"; sleep 0.1; done
read -r port rest <"$work/ports"

# The following steps have the variables of GITHUB_ENV, which is not a shell's syntax.
step() { python3 -c '
import os, subprocess, sys
variables = dict(line.rstrip("\n").split("=", 1) for line in open(os.environ["GITHUB_ENV"]))
sys.exit(subprocess.run(sys.argv[1:], env={**os.environ, **variables}).returncode)' "$@"; }

echo '== record'
CASSETTE=$work/pets.json MODE=once ARGUMENTS= sh "$here/start.sh"
[ "$(step curl -sf "http://127.0.0.1:$port/pets")" = hello ]
sh "$here/stop.sh"
kill "$servers"
servers=

echo '== replay'
: >"$GITHUB_ENV"
CASSETTE=$work/pets.json MODE=none ARGUMENTS='--fail-on miss,unused' sh "$here/start.sh"
[ "$(step curl -sf "http://127.0.0.1:$port/pets")" = hello ]
sh "$here/stop.sh"

echo '== a miss fails the job, and leaves a report'
: >"$GITHUB_ENV"
CASSETTE=$work/pets.json MODE=none ARGUMENTS= sh "$here/start.sh"
step curl -s -o /dev/null "http://127.0.0.1:$port/dogs"
status=0
sh "$here/stop.sh" >"$work/said" || status=$?
[ "$status" = 3 ] && grep -q 'no recorded exchange answers' "$work/said" && grep -q '"misses": 1' "$RUNNER_TEMP/wiretape/report.json"
[ -s "$RUNNER_TEMP/wiretape/report.xml" ]
# The second stop finds nothing to do.
sh "$here/stop.sh"
echo 'packaging/action/test.sh: all is well.'
