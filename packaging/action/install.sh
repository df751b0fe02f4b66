#!/bin/sh
# Installs the tarball of VERSION from DOWNLOADS/vVERSION, by its checksum, and puts the program into the PATH of the following steps.
set -eu
name=wiretape-$VERSION-linux-$(uname -m)
folder=$RUNNER_TEMP/wiretape
mkdir -p "$folder"
cd "$folder"
for file in "$name.tar.gz" SHA256SUMS; do
    curl -fsSL --retry 3 -o "$file" "$DOWNLOADS/v$VERSION/$file"
done
# An entry that is missing must not pass as a match.
grep -E "^[0-9a-f]{64}  $name\.tar\.gz\$" SHA256SUMS >expected || { echo "::error::SHA256SUMS has no $name.tar.gz"; exit 1; }
sha256sum --quiet -c expected || { echo "::error::$name.tar.gz is not what SHA256SUMS says"; exit 1; }
tar xzf "$name.tar.gz"
echo "$folder/$name/bin" >>"$GITHUB_PATH"
"$folder/$name/bin/wiretape" --version
