import Testing

@testable import CassetteRedaction

@Suite struct JSONPlacesTests {
    private func found(_ rules: [String], keep: [String] = [], _ text: String) throws -> [String] {
        let places = JSONPlaces(try RedactionRules(rules: rules, keep: keep))
        return Array(text.utf8).withUnsafeBytes { bytes in
            let (findings, kept) = places.findings(in: bytes)
            return findings.map { String(decoding: $0.secret, as: UTF8.self) } + kept.map { "kept \($0)" }
        }
    }

    @Test func pointersNameValues() throws {
        let text = #"{"a":{"b":["x","y\n"]},"c":"z","n":4}"#
        #expect(try self.found(["json:/a/b/1"], text) == ["y\n"])
        #expect(try self.found(["json:/a/*/0"], text) == ["x"])
        #expect(try self.found(["json:/a"], text) == ["x", "y\n"])
        #expect(try self.found(["json:/n"], text) == ["4"])
        #expect(try self.found(["json:/c=[a-z]"], text) == ["z"])
        #expect(try self.found([], keep: ["json:/a/b"], text) == ["kept 12..<13", "kept 16..<19", "kept 10..<21"])
    }

    @Test func eachLineIsLookedAt() throws {
        #expect(try self.found(["json:/a"], "{\"a\":\"1x\"}\n{\"a\":\"2x\"}\n") == ["1x", "2x"])
        #expect(try self.found(["json:/a"], "no JSON") == [])
    }

    @Test func ofACutTextTheBeginningIsLookedAt() throws {
        #expect(try self.found(["json:/a/b"], #"{"a":{"b":"x1"},"c":"#) == ["x1"])
        #expect(try self.found(["json:/a"], #"{"a":"x1","b":tru"#) == ["x1"])
    }

    @Test func dataOfEventsAreLookedAt() throws {
        #expect(try self.found(["json:/a"], "event: e\ndata: {\"a\":\"1x\"}\n\ndata:{\"a\":\"2x\"}\n\n") == ["1x", "2x"])
    }
}
