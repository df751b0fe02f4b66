#!/bin/sh
# Runs the tests of the parsers of untrusted input under AddressSanitizer, and LeakSanitizer on Linux: sanitize.sh [--filter PATTERN]
# Runs the tests of the recorder's threads under ThreadSanitizer: sanitize.sh thread [--filter PATTERN]
# The targets are in a package of their own, so that neither SwiftNIO nor the proxy is built for it.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
place=$root/.build-sanitize
package=$place/package
kind=address
if [ "${1-}" = thread ]; then
    kind=thread
    shift
    [ $# -gt 0 ] || set -- --filter 'AllProcessors|theNumberOf|whatIsProved|\.RecorderTests/|PostponedSearch|CassettePortions|searchesAtOnce'
fi

mkdir -p "$package/Sources" "$package/Tests"
. "$root/scripts/cassette-targets.sh"
for target in CZlib COpenSSL $cassette_targets TapeTLS TapeRecorder; do ln -sfn "$root/Sources/$target" "$package/Sources/$target"; done
for tests in TapeTestSupport CassetteTests TapeExchangeTests TapeTLSTests TapeRecorderTests; do ln -sfn "$root/Tests/$tests" "$package/Tests/$tests"; done
cat >"$package/Package.swift" <<END
// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [.define("LIBDEFLATE"), .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault")]
let package = Package(
    name: "sanitized",
    platforms: [.macOS(.v13)],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),$cassette_manifest
        .target(name: "TapeTLS", dependencies: ["Platform", "TapeBytes", "COpenSSL"], swiftSettings: settings),
        .target(
            name: "TapeRecorder", dependencies: [$playback, "CassettePlayback", "TapeExchange"], swiftSettings: settings),
        .target(
            name: "TapeTestSupport", dependencies: [$playback, "CassettePlayback", "CassetteTools", "TapeExchange"], path: "Tests/TapeTestSupport", swiftSettings: settings),
        .testTarget(
            name: "CassetteTests",
            dependencies: [$playback, "CassettePlayback", "CassetteTools", "ClientCapabilities", "TapeTrust", "TapeTestSupport"],
            exclude: ["CassetteFormat/Golden"], swiftSettings: settings),
        .testTarget(
            name: "TapeRecorderTests",
            dependencies: [$playback, "CassettePlayback", "TapeExchange", "TapeRecorder", "TapeTestSupport"], swiftSettings: settings),
        .testTarget(name: "TapeExchangeTests", dependencies: [$playback, "TapeExchange", "TapeTestSupport"], swiftSettings: settings),
        .testTarget(name: "TapeTLSTests", dependencies: ["Platform", "TapeBytes", "TapeTLS", "TapeTestSupport", "COpenSSL"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
END

# A report with symbols can hang: symbolize=0 prints addresses, which llvm-symbolizer can translate. XCTest has none of the tests, and
# leaks.
ASAN_OPTIONS=symbolize=0:detect_stack_use_after_return=1
[ "$(uname)" != Linux ] || ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=1
export ASAN_OPTIONS
# ThreadSanitizer: Foundation and Dispatch are not instrumented, and nothing is suppressed.
WIRETAPE_SANITIZED=1 exec swift test --disable-xctest --sanitize=$kind --package-path "$package" --scratch-path "$place/build-$kind" "$@"
