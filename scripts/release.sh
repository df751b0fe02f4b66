#!/bin/sh
# Builds the release program: optimized, with Swift's library linked in, without Swift's checks for exclusive access (docs/decisions/0066).
#
#   sh scripts/release.sh --product wiretape [OPTION…]     with other options of swift build
set -eu
cd "$(dirname "$0")/.."
# Two builds of a commit must be identical: the maps keep this folder's path out of the program, and without debug information, the hashes
# of modules (.swift_modhash) do not depend on the signatures of the compiler's module cache, which differ between builds.
exec swift build -c release --static-swift-stdlib -debug-info-format none -Xswiftc -enforce-exclusivity=unchecked \
    -Xcc "-ffile-prefix-map=$PWD=." -Xswiftc -file-prefix-map -Xswiftc "$PWD=." -Xlinker -z -Xlinker now "$@"
