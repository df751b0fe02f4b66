import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestValidationTests {
    @Test func withoutARuleEveryAnswerIsOne() async throws {
        #expect(try await Session.answering(404, [:], "x").request("http://a.test/").serializingString().value == "x")
    }

    @Test func theFirstRuleThatDoesNotHoldIsTheError() async {
        let session = Session.answering(404, ["Content-Type": "text/html"], "x")
        let response = await session.request("http://a.test/").validate(statusCode: [404]).validate(contentType: ["application/json"])
            .validate(statusCode: [200]).serializingString().response
        #expect(response.error?.code == .validation)
        #expect((response.error?.cause as? ValidationError)?.code == .unacceptableContentType)
        #expect(response.data == Data("x".utf8))
        #expect(response.response?.status == 404)
    }

    @Test func ownRulesSeeTheBody() async {
        let session = Session.answering(200, [:], "bad")
        let rule = Validation { request, _, data in
            if data == Data("bad".utf8), request?.url?.host == "a.test" { throw TransportFailure(.unsupported, "bad body") }
        }
        #expect(await session.request("http://a.test/").validate(rule).serializingData().response.error?.message == "bad body")
    }

    @Test func aStreamIsJudgedByItsHead() async {
        let transport = ScriptedTransport { exchange, _ in
            exchange.head(500)
            exchange.chunk("x")
        }
        let session = Session.plain(transport)
        await #expect(throws: WiretapeError.self) {
            for try await _ in session.stream("http://a.test/").validate().bytes { Issue.record("a chunk came") }
        }
    }
}
