// swift-tools-version: 6.1
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let server = TargetDependencyCondition.when(traits: ["Server"])

func nio(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-nio", condition: server)
}

let asyncHTTPClient = TargetDependencyCondition.when(traits: ["AsyncHTTPClient"])

/// The libraries for the content codings br and zstd (docs/decisions/0013-br-and-zstd.md), for the server and for packages that ask for
/// them.
let codings = TargetDependencyCondition.when(platforms: [.linux, .macOS], traits: ["Server", "Codings"])

/// Inflates data that is in memory as a whole (docs/decisions/0061-libdeflate.md). zlib does everything else, and everything on other
/// platforms.
let libdeflate = TargetDependencyCondition.when(platforms: [.linux, .macOS], traits: ["Server"])

/// The targets that read, search and replay a cassette.
let forPlayback: [Target.Dependency] = ["Platform", "TapeBytes", "CassetteModel", "CassetteFormat", "CassetteStore", "CassetteRedaction"]
let forClient: [Target.Dependency] = forPlayback + ["CassettePlayback", "ClientCapabilities", "TapeTrust"]

let package = Package(
    name: "wiretape",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .library(name: "Wiretape", targets: ["Wiretape"]),
        .library(name: "WiretapeTesting", targets: ["WiretapeTesting"]),
        .library(name: "WiretapeAlamofire", targets: ["WiretapeAlamofire"]),
        .library(name: "WiretapeAsyncHTTPClient", targets: ["WiretapeAsyncHTTPClient"]),
        .library(name: "WiretapeHTTPTypes", targets: ["WiretapeHTTPTypes"]),
        .library(name: "TapeProxy", targets: ["TapeProxy"]),
        .executable(name: "wiretape", targets: ["WiretapeCLI"]),
        // Loaded into programs, next to the executable (docs/decisions/0101-the-recorded-clock.md).
        .library(name: "wiretape-clock", type: .dynamic, targets: ["CRecordedClock"]),
        .plugin(name: "WiretapePlugin", targets: ["WiretapePlugin"]),
    ],
    traits: [
        .trait(name: "Server", description: "The proxy and the command line tool, on SwiftNIO, OpenSSL and libcurl, with br and zstd."),
        .trait(name: "Codings", description: "Takes the content codings br and zstd off in a client without the server."),
        .trait(name: "AsyncHTTPClient", description: "WiretapeAsyncHTTPClient, a network for the client on async-http-client."),
        .trait(name: "HTTPTypes", description: "The library WiretapeHTTPTypes, on swift-http-types; empty without it."),
        .default(enabledTraits: ["Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        // Both are used only with the trait AsyncHTTPClient (docs/decisions/0036-async-http-client.md).
        .package(
            url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0",
            traits: [.trait(name: "UnstableHTTPAPIsSupport", condition: .when(traits: ["AsyncHTTPClient"]))]),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
    ],
    targets: [
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"]), .brew(["nghttp2"])]),
        .systemLibrary(name: "CYaml", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),
        .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"]), .brew(["libdeflate"])]),
        .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        // Only its header is used: the library is loaded when a store is.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        // The C library of each platform, under one name.
        .target(name: "Platform"),
        // Vector instructions that Swift cannot express (docs/decisions/0063-cassettes-at-memory-speed.md).
        .target(name: "CJSONScan"),
        // Swift computes SHA-256 slowly in debug builds (docs/decisions/0092-sha-256-in-c.md).
        .target(name: "CSHA256"),
        .target(
            name: "TapeBytes", dependencies: ["Platform", "CZlib", "CJSONScan", "CSHA256"],
            // On other platforms it is part of the C library (docs/decisions/0014-charsets-by-iconv.md).
            linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS, .iOS]))]
        ),
        .target(name: "CassetteModel", dependencies: ["Platform", "TapeBytes"]),
        .target(
            name: "CassetteFormat",
            dependencies: [
                "TapeBytes", "CassetteModel", "CZlib", .target(name: "CBrotli", condition: codings),
                .target(name: "CZstd", condition: codings), .target(name: "CDeflate", condition: libdeflate),
            ]
        ),
        // Vector instructions (docs/decisions/0056-anchors-by-vectors.md).
        .target(name: "CAnchorScan"),
        .target(name: "CassetteStore", dependencies: ["Platform", "TapeBytes", "CassetteModel", "CassetteFormat", "CJSONScan"]),
        .target(name: "CassetteRedaction", dependencies: ["Platform", "TapeBytes", "CassetteModel", "CassetteFormat", "CAnchorScan"]),
        .target(name: "CassettePlayback", dependencies: forPlayback),
        .target(name: "CassetteTools", dependencies: forPlayback + ["CassettePlayback"]),
        // What is done to traffic: a request in, a plan out. No sockets.
        .target(name: "TrafficRules", dependencies: forPlayback + ["CassettePlayback", "TapeExchange"]),
        .target(name: "ClientCapabilities", dependencies: ["Platform", "TapeBytes"]),
        .target(name: "TapeTrust", dependencies: ["Platform", "TapeBytes"]),
        // Calls of Linux with ancillary data, fork and libnftables, which Swift cannot express (docs/decisions/0096-isolation-in-a-network-namespace.md).
        .target(name: "CIsolation"),
        .target(name: "TapeIsolation", dependencies: ["Platform", "TapeBytes", "TapeExchange", "CIsolation"]),
        .target(name: "TapeExchange", dependencies: ["TapeBytes", "CassetteModel"]),
        .target(name: "LocalHTTP", dependencies: ["TapeBytes", "CassetteModel", "TapeExchange"]),
        .target(name: "TapeRecorder", dependencies: forPlayback + ["TapeExchange"]),
        .target(name: "CassetteRun", dependencies: forPlayback + ["CassettePlayback", "TapeRecorder"]),
        .target(name: "TapeYAML", dependencies: [.target(name: "CYaml", condition: server)]),
        // Only the command line imports what other tools recorded; the proxy and the client do not.
        .target(name: "CassetteImport", dependencies: forPlayback + ["TapeExchange", "TapeRecorder", "TapeYAML"]),
        .target(name: "CassetteExport", dependencies: forPlayback + ["CassetteTools"]),
        // Cassettes in object storage (docs/decisions/0098-stores-by-libcurl.md). Nothing of the proxy.
        .target(
            name: "CassetteRemote",
            dependencies: ["Platform", "TapeBytes", "CassetteModel", "CassetteFormat", "CassetteStore", "COpenSSL", "CZstd", "CCurl"]
        ),
        .target(name: "TapeTLS", dependencies: ["Platform", "TapeBytes", "COpenSSL"]),
        .target(
            name: "TapeHTTP2",
            dependencies: ["CassetteModel", "TapeExchange", .target(name: "CNghttp2", condition: server), nio("NIOCore")]
        ),
        .target(
            name: "TapeProxy",
            dependencies: forPlayback + [
                "CassettePlayback", "CassetteRun", "CassetteTools", "LocalHTTP", "TapeTrust", "TapeExchange", "TapeHTTP2", "TapeIsolation",
                "TapeRecorder", "TapeTLS", "TrafficRules", nio("NIOCore"),
                nio("NIOPosix"),
                nio("NIOConcurrencyHelpers"),
                .product(name: "Logging", package: "swift-log", condition: server),
            ]
        ),
        // Goes in front of a program's C library, so it needs nothing else: the flag leaves out Swift's start files. Nothing depends on it.
        .target(
            name: "CRecordedClock",
            linkerSettings: [.unsafeFlags(["-nostartfiles"], .when(platforms: [.linux]))]),
        // Reads the program's arguments where Swift itself would need /proc.
        .target(name: "CArguments"),
        // The inspector's page, embedded so that the binary still has it after a move (docs/decisions/0054-the-page-in-the-binary.md).
        .target(name: "CInspectorPage", exclude: ["page"], cSettings: [.headerSearchPath("page")]),
        .target(
            name: "TapeInspector",
            dependencies: forPlayback + [
                "CassettePlayback", "CassetteTools", "TapeExchange", "LocalHTTP", "TrafficRules", "CInspectorPage", nio("NIOCore"),
                nio("NIOPosix"),
            ]
        ),
        .target(
            name: "Wiretape",
            dependencies: forClient + [
                "CassetteRun", "TapeExchange", "TapeRecorder", "TrafficRules",
                // Rules in YAML; without it, rules are read from JSON and written in Swift.
                .target(name: "TapeYAML", condition: .when(platforms: [.linux, .macOS], traits: ["Server"])),
            ]),
        .target(name: "WiretapeTesting", dependencies: forClient + ["Wiretape"]),
        .target(name: "WiretapeAlamofire", dependencies: ["Platform", "TapeBytes", "TapeTrust", "Wiretape"]),
        // Compiles to nothing unless its trait is enabled.
        .target(
            name: "WiretapeAsyncHTTPClient",
            dependencies: [
                "CassetteFormat", "CassetteModel", "TapeBytes", "TapeTrust", "Wiretape",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: asyncHTTPClient),
                .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOPosix", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOTLS", package: "swift-nio", condition: asyncHTTPClient),
            ]),
        .target(
            name: "WiretapeHTTPTypes",
            dependencies: ["Wiretape", .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"]))]
        ),
        .executableTarget(
            name: "WiretapeCLI",
            dependencies: forClient + [
                "CArguments", "CassetteExport", "CassetteImport", "CassetteRemote", "CassetteRun", "CassetteTools", "LocalHTTP",
                "TapeInspector", "TapeIsolation",
                "TapeProxy", "TapeRecorder", "TapeTLS",
                "TapeYAML", "TrafficRules",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: server),
                .product(name: "Logging", package: "swift-log", condition: server),
            ]
        ),
        // Uses only Foundation: with an executable, all its dependencies would be built a second time
        // (docs/decisions/0039-a-plugin-of-one-script.md).
        .plugin(
            name: "WiretapePlugin",
            capability: .command(
                intent: .custom(verb: "wiretape", description: "Records the cassettes of tests, lists them, and removes unused ones."),
                permissions: [.writeToPackageDirectory(reason: "Tests are built and record cassettes; prune removes cassettes.")])
        ),
        .executableTarget(
            name: "DemoOrigin",
            dependencies: ["Platform", "CZlib", nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOConcurrencyHelpers")]
        ),
        // Tests all targets of the cassette together, because they share their test data.
        .testTarget(
            name: "CassetteTests", dependencies: forClient + ["CSHA256", "CassetteTools", "TapeTestSupport"],
            exclude: ["CassetteFormat/Golden", "CassetteTools/Uploads"]),
        // The same code as in `make fuzz`: some of its inputs also run with the tests.
        .target(
            name: "FuzzTargets",
            dependencies: forPlayback + [
                "CassetteImport", "CassettePlayback", "TapeExchange", "TapeHTTP2", "TapeIsolation", "TapeTLS", "TrafficRules", "CZlib",
                nio("NIOCore"),
            ],
            path: "Fuzz/Targets"
        ),
        .testTarget(
            name: "TrafficRulesTests", dependencies: forPlayback + ["CassettePlayback", "TrafficRules", "TapeYAML", "TapeTestSupport"]),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "TapeTestSupport"]),
        .testTarget(name: "TapeIsolationTests", dependencies: ["TapeExchange", "TapeIsolation"]),
        .testTarget(name: "TapeExchangeTests", dependencies: ["TapeBytes", "CassetteModel", "TapeExchange", "TapeTestSupport"]),
        // Does what may kill its own process; the tests start this program for it.
        .executableTarget(
            name: "ClientProbe", dependencies: forClient + ["Wiretape", "ClientTestSupport", "TapeTestSupport"],
            path: "Tests/Fixtures/ClientProbe"
        ),
        // Shared by that program and the client's tests: an origin, and the ways to send requests to it.
        .target(
            name: "ClientTestSupport", dependencies: forClient + ["Wiretape", "TapeTestSupport"], path: "Tests/ClientTestSupport"
        ),
        .testTarget(
            name: "WiretapeTests",
            dependencies: forClient + [
                "Wiretape", "TapeProxy", "TapeRecorder", "TrafficRules", "ClientProbe", "ClientTestSupport", "TapeTestSupport",
            ]
        ),
        .testTarget(
            name: "WiretapeTestingTests", dependencies: forClient + ["WiretapeTesting", "Wiretape", "TapeTestSupport"],
            exclude: ["Cassettes"]
        ),
        .testTarget(name: "WiretapeAlamofireTests", dependencies: ["Wiretape", "WiretapeAlamofire"]),
        // The examples of the documentation: compiled, run, and compared with the pages.
        .testTarget(
            name: "DocumentationTests",
            dependencies: forClient + ["Wiretape", "WiretapeAlamofire", "WiretapeTesting", "TapeProxy", "TapeTestSupport"],
            exclude: ["Cassettes", "Fixtures", "Preludes"]
        ),
        // The plugin's files are linked, because no target can depend on a plugin.
        .testTarget(name: "WiretapePluginTests", dependencies: ["TapeTestSupport"]),
        .testTarget(
            name: "CassetteRemoteTests",
            dependencies: forPlayback + ["CassetteTools", "TapeTestSupport", "CassetteRemote"]
        ),
        .testTarget(name: "TapeTLSTests", dependencies: ["Platform", "TapeBytes", "TapeTLS", "TapeTestSupport", "COpenSSL"]),
        .testTarget(
            name: "TapeHTTP2Tests", dependencies: ["CassetteModel", "TapeExchange", "TapeHTTP2", "TapeTestSupport", nio("NIOCore")]),
        // Helpers for the tests of more than one target.
        .target(name: "TapeTestSupport", dependencies: forPlayback + ["CassetteTools", "TapeExchange"], path: "Tests/TapeTestSupport"),
        .testTarget(name: "LocalHTTPTests", dependencies: ["TapeBytes", "CassetteModel", "TapeExchange", "LocalHTTP"]),
        .testTarget(
            name: "TapeInspectorTests",
            dependencies: forPlayback + [
                "CassettePlayback", "CassetteTools", "TapeExchange", "LocalHTTP", "TapeInspector", "TapeYAML", "TrafficRules",
                "CInspectorPage", "TapeTestSupport",
                nio("NIOCore"), nio("NIOPosix"), nio("NIOEmbedded"),
            ],
            exclude: ["Browser"]
        ),
        .testTarget(
            name: "TapeRecorderTests", dependencies: forPlayback + ["TapeExchange", "TapeRecorder", "TapeTestSupport"]),
        .testTarget(
            name: "CassetteImportTests",
            dependencies: forPlayback + [
                "CassetteExport", "CassetteImport", "CassettePlayback", "CassetteTools", "TapeExchange", "TapeTestSupport",
            ]
        ),
        .testTarget(
            name: "CassetteRunTests", dependencies: forPlayback + ["CassettePlayback", "CassetteRun", "TapeRecorder", "TapeTestSupport"]),
        .testTarget(
            name: "TapeProxyTests",
            dependencies: forPlayback + [
                "CassettePlayback", "CassetteRun", "LocalHTTP", "TapeTrust", "TapeExchange", "TapeHTTP2", "TapeTLS", "TapeProxy",
                "TapeRecorder",
                "TapeTestSupport", nio("NIOCore"),
                nio("NIOPosix"), nio("NIOEmbedded"),
                .product(name: "Logging", package: "swift-log", condition: server),
            ]
        ),
        .testTarget(
            name: "WiretapeCLITests",
            dependencies: forClient + [
                "WiretapeCLI", "CassetteRun", "CassetteTools", "TapeInspector", "TapeIsolation", "TapeProxy", "TapeRecorder", "TapeTLS",
                "TapeTestSupport",
                .product(name: "Logging", package: "swift-log", condition: server),
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "DemoOriginTests",
            dependencies: ["DemoOrigin", "CZlib", nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOEmbedded")]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where ![.system, .plugin].contains(target.type) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .define("CODINGS", .when(platforms: [.linux, .macOS], traits: ["Server", "Codings"])),
        .define("LIBDEFLATE", .when(platforms: [.linux, .macOS], traits: ["Server"])),
    ]
}
