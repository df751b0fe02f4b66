import CassetteModel
import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct StubTransportTests {
    @Test func aClosureAnswersAndTheStubKeepsTheRequests() async throws {
        let stub = StubTransport { request in .text("you asked \(request.url.path)") }
        let log = try await stub.exchange("POST", "http://a.test/pets", body: .data(Data("x".utf8)))
        #expect(log.lines == ["sent 1 of 1", "head 200", "chunk you asked /pets", "end"])
        #expect(log.head?.source == .stub)
        #expect(stub.requests.map(\.method) == ["POST"])
    }

    @Test func answersComeInOrderAndThenNoMore() async throws {
        let stub = StubTransport([.response(204), .failure(.unreachable, "offline")])
        #expect(try await stub.exchange("GET", "http://a.test/").lines == ["head 204", "end"])
        let offline = try await stub.exchange("GET", "http://a.test/")
        #expect(offline.lines == ["failed unreachable"])
        #expect(offline.failure?.message == "offline")
        let third = try await stub.exchange("GET", "http://a.test/x")
        #expect(third.lines == ["failed unserved"])
        #expect(third.failure?.message == "request 3, GET \"http://a.test/x\", has no response: the stub has only 2, add more.")
    }

    @Test func theFirstRuleThatFitsAnswers() async throws {
        let stub = StubTransport(rules: [
            .init(method: "GET", path: "/pets") { _ in .json("[]") },
            .init(method: "GET") { _ in .response(404) },
        ])
        let pets = try await stub.exchange("GET", "http://a.test/pets?page=1")
        #expect(pets.lines == ["head 200", "chunk []", "end"])
        #expect(pets.head?.headers.value(for: "Content-Type") == "application/json")
        #expect(try await stub.exchange("GET", "http://a.test/").lines == ["head 404", "end"])
        let post = try await stub.exchange("POST", "http://a.test/")
        #expect(post.failure?.message == "no stub rule matches POST \"http://a.test/\": add one.")
    }

    @Test func piecesComeInTheirTime() async throws {
        let clock = ManualClock()
        var response = StubResponse(
            status: 200, chunks: [.init(Data("a".utf8)), .init(Data("b".utf8), after: .seconds(1))], ending: .failure(.cancelled("gone")))
        response.trailers = HTTPSession.Headers()
        response.interim = [(103, HTTPSession.Headers())]
        let stub = StubTransport([response.delayed(by: .milliseconds(10))], clock: clock)
        let log = EventLog()
        let task = stub.start(.make("GET", "http://a.test/")) { log.receive($0) }
        await clock.sleepers(1)
        #expect(log.lines.isEmpty)
        clock.advance(by: .milliseconds(10))
        await log.wait(for: 3)
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        await log.wait()
        #expect(log.lines == ["interim 103", "head 200", "chunk a", "chunk b", "failed cancelled"])
        withExtendedLifetime(task) {}
    }

    @Test func oneThatHangsEndsWhenItIsCancelled() async throws {
        let log = EventLog()
        let task = StubTransport([.hang]).start(.make("GET", "http://a.test/")) { log.receive($0) }
        #expect(log.lines.isEmpty)
        task.cancel()
        await log.wait()
        #expect(log.lines == ["failed cancelled"])
    }
}

@Suite struct StubResponseTests {
    @Test func aResponseThatTakesTimeIsNotImmediate() {
        #expect(StubResponse.text("x").isImmediate)
        #expect(!StubResponse.text("x").delayed(by: .milliseconds(1)).isImmediate)
        #expect(!StubResponse(status: 200, chunks: [.init(Data(), after: .seconds(1))]).isImmediate)
    }

    @Test func makersMatchTheirNames() async {
        let cases: [(StubResponse, [String])] = [
            (.json("{}", status: 201), ["head 201", "chunk {}", "end"]), (.response(204), ["head 204", "end"]),
            (.failure(.dns), ["failed dns"]), (.text("t"), ["head 200", "chunk t", "end"]),
        ]
        for (response, lines) in cases {
            #expect(await StubTransport([response]).exchange(.make("GET", "http://a.test/")).lines == lines)
        }
    }
}
