#!/bin/sh
# swift build of the program for use: optimized, with Swift's library in it, without Swift's checks for exclusive access (docs/decisions/0066).
#
#   sh scripts/release.sh --product wiretape [OPTION…]     other options of swift build
set -eu
cd "$(dirname "$0")/.."
# Two builds of one commit are to be the same bytes: the maps keep the path of this folder out of the program, and without debug information
# the hashes of modules (.swift_modhash) do not depend on the signatures of the compiler's module cache, which differ from build to build.
exec swift build -c release --static-swift-stdlib -debug-info-format none -Xswiftc -enforce-exclusivity=unchecked \
    -Xcc "-ffile-prefix-map=$PWD=." -Xswiftc -file-prefix-map -Xswiftc "$PWD=." -Xlinker -z -Xlinker now "$@"
