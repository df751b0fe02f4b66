@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import CassetteStore
@testable import TapeBytes
import Testing

@Suite struct DateRefreshTests {
    private func fields(_ lines: String...) throws -> [String] {
        let refreshed = DateRefresh.refreshed(HeaderFields(lines), DateShift(seconds: 86_400))
        return (0..<refreshed.count).map { String(decoding: refreshed.line(at: $0), as: UTF8.self) }
    }

    @Test func datesOfFieldsMove() throws {
        #expect(
            try self.fields(
                "date:  Sat, 21 Nov 2026 04:19:28 GMT", "Expires: Sun, 22 Nov 2026 04:19:28 GMT ", "Expires: 0",
                "Last-Modified: Fri, 20 Nov 2026 04:19:28 GMT", "Retry-After: Sat, 21 Nov 2026 05:19:28 GMT", "Retry-After: 120",
                "Age: 5", "Cache-Control: max-age=60", "X-Date: Sat, 21 Nov 2026 04:19:28 GMT") == [
                    "date:  Sun, 22 Nov 2026 04:19:28 GMT", "Expires: Mon, 23 Nov 2026 04:19:28 GMT ", "Expires: 0",
                    "Last-Modified: Sat, 21 Nov 2026 04:19:28 GMT", "Retry-After: Sun, 22 Nov 2026 05:19:28 GMT", "Retry-After: 120",
                    "Age: 5", "Cache-Control: max-age=60", "X-Date: Sat, 21 Nov 2026 04:19:28 GMT",
                ])
    }

    @Test func cookiesExpireAsMuchLater() throws {
        #expect(
            try self.fields(
                "Set-Cookie: a=expires=1; Path=/; EXPIRES=Sat, 21-Nov-2026 04:19:28 GMT; Secure",
                "Set-Cookie: b=2;expires=Sat, 21 Nov 2026 04:19:28 GMT", "Set-Cookie: c=3; Max-Age=5", "Set-Cookie: d=4;", "Set-Cookie: e")
                == [
                    "Set-Cookie: a=expires=1; Path=/; EXPIRES=Sun, 22-Nov-2026 04:19:28 GMT; Secure",
                    "Set-Cookie: b=2;expires=Sun, 22 Nov 2026 04:19:28 GMT", "Set-Cookie: c=3; Max-Age=5", "Set-Cookie: d=4;",
                    "Set-Cookie: e",
                ])
    }

    @Test func textAfterADateStays() throws {
        #expect(
            try self.fields(
                "Expires: Sat, 21 Nov 2026 04:19:28 GMT, x", "Set-Cookie: a=1; expires=Sat, 21-Nov-26 04:19:28 GMT ; HttpOnly",
                "Last-Modified: Saturday, 21-Nov-26 04:19:28 GMT", "Date:", "Date: Sat Nov 21 04:19:28 2026") == [
                    "Expires: Sat, 21 Nov 2026 04:19:28 GMT, x", "Set-Cookie: a=1; expires=Sun, 22-Nov-26 04:19:28 GMT ; HttpOnly",
                    "Last-Modified: Sunday, 22-Nov-26 04:19:28 GMT", "Date:", "Date: Sun Nov 22 04:19:28 2026",
                ])
    }

    @Test func intervalsBetweenExchangesStay() throws {
        let refresh = DateRefresh(.standard, shift: DateShift(seconds: 86_400))
        let dates = try ([0, 90] as [Int64]).map { seconds in
            var interaction = Interaction(
                id: 1, started: Timestamp(microseconds: self.started.microseconds + seconds * 1_000_000 + seconds * 7),
                request: RecordedRequest(method: "GET", url: "http://h/"),
                response: RecordedResponse(
                    status: 200,
                    headers: HeaderFields([
                        "Date: Sat, 21 Nov 2026 04:2\(seconds == 0 ? "0:00" : "1:30") GMT", "Last-Modified: Sat, 21 Nov 2026 04:00:00 GMT",
                    ]), trailers: HeaderFields(["Expires: Sat, 21 Nov 2026 05:00:00 GMT"])))
            try refresh.refresh(&interaction, bodies: BodyReader(cassettePath: "/nowhere/tape.json"), digest: { PortableSHA256() })
            let response = try #require(interaction.response)
            #expect(response.trailers?.first("expires") == "Sun, 22 Nov 2026 05:00:00 GMT")
            return [response.headers.first("date"), response.headers.first("last-modified")]
        }
        #expect(
            dates == [
                ["Sun, 22 Nov 2026 04:20:00 GMT", "Sun, 22 Nov 2026 04:00:00 GMT"],
                ["Sun, 22 Nov 2026 04:21:30 GMT", "Sun, 22 Nov 2026 04:00:00 GMT"],
            ])
    }

    // MARK: Bodies

    private let started = Timestamp(microseconds: 1_795_234_768_500_000)

    private func refreshed(_ body: Body, fields: [String], _ rules: [String], after seconds: Int64 = 86_400) throws -> RecordedResponse {
        var interaction = Interaction(
            id: 1, started: self.started, request: RecordedRequest(method: "GET", url: "http://h/"),
            response: RecordedResponse(status: 200, headers: HeaderFields(fields), body: body))
        let now = Timestamp(microseconds: self.started.microseconds + seconds * 1_000_000 + 999_999)
        try DateRefresh(RefreshRules(rules), shift: DateShift(from: self.started, to: now)).refresh(
            &interaction, bodies: BodyReader(cassettePath: "/nowhere/tape.json"), digest: { PortableSHA256() })
        return try #require(interaction.response)
    }

    private func digest(_ text: String) -> String {
        var digest = PortableSHA256()
        Array(text.utf8).withUnsafeBytes { digest.update($0) }
        var base64: [UInt8] = []
        digest.finalize().withUnsafeBytes { Base64.encode($0, into: &base64) }
        return String(decoding: base64, as: UTF8.self)
    }

    @Test func lengthAndDigestFollowTheBody() throws {
        let old = "{\"at\":9999999999}"
        let new = "{\"at\":10000086399}"
        let body = Body(
            size: old.utf8.count, content: .text(Array(old.utf8)),
            arrival: Arrival(isChunked: true, pieces: [Arrival.Piece(at: 0, size: 8), Arrival.Piece(at: 5, size: 9)]))
        let response = try self.refreshed(
            body, fields: ["Content-Length: \(old.utf8.count)", "Content-Digest: sha-256=:\(self.digest(old)):"], ["json:/at"])
        #expect(response.body?.content.inlineBytes == Array(new.utf8))
        #expect(response.headers.first("content-length") == "\(new.utf8.count)")
        #expect(response.headers.first("content-digest") == "sha-256=:\(self.digest(new)):")
        #expect(response.body?.arrival?.pieces.reduce(0) { $0 + $1.size } == new.utf8.count)
    }

    @Test func withoutARuleABodyStays() throws {
        let body = Body(size: 17, content: .text(Array("{\"at\":1795234768}".utf8)))
        #expect(try self.refreshed(body, fields: ["Date: Sat, 21 Nov 2026 04:19:28 GMT"], []).body == body)
        #expect(try self.refreshed(body, fields: [], ["json:/other"]).body == body)
        let cut = Body(size: 17, isComplete: false, content: .text(Array("{\"at\":1795234768}".utf8)))
        #expect(try self.refreshed(cut, fields: [], ["json:/at"]).body == cut)
    }

    @Test func aRepeatedReplayStartsFromTheRecording() throws {
        let body = Body(size: 17, content: .text(Array("{\"at\":1795234768}".utf8)))
        for seconds in [0, 60, 86_400] as [Int64] {
            let response = try self.refreshed(body, fields: [], ["json:/at"], after: seconds)
            #expect(response.body?.content.inlineBytes == Array("{\"at\":\(1_795_234_768 + seconds)}".utf8))
        }
    }
}

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

    @Test func invalidJSONIsNotRefreshed() throws {
        #expect(try self.refreshed("a=1795234768", "/a") == nil)
        #expect(try self.refreshed("{\"a\":1795234768", "/a") == nil)
        #expect(try self.refreshed("", "/a") == nil)
    }
}

