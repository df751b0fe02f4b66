import Testing

@testable import CassetteModel
@testable import CassettePlayback

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
