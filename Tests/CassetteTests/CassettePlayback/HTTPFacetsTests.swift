import Testing

@testable import CassettePlayback

struct HTTPFacetsTests {
    private static let boundary = "batch_0123456789"
    private static let lines = ["Content-Type: multipart/mixed; boundary=batch_0123456789"]

    private static func batch(_ requests: [String]) -> String {
        MatchFixture.multipart(self.boundary, requests.map { (["Content-Type: application/http"], $0) })
    }

    private func facets(_ requests: [String], _ rules: MatchRules = .standard) -> BodyFacets {
        MatchFixture.live(Self.batch(requests), Self.lines, rules)
    }

    private static func post(_ json: String, _ fields: String = "") -> String {
        "POST /pets HTTP/1.1\r\nContent-Type: application/json\r\n\(fields)\r\n\(json)"
    }

    @Test func theContentIsComparedByItsKind() {
        let one = self.facets([Self.post("{\"a\":1,\"b\":2}"), "GET /pets/1\r\n"])
        #expect(one == self.facets([Self.post("{ \"b\":2, \"a\":1 }", "User-Agent: x\r\n"), "GET /pets/1\r\n\r\n"]))
        #expect(one != self.facets(["GET /pets/1\r\n", Self.post("{\"a\":1,\"b\":2}")]))
        #expect(one != self.facets([Self.post("{\"a\":1,\"b\":2}", "If-Match: \"x\"\r\n"), "GET /pets/1\r\n"]))
        #expect(one != self.facets([Self.post("{\"a\":1,\"b\":2}"), "GET /pets/2\r\n"]))
        #expect(one != self.facets([Self.post("{\"a\":1,\"b\":2}"), "DELETE /pets/1\r\n"]))
        #expect(self.facets(["GET /me\r\nHost: a.test\r\n\r\n"]) != self.facets(["GET /me\r\nHost: b.test\r\n\r\n"]))
    }

    /// Each level of messages within messages would take a part of the stack.
    @Test(arguments: ["application/http", "multipart/mixed; boundary=batch_0123456789"]) func messagesWithinMessagesEndNoProcess(
        type: String
    ) {
        let message = String(repeating: "POST / HTTP/1.1\r\nContent-Type: application/http\r\n\r\n", count: 20_000)
        let body = { (end: String) in type == "application/http" ? message + end : Self.batch([message + end]) }
        let facets = { (end: String) in MatchFixture.live(body(end), ["Content-Type: \(type)"], .standard) }
        #expect(facets("a") == facets("a") && facets("a") != facets("b"))
    }

    @Test func aMissNamesThePlaceInTheMessage() throws {
        let one = self.facets([Self.post("{\"id\":1}", "If-Match: \"x\"\r\n")])
        let other = self.facets([Self.post("{\"id\":2}", "If-Match: \"y\"\r\n")])
        let differences = one.differences(fromRecorded: other)
        #expect(Set(differences.map(\.ignorablePlace)) == ["part:1|json:/id", "part:1|header:if-match"])
        let rules = try MatchRules(ignore: differences.compactMap(\.ignorablePlace))
        #expect(
            self.facets([Self.post("{\"id\":1}", "If-Match: \"x\"\r\n")], rules)
                == self.facets([Self.post("{\"id\":2}", "If-Match: \"y\"\r\n")], rules))
        #expect(throws: MatchRuleError.self) { try MatchRules(patterns: ["part:1|header:if-match=x"]) }
    }

    @Test func theItemsOfAQueryAreComparedByThemselves() throws {
        let one = self.facets(["GET /pets?ts=1&a=x%20y HTTP/1.1\r\n\r\n"])
        #expect(one == self.facets(["GET /pets?a=x+y&ts=1 HTTP/1.1\r\n\r\n"]))
        for other in ["?ts=1", "?ts=1&a=x&a=y", "?ts=1&a", "?ts=1&a=x%20y&b=", "", "?"] {
            #expect(one != self.facets(["GET /pets\(other) HTTP/1.1\r\n\r\n"]), "\(other)")
        }
        let differences = one.differences(fromRecorded: self.facets(["GET /pets?ts=2&a=x+y HTTP/1.1\r\n\r\n"]))
        #expect(differences.map(\.ignorablePlace) == ["part:1|query:ts"])
        #expect(differences.map(\.description) == ["part:1: query item \"ts\" is \"1\", recorded is \"2\""])
    }

    @Test(arguments: [
        (["part:1|query:ts"], "?ts=1&a=1", "?a=1&ts=2", true), (["part:1|query:ts"], "?ts=1&a=1", "?a=1", true),
        (["part:1|query:ts"], "?ts=1", "", true),
        (["part:1|query:ts"], "?ts=1&a=1", "?ts=1&a=2", false), (["part:2|query:ts"], "?ts=1", "?ts=2", false),
        (["part:1|query:"], "?1732720000000", "?1732720000001", true), (["part:1|query:"], "?a=1&17", "?a=2&18", false),
        (["part:1|query:a[*]"], "?a[0]=1", "?a[0]=2", true),
    ]) func anItemOfAQueryIsIgnored(_ rules: [String], _ one: String, _ other: String, _ isEqual: Bool) throws {
        let rules = try MatchRules(ignore: rules)
        let facets = [one, other].map { self.facets(["GET /pets\($0) HTTP/1.1\r\n\r\n", "GET /\r\n"], rules) }
        #expect((facets[0] == facets[1]) == isEqual)
    }

    @Test func otherContentIsBytes() {
        func put(_ content: String) -> BodyFacets { self.facets(["PUT /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n\(content)"]) }
        #expect(put("ab") == put("ab\r\n"))
        #expect(put("ab") != put("ac"))
        #expect(self.facets(["x"]) != self.facets(["y"]))
        #expect(self.facets(["GET /a HTTP/1.1\r\nX-A:1\r\n\r\n"]) != self.facets(["GET /a HTTP/1.1\r\nX-A:2\r\n\r\n"]))
        #expect(self.facets(["GET /a HTTP/1.1\r\nX-A: 1\r\n\r\n"]) != self.facets(["GET /a HTTP/1.1\r\nX-B: 1\r\n\r\n"]))
        #expect(self.facets(["POST /a\r\nbroken\r\n\r\n1"]) != self.facets(["POST /a\r\nbroken\r\n\r\n2"]))
    }
}
