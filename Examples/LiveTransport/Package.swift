// swift-tools-version: 6.1

import PackageDescription

/// A network for the client on async-http-client, tried against origins that end a process with URLSession.
let package = Package(
    name: "LiveTransport",
    platforms: [.macOS(.v13), .iOS(.v16)],
    dependencies: [
        .package(name: "wiretape", path: "../..", traits: ["AsyncHTTPClient"])
    ],
    targets: [
        .testTarget(
            name: "LiveTransportTests",
            dependencies: [
                .product(name: "WiretapeAsyncHTTPClient", package: "wiretape"), .product(name: "WiretapeTesting", package: "wiretape"),
            ], exclude: ["origin.py"])
    ],
    swiftLanguageModes: [.v6]
)
