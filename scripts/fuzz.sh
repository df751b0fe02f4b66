#!/bin/sh
# Fuzzes the parsers of untrusted input with libFuzzer and AddressSanitizer: fuzz.sh [SECONDS] [TARGET…]
# Without targets, it runs all of them, one after the other. The corpus of each target stays in .build-fuzz/corpus; findings go to
# .build-fuzz. To run an input again: .build-fuzz/fuzz TARGET FILE
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
place=$root/.build-fuzz
package=$place/package
seconds=${1:-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- multipart inflate body cassette message hello http2 proto websocket import rules

# The targets are in a package of their own, so that the product's package needs no unsafe flags and the proxy is not built. Of SwiftNIO,
# they use only the buffers.
mkdir -p "$package/Sources"
codings='"CBrotli", "CZstd", '
. "$root/scripts/cassette-targets.sh"
for target in CZlib COpenSSL CNghttp2 CBrotli CZstd $cassette_targets CYaml TapeYAML TapeRecorder CassetteImport TrafficRules TapeTLS TapeHTTP2; do ln -sfn "$root/Sources/$target" "$package/Sources/$target"; done
ln -sfn "$root/Fuzz/Command" "$package/Sources/Fuzz"
ln -sfn "$root/Fuzz/Targets" "$package/Sources/FuzzTargets"
cat >"$package/Package.swift.new" <<END
// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .define("CODINGS"), .define("LIBDEFLATE"), .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
]
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let package = Package(
    name: "fuzzed",
    platforms: [.macOS(.v13)],
    dependencies: [
$(grep 'apple/swift-nio.git' "$root/Package.swift")
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2"),
        .systemLibrary(name: "CYaml", pkgConfig: "yaml-0.1"),
        .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec"),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd"),
        $cassette_manifest
        .target(name: "TapeTLS", dependencies: ["Platform", "TapeBytes", "COpenSSL"], swiftSettings: settings),
        .target(name: "TapeHTTP2", dependencies: ["CassetteModel", "TapeExchange", "CNghttp2", nio], swiftSettings: settings),
        .target(name: "TapeYAML", dependencies: ["CYaml"], swiftSettings: settings),
        .target(name: "TapeRecorder", dependencies: [$playback, "CassettePlayback", "TapeExchange"], swiftSettings: settings),
        .target(name: "CassetteImport", dependencies: [$playback, "TapeExchange", "TapeRecorder", "TapeYAML"], swiftSettings: settings),
        .target(name: "TrafficRules", dependencies: [$playback, "CassettePlayback", "TapeExchange"], swiftSettings: settings),
        .target(
            name: "FuzzTargets", dependencies: [$playback, "CassetteImport", "TrafficRules", "CassettePlayback", "TapeExchange", "TapeHTTP2", "TapeTLS", "CZlib", nio],
            swiftSettings: settings),
        .executableTarget(name: "Fuzz", dependencies: ["FuzzTargets"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
END
cmp -s "$package/Package.swift.new" "$package/Package.swift" && rm "$package/Package.swift.new" || mv "$package/Package.swift.new" "$package/Package.swift"

# Uses the versions that the product is built with.
[ -e "$package/Package.resolved" ] || cp "$root/Package.resolved" "$package/Package.resolved"

# Optimized for speed, but with every check of a release build. gold fails on libFuzzer's objects with an internal error.
linker=
[ "$(uname)" != Linux ] || linker='-Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld'
# shellcheck disable=SC2086 # the flags are words
swift build -c release --sanitize=address -Xswiftc -sanitize=fuzzer $linker ${WIRETAPE_FUZZ_BUILD:-} \
    --package-path "$package" --scratch-path "$place/build"
ln -sfn "$(swift build -c release --show-bin-path --package-path "$package" --scratch-path "$place/build")/Fuzz" "$place/fuzz"

# A report with symbols can hang, and so can Swift's: symbolize=0 prints addresses, which llvm-symbolizer can translate.
export ASAN_OPTIONS=symbolize=0:detect_stack_use_after_return=1 SWIFT_BACKTRACE=enable=no
[ ! -d /dev/shm ] || TMPDIR=/dev/shm # a cassette is written for every input
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM

python3 "$root/Fuzz/seeds.py" "$TMPDIR/seeds"
failed=
for target; do
    mkdir -p "$place/corpus/$target"
    echo "fuzz: $target for $seconds s"
    "$place/fuzz" "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=8192 -dict="$root/Fuzz/fuzz.dict" \
        -artifact_prefix="$place/$target-" -print_final_stats=1 "$place/corpus/$target" "$TMPDIR/seeds/$target" >"$place/$target.log" 2>&1 ||
        failed="$failed $target"
    grep -aE '^(Fatal error|stat::number_of_executed_units|SUMMARY|.*Test unit written)|Precondition|Fatal' "$place/$target.log" | tail -4 || true
    grep -a ' cov: ' "$place/$target.log" | tail -1
done
if [ -n "$failed" ]; then
    echo "fuzz: findings in$failed; read .build-fuzz/TARGET.log and run .build-fuzz/fuzz TARGET FILE with the unit it names" >&2
    exit 1
fi
