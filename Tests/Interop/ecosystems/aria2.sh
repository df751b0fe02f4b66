#!/bin/sh
# Prints the body of a URL by aria2c, which writes files only.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
aria2c --quiet --no-conf --dir="$folder" --out=body "$1" >&2
cat "$folder/body"
