@testable import CassetteModel
@testable import CassettePlayback
import Testing

/// Requests that are AWS event streams, compared frame by frame.
@Suite struct AmazonFrameFacetsTests {
    private static let lines = ["Content-Type: application/vnd.amazon.eventstream"]

    private static func header(_ name: String, _ value: String) -> [UInt8] {
        [UInt8(name.utf8.count)] + Array(name.utf8) + [7, 0, UInt8(value.utf8.count)] + Array(value.utf8)
    }

    private static func frame(_ type: String, _ payload: String) -> [UInt8] {
        AmazonFrame.encoded(headers: self.header(":event-type", type), payload: Array(payload.utf8))
    }

    private static func signed(_ frame: [UInt8], _ signature: String) -> [UInt8] {
        AmazonFrame.encoded(headers: self.header(":chunk-signature", signature), payload: frame)
    }

    private func areEqual(_ live: [UInt8], _ recorded: [UInt8], ignore: [String] = []) throws -> Bool {
        let rules = try MatchRules(ignore: ignore)
        return MatchFixture.live(live, Self.lines, rules) == MatchFixture.live(recorded, Self.lines, rules)
    }

    @Test func payloadsAreComparedAsJSON() throws {
        let recorded = Self.frame("chunk", #"{"a":1,"b":2}"#)
        #expect(try self.areEqual(Self.frame("chunk", #"{"b": 2, "a": 1.0}"#), recorded))
        #expect(try !self.areEqual(Self.frame("chunk", #"{"a":1,"b":3}"#), recorded))
        #expect(try self.areEqual(Self.frame("chunk", #"{"a":1,"b":3}"#), recorded, ignore: ["json:/0/b"]))
        #expect(try self.areEqual(Self.frame("chunk", #"{"a":1,"b":3}"#), recorded, ignore: ["json:/**/b"]))
        #expect(try !self.areEqual(Self.frame("other", #"{"a":1,"b":2}"#), recorded))
        #expect(try !self.areEqual(recorded + recorded, recorded))
    }

    @Test func signaturesAreNotCompared() throws {
        let recorded = Self.signed(Self.frame("chunk", #"{"a":1}"#), "one") + Self.signed([], "end")
        #expect(try self.areEqual(Self.signed(Self.frame("chunk", #"{"a":1}"#), "two") + Self.signed([], "other"), recorded))
        #expect(try !self.areEqual(Self.signed(Self.frame("chunk", #"{"a":2}"#), "one") + Self.signed([], "end"), recorded))
    }

    @Test func brokenFramesAreBytes() throws {
        var broken = Self.frame("chunk", "{}")
        broken[broken.count - 1] ^= 1
        #expect(try self.areEqual(broken, broken))
        #expect(try !self.areEqual(broken, Self.frame("chunk", "{}")))
        #expect(try !self.areEqual(Array(broken.dropLast()), broken))
    }
}
