import Foundation
import TapeTestSupport
import Testing

@testable import TapeTrust

@Suite struct SystemRootsTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func theFirstPlaceThatIsThereCounts() throws {
        try self.folder.write([1], to: "b")
        try self.folder.write([1], to: "c")
        let places = ["a", "b", "c"].map(self.folder.file)
        #expect(SystemRoots.file(environment: [:], places: places) == self.folder.file("b"))
        #expect(SystemRoots.file(environment: [:], places: []) == nil)
    }

    @Test func theEnvironmentGoesFirstWhereItsFileCanBeRead() throws {
        try self.folder.write([1], to: "b")
        try self.folder.write([1], to: "own")
        let places = [self.folder.file("b")]
        #expect(SystemRoots.file(environment: ["SSL_CERT_FILE": self.folder.file("own")], places: places) == self.folder.file("own"))
        #expect(SystemRoots.file(environment: ["SSL_CERT_FILE": self.folder.file("none")], places: places) == self.folder.file("b"))
        #expect(SystemRoots.file(environment: ["SSL_CERT_FILE": ""], places: places) == self.folder.file("b"))
    }

    @Test func namesOfOneFileAreOneFile() throws {
        let path = try self.folder.write([1], to: "b")
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("link"), withDestinationPath: path)
        let places = ["link", "b", "none"].map(self.folder.file)
        #expect(SystemRoots.files(places: places).map { ($0 as NSString).lastPathComponent } == ["b"])
    }

    @Test func foldersAreFoundByTheirRealNames() throws {
        try FileManager.default.createDirectory(atPath: self.folder.file("certs"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("link"), withDestinationPath: "certs")
        try self.folder.write([1], to: "file")
        let places = ["none", "file", "link", "certs"].map(self.folder.file)
        #expect(SystemRoots.folders(places: places).map { ($0 as NSString).lastPathComponent } == ["certs"])
    }

    @Test func allThatALinePrintsIsRead() {
        #expect(SystemRoots.output("printf 'a\\nb'; printf c >&2 2>/dev/null") == Array("a\nb".utf8))
        #expect(SystemRoots.output("head -c 200000 /dev/zero").count == 200_000)
        #expect(SystemRoots.output("exit 3") == [])
    }

    #if !os(macOS)
    @Test func thereAreNoKeychainsHere() {
        #expect(SystemRoots.keychainStamp() == [] && SystemRoots.keychainCertificates() == [])
    }
    #endif
}
