import CassetteModel
import TapeExchange
@testable import TapeProxy
import Testing

@Suite struct ProxyAnswerTests {
    @Test func anAnswerIsPlainTextWithItsErrorAndItsLength() {
        let answer = ProxyAnswer(status: 418, reason: "Teapot", error: "tea", fields: [("X", "y")], text: "no coffee")
        #expect(
            String(decoding: answer.bytes(method: "GET", persistence: .close), as: UTF8.self)
                == "HTTP/1.1 418 Teapot\r\nX: y\r\nWiretape-Error: tea\r\nContent-Type: text/plain; charset=utf-8\r\n"
                + "X-Content-Type-Options: nosniff\r\nContent-Length: 10\r\nConnection: close\r\n\r\nno coffee\n")
    }

    @Test func aHEADGetsTheHeadAlone() {
        let text = String(decoding: ProxyAnswer.diskFull.bytes(method: "HEAD", persistence: .keepAlive), as: UTF8.self)
        #expect(text.hasSuffix("Connection: keep-alive\r\n\r\n"))
    }

    @Test func aFileKeepsItsBytesAndItsType() {
        let answer = ProxyAnswer(contentType: "application/x-thing", body: [0, 0xff, 0x0a, 0x0a], fields: [("X", "y")])
        let head =
            "HTTP/1.1 200 OK\r\nX: y\r\nContent-Type: application/x-thing\r\nX-Content-Type-Options: nosniff\r\n"
            + "Content-Length: 4\r\n\r\n"
        #expect(answer.bytes(method: "GET", persistence: .none) == Array(head.utf8) + [0, 0xff, 0x0a, 0x0a])
        #expect(answer.bytes(method: "HEAD", persistence: .none) == Array(head.utf8))
    }

    @Test(arguments: ["two\nlines", "two\nlines\n"])
    func wordsEndInOneLineEnd(text: String) {
        let answer = ProxyAnswer(status: 404, reason: "Not Found", text: text)
        #expect(answer.body == Array("two\nlines\n".utf8))
        #expect(answer.text == "two\nlines")
    }

    @Test(arguments: [Failure.Kind.dns, .refused, .unreachable, .reset, .timeout, .tls, .truncated, .cancelled, .malformed])
    func aFailureNamesItsKind(kind: Failure.Kind) {
        let answer = ProxyAnswer.failure(Failure(kind: kind, message: "why"))
        #expect(answer.status == (kind == .timeout ? 504 : 502))
        #expect(answer.error == kind.rawValue)
        #expect(answer.text == "why")
    }

    @Test func aMalformedMessageBringsItsStatus() {
        let answer = ProxyAnswer.malformed(MessageError(.tooLong, status: 431, "too long"))
        #expect(answer.status == 431)
        #expect(answer.reason == "Request Header Fields Too Large")
    }
}
