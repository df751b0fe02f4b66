import Foundation
@testable import TapeProxy
import Testing

@Suite struct ControlHandlerTests {
    @Test func aConnectionServesOneRequest() throws {
        let running = try RunningSessions()
        let request = running.request("GET", "/sessions")
        let answer = try running.raw(request + request)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("{ \"sessions\": [] }\n"), "\(answer)")
        #expect(answer.components(separatedBy: "HTTP/1.1").count == 2)
    }

    @Test func anAnswerToHEADIsItsHeadAlone() throws {
        let running = try RunningSessions()
        let answer = try running.raw(running.request("HEAD", "/sessions"))
        #expect(answer.hasPrefix("HTTP/1.1 405 ") && answer.hasSuffix("\r\n\r\n"), "\(answer)")
        let refused = try running.raw("HEAD /sessions HTTP/1.1\r\nHost: \(running.control.address)\r\n\r\n")
        #expect(refused.hasPrefix("HTTP/1.1 401 ") && refused.hasSuffix("\r\n\r\n"), "\(refused)")
    }

    @Test func aClientThatEndsItsSideGetsItsAnswer() throws {
        let running = try RunningSessions()
        let client = try RawConnection(port: running.controlPort)
        try client.send(running.request("GET", "/sessions"))
        client.closeOutput()
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func aHugeBodyIsRefusedWhileItComes() throws {
        let running = try RunningSessions()
        for fields in [["Content-Length: 1073741824"], ["Transfer-Encoding: chunked"]] {
            let client = try RawConnection(port: running.controlPort)
            try client.send(
                "POST /sessions HTTP/1.1\r\nHost: \(running.control.address)\r\nAuthorization: Bearer \(RunningSessions.token)\r\n"
                    + "Content-Type: application/json\r\n\(fields[0])\r\n\r\n")
            let megabyte = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
            if fields[0].hasPrefix("T") { try client.send("40000000\r\n") }
            _ = try? client.send(megabyte, milliseconds: 2000)
            let answer = String(decoding: try client.read(through: "\r\n\r\n"), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer)")
        }
        #expect(try running.ask("GET", "/sessions").status == 200)
    }

    @Test func aClientThatWaitsForItIsToldToGoOn() throws {
        let running = try RunningSessions()
        let client = try RawConnection(port: running.controlPort)
        let body = #"{"cassette": "a.json"}"#
        let request = running.request("POST", "/sessions", "Expect: 100-continue", body: body)
        try client.send(String(request.dropLast(body.count)))
        try client.expect("HTTP/1.1 100 Continue\r\n\r\n")
        try client.send(body)
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 201 Created\r\n"))
    }

    @Test func aSlowRequestIsGivenUp() throws {
        let running = try RunningSessions { $0.limits.requestHead = 1 }
        let client = try RawConnection(port: running.controlPort)
        try client.send("GET /sess")
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
    }
}

@Suite struct ControlReaderTests {
    private let gate = ControlGate(token: Secret("sesame-open-wide"), port: 7071)

    private func read(_ text: String, in pieces: Int = .max) -> ControlReader.Outcome {
        var reader = ControlReader(gate: self.gate)
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

    private func status(_ outcome: ControlReader.Outcome) -> Int? {
        guard case .refused(let answer) = outcome else { return nil }
        return answer.status
    }

    @Test(arguments: [1, 2, 7, 1000]) func aRequestIsReadInAnyPieces(_ pieces: Int) {
        let wanted = ControlRequest(method: "POST", path: "/sessions", query: "", body: Array("{}".utf8))
        let sized = self.head("POST /sessions", "Content-Type: application/json; charset=utf-8", "Content-Length: 2", body: "{}")
        #expect(self.read(sized, in: pieces) == .request(wanted))
        let chunked = self.head(
            "POST /sessions", "Content-Type: application/json", "Transfer-Encoding: chunked", body: "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")
        #expect(self.read(chunked, in: pieces) == .request(wanted))
        #expect(
            self.read(self.head("DELETE /sessions/s1?failed=true"), in: pieces)
                == .request(ControlRequest(method: "DELETE", path: "/sessions/s1", query: "failed=true", body: [])))
    }

    @Test(arguments: [
        ("GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1", "414 URI Too Long"), ("PRI * HTTP/2.0", "505 HTTP Version"),
    ])
    func aRefusalHasTheReasonOfItsStatus(_ line: String, _ wanted: String) {
        guard case .refused(let answer) = self.read("\(line)\r\n\r\n") else { return #expect(Bool(false), "it is let in") }
        #expect("\(answer.status) \(answer.reason)".hasPrefix(wanted))
    }

    @Test func whatIsNotWholeWaits() {
        let whole = self.head("POST /sessions", "Content-Type: application/json", "Content-Length: 9", body: "{}")
        #expect(self.read(whole) == .needsMore(saysContinue: false))
        #expect(self.read("POST /sess") == .needsMore(saysContinue: false))
    }

    @Test func aClientThatWaitsIsToldToGoOnOnce() {
        var reader = ControlReader(gate: self.gate)
        let head = self.head("POST /sessions", "Content-Type: application/json", "Content-Length: 2", "Expect: 100-continue")
        #expect(reader.read(Array(head.utf8)) == .needsMore(saysContinue: true))
        #expect(reader.read(Array("{".utf8)) == .needsMore(saysContinue: false))
        #expect(
            reader.read(Array("}".utf8))
                == .request(ControlRequest(method: "POST", path: "/sessions", query: "", body: Array("{}".utf8))))
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
    func whatIsNoRequestForAPathIsRefused(_ text: String) {
        #expect(self.status(self.read(text)) == 400)
    }

    @Test func aHeadHasALimit() {
        let long = self.head("GET /sessions", "X: " + String(repeating: "x", count: 70_000))
        #expect(self.status(self.read(long)) == 431)
        #expect(self.status(self.read("GET /" + String(repeating: "x", count: 70_000))) == 414)
    }
}
