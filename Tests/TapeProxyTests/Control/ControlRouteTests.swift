import Testing
@testable import TapeProxy

@Suite struct ControlRouteTests {
    private func route(_ method: String, _ path: String, _ query: String = "") throws -> ControlRoute {
        try ControlRoute(ControlRequest(method: method, path: path, query: query, body: []))
    }

    @Test func fourThingsCanBeAsked() throws {
        let name = try #require(SessionName("s1"))
        #expect(try self.route("GET", "/sessions") == .list)
        #expect(try self.route("POST", "/sessions") == .create)
        #expect(try self.route("GET", "/sessions/s1") == .show(name))
        #expect(try self.route("DELETE", "/sessions/s1") == .end(name, failed: false))
        #expect(try self.route("DELETE", "/sessions/s1", "failed=false") == .end(name, failed: false))
        #expect(try self.route("DELETE", "/sessions/s1", "failed=true") == .end(name, failed: true))
    }

    @Test(arguments: [
        ("GET", "/", "", 404), ("GET", "/session", "", 404), ("GET", "/sessions/s1/x", "", 404), ("GET", "//sessions", "", 404),
        ("GET", "/sessions/", "", 404), ("GET", "/sessions/..", "", 404), ("GET", "/sessions/a%20b", "", 404),
        ("PUT", "/sessions", "", 405), ("DELETE", "/sessions", "", 405), ("POST", "/sessions/s1", "", 405), ("HEAD", "/sessions", "", 405),
        ("GET", "/sessions", "failed=true", 400), ("POST", "/sessions", "a", 400), ("DELETE", "/sessions/s1", "failed", 400),
        ("DELETE", "/sessions/s1", "fail=true", 400), ("GET", "/sessions/s1", "failed=true", 400),
    ])
    func everythingElseIsRefused(_ method: String, _ path: String, _ query: String, _ status: Int) {
        let refusal = #expect(throws: ControlAnswer.self) { try self.route(method, path, query) }
        #expect(refusal?.status == status)
        #expect((refusal?.fields.contains { $0.hasPrefix("Allow: ") } == true) == (status == 405))
    }
}
