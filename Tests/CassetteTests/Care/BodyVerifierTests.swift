import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteTools
@testable import TapeBytes

@Suite struct BodyVerifierTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    private func judge(_ body: Body) -> BodyVerifier.Judgement? {
        var verifier = BodyVerifier(cassettePath: self.folder.file("a.json"), digest: { PortableSHA256() })
        return verifier.judge(body)
    }

    /// A body as gzip, level 6, with the octets of the wire known by their digest.
    private func coded(_ text: String) throws -> Body {
        let parameters = DeflateParameters(level: 6)
        let plain = Body(
            size: 0, codings: [.gzip(parameters, header: GzipHeader(bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]))],
            content: .text(Array(text.utf8)))
        let wire = try BodyRestorer.wireBytes(of: plain, file: { _ in [] }, raw: { _ in [] }).octets
        var body = plain
        body.size = wire.count
        body.sha256 = CareFolder.digest(wire)
        return body
    }

    @Test func whatGivesItsOctetsIsFine() throws {
        #expect(self.judge(Body(size: 0, content: .empty)) == nil)
        #expect(self.judge(.text("abc")) == nil)
        #expect(self.judge(.file(try self.folder.sidecar([1, 2, 3], of: "a.json"))) == nil)
        #expect(self.judge(try self.coded("some text, some text, some text")) == nil)
        let slice = try self.folder.raw([1, 2], of: "a.json")
        #expect(self.judge(Body(size: 2, content: .raw(slice))) == nil)
    }

    @Test func anEditedBodyIsChanged() throws {
        var text = Body.text("abc")
        text.size = 4
        #expect(self.judge(text) == .changed("it gives 3 octets where 4 were recorded"))
        var coded = try self.coded("some text, some text, some text")
        coded.sha256 = CareFolder.digest([])
        #expect(self.judge(coded) == .changed("it gives other octets than were recorded: their SHA-256 differs"))
        var plain = Body.text("abc")
        plain.sha256 = CareFolder.digest([])
        #expect(self.judge(plain) == .changed("it gives other octets than were recorded: their SHA-256 differs"))
    }

    @Test func aFileThatIsMissingOrOtherIsDamaged() throws {
        let sidecar = try self.folder.sidecar([1, 2, 3], of: "a.json")
        let folder = self.folder.folder
        try folder.write([1, 2, 4], to: sidecar.path)
        guard case .damaged(let problem) = self.judge(.file(sidecar)) else { return #expect(Bool(false), "not found") }
        #expect(problem.contains(sidecar.path))
        let missing = Sidecar(path: "a.bodies/\(String(repeating: "0", count: 64)).bin", size: 1, sha256: String(repeating: "0", count: 64))
        guard case .damaged = self.judge(.file(missing)) else { return #expect(Bool(false), "not found") }
        var slice = try self.folder.raw([1, 2], of: "a.json")
        slice.crc32 ^= 1
        guard case .damaged = self.judge(Body(size: 2, content: .raw(slice))) else { return #expect(Bool(false), "not found") }
    }

    @Test func aFileOfContentIsWhatTheKeptOctetsHold() throws {
        let coded = try self.coded("some text, some text, some text")
        let wire = try BodyRestorer.wireBytes(of: coded, file: { _ in [] }, raw: { _ in [] }).octets
        let original = try self.folder.sidecar(wire, of: "a.json", ext: "gz")
        var body = coded
        body.original = original
        body.codings = [.gzip(nil, header: GzipHeader(bytes: []))]
        body.content = .file(try self.folder.sidecar(Array("some text, some text, some text".utf8), of: "a.json", ext: "txt"))
        #expect(self.judge(body) == nil)
        body.content = .file(try self.folder.sidecar(Array("another".utf8), of: "a.json", ext: "txt"))
        guard case .changed = self.judge(body) else { return #expect(Bool(false), "not found") }
    }
}
