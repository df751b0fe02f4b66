import Testing

@testable import CassettePlayback
@testable import CassetteTools

@Suite struct PairedRequestTests {
    @Test func theHeadIsTheRules() throws {
        let rules = try MatchRules(ignore: ["query:ts"])
        #expect(
            PairedRequest(method: "GET", url: "http://a/?ts=1", rules: rules).head
                == PairedRequest(method: "GET", url: "http://A:80/?ts=2", rules: rules).head)
        #expect(PairedRequest(method: "GET", url: "http://a/?ts=1").head != PairedRequest(method: "GET", url: "http://a/?ts=2").head)
    }

    @Test func noFacetsAreKept() {
        let request = PairedRequest(method: "POST", url: "http://a/", body: MatchFixture.live("{}", MatchFixture.json))
        #expect(request.body.facets.isEmpty && request.body != .none)
        #expect(request.sketch != BodySketch(.none))
    }
}
