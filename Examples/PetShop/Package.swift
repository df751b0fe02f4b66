// swift-tools-version: 6.1

import PackageDescription

/// An app's client of a shop, and its tests: uploads, a login, a download and events, recorded and replayed with Wiretape.
let package = Package(
    name: "PetShop",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [.library(name: "PetShop", targets: ["PetShop"])],
    dependencies: [
        // Without traits: neither SwiftNIO nor OpenSSL is fetched or built for it.
        .package(name: "wiretape", path: "../..", traits: [])
    ],
    targets: [
        .target(name: "PetShop", dependencies: [.product(name: "Wiretape", package: "wiretape")]),
        .testTarget(
            name: "PetShopTests",
            dependencies: ["PetShop", .product(name: "WiretapeTesting", package: "wiretape")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
