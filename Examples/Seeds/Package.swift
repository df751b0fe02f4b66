// swift-tools-version: 6.1

import PackageDescription

/// Programs that take an HTTP client apart, and their tests: multipart bodies built by hand, encoders, serializers, retries, downloads, times.
let package = Package(
    name: "Seeds",
    platforms: [.macOS(.v13), .iOS(.v16)],
    dependencies: [
        // Without traits: neither SwiftNIO nor OpenSSL is fetched or built for it.
        .package(name: "wiretape", path: "../..", traits: [])
    ],
    targets: [
        .target(name: "Seeds", dependencies: [.product(name: "Wiretape", package: "wiretape")]),
        .testTarget(
            name: "SeedsTests",
            dependencies: [
                "Seeds", .product(name: "WiretapeTesting", package: "wiretape"), .product(name: "WiretapeAlamofire", package: "wiretape"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
