#!/bin/sh
# Type-checks the examples of the documentation as a module isolated to the main actor (SE-0466), against the modules of the tests' last
# build.
set -eu
cd "$(dirname "$0")/.."
# The options that `swift build` was given, such as --scratch-path.
products=$(swift build "$@" --show-bin-path)
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")

maps=
for map in Sources/*/module.modulemap "$products"/*.build/module.modulemap "$(dirname "$(dirname "$products")")"/checkouts/*/Sources/*/include/module.modulemap; do
    [ ! -f "$map" ] || maps="$maps -Xcc -fmodule-map-file=$(readlink -f "$map")"
done
# shellcheck disable=SC2046,SC2086 # lists of words without blanks
swiftc -typecheck -whole-module-optimization -suppress-warnings -swift-version 6 -default-isolation MainActor \
    -enable-upcoming-feature ExistentialAny -module-name Pages -package-name "$(basename "$PWD" | tr A-Z a-z)" \
    -plugin-path "$toolchain/lib/swift/host/plugins/testing" -I "$products/Modules" $maps \
    $(find Tests/DocumentationTests -name '*.swift' -not -path '*/PageSuites/*' -not -path '*/Fixtures/*')
echo "the pages' snippets compile with main actor isolation."
