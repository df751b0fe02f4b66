import Testing
@testable import TrafficRules

@Suite struct MapRemoteTests {
    private func url(_ when: String, _ target: String, _ url: String) throws -> String? {
        let text = when.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return try RulesText.engine("- when: \"\(text)\"\n  mapRemote: \(target)").plan(for: .get(url), now: .zero)?.target?.url
    }

    private static let from = "https://api.example.com/v2/pets/1?x=1&y=%20"

    @Test(arguments: [
        // What the expression matches gives way.
        (#"~u ^https://api\.example\.com/v2/"#, "http://127.0.0.1:3000/v2/", "http://127.0.0.1:3000/v2/pets/1?x=1&y=%20"),
        (#"~u "^https://api\.example\.com/(v1|v2)/""#, "http://h.test/", "http://h.test/pets/1?x=1&y=%20"),
        (#"~u ^https?://[^/]+/v2"#, "http://h.test/v3", "http://h.test/v3/pets/1?x=1&y=%20"),
        (#"~u /v2/"#, "http://h.test/base", "http://h.test/base/pets/1?x=1&y=%20"),
        (#"~u /v2/"#, "http://h.test", "http://h.test/pets/1?x=1&y=%20"), (#"~u /v2"#, "http://h.test/", "http://h.test/pets/1?x=1&y=%20"),
        (#"/v2/"#, "http://h.test:80/", "http://h.test:80/pets/1?x=1&y=%20"),
        // An expression that goes on to the end: its literal beginning.
        (#"~u ^https://api\.example\.com/v2/.*"#, "http://h.test/", "http://h.test/pets/1?x=1&y=%20"),
        (#"~u "^https://api\.example\.com/v2/(.*)$""#, "http://h.test/", "http://h.test/pets/1?x=1&y=%20"),
        // Within the origin, or without a condition about the URL: the origin.
        (#"~u api"#, "http://h.test", "http://h.test/v2/pets/1?x=1&y=%20"),
        (#"~d api.example.com"#, "http://[::1]:8080", "http://[::1]:8080/v2/pets/1?x=1&y=%20"),
        (#"~m GET & ! ~u dogs"#, "http://h.test/a/", "http://h.test/a/v2/pets/1?x=1&y=%20"),
        // The first that holds.
        (#"~u dogs | ~u /pets"#, "http://h.test/p", "http://h.test/p/1?x=1&y=%20"),
    ])
    func theRestStays(when: String, target: String, expected: String) throws {
        #expect(try self.url(when, target, Self.from) == expected)
    }

    @Test(arguments: [
        ("https://api.example.com/v2/", "http://h.test/"), ("https://api.example.com/v2/?q", "http://h.test/?q"),
        ("https://api.example.com/v2/a/../b", "http://h.test/a/../b"),
        ("https://api.example.com/v2/@evil.test/", "http://h.test/@evil.test/"),
        ("https://api.example.com/v2/:99/", "http://h.test/:99/"),
    ])
    func theHostIsThatOfTheRule(from: String, expected: String) throws {
        #expect(try self.url(#"~u ^https://api\.example\.com/v2/"#, "http://h.test/", from) == expected)
        let bare = try #require(try self.url(#"~u ^https://api\.example\.com/v2/"#, "http://h.test", from))
        #expect(bare == expected || bare == "http://h.test")
    }
}
