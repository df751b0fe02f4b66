#!/bin/sh
# swift build of the program for use: optimized, with Swift's library in it, without Swift's checks for exclusive access (docs/decisions/0066).
#
#   sh scripts/release.sh --product wiretape [OPTION…]     other options of swift build
set -eu
cd "$(dirname "$0")/.."
# The maps keep the path of this folder out of the program, so that two builds of one commit are the same bytes.
exec swift build -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked \
    -Xcc "-ffile-prefix-map=$PWD=." -Xswiftc -file-prefix-map -Xswiftc "$PWD=." -Xlinker -z -Xlinker now "$@"
