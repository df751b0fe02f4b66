// swift-tools-version: 6.1

import PackageDescription

/// The tests of WiretapeHTTPTypes, which is there with a trait alone, as a package that uses it.
let package = Package(
    name: "HTTPTypesExample",
    platforms: [.macOS(.v13), .iOS(.v16)],
    dependencies: [
        .package(name: "wiretape", path: "../..", traits: ["HTTPTypes"]),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
    ],
    targets: [
        .testTarget(
            name: "HTTPTypesTests",
            dependencies: [
                .product(name: "Wiretape", package: "wiretape"), .product(name: "WiretapeHTTPTypes", package: "wiretape"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
