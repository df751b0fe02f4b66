// swift-tools-version: 6.1
import PackageDescription
let package = Package(
    name: "wiretape",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [.library(name: "Wiretape", targets: ["Wiretape"])],
    traits: [.trait(name: "Server"), .trait(name: "Brotli"), .trait(name: "Zstandard"), .default(enabledTraits: ["Brotli", "Zstandard"])],
    dependencies: [.package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0")],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl"),
        .target(name: "TapeTLS", dependencies: ["COpenSSL"]),
        .target(name: "TapeProxy", dependencies: ["TapeCore", "TapeExchange", "TapeRecorder", "TapeTLS", .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOConcurrencyHelpers", package: "swift-nio")]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
        .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec"),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd"),
        .target(name: "TapeCore", dependencies: ["CZlib", "CBrotli", "CZstd"]),
        .target(name: "TapeExchange", dependencies: ["TapeCore"]),
        .target(name: "TapeRecorder", dependencies: ["TapeCore", "TapeExchange"]),
        .target(name: "Wiretape", dependencies: ["TapeCore", "TapeExchange", "TapeRecorder"]),
        .target(name: "WiretapeTesting", dependencies: ["Wiretape", "TapeCore"]),
        .target(name: "TapeTestSupport", dependencies: ["TapeCore", "TapeExchange"], path: "Tests/TapeTestSupport"),
        .testTarget(
            name: "DocumentationTests", dependencies: ["Wiretape", "WiretapeTesting", "TapeProxy", "TapeTestSupport"],
            exclude: ["Cassettes", "Fixtures"]),
    ],
    swiftLanguageModes: [.v6]
)
for target in package.targets where target.type != .system {
    target.swiftSettings = [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault")]
}
