import CassetteModel
import Testing

@testable import CassetteRedaction

/// Events whose data is divided over several lines.
@Suite struct EventStreamDataTests {
    @Test(arguments: [
        ("data: {\"password\":\ndata: \"h7nter2Xq\"}\n\n", "data: {\"password\":\ndata: \"{{password:1}}\"}\n\n"),
        ("data:{\"password\":\r\ndata:\"h7nter2Xq\"}\r\n\r\n", "data:{\"password\":\r\ndata:\"{{password:1}}\"}\r\n\r\n"),
        (
            "id: 1\ndata: {\"token\"\nevent: x\ndata: :\ndata:   \"h7nter2Xq\"}",
            "id: 1\ndata: {\"token\"\nevent: x\ndata: :\ndata:   \"{{token:1}}\"}"
        ),
        (
            "data: {\"a\":\"{\\\"password\\\":\ndata: \\\"h7nter2Xq\\\"}\"}\n\n",
            "data: {\"a\":\"{\\\"password\\\":\ndata: \\\"{{password:1}}\\\"}\"}\n\n"
        ),
        (
            "data: x\n\ndata: {\ndata: \"password\": {\ndata: \"value\": \"h7nter2Xq\"}}\n\n",
            "data: x\n\ndata: {\ndata: \"password\": {\ndata: \"value\": \"{{password:1}}\"}}\n\n"
        ),
    ])
    func dividedDataIsSearched(text: String, expected: String) {
        #expect(RedactionFixtures.body(text, type: "text/event-stream") == expected)
        #expect(RedactionFixtures.body(expected, type: "text/event-stream") == expected)
    }

    @Test(arguments: [
        "data: {\"password\":\n\ndata: \"h7nter2Xq\"}\n\n", "data: the password\ndata: h7nter2Xq\n\n", "data: a\ndata: b\n\n",
        "data\ndata:\n\n",
    ])
    func otherEventsStay(text: String) { HiddenPlace.stays(text, type: "text/event-stream") }

    @Test func longStreamsAreSearchedInPieces() throws {
        let filler = String(repeating: "data: so it goes\n\n", count: 80_000)
        let text = filler + "data: {\"password\":\ndata: \"h7nter2Xq\"}\n\n" + filler
        let stream = ContentStream(
            TextRedaction(rules: .standard, vault: SecretVault(), budget: nil), headers: HeaderFields(["Content-Type: text/event-stream"]),
            beginning: UnsafeRawBufferPointer(start: nil, count: 0))
        var redacted: [UInt8] = []
        try Array(text.utf8).withUnsafeBytes { try stream.push($0) { redacted += $0 } }
        try stream.finish { redacted += $0 }
        #expect(String(decoding: redacted, as: UTF8.self) == text.replacing("h7nter2Xq", with: "{{password:1}}"))
    }

    @Test func joiningSpendsTheBudget() {
        let text = "data: " + String(repeating: "a\ndata: ", count: 100_000)
        let budget = SearchBudget(work: 100_000)
        _ = Array(text.utf8).withUnsafeBytes { EventStreamData.findings(in: $0, hasMore: false, budget: budget) }
        #expect(budget.isSpent)
    }
}
