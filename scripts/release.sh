#!/bin/sh
# swift build of the program for use: optimized, with Swift's library in it, without Swift's checks for exclusive access (docs/decisions/0066).
#
#   sh scripts/release.sh --product wiretape [OPTION…]     other options of swift build
set -eu
cd "$(dirname "$0")/.."
exec swift build -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked "$@"
