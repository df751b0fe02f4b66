@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes
import Testing

struct RecordedFacetsTests {
    private func facets(
        _ body: Body, _ fixture: RecordedFixture, _ lines: [String], _ detail: BodyFacets.RecordedDetail = .digests
    ) throws -> BodyFacets {
        try RecordedFacets(
            headers: HeaderFields(lines), url: "", rules: .standard, reader: fixture.reader, detail: detail, digest: { PortableSHA256() }
        ).facets(of: body)
    }

    /// A part in a missing file: its digest is enough, and its bytes are not available.
    @Test func partsInFilesAreNotReadToCompare() throws {
        let fixture = try RecordedFixture()
        let lines = MatchFixture.parts("0123456789abcdef")
        let wire = Array(MatchFixture.fields("0123456789abcdef", [("a", String(repeating: "x", count: 70_000)), ("b", "2")]).utf8)
        let body = try #require(try fixture.body(wire, lines))
        guard case .multipart(let parts) = body.content, let sidecar = parts.sidecars.first else {
            Issue.record("no part in a file")
            return
        }
        try fixture.folder.write([], to: sidecar.path)
        #expect(try self.facets(body, fixture, lines) == MatchFixture.live(wire, lines))
        #expect(throws: CassetteError.self) { try self.facets(body, fixture, lines, .contents) }
    }

    @Test func marksInFilesAreSeenWithContents() throws {
        let fixture = try RecordedFixture()
        let lines = MatchFixture.parts("0123456789abcdef")
        func wire(_ placeholder: String) -> [UInt8] {
            Array(MatchFixture.fields("0123456789abcdef", [("a", String(repeating: "x", count: 70_000) + placeholder)]).utf8)
        }
        let body = try #require(try fixture.body(wire("{{password:1}}"), lines))
        #expect(try self.facets(body, fixture, lines, .contents) == MatchFixture.live(wire("{{password:2}}"), lines))
        #expect(try self.facets(body, fixture, lines, .contents).hasMarks)
    }

    @Test func contentsThatALiveRequestWouldNotDecodeAreComparedAsSent() throws {
        let fixture = try RecordedFixture()
        let sha256 = String(repeating: "ab", count: 32)
        let sidecar = Sidecar(path: "tape.bodies/\(sha256).bin", size: 65 << 20, sha256: sha256)
        let body = Body(size: 70_000, codings: [.gzip(nil, header: .plain)], content: .file(sidecar), sha256: sha256)
        let facets = try self.facets(body, fixture, MatchFixture.binary + ["Content-Encoding: gzip"])
        #expect(facets.kind == .bytes)
        #expect(facets.facets.first?.size == 70_000)
    }
}