@Suite struct LiveDatesTests {
    private let dates = LiveDates(DateShift(seconds: 86_400))

    private func recorded(_ lines: String...) -> [String]? {
        self.dates.recorded(HeaderFields(lines)).map { fields in
            (0..<fields.count).map { String(decoding: fields.line(at: $0), as: UTF8.self) }
        }
    }

    @Test func datesOfConditionsGoBack() {
        #expect(
            self.recorded(
                "If-Modified-Since: Sun, 22 Nov 2026 04:19:28 GMT", "if-unmodified-since:Sun, 22 Nov 2026 04:19:28 GMT",
                "If-Range: Sun, 22 Nov 2026 04:19:28 GMT", "Date: Sun, 22 Nov 2026 04:19:28 GMT") == [
                    "If-Modified-Since: Sat, 21 Nov 2026 04:19:28 GMT", "if-unmodified-since:Sat, 21 Nov 2026 04:19:28 GMT",
                    "If-Range: Sat, 21 Nov 2026 04:19:28 GMT", "Date: Sun, 22 Nov 2026 04:19:28 GMT",
                ])
    }

    @Test func fieldsWithoutADateStay() {
        #expect(self.recorded("Accept: */*") == nil)
        #expect(self.recorded("If-Range: \"etag\"", "If-Modified-Since: yesterday") == nil)
    }

    @Test func theyAreWhatRefreshedAnswersSaid() throws {
        for step in -200...200 {
            let shift = DateShift(seconds: Int64(step) * 4_999_999)
            let line = "Last-Modified: Sat, 21 Nov 2026 04:19:28 GMT"
            let refreshed = DateRefresh.refreshed(HeaderFields([line]), shift)
            let asked = HeaderFields(["If-Modified-Since: " + refreshed.value(at: 0)])
            let back = LiveDates(shift).recorded(asked) ?? asked
            #expect(back.value(at: 0) == "Sat, 21 Nov 2026 04:19:28 GMT")
        }
    }
}

@Suite struct RefreshRulesTests {
    @Test func pointersAreRead() throws {
        #expect(try RefreshRules([]) == .standard)
        #expect(try RefreshRules(["json:/a", "json:/items/*/at"]).pointers.map(\.description) == ["/a", "/items/*/at"])
    }

    @Test(arguments: ["", "header:date", "/a", "json:a", "body"]) func otherPlacesAreInvalid(rule: String) {
        let error = #expect(throws: MatchRuleError.self) { try RefreshRules([rule]) }
        #expect(error?.message.contains("json:/POINTER") == true)
    }

    @Test func tooManyAreReported() {
        #expect(throws: MatchRuleError.self) { try RefreshRules(Array(repeating: "json:/a", count: 65)) }
    }
}
