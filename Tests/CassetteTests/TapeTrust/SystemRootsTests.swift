import Foundation
import TapeTestSupport
@testable import TapeTrust
import Testing

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

@Suite struct PEMCertificatesTests {
    private static func block(_ content: String, label: String = "CERTIFICATE", end: String = "\n") -> String {
        "-----BEGIN \(label)-----\(end)\(content)\(end)-----END \(label)-----\(end)"
    }

    private static func contents(_ texts: String...) -> [String] {
        var certificates = PEMCertificates()
        for text in texts { certificates.add(Array(text.utf8)) }
        return certificates.contents.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func eachCertificateIsThereOnceInOrder() {
        let texts = [Self.block("AAAA") + Self.block("BBBB"), Self.block("BBBB") + Self.block("CCCC") + Self.block("AAAA")]
        #expect(Self.contents(texts[0], texts[1]) == ["AAAA", "BBBB", "CCCC"])
    }

    @Test(arguments: ["\n", "\r\n", "\r", "  \n", "\n\n"])
    func lineEndsMakeNoDifference(end: String) {
        #expect(Self.contents(Self.block("AAAA\(end)BB==", end: end), Self.block("AAAABB==")) == ["AAAABB=="])
    }

    @Test func blocksOtherThanCertificatesAreOmitted() {
        let text =
            "# a comment\nsubject=CN=x\n" + Self.block("KEY", label: "PRIVATE KEY") + Self.block("AAAA")
            + Self.block("CRL", label: "X509 CRL")
        #expect(Self.contents(text) == ["AAAA"])
    }

    @Test(arguments: [
        "", "\n", "-----BEGIN CERTIFICATE-----\nAAAA\n", "-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
    ])
    func truncatedBlockIsNoCertificate(text: String) {
        #expect(Self.contents(text) == [])
    }

    @Test func aBlockThatBeginsInABlockStartsOver() {
        #expect(Self.contents("-----BEGIN CERTIFICATE-----\nAAAA\n" + Self.block("BBBB")) == ["BBBB"])
    }

    @Test func eachHasATextOfItsOwn() {
        var certificates = PEMCertificates()
        certificates.add(Array((Self.block("AAAA") + Self.block("BBBB")).utf8))
        #expect(certificates.texts.map { String(decoding: $0, as: UTF8.self) } == [Self.block("AAAA"), Self.block("BBBB")])
    }

    @Test func oneTextHasAllOfAnother() {
        func contains(_ text: String, _ other: String) -> Bool { PEMCertificates.contains(Array(text.utf8), Array(other.utf8)) }
        let (one, two) = (Self.block("AAAA"), Self.block("BBBB"))
        #expect(contains(one + two, two) && contains(one, one))
        #expect(!contains(one, one + two) && !contains("", one))
        #expect(!contains(one, ""), "none is not found everywhere")
    }

    @Test func theTextHasLinesOf64AndIsReadBackAsItIs() {
        var certificates = PEMCertificates()
        let long = String(repeating: "A", count: 64) + "BB=="
        certificates.add(Array((Self.block(long) + Self.block(String(repeating: "C", count: 64))).utf8))
        let text = String(decoding: certificates.text, as: UTF8.self)
        #expect(text == Self.block(String(repeating: "A", count: 64) + "\nBB==") + Self.block(String(repeating: "C", count: 64)))
        var again = PEMCertificates()
        again.add(certificates.text)
        #expect(again.text == certificates.text && !again.isEmpty)
        #expect(PEMCertificates().isEmpty && PEMCertificates().text == [])
    }
}
