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
