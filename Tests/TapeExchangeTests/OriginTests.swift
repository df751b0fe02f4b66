internal import Testing

@testable internal import TapeExchange

@Suite struct OriginTests {
    @Test func spellingsOfOneOriginAreEqual() throws {
        let plain = Origin(scheme: .http, host: "Example.org")
        #expect(plain == Origin(scheme: .http, host: "example.ORG", port: 80))
        #expect(plain != Origin(scheme: .https, host: "example.org"))
        #expect(plain != Origin(scheme: .http, host: "example.org", port: 443))
    }

    @Test func authorityLeavesTheDefaultPortOut() {
        #expect(Origin(scheme: .http, host: "a").authority == "a")
        #expect(Origin(scheme: .http, host: "a", port: 443).authority == "a:443")
        #expect(Origin(scheme: .https, host: "a", port: 443).authority == "a")
        #expect(Origin(scheme: .http, host: "::1", port: 8080).authority == "[::1]:8080")
    }
}
