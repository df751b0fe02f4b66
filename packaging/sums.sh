#!/bin/sh
# Writes the checksums of the artefacts of this version to .build/dist/SHA256SUMS.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/version.sh"
cd "$root/.build/dist"
LC_ALL=C
export LC_ALL
find . -maxdepth 1 -type f -name "wiretape[-_]$version*" -printf '%f\n' | sort | xargs sha256sum >SHA256SUMS
