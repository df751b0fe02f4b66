import CassetteModel
import CassetteRedaction
import TapeBytes
import Testing

/// A part of a representation keeps its number of bytes, because its Content-Range states its bytes.
@Suite struct PartialContentTests {
    private func redacted(_ text: String, _ lines: [String]) -> String {
        String(decoding: RedactionFixtures.bytes(Array(text.utf8), lines), as: UTF8.self)
    }

    @Test(arguments: [
        #"{"password":"hunter2hunter2"}"#, #"{"password":"pw1"}"#, #"{"access_token":123456789,"a":1}"#, "password=hunter2hunter2\nb=1",
        "Authorization: Bearer abcdef0123456789abcdef\n", #"tail of a string","password":"hunter2"#,
        #"{"token":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jK3Z_9n8uV5Xx2f3c"}"#,
        #"{"data":"eyJwYXNzd29yZCI6Imh1bnRlcjJodW50ZXIyIn0="}"#,
    ])
    func aPartKeepsItsLength(text: String) {
        for type in ["application/json", "text/plain", "application/octet-stream"] {
            let lines = ["Content-Type: \(type)", "Content-Range: bytes 100-\(99 + text.utf8.count)/5000"]
            let redacted = self.redacted(text, lines)
            #expect(redacted.utf8.count == text.utf8.count, "\(redacted)")
            #expect(self.redacted(redacted, lines) == redacted, "\(redacted)")
            if type == "application/json" {
                #expect(redacted != text, "\(redacted)")
                if let old = try? JSONDocument(Array(text.utf8)) {
                    #expect((try? JSONDocument(Array(redacted.utf8))) != nil && old.root.kind == .object, "\(redacted)")
                }
            }
        }
    }

    /// The client of a truncated answer requests the rest by the number of bytes that it has.
    @Test func theBeginningOfACutAnswerKeepsItsLength() {
        let text = #"{"password": "hunter2hunter2hunter2", "rest": "so it goes"#
        for (line, keeps) in [("ETag: \"a\"", true), ("Last-Modified: x", true), ("Accept-Ranges: bytes", true), ("X-A: 1", false)] {
            var response = RecordedResponse(
                status: 200, headers: HeaderFields(["Content-Type: application/json", "Content-Length: 5000", line]))
            var body: WireBody? = WireBody(Array(text.utf8), isComplete: false)
            _ = Redactor().redact(response: &response, body: &body)
            let redacted = String(decoding: body?.bytes ?? [], as: UTF8.self)
            #expect(!redacted.contains("hunter2") && (redacted.utf8.count == text.utf8.count) == keeps, "\(redacted)")
        }
    }

    /// Parts of it may be requested, or may have been recorded as well.
    @Test func aWholeAnswerThatAllowsRangesKeepsItsLength() {
        let text = #"{"password": "hunter2hunter2hunter2", "token": "a1B2c3D4"}"#
        let zipped = RedactionFixtures.gzip(Array(text.utf8))
        for (line, keeps) in [("Accept-Ranges: bytes", true), ("accept-ranges: Bytes", true), ("Accept-Ranges: none", false)] {
            let redacted = self.redacted(text, ["Content-Type: application/json", line])
            #expect(!redacted.contains("hunter2") && (redacted.utf8.count == text.utf8.count) == keeps, "\(redacted)")
        }
        let coded = RedactionFixtures.bytes(zipped, ["Content-Type: application/json", "Content-Encoding: gzip", "Accept-Ranges: bytes"])
        let plain = RedactionFixtures.bytes(zipped, ["Content-Type: application/json", "Content-Encoding: gzip"])
        #expect(coded == plain && coded != zipped)
    }

    @Test func partsOfAFormKeepTheirLengths() {
        let part = "Content-Disposition: form-data; name=\"password\"\r\n\r\n"
        for value in ["hunter2", "hunter2hunter2hunter2"] {
            let body = "--b\r\n\(part)\(value)\r\n--b--\r\n"
            let redacted = self.redacted(body, ["Content-Type: multipart/form-data; boundary=b", "Accept-Ranges: bytes"])
            #expect(redacted.utf8.count == body.utf8.count && !redacted.contains(value), "\(redacted)")
        }
    }

    @Test func partsOfSeveralRangesKeepTheirLengths() {
        let part = "\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-20/100\r\n\r\npassword=hunter2hunte\r\n--b"
        let body = "--b" + part + part + "--\r\n"
        let redacted = self.redacted(body, ["Content-Type: multipart/byteranges; boundary=b"])
        #expect(redacted.utf8.count == body.utf8.count && !redacted.contains("hunter2"), "\(redacted)")
    }

    /// The range counts coded bytes, which change.
    @Test func aPartThatCannotKeepItsLengthHasANote() {
        let wire = RedactionFixtures.gzip(Array(#"{"password":"hunter2hunter2","a":[1,2,3]}"#.utf8))
        var response = RecordedResponse(
            status: 206, headers: HeaderFields(["Content-Encoding: gzip", "Content-Range: bytes 0-\(wire.count - 1)/\(wire.count)"]))
        var body: WireBody? = WireBody(wire)
        let outcome = Redactor().redact(response: &response, body: &body)
        #expect(outcome.isBodyChanged)
        #expect((body?.bytes.count == wire.count) == outcome.notes.isEmpty, "\(outcome.notes)")
    }

    /// Its rest is in a part that shows neither name nor beginning.
    @Test(arguments: [("bytes 0-29/100", true), ("bytes 0-29/*", true), ("bytes 0-29/30", false), ("bytes 70-99/100", false)])
    func aPartThatEndsWithinASecretCountsAsUnsearched(range: String, isNoted: Bool) {
        var response = RecordedResponse(
            status: 206, headers: HeaderFields(["Content-Type: application/json", "Content-Range: \(range)"]))
        var body: WireBody? = WireBody(Array(#"{"a": 1, "password":"hunter2hunter2"#.utf8.prefix(30)))
        let note = Redactor().redact(response: &response, body: &body).note
        #expect((note?.contains("not searched") == true) == isNoted, "\(note ?? "")")
    }
}
