import Foundation
import Testing

@testable import Wiretape

@Suite struct DownloadResponseTests {
    private struct Odd: Error, CustomStringConvertible { var description: String { "odd" } }

    @Test func theAnswerAndHowItCameAreThere() async throws {
        let session = Session.plain(
            ScriptedTransport { exchange, _ in
                if exchange.request.url.path == "/a" {
                    exchange.answer(302, ["Location": "/b"])
                } else {
                    exchange.answer(201, ["A": "1", "A": "2"], "x", source: .replayed(cassette: "pets.json", id: 3))
                }
            })
        let response = await session.download("http://a.test/a").serializingString().response
        #expect(response.value == "x" && response.error == nil)
        #expect(response.url?.path == "/b" && response.sentRequest?.url.path == "/b" && response.request?.url?.path == "/b")
        #expect(response.response?.status == 201 && response.httpURLResponse?.statusCode == 201)
        #expect(response.headers.values(for: "a") == ["1", "2"])
        #expect(response.redirects.count == 1 && response.attempts.count == 1)
        #expect(response.source == .replayed(cassette: "pets.json", id: 3))
        #expect(response.timeline.totalSerialized != nil && response.timeline.latency != nil)
        #expect(response.description == "success(\"x\")")
        let lines = response.debugDescription.split(separator: "\n").map(String.init)
        #expect(lines[0] == "[Redirect]: GET http://a.test/a 302")
        #expect(lines[1] == "[Request]: GET http://a.test/b")
        #expect(lines[2] == "[Response]: 201, 2 header fields, exchange 3 of \"pets.json\"")
        #expect(try Data(contentsOf: try #require(response.fileURL)) == Data("x".utf8))
        if let file = response.fileURL { try FileManager.default.removeItem(at: file) }
    }

    @Test func aFailureHasNoAnswer() async {
        let session = Session.plain(ScriptedTransport { exchange, _ in exchange.send(.failed(TransportFailure(.network(.dns), "no such host"))) })
        let failed = await session.download("http://a.test/a").serializingString().response
        #expect(failed.value == nil && failed.error?.networkFailure == .dns)
        #expect(failed.response == nil && failed.headers.isEmpty && failed.source == nil)
        #expect(failed.url?.path == "/a")
        #expect(failed.fileURL == nil)
        #expect(failed.debugDescription.contains("[Response]: none came"))
    }

    @Test func valuesAndErrorsCanBeChanged() async throws {
        let session = Session.answering(200, [:], "abc")
        let response = await session.download("http://a.test/a").serializingString().response
        #expect(response.map(\.count).value == 3)
        #expect(response.tryMap { _ -> Int in throw Odd() }.error?.underlying is Odd)
        #expect(response.tryMap { $0 + "d" }.value == "abcd")
        let failed = response.tryMap { _ -> Int in throw Odd() }
        #expect(failed.error?.code == .serialization)
        #expect(failed.mapError { WiretapeError(.retrier, $0.message) }.error?.code == .retrier)
        if let file = response.fileURL { try FileManager.default.removeItem(at: file) }
    }
}
