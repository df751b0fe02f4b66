# The targets that parse untrusted input and cassettes, without SwiftNIO, for packages that build them separately.
# Sourced; $codings may list the C libraries of br and zstd for CassetteFormat, each followed by a comma.

cassette_targets="CDeflate Platform TapeBytes CassetteModel CassetteFormat CJSONScan CSHA256 CassetteStore CAnchorScan CassetteRedaction CassettePlayback CassetteTools ClientCapabilities TapeTrust TapeExchange"
model='"Platform", "TapeBytes", "CassetteModel"'
format="$model, \"CassetteFormat\""
playback="$format, \"CassetteStore\", \"CassetteRedaction\""
cassette_manifest="
        .systemLibrary(name: \"CZlib\", pkgConfig: \"zlib\"),
        .systemLibrary(name: \"CDeflate\", pkgConfig: \"libdeflate\"),
        .target(name: \"Platform\", swiftSettings: settings),
        .target(name: \"CJSONScan\"),
        .target(name: \"CSHA256\"),
        .target(name: \"TapeBytes\", dependencies: [\"Platform\", \"CZlib\", \"CJSONScan\", \"CSHA256\"], swiftSettings: settings),
        .target(name: \"CassetteModel\", dependencies: [\"Platform\", \"TapeBytes\"], swiftSettings: settings),
        .target(name: \"CassetteFormat\", dependencies: [${codings-}$model, \"CZlib\", \"CDeflate\"], swiftSettings: settings),
        .target(name: \"CassetteStore\", dependencies: [$format, \"CJSONScan\"], swiftSettings: settings),
        .target(name: \"CAnchorScan\"),
        .target(name: \"CassetteRedaction\", dependencies: [$format, \"CAnchorScan\"], swiftSettings: settings),
        .target(name: \"CassettePlayback\", dependencies: [$playback], swiftSettings: settings),
        .target(name: \"CassetteTools\", dependencies: [$playback, \"CassettePlayback\"], swiftSettings: settings),
        .target(name: \"ClientCapabilities\", dependencies: [\"Platform\", \"TapeBytes\"], swiftSettings: settings),
        .target(name: \"TapeTrust\", dependencies: [\"Platform\", \"TapeBytes\"], swiftSettings: settings),
        .target(name: \"TapeExchange\", dependencies: [$model], swiftSettings: settings),"
