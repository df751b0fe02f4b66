import CassetteModel
@testable import LocalHTTP
import Testing

@Suite struct LocalRequestReaderTests {
    private let gate = LocalGate(token: Secret("sesame-open-wide"), port: 7071, server: .sample)

    private func read(_ text: String, in pieces: Int = .max) -> LocalRequestReader.Outcome {
        var reader = LocalRequestReader(gate: self.gate)
        var rest = Array(text.utf8)[...]
        while true {
            let outcome = reader.read(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            guard case .needsMore = outcome, !rest.isEmpty else { return outcome }
        }
    }

    private func head(_ line: String = "POST /sessions", _ fields: String..., body: String = "") -> String {
        (["\(line) HTTP/1.1", "Host: 127.0.0.1:7071", "Authorization: Bearer sesame-open-wide"] + fields).joined(separator: "\r\n")
            + "\r\n\r\n" + body
    }

    private func status(_ outcome: LocalRequestReader.Outcome) -> Int? {
        guard case .refused(let answer) = outcome else { return nil }
        return answer.status
    }

    @Test(arguments: [1, 2, 7, 1000]) func aRequestIsReadInAnyPieces(_ pieces: Int) {
        let wanted = LocalRequest(method: "POST", path: "/sessions", query: "", body: Array("{}".utf8))
        let sized = self.head("POST /sessions", "Content-Type: application/json; charset=utf-8", "Content-Length: 2", body: "{}")
        #expect(self.read(sized, in: pieces) == .request(wanted))
        let chunked = self.head(
            "POST /sessions", "Content-Type: application/json", "Transfer-Encoding: chunked", body: "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")
        #expect(self.read(chunked, in: pieces) == .request(wanted))
        #expect(
            self.read(self.head("DELETE /sessions/s1?failed=true"), in: pieces)
                == .request(LocalRequest(method: "DELETE", path: "/sessions/s1", query: "failed=true", body: [])))
    }

    @Test(arguments: [
        ("GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1", "414 URI Too Long"), ("PRI * HTTP/2.0", "505 HTTP Version"),
    ])
    func aRefusalHasTheReasonOfItsStatus(_ line: String, _ wanted: String) {
        guard case .refused(let answer) = self.read("\(line)\r\n\r\n") else { return #expect(Bool(false), "it is let in") }
        #expect("\(answer.status) \(answer.reason)".hasPrefix(wanted))
    }

    @Test func incompleteRequestNeedsMore() {
        let whole = self.head("POST /sessions", "Content-Type: application/json", "Content-Length: 9", body: "{}")
        #expect(self.read(whole) == .needsMore(saysContinue: false))
        #expect(self.read("POST /sess") == .needsMore(saysContinue: false))
    }

    @Test func aClientThatWaitsGetsOne100() {
        var reader = LocalRequestReader(gate: self.gate)
        let head = self.head("POST /sessions", "Content-Type: application/json", "Content-Length: 2", "Expect: 100-continue")
        #expect(reader.read(Array(head.utf8)) == .needsMore(saysContinue: true))
        #expect(reader.read(Array("{".utf8)) == .needsMore(saysContinue: false))
        #expect(
            reader.read(Array("}".utf8))
                == .request(LocalRequest(method: "POST", path: "/sessions", query: "", body: Array("{}".utf8))))
    }

    @Test func nothingOfABodyIsReadBeforeTheGate() {
        let stranger = "POST /sessions HTTP/1.1\r\nHost: 127.0.0.1:7071\r\nContent-Length: 999999999\r\n\r\n"
        #expect(self.status(self.read(stranger)) == 401)
        #expect(self.status(self.read("GET /sessions HTTP/1.1\r\nHost: evil.test\r\n\r\n")) == 403)
    }

    @Test func aBodyHasALimit() {
        let type = "Content-Type: application/json"
        #expect(self.status(self.read(self.head("POST /sessions", type, "Content-Length: 65537"))) == 413)
        let chunk = "8000\r\n" + String(repeating: " ", count: 0x8000) + "\r\n"
        let chunked = self.head("POST /sessions", type, "Transfer-Encoding: chunked", body: chunk + chunk + "1\r\n \r\n0\r\n\r\n")
        #expect(self.status(self.read(chunked)) == 413)
        #expect(self.status(self.read(chunked, in: 1000)) == 413)
    }

    @Test func aBodyThatAFormCouldSendIsRefused() {
        for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
            let text = self.head("POST /sessions", "Content-Type: \(type)", "Content-Length: 2", body: "{}")
            #expect(self.status(self.read(text)) == 415, "\(type)")
        }
        #expect(self.status(self.read(self.head("POST /sessions", "Content-Length: 2", body: "{}"))) == 415)
    }

    @Test(arguments: [
        "GET http://127.0.0.1:7071/sessions HTTP/1.1\r\nHost: 127.0.0.1:7071\r\n\r\n",
        "CONNECT 127.0.0.1:7071 HTTP/1.1\r\nHost: 127.0.0.1:7071\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:7071\r\n\r\n",
        "GET /sessions HTTP/1.1\r\n\r\n", "GET /sessions HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\r\n\r\n",
    ])
    func malformedRequestIsRefused(_ text: String) {
        #expect(self.status(self.read(text)) == 400)
    }

    @Test func aHeadHasALimit() {
        let long = self.head("GET /sessions", "X: " + String(repeating: "x", count: 70_000))
        #expect(self.status(self.read(long)) == 431)
        #expect(self.status(self.read("GET /" + String(repeating: "x", count: 70_000))) == 414)
    }

    @Test func requestsFollowEachOtherOnAConnection() {
        var reader = LocalRequestReader(gate: self.gate)
        let first = self.head("GET /a", "Range: bytes=0-1"), second = self.head("GET /b?c=1")
        let both = Array((first + second).utf8)
        let wanted = LocalRequest(method: "GET", path: "/a", query: "", body: [], range: "bytes=0-1")
        #expect(reader.read(both.dropLast(3)) == .request(wanted))
        #expect(reader.next([]) == .needsMore(saysContinue: false))
        #expect(!reader.isIdle)
        #expect(reader.read(both.suffix(3)) == .request(LocalRequest(method: "GET", path: "/b", query: "c=1", body: [])))
        #expect(reader.next([]) == .needsMore(saysContinue: false))
        #expect(reader.isIdle)
    }

    @Test func aClientSaysThatItsRequestIsTheLast() {
        for text in [self.head("GET /a", "Connection: close"), self.head("GET /a").replacing("HTTP/1.1", with: "HTTP/1.0")] {
            guard case .request(let request) = self.read(text) else { return #expect(Bool(false), "it is refused") }
            #expect(!request.keepsAlive)
        }
    }
}

@Suite struct LocalRequestTests {
    private func arguments(_ query: String) -> [String: String]? {
        LocalRequest(method: "GET", path: "/", query: query, body: []).arguments
    }

    @Test func argumentsAreDecoded() {
        #expect(self.arguments("") == [:])
        #expect(self.arguments("a=1&b=x%20y&a=2&c&d=%EB%B3%B4%2b+") == ["a": "1", "b": "x y", "c": "", "d": "보++"])
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%FF", "%80=1"]) func brokenArgumentsAreNil(_ query: String) {
        #expect(self.arguments(query) == nil)
    }
}
