@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteRedaction
import Testing

/// A secret that is cut by the border of a part, a message or a frame.
@Suite struct CutSecretTests {
    private static let secret = "kT7pQ2xV9mZ4wB8n"
    private let redactor = Redactor()

    init() {
        _ = self.redactor.vault.placeholder(for: Array(Self.secret.utf8), kind: "token", isSure: true)
    }

    private func redacted(
        _ text: String, _ lines: [String], isComplete: Bool = true
    ) -> (text: String, notes: [String]) {
        var response = RecordedResponse(status: 206, headers: HeaderFields(lines))
        var body: WireBody? = WireBody(Array(text.utf8), isComplete: isComplete)
        let outcome = self.redactor.redact(response: &response, body: &body)
        return (String(decoding: body?.bytes ?? [], as: UTF8.self), outcome.notes)
    }

    @Test(arguments: [
        "0-1/-9223372036854775808", "0-1/0", "9223372036854775807-9223372036854775807/9223372036854775807", "-/-", "0-/", "/",
    ])
    func anImpossiblePartIsReadAsAnyOther(_ range: String) {
        let borders = ContentRedaction.borders(HeaderFields(["Content-Range: bytes \(range)"]))
        #expect(borders.isSubset(of: [.both, .rest]))
    }

    @Test(arguments: ["text/plain", "application/octet-stream", "image/png", "application/json"])
    func bothPiecesOfAKnownSecretAreRemovedFromParts(_ type: String) {
        for cut in [8, 10, 15] {
            let (head, tail) = (String(Self.secret.prefix(cut)), String(Self.secret.dropFirst(cut)))
            let first = self.redacted("value \(head)", ["Content-Type: \(type)", "Content-Range: bytes 0-\(5 + cut)/500"])
            #expect(!first.text.contains(head) && first.text.utf8.count == 6 + cut, "\(first)")
            #expect(first.notes == ["not searched for the rest of a secret that may continue in another part"])
            guard tail.count >= 8 else { continue }
            let last = self.redacted("\(tail) rest", ["Content-Type: \(type)", "Content-Range: bytes 6-30/500"])
            #expect(!last.text.contains(tail) && last.text.hasSuffix(" rest") && last.text.utf8.count == tail.utf8.count + 5, "\(last)")
        }
    }

    @Test func shortPiecesAndTheBordersOfARepresentationStay() {
        let type = "Content-Type: text/plain"
        #expect(self.redacted("value kT7pQ2", [type, "Content-Range: bytes 10-21/500"]).text == "value kT7pQ2")
        #expect(self.redacted("V9mZ4wB8n rest", [type, "Content-Range: bytes 0-13/500"]).text == "V9mZ4wB8n rest")
        #expect(self.redacted("value kT7pQ2xV9m", [type, "Content-Range: bytes 486-499/500"]).text == "value kT7pQ2xV9m")
        #expect(self.redacted("value kT7pQ2xV9m", [type]).text == "value kT7pQ2xV9m")
    }

    @Test func partsOfByterangesAreTreatedAlike() {
        let part = { (range: String, text: String) in
            "--b\r\nContent-Type: text/plain\r\nContent-Range: bytes \(range)/500\r\n\r\n\(text)\r\n"
        }
        let text = part("0-12", "a kT7pQ2xV9mZ") + part("13-20", "Q2xV9mZ4wB8n c") + "--b--\r\n"
        let found = self.redacted(text, ["Content-Type: multipart/byteranges; boundary=b"])
        #expect(!found.text.contains("kT7p") && !found.text.contains("4wB8n") && found.text.utf8.count == text.utf8.count, "\(found)")
        #expect(found.notes.contains { $0.contains("may continue in another part") }, "\(found.notes)")
    }

    @Test func aTruncatedMessageLosesThePiece() {
        let found = self.redacted("value kT7pQ2xV9m", ["Content-Type: text/plain", "Content-Length: 500"], isComplete: false)
        #expect(found.text == "value {{token:1}}" && found.notes == [], "\(found)")
    }

    @Test func piecesOfUploadsAreTreatedAlike() {
        for field in ["Upload-Offset: 100", "Content-Range: bytes 100-115/*", "X-Goog-Upload-Offset: 100"] {
            var request = RecordedRequest(
                method: "PATCH", url: "http://h.test/up", headers: HeaderFields(["Content-Type: application/offset+octet-stream", field]))
            var body: WireBody? = WireBody(Array("Q2xV9mZ4wB8n kT7pQ2xV9".utf8))
            let outcome = self.redactor.redact(request: &request, body: &body)
            let text = String(decoding: body?.bytes ?? [], as: UTF8.self)
            #expect(!text.contains("mZ4wB8n") && !text.contains("kT7pQ2"), "\(field): \(text)")
            #expect(outcome.notes.contains { $0.contains("may continue in another part") }, "\(outcome.notes)")
        }
    }

    /// The name is in one part and the value in another one.
    @Test(arguments: [
        #"{"user":"a","password":""#, #"{"user":"a","password":"#, #"{"user":"a","password""#, "DB_PASSWORD=", "DB_PASSWORD",
        "Authorization: Bearer ",
        "<password>", "a=1&client_secret=", #"{"token":"eyJhbGciOiJIUzI1NiJ9.eyJzdW"#,
    ])
    func aPartThatEndsBeforeAValueIsReported(_ text: String) {
        for type in ["application/json", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded"] {
            let found = self.redacted(text, ["Content-Type: \(type)", "Content-Range: bytes 0-\(text.utf8.count - 1)/500"])
            #expect(found.notes == ["not searched for the rest of a secret that may continue in another part"], "\(type): \(found)")
        }
    }

    @Test(arguments: ["a,b\n1,2\n", #"{"user":"a","name":"#, "plain words and", "GIF89a\0\0"])
    func otherPartsAreNotReported(_ text: String) {
        let found = self.redacted(text, ["Content-Type: text/plain", "Content-Range: bytes 0-\(text.utf8.count - 1)/500"])
        #expect(found.notes == [] && found.text == text, "\(found)")
    }

    @Test func messagesOfWebSocketsMayCutASecret() throws {
        for isText in [true, false] {
            func redact(_ text: String) throws -> String {
                let member = "\"text\": \"\(text)\"\(isText ? "" : ", \"binary\": true")"
                var message = try WebSocketMessageCoder.decode(Array("{ \"at\": 1, \"from\": \"server\", \(member) }".utf8), .textAlone)
                self.redactor.redact(&message)
                switch message.content.payload {
                case .text(let bytes), .bytes(let bytes), .json(let bytes, _): return String(decoding: bytes, as: UTF8.self)
                case .file, nil: return ""
                }
            }
            #expect(try !redact("$ echo kT7pQ2xV9m").contains("kT7p"))
            #expect(try !redact("V9mZ4wB8n\\r\\n$ ").contains("4wB8n"))
        }
    }

    @Test func manySecretsThatBeginAlikeCostBoundedWork() {
        let redactor = Redactor()
        for number in 0..<3000 {
            _ = redactor.vault.placeholder(for: Array("sk_live_\(number)_aaaaaaaa".utf8), kind: "token", isSure: true)
        }
        var response = RecordedResponse(status: 206, headers: HeaderFields(["Content-Range: bytes 5-9000/90000"]))
        var body: WireBody? = WireBody(Array(String(repeating: "sk_l", count: 2000).utf8))
        let notes = redactor.redact(response: &response, body: &body).notes
        #expect(notes == [] || notes.allSatisfy { $0.contains("may continue in another part") }, "\(notes)")
    }
}
