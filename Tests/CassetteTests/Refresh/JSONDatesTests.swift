import Testing
@testable import CassettePlayback
@testable import CassetteRedaction

@Suite struct JSONDatesTests {
    private func refreshed(_ text: String, _ pointers: String...) throws -> String? {
        let dates = JSONDates(pointers: try pointers.map { try PlacePointer($0) }, shift: DateShift(seconds: 86_400))
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { dates.edits(in: $0) }.map { String(decoding: $0.applied(to: bytes), as: UTF8.self) }
    }

    @Test func namedDatesMoveAndNothingElse() throws {
        #expect(
            try self.refreshed("{ \"a\": \"2026-11-21T04:19:28Z\", \"b\":\"2026-11-21T04:19:28Z\"}", "/a")
                == "{ \"a\": \"2026-11-22T04:19:28Z\", \"b\":\"2026-11-21T04:19:28Z\"}")
        #expect(try self.refreshed("{\"exp\":1795234768,\"n\":1795234768}", "/exp") == "{\"exp\":1795321168,\"n\":1795234768}")
        #expect(try self.refreshed("{\"exp\":\"1795234768\"}", "/exp") == "{\"exp\":\"1795321168\"}")
        #expect(
            try self.refreshed("[{\"at\":1795234768123},{\"at\":null},{\"at\":\"soon\"}]", "/*/at")
                == "[{\"at\":1795321168123},{\"at\":null},{\"at\":\"soon\"}]")
        #expect(try self.refreshed("{\"a\":[1795234768,1795234768]}", "/a/1") == "{\"a\":[1795234768,1795321168]}")
        #expect(try self.refreshed("\"2026-11-21T04:19:28Z\"", "") == "\"2026-11-22T04:19:28Z\"")
        #expect(try self.refreshed("{\"a\\/b\":1795234768}", "/a~1b") == "{\"a\\/b\":1795321168}")
    }

    @Test func whatIsNotJSONIsNotLookedInto() throws {
        #expect(try self.refreshed("a=1795234768", "/a") == nil)
        #expect(try self.refreshed("{\"a\":1795234768", "/a") == nil)
        #expect(try self.refreshed("", "/a") == nil)
    }
}
