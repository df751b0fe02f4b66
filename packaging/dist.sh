#!/bin/sh
# Makes .build/dist/wiretape-VERSION-linux-MACHINE.tar.gz with an SPDX list of its components, and SHA256SUMS of everything in that folder.
#
#   sh packaging/dist.sh PROGRAM
set -eu
program=$1
here=$(cd "$(dirname "$0")" && pwd)
. "$here/version.sh"
out=$root/.build/dist
name=wiretape-$version-linux-$machine
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

sh "$here/stage.sh" "$program" "$work/$name"
cp "$root/README.md" "$root/CHANGELOG.md" "$work/$name/"
python3 "$here/components.py" sbom "$program" >"$work/$name/sbom.spdx.json"
chmod 644 "$work/$name"/*.md "$work/$name/sbom.spdx.json"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu -C "$work" -cf "$work/$name.tar" "$name"
gzip -9 -n <"$work/$name.tar" >"$out/$name.tar.gz"
cp "$work/$name/sbom.spdx.json" "$out/$name.spdx.json"
sh "$here/sums.sh"
echo "$out/$name.tar.gz"
