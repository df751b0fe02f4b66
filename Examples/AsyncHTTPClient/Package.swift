// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "async-http-client-example",
    platforms: [.macOS(.v13)],
    dependencies: [.package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0")],
    targets: [
        .executableTarget(
            name: "PetsClient",
            dependencies: [.product(name: "AsyncHTTPClient", package: "async-http-client")])
    ],
    swiftLanguageModes: [.v6]
)
