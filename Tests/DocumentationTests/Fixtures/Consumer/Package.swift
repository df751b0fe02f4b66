// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "petshop",
    platforms: [.macOS(.v13), .iOS(.v16)],
    dependencies: [
        // snippet: package-dependency
        .package(url: "https://example.test/wiretape.git", from: "0.2.0", traits: [])
        // snippet end
    ],
    targets: [
        // snippet: package-targets
        .target(
            name: "PetShop",
            dependencies: [.product(name: "Wiretape", package: "wiretape")]),
        .testTarget(
            name: "PetShopTests",
            dependencies: [
                "PetShop", .product(name: "WiretapeTesting", package: "wiretape"),
            ]),
        // snippet end
        // snippet: cassettes-as-resources
        .testTarget(
            name: "ShopTests",
            dependencies: [.product(name: "WiretapeTesting", package: "wiretape")],
            resources: [.copy("Cassettes")]),
        // snippet end
    ]
)
