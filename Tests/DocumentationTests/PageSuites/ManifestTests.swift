import Foundation
import TapeTestSupport
import Testing

/// SwiftPM can read the manifest that the pages show.
@Suite struct ManifestTests {
    private struct Dump: Decodable {
        struct Target: Decodable { var name: String }

        var targets: [Target]
    }

    @Test func theManifestIsRead() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(Repository.text("Tests/DocumentationTests/Fixtures/Consumer/Package.swift").utf8), to: "Package.swift")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swift", "package", "dump-package", "--package-path", folder.path, "--scratch-path", folder.file("build")]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try JSONDecoder().decode(Dump.self, from: bytes).targets.map(\.name) == ["PetShop", "PetShopTests", "ShopTests"])
    }
}
