@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteTools
@testable import TapeBytes
import Testing

@Suite struct BodyVerifierTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    private func problem(_ body: Body) -> BodyVerifier.Problem? {
        var verifier = BodyVerifier(cassettePath: self.folder.file("a.json"), digest: { PortableSHA256() })
        return verifier.problem(with: body)
    }

    /// A body as gzip, level 6, with the digest of its wire bytes.
    private func coded(_ text: String) throws -> Body {
        let parameters = DeflateParameters(level: 6)
        let plain = Body(
            size: 0, codings: [.gzip(parameters, header: GzipHeader(bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]))],
            content: .text(Array(text.utf8)))
        let wire = try BodyRestorer.wireBytes(of: plain, file: { _ in [] }, raw: { _ in [] }).bytes
        var body = plain
        body.size = wire.count
        body.sha256 = CareFolder.digest(wire)
        return body
    }

    @Test func restorableBodyHasNoProblem() throws {
        #expect(self.problem(Body(size: 0, content: .empty)) == nil)
        #expect(self.problem(.text("abc")) == nil)
        #expect(self.problem(.file(try self.folder.sidecar([1, 2, 3], of: "a.json"))) == nil)
        #expect(self.problem(try self.coded("some text, some text, some text")) == nil)
        let slice = try self.folder.raw([1, 2], of: "a.json")
        #expect(self.problem(Body(size: 2, content: .raw(slice))) == nil)
    }

    @Test func anEditedBodyIsChanged() throws {
        var text = Body.text("abc")
        text.size = 4
        #expect(self.problem(text) == .changed("it gives 3 bytes, but 4 were recorded"))
        var coded = try self.coded("some text, some text, some text")
        coded.sha256 = CareFolder.digest([])
        #expect(self.problem(coded) == .changed("it gives other bytes than those recorded: the SHA-256 differs"))
        var plain = Body.text("abc")
        plain.sha256 = CareFolder.digest([])
        #expect(self.problem(plain) == .changed("it gives other bytes than those recorded: the SHA-256 differs"))
    }

    @Test func aFileThatIsMissingOrOtherIsDamaged() throws {
        let sidecar = try self.folder.sidecar([1, 2, 3], of: "a.json")
        let folder = self.folder.folder
        try folder.write([1, 2, 4], to: sidecar.path)
        guard case .damaged(let problem) = self.problem(.file(sidecar)) else { return #expect(Bool(false), "not found") }
        #expect(problem.contains(sidecar.path))
        let missing = Sidecar(path: "a.bodies/\(String(repeating: "0", count: 64)).bin", size: 1, sha256: String(repeating: "0", count: 64))
        guard case .damaged = self.problem(.file(missing)) else { return #expect(Bool(false), "not found") }
        var slice = try self.folder.raw([1, 2], of: "a.json")
        slice.crc32 ^= 1
        guard case .damaged = self.problem(Body(size: 2, content: .raw(slice))) else { return #expect(Bool(false), "not found") }
    }

    @Test func aFileOfContentEqualsTheKeptBytes() throws {
        let coded = try self.coded("some text, some text, some text")
        let wire = try BodyRestorer.wireBytes(of: coded, file: { _ in [] }, raw: { _ in [] }).bytes
        let original = try self.folder.sidecar(wire, of: "a.json", ext: "gz")
        var body = coded
        body.original = original
        body.codings = [.gzip(nil, header: GzipHeader(bytes: []))]
        body.content = .file(try self.folder.sidecar(Array("some text, some text, some text".utf8), of: "a.json", ext: "txt"))
        #expect(self.problem(body) == nil)
        body.content = .file(try self.folder.sidecar(Array("another".utf8), of: "a.json", ext: "txt"))
        guard case .changed = self.problem(body) else { return #expect(Bool(false), "not found") }
    }
}
