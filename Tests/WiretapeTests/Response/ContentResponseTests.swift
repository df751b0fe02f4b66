import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct ContentResponseTests {
    private struct Odd: Error, CustomStringConvertible { var description: String { "odd" } }

    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func session(_ respond: @escaping @Sendable (ScriptedExchange) -> Void) -> HTTPSession {
        .plain(ScriptedTransport { exchange, _ in respond(exchange) }) { $0.temporaryFolder = URL(fileURLWithPath: self.folder.path) }
    }

    @Test(arguments: ContentKind.allCases) func theAnswerAndHowItCameAreThere(of kind: ContentKind) async throws {
        let session = self.session { exchange in
            if exchange.request.url.path == "/a" {
                exchange.answer(302, ["Location": "/b"])
            } else {
                exchange.answer(201, ["A": "1", "A": "2"], "x", source: .replayed(cassette: "pets.json", id: 3))
            }
        }
        func check(_ request: some HTTPSession.ContentRequest) async throws {
            let response = await request.serializingString().response
            #expect(response.value == "x" && response.error == nil)
            #expect(response.url?.path == "/b" && response.sentRequest?.url.path == "/b" && response.request?.url?.path == "/b")
            #expect(response.response?.status == 201 && response.httpURLResponse?.statusCode == 201)
            #expect(response.headers.values(for: "a") == ["1", "2"])
            #expect(response.redirects.count == 1 && response.attempts.count == 1)
            #expect(response.source == .replayed(cassette: "pets.json", id: 3))
            #expect(response.timeline.serializationDuration != nil && response.timeline.latency != nil)
            #expect(response.description == "success(\"x\")")
            let lines = response.debugDescription.split(separator: "\n").map(String.init)
            #expect(lines[0] == "[Redirect]: GET http://a.test/a 302")
            #expect(lines[1] == "[Request]: GET http://a.test/b")
            #expect(lines[2] == "[Response]: 201, 2 header fields, exchange 3 of \"pets.json\"")
        }
        try await check(kind.request(session))
    }

    @Test(arguments: ContentKind.allCases) func aFailureHasNoAnswer(of kind: ContentKind) async {
        let session = self.session { $0.send(.failed(TransportFailure(.network(.dns), "no such host"))) }
        func check(_ request: some HTTPSession.ContentRequest) async {
            let failed = await request.serializingString().response
            #expect(failed.value == nil && failed.error?.networkFailure == .dns)
            #expect(failed.response == nil && failed.headers.isEmpty && failed.source == nil)
            #expect(failed.url?.path == "/a")
            #expect(failed.debugDescription.contains("[Response]: none received"))
        }
        await check(kind.request(session))
    }

    @Test(arguments: ContentKind.allCases) func valuesAndErrorsCanBeChanged(of kind: ContentKind) async throws {
        let session = self.session { $0.answer(200, [:], "abc") }
        func check(_ request: some HTTPSession.ContentRequest) async throws {
            let response = await request.serializingString().response
            #expect(response.map(\.count).value == 3)
            #expect(response.tryMap { _ -> Int in throw Odd() }.error?.cause is Odd)
            #expect(response.tryMap { $0 + "d" }.value == "abcd")
            let failed = response.tryMap { _ -> Int in throw Odd() }
            #expect(failed.error?.code == .serialization)
            #expect(failed.mapError { WiretapeError(.retrier, $0.message) }.error?.code == .retrier)
        }
        try await check(kind.request(session))
    }
}

@Suite struct DataResponseTests {
    @Test func theBodyIsThereWhereAnAnswerCame() async {
        let response: HTTPSession.DataResponse<String> = await HTTPSession.answering(201, [:], "x").request("http://a.test/a")
            .serializingString().response
        #expect(response.data == Data("x".utf8))
        #expect(response.map(\.count).data == Data("x".utf8))
        #expect(await HTTPSession.answering(204).request("http://a.test/a").serializingString().response.data == Data())
    }

    @Test func aFailureHasNone() async {
        let session = HTTPSession.plain(
            ScriptedTransport { exchange, _ in exchange.send(.failed(TransportFailure(.network(.dns), "no such host"))) })
        #expect(await session.request("http://a.test/a").serializingString().response.data == nil)
    }
}

@Suite struct DownloadResponseTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func session(_ respond: @escaping @Sendable (ScriptedExchange) -> Void) -> HTTPSession {
        .plain(ScriptedTransport { exchange, _ in respond(exchange) }) { $0.temporaryFolder = URL(fileURLWithPath: self.folder.path) }
    }

    @Test func theFileIsThereWhereAnAnswerCame() async throws {
        let session = self.session { $0.answer(201, [:], "x") }
        let response: HTTPSession.DownloadResponse<String> = await session.download("http://a.test/a").serializingString().response
        #expect(try Data(contentsOf: try #require(response.fileURL)) == Data("x".utf8))
        #expect(response.map(\.count).fileURL == response.fileURL)
    }

    @Test func aFailureHasNone() async {
        let session = self.session { $0.send(.failed(TransportFailure(.network(.dns), "no such host"))) }
        #expect(await session.download("http://a.test/a").serializingString().response.fileURL == nil)
    }
}

@Suite struct RequestOutcomeTests {
    @Test func theLastAttemptCounts() {
        let attempts = [
            HTTPSession.RequestAttempt(redirects: [], error: .cancelled), HTTPSession.RequestAttempt(redirects: [], error: nil),
        ]
        let outcome = RequestOutcome(
            id: UUID(), attempts: attempts, data: Data(), fileURL: nil, trailers: [:],
            metrics: RequestMetrics(timeline: RequestMetrics.Timeline(startTime: Date())), start: .zero, error: nil)
        #expect(outcome.last.error == nil)
    }

    @Test func aBodyIsThereOnlyWithAnAnswer() throws {
        func body(_ response: HTTPSession.Response?) -> Data? {
            RequestOutcome(
                id: UUID(), attempts: [HTTPSession.RequestAttempt(response: response, redirects: [], error: nil)], data: Data(),
                fileURL: nil,
                trailers: [:], metrics: RequestMetrics(timeline: RequestMetrics.Timeline(startTime: Date())), start: .zero, error: nil
            ).body
        }
        #expect(body(nil) == nil)
        #expect(body(try SampleResponse.response(204)) == Data())
    }
}

@Suite struct ResponseTextTests {
    @Test func attemptsAreNumberedWhereThereAreMore() throws {
        let first = HTTPSession.RequestAttempt(
            request: .make("GET", "http://a.test/"), response: nil, redirects: [], error: WiretapeError(.network, "reset"))
        var last = first
        last.error = nil
        last.response = HTTPSession.Response(
            url: try "http://a.test/".asURL(), status: 200, reason: "OK", source: .recorded(cassette: "c", id: 2))
        let metrics = RequestMetrics(timeline: RequestMetrics.Timeline(startTime: Date()))
        let outcome = RequestOutcome(
            id: UUID(), attempts: [first, last], data: Data([1]), fileURL: nil, trailers: [:], metrics: metrics, start: .zero, error: nil)
        #expect(
            ResponseText.lines(outcome, metrics: metrics, result: "success").prefix(6) == [
                "[Attempt 1] [Request]: GET http://a.test/", "[Attempt 1] [Response]: none received", "[Attempt 1] [Error]: reset",
                "[Attempt 2] [Request]: GET http://a.test/",
                "[Attempt 2] [Response]: 200 OK, 0 header fields, from the network, recorded as exchange 2 of \"c\"", "[Body]: 1 bytes",
            ])
    }
}
