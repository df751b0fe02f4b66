import Testing

@testable import CassetteModel
@testable import CassettePlayback

@Suite struct ComparedRequestTests {
    @Test func customRulesSeeAllOfIt() {
        let facets = ListedRequests.facets("x")
        let request = ComparedRequest(
            method: "PUT", url: "http://a.test/", headers: HeaderFields(["A: b"]), facets: facets, isComplete: true)
        let matched = request.matched
        #expect(matched.method == "PUT" && matched.url == "http://a.test/" && matched.body == facets)
        #expect(matched.headers.lines == ["A: b"])
    }
}
