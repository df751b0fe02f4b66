import CassetteFormat
import CassetteModel
import CassetteTools
import Foundation
import TapeBytes
import Testing
@testable import WiretapeCLI
import TapeTestSupport

/// `export --har`, read by an independent program.
@Suite struct ExportCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("odd.json")
    }

    @Test func everyOddAnswerMakesAnEntryThatTheSpecificationAllows() throws {
        let names = try Python.run("odd_origin.py", ["--list"]).outputText.split(separator: "\n")
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        // curl reports an error if an answer is truncated.
        let urls = names.map { "http://127.0.0.1:\(origin.port)/\($0)" }
        let script =
            "for url; do \(Curl.line()) --output /dev/null \"$url\"; done; \(Curl.line()) --cookie 'a=1; b=2' --form 'x=y' '\(urls[0])?q=%ED%95%9C&r'"
        let record = try Wiretape.run(["record", self.cassette, "--", "sh", "-c", script, "sh"] + urls)
        #expect(record.status == 0, "\(record.errors)")

        let export = try Wiretape.run(["export", self.cassette, "--har"])
        #expect(export.status == 0 && export.errors.isEmpty, "\(export.errors)")
        try self.folder.write(export.output, to: "odd.har")
        let check = try Python.run("check_har.py", [self.folder.file("odd.har"), "\(names.count + 1)"])
        #expect(check.status == 0, "\(check.errors)")

        let toFile = try Wiretape.run(["export", self.cassette, "--har", "--output", self.folder.file("file.har")])
        #expect(toFile.status == 0 && toFile.output.isEmpty)
        #expect(try self.folder.read("file.har") == export.output)
    }

    @Test func unreadableOrUnwritableFileIsReported() throws {
        let missing = try Wiretape.run(["export", self.cassette, "--har"])
        #expect(missing.status == 1)
        #expect(missing.errors.hasPrefix("wiretape: ") && missing.errors.contains("odd.json"), "\(missing.errors)")
        try self.folder.write("{\"wiretape\": 1, \"interactions\": []}\n".utf8, to: "odd.json")
        let unwritable = try Wiretape.run(["export", self.cassette, "--har", "-o", self.folder.file("none/odd.har")])
        #expect(unwritable.status == 1)
        #expect(unwritable.errors.contains("odd.har\" cannot be written (No such file or directory)"), "\(unwritable.errors)")
    }
}

@Suite struct CassetteBodySourceTests {
    private let folder: TemporaryFolder
    private let source: CassetteBodySource

    init() throws {
        self.folder = try TemporaryFolder()
        self.source = CassetteBodySource(path: self.folder.file("pets.json"))
    }

    private func read(_ body: Body, _ headers: HeaderFields = HeaderFields()) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try self.source.read(body, headers: headers) { bytes.append(contentsOf: $0) }
        return bytes
    }

    private func sha256(_ bytes: [UInt8]) -> String {
        var digest = PortableSHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func aSidecarIsHandedOutInOrderAndAgain() throws {
        var generator = SeededGenerator(seed: 5)
        let bytes = (0..<300_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try self.folder.write(bytes, to: "pets.bodies/x.bin")
        let sidecar = Sidecar(path: "pets.bodies/x.bin", size: bytes.count, sha256: self.sha256(bytes))
        let body = Body(size: bytes.count, content: .file(sidecar))
        #expect(try self.read(body) == bytes)
        #expect(try self.read(body) == bytes)
    }

    @Test func aSliceOfTheRawSpoolIsHandedOut() throws {
        try self.folder.write([9, 1, 2, 3, 9], to: "pets.bodies/undeveloped.raw")
        let slice = RawSlice(path: "pets.bodies/undeveloped.raw", offset: 1, size: 3, crc32: PlainCRC32.value([1, 2, 3]))
        #expect(try self.read(Body(size: 3, content: .raw(slice))) == [1, 2, 3])
    }

    private func raw(_ bytes: [UInt8]) throws -> Body {
        try self.folder.write(bytes, to: "pets.bodies/undeveloped.raw")
        let slice = RawSlice(path: "pets.bodies/undeveloped.raw", offset: 0, size: bytes.count, crc32: PlainCRC32.value(bytes))
        return Body(size: bytes.count, content: .raw(slice))
    }

    @Test func codingsOfABodyThatIsNotDevelopedComeOff() throws {
        let text = Array("decoded, decoded, decoded".utf8)
        let coded = try #require(text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
        let gzip = HeaderFields(["Content-Encoding: gzip"])
        #expect(try self.read(self.raw(coded), gzip) == text)
        #expect(try self.read(self.raw(coded)) == coded)
        try self.folder.write(coded, to: "pets.bodies/x.gz")
        let sidecar = Sidecar(path: "pets.bodies/x.gz", size: coded.count, sha256: self.sha256(coded))
        #expect(try self.read(Body(size: coded.count, content: .file(sidecar)), gzip) == text)
    }

    /// Half of a text would pass for all of it.
    @Test func damagedBodyIsExportedUnchanged() throws {
        let text = Array("decoded, decoded, decoded".utf8)
        var coded = try #require(text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
        coded[coded.count - 1] ^= 1
        #expect(try self.read(self.raw(coded), HeaderFields(["Content-Encoding: gzip"])) == coded)
    }

    @Test func aSidecarWithOtherBytesIsRefused() throws {
        try self.folder.write([1, 2, 4], to: "pets.bodies/x.bin")
        let sidecar = Sidecar(path: "pets.bodies/x.bin", size: 3, sha256: self.sha256([1, 2, 3]))
        #expect(throws: CassetteError.self) { try self.read(Body(size: 3, content: .file(sidecar))) }
    }

    @Test func aPathOutOfTheFolderIsRefused() throws {
        try self.folder.write([1], to: "other/x.bin")
        let source = CassetteBodySource(path: self.folder.file("inner/pets.json"))
        let sidecar = Sidecar(path: "../other/x.bin", size: 1, sha256: self.sha256([1]))
        #expect(throws: CassetteError.self) { try source.read(Body(size: 1, content: .file(sidecar)), headers: HeaderFields()) { _ in } }
    }
}
