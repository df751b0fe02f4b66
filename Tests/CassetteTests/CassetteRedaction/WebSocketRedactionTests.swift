@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteRedaction
import TapeBytes
import Testing

@Suite struct WebSocketRedactionTests {
    private static let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"

    /// A line of a journal, redacted and written again.
    private func redacted(_ line: String, _ redactor: Redactor = Redactor()) throws -> String {
        var message = try WebSocketMessageCoder.decode(Array(line.utf8), .textAlone)
        redactor.redact(&message)
        var writer = JSONWriter()
        WebSocketMessageCoder.encode(message, isOneLine: true, into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    // MARK: Kinds

    @Test func jsonIsRedactedByNameAndStaysJSON() throws {
        #expect(
            try self.redacted(#"{ "at": 1, "from": "client", "json": { "op": "login", "password": "hunter2" } }"#)
                == #"{ "at": 1, "from": "client", "json": {"op":"login","password":"{{password:1}}"} }"#)
    }

    @Test func jsonIsRedactedByRulesForItsPlaces() throws {
        let redactor = Redactor(rules: try RedactionRules(rules: ["json:/user/*/mail"]))
        #expect(
            try self.redacted(#"{ "at": 1, "from": "server", "json": { "user": [{ "mail": "rex@pets.test" }] } }"#, redactor)
                == #"{ "at": 1, "from": "server", "json": {"user":[{"mail":"{{mail:1}}"}]} }"#)
    }

    @Test func textWithControlCharactersIsRedacted() throws {
        #expect(
            try self.redacted(
                #"{ "at": 1, "from": "client", "text": "CONNECT\nlogin:rex\npasscode:s3cr3t-pass\n\n\u0000 \#(Self.token)" }"#
            )
            .contains("{{github-token:"))
    }

    @Test func bytesKeepTheirNumber() throws {
        let bytes = [1, 2] + Array(Self.token.utf8) + [0, 255]
        var message = WebSocketMessage(at: 1, from: .client, content: .binary(.bytes(bytes)))
        let outcome = Redactor().redact(&message)
        #expect(outcome.count == 1)
        let new = try #require(message.content.payload?.inlineBytes)
        #expect(new.count == bytes.count)
        #expect(!new.elementsEqual(bytes))
        #expect(new.starts(with: [1, 2]))
        #expect(new.suffix(2) == [0, 255])
    }

    @Test func textThatWasCutInACharacterIsSearchedAsText() throws {
        var message = WebSocketMessage(
            at: 1, from: .client, content: .text(.bytes(Array("{\"password\":\"hunter2\",\"a\":\"".utf8) + [0xc3])), isComplete: false)
        Redactor().redact(&message)
        #expect(message.content.payload?.inlineBytes == Array("{\"password\":\"{{password:1}}\",\"a\":\"".utf8) + [0xc3])
    }

    @Test func payloadThatCannotBeReadIsOmitted() throws {
        let redactor = Redactor()
        for content in [WebSocketContent.text(.bytes([0xff, 0x42])), .binary(.bytes([0xf2, 0x48, 0xcd]))] {
            var message = WebSocketMessage(at: 1, from: .client, content: content, isDeflated: true, reserved: 4, note: "not inflated: why")
            #expect(redactor.redact(&message).isBodyChanged)
            #expect(message.content.payload?.size == 0 && !message.isComplete && message.reserved == 4)
            #expect(message.note == "not inflated: why; left out: it cannot be searched for secrets")
            // A second pass has nothing to remove.
            #expect(!redactor.redact(&message).isChanged)
        }
    }

    @Test func payloadOfAFileThatCannotBeReadIsOmitted() throws {
        var message = WebSocketMessage(at: 1, from: .client, content: .binary(.bytes([])), reserved: 2)
        var delivered = 0
        let outcome = try Redactor().redact(&message, payload: ByteSource([UInt8](repeating: 7, count: 100_000))) { delivered += $0.count }
        #expect(outcome.isBodyChanged && delivered == 0 && !message.isComplete)
        #expect(message.note == "left out: it cannot be searched for secrets")
    }

    @Test func pingsPongsAndReasonsAreRedacted() throws {
        let redactor = Redactor()
        for (line, expected) in [
            (#"{ "at": 1, "from": "client", "ping": "\#(Self.token)" }"#, #"{ "at": 1, "from": "client", "ping": "{{github-token:1}}" }"#),
            (#"{ "at": 1, "from": "client", "pong": "\#(Self.token)" }"#, #"{ "at": 1, "from": "client", "pong": "{{github-token:1}}" }"#),
            (
                #"{ "at": 1, "from": "server", "close": { "code": 1008, "reason": "bad key \#(Self.token)" } }"#,
                #"{ "at": 1, "from": "server", "close": { "code": 1008, "reason": "bad key {{github-token:1}}" } }"#
            ),
        ] {
            #expect(try self.redacted(line, redactor) == expected)
        }
    }

    @Test func aReasonWithATooLongPlaceholderIsTruncated() throws {
        let redactor = Redactor(rules: try RedactionRules(rules: ["text=key [a-z0-9]{4}"]))
        let reason = Array(repeating: UInt8(ascii: "x"), count: 114) + Array(" key ab12".utf8)
        var message = WebSocketMessage(at: 1, from: .server, content: .close(WebSocketClose(code: 1000, reason: reason)))
        redactor.redact(&message)
        guard case .close(let close) = message.content else { return }
        #expect(close.payload.count == 125)
        #expect(!close.payload.suffix(8).elementsEqual("key ab12".utf8))
    }

    @Test func aCloseWithoutAPayloadStaysSo() throws {
        #expect(try self.redacted(#"{ "at": 1, "from": "server", "close": {} }"#) == #"{ "at": 1, "from": "server", "close": {} }"#)
    }

    // MARK: Together

    @Test func placeholdersAreThoseOfBodies() throws {
        let redactor = Redactor()
        var request = RecordedRequest(method: "POST", url: "http://h/", headers: HeaderFields(["Content-Type: application/json"]))
        var body: WireBody? = WireBody(Array("{\"password\":\"hunter2-of-rex\"}".utf8))
        _ = redactor.redact(request: &request, body: &body)
        #expect(body?.bytes == Array("{\"password\":\"{{password:1}}\"}".utf8))
        #expect(
            try self.redacted(#"{ "at": 1, "from": "client", "text": "AUTH hunter2-of-rex" }"#, redactor)
                == #"{ "at": 1, "from": "client", "text": "AUTH {{password:1}}" }"#)
    }

    @Test func secretAtTheEndIsRedactedAtTheBeginning() throws {
        #expect(
            try self.redacted(#"{ "at": 1, "from": "client", "json": { "echo": "hunter2-of-rex", "password": "hunter2-of-rex" } }"#)
                == #"{ "at": 1, "from": "client", "json": {"echo":"{{password:1}}","password":"{{password:1}}"} }"#)
    }

    @Test func framesFitTheNewLength() throws {
        #expect(
            try self.redacted(#"{ "at": 1, "from": "client", "text": "one \#(Self.token) two", "frames": [2, 40, 6] }"#)
                == #"{ "at": 1, "from": "client", "text": "one {{github-token:1}} two", "frames": [2, 20, 4] }"#)
        // Deflated sizes reveal nothing about the text.
        #expect(
            try self.redacted(#"{ "at": 1, "from": "client", "deflated": true, "text": "one \#(Self.token)", "frames": [2, 40, 6] }"#)
                == #"{ "at": 1, "from": "client", "deflated": true, "text": "one {{github-token:1}}", "frames": [2, 40, 6] }"#)
    }

    @Test func aMessageWithoutSecretsStaysAsItIs() throws {
        let line = #"{ "at": 1, "from": "client", "style": { "width": 2 }, "json": {"a":1}, "note": "n" }"#
        var message = try WebSocketMessageCoder.decode(Array(line.replacing("{ \"width\": 2 }", with: "\"compact\"").utf8), .textAlone)
        let before = message
        #expect(!Redactor().redact(&message).isChanged)
        #expect(message == before)
    }

    // MARK: Files

    @Test func aPayloadInAFileIsRedactedInPieces() throws {
        let filler = String(repeating: "x", count: 100_000)
        let text = Array("{\"a\":\"\(filler)\",\"password\":\"hunter2\"}".utf8)
        var message = WebSocketMessage(
            at: 1, from: .client, content: .text(.file(Sidecar(path: "a.bodies/b.json", size: text.count, sha256: ""))),
            frames: [100_000, text.count - 100_000])
        var new: [UInt8] = []
        let outcome = try Redactor().redact(&message, payload: ByteSource(text)) { new += $0 }
        #expect(outcome.isBodyChanged)
        #expect(String(decoding: new, as: UTF8.self) == "{\"a\":\"\(filler)\",\"password\":\"{{password:1}}\"}")
        #expect(message.frames.reduce(0, +) == new.count)
        #expect(message.frames.count == 2)
    }

    @Test func aBinaryPayloadInAFileKeepsItsLength() throws {
        let bytes = [UInt8](repeating: 0xfe, count: 70_000) + Array(Self.token.utf8) + [0xfe]
        var message = WebSocketMessage(
            at: 1, from: .server, content: .binary(.file(Sidecar(path: "a.bodies/b.bin", size: bytes.count, sha256: ""))))
        var new: [UInt8] = []
        #expect(try Redactor().redact(&message, payload: ByteSource(bytes)) { new += $0 }.count == 1)
        #expect(new.count == bytes.count)
        #expect(!new.elementsEqual(bytes))
    }

    @Test func aFileWithoutSecretsIsNotWrittenAgain() throws {
        var message = WebSocketMessage(
            at: 1, from: .server, content: .binary(.file(Sidecar(path: "a.bodies/b.bin", size: 70_000, sha256: ""))))
        let before = message
        let outcome = try Redactor().redact(&message, payload: ByteSource([UInt8](repeating: 1, count: 70_000))) { _ in
            Issue.record("written")
        }
        #expect(!outcome.isBodyChanged)
        #expect(message == before)
    }
}
