#!/bin/sh
# Measures the readers of bodies against memchr and zlib, the search for secrets, the reader of WebSockets, and the lookup of requests in a
# large cassette: bench-readers.sh [ROUNDS]
# They are in a package of their own, so that neither SwiftNIO nor the proxy is built for it.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
place=$root/.build-readers
package=$place/package

mkdir -p "$package/Sources"
. "$root/scripts/cassette-targets.sh"
for target in CZlib $cassette_targets; do ln -sfn "$root/Sources/$target" "$package/Sources/$target"; done
ln -sfn "$root/Benchmarks/Readers" "$package/Sources/Readers"
cat >"$package/Package.swift" <<END
// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [.define("LIBDEFLATE"), .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault")]
let package = Package(
    name: "readers",
    platforms: [.macOS(.v13)],
    targets: [
        $cassette_manifest
        .executableTarget(name: "Readers", dependencies: [$playback, "CassettePlayback", "TapeExchange", "CZlib"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
END
swift build -c release --package-path "$package" --scratch-path "$place/build" >&2
for count in 1000 100000; do
    [ -e "$place/$count.json" ] || python3 "$root/Benchmarks/large_cassette.py" "$place/$count.json" "$count"
done
exec "$(swift build -c release --show-bin-path --package-path "$package" --scratch-path "$place/build")/Readers" "${1:-7}" "$place/1000.json" "$place/100000.json"
