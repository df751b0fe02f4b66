import CassetteFormat
import CassetteModel
import TapeBytes
import Testing

@testable import WiretapeCLI

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

    /// Half of a text would pass for the whole.
    @Test func whatBreaksSomewhereStaysAsItCame() throws {
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
