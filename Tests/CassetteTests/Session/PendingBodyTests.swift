import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import TapeBytes

@Suite struct PendingBodyTests {
    private func facets(_ pieces: [[UInt8]], redaction: LiveRedactor? = nil) -> BodyFacets {
        var body = PendingBody(
            rules: .standard, headers: HeaderFields(["Content-Type: text/plain"]), url: "http://a.test/", redaction: redaction,
            digest: { PortableSHA256() })
        for piece in pieces { piece.withUnsafeBytes { body.push($0) } }
        return body.finish()
    }

    @Test func nothingIsNoBody() {
        #expect(self.facets([]) == .none)
        #expect(self.facets([[], []]) == .none)
    }

    @Test func piecesMakeOneBody() {
        #expect(self.facets([Array("ab".utf8), Array("c".utf8)]) == self.facets([Array("abc".utf8)]))
    }
}
