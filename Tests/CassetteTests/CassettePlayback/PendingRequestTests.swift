@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct PendingRequestTests {
    @Test func itsBodyIsComparedByTheRulesOfTheSession() throws {
        let session = ListedRequests(bodies: ["a"]).session()
        let headers = HeaderFields(["Content-Type: text/plain"])
        guard case .needsBody(let pending) = session.begin(method: "POST", url: "http://A.test", headers: headers, hasBody: true) else {
            Issue.record("decided by its head")
            return
        }
        #expect(pending.method == "POST" && pending.url == "http://A.test")
        let empty = pending.body()
        #expect(empty.finish() == .none)
        let matched = pending.matched(.none)
        #expect(matched.headers == headers && matched.url == "http://A.test" && matched.body == BodyFacets.none)
    }
}

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
