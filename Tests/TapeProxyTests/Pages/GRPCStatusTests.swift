import CassetteModel
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct GRPCStatusTests {
    @Test(arguments: [
        (ProxyAnswer.miss("no"), 9), (.failure(Failure(kind: .refused, message: "no")), 14),
        (.failure(Failure(kind: .timeout, message: "no")), 4), (.failure(Failure(kind: .malformed, message: "no")), 13),
        (.malformed(MessageError(.field, status: 400, "no")), 13), (.authenticationRequired("no"), 16), (.refusedTunnel("h:1"), 7),
        (.diskFull, 8), (.loop("h:1"), 9), (.requestTimeout("no"), 4), (.deadline("no"), 4), (.tooManyConnections, 14),
    ])
    func eachAnswerOfTheProxyHasAStatus(answer: ProxyAnswer, code: Int) throws {
        let status = try #require(GRPCStatus(answer))
        #expect(status.code == code && status.message == answer.text)
    }

    @Test func aPageIsNoStatus() {
        #expect(GRPCStatus(ProxyAnswer(contentType: "text/html", body: [])) == nil)
    }

    @Test func anAnswerHasNothingButTrailers() throws {
        let head = RequestHead(
            method: "POST", target: "/", version: .http2, fields: HeaderFields(["content-type: application/grpc+json"]))
        let call = try #require(GRPCCall(head))
        #expect(
            GRPCStatus.miss("no such\nexchange, 100 %").head(call).fields.lines == [
                "content-type: application/grpc+json", "grpc-status: 9", "grpc-message: wiretape: miss: no such%0Aexchange, 100 %25",
                "wiretape-error: miss",
            ])
    }

    @Test func wordsAreEncodedAndCutAfterAWholeCharacter() {
        #expect(GRPCStatus.encoded(" ü~\u{7f}\t ") == "%C3%BC~%7F%09")
        let long = GRPCStatus.encoded("x" + String(repeating: "보", count: 4000))
        #expect(long.utf8.count <= GRPCStatus.messageLimit && long.hasSuffix("%EB%B3%B4") && (long.utf8.count - 1) % 9 == 0)
    }
}
