import ClientTestSupport
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct AsyncTransportTests {
    private struct Function: AsyncTransport {
        var answer: @Sendable (TransportRequest) async throws -> TransportResponse

        func response(to request: TransportRequest) async throws -> TransportResponse { try await self.answer(request) }
    }

    private static func head(_ request: TransportRequest, _ status: Int = 200) -> HTTPSession.Response {
        HTTPSession.Response(url: request.url, status: status, headers: ["Content-Type": "text/plain"])
    }

    private static let url = "http://a.test/pets?access_token=abc"

    @Test func oneCallIsAnExchange() async throws {
        let transport = Function { request in
            var response = TransportResponse(Self.head(request), body: Data("hello".utf8))
            response.trailers = { ["X-Sum": "5"] }
            return response
        }
        let log = await transport.exchange(.make("POST", Self.url, body: .data(Data("abc".utf8))))
        #expect(log.lines == ["sent 3 of 3", "head 200", "chunk hello", "trailers X-Sum: 5", "end"])
        #expect(await transport.exchange(.make("GET", Self.url)).lines == ["head 200", "chunk hello", "trailers X-Sum: 5", "end"])
        #expect(try await HTTPSession.plain(transport).get(Self.url) == Data("hello".utf8))
    }

    @Test func piecesComeOneByOneAndWaitForTheReceiver() async throws {
        let asked = Collected<Int>()
        let transport = Function { request in
            let numbers = Guarded(0)
            return TransportResponse(
                Self.head(request),
                body: AsyncThrowingStream {
                    let number = numbers.withLock { number in
                        number += 1
                        return number
                    }
                    asked.add(number)
                    return number < 4 ? Data("\(number)".utf8) : nil
                })
        }
        let log = EventLog(pauses: [0, 1])
        let task = transport.start(.make("GET", Self.url), receive: log.receive)
        await log.wait(for: 1)
        #expect(asked.all.isEmpty && log.lines == ["head 200"])
        task.resume()
        await log.wait(for: 2)
        #expect(asked.all == [1])
        task.resume()
        await log.wait()
        #expect(log.lines == ["head 200", "chunk 1", "chunk 2", "chunk 3", "end"])
    }

    @Test func errorsAreFailuresWithoutSecrets() async {
        struct Mine: Error {}
        let failures: [(any Error & Sendable, String)] = [
            (Mine(), "failed unsupported"), (URLError(.timedOut), "failed timeout"), (CancellationError(), "failed cancelled"),
            (TransportFailure(.network(.refused), "x"), "failed refused"),
        ]
        for (error, line) in failures {
            let log = await Function { _ in throw error }.exchange(.make("GET", Self.url))
            #expect(log.lines == [line])
            if case .failed(let failure) = log.events.last { #expect(!failure.message.contains("abc"), "\(failure.message)") }
        }
        let cut = Function { request in
            TransportResponse(Self.head(request), body: AsyncThrowingStream { throw TransportFailure(.network(.truncated), "cut") })
        }
        #expect(await cut.exchange(.make("GET", Self.url)).lines == ["head 200", "failed truncated"])
    }

    @Test(arguments: [false, true]) func aCancelledExchangeEndsAtOnceAndItsTaskWithIt(whilePaused: Bool) async {
        let ended = Collected<String>()
        let transport = Function { request in
            guard !whilePaused else { return TransportResponse(Self.head(request), body: Data("x".utf8)) }
            do {
                try await ContinuousClock().sleep(for: .seconds(3600))
            } catch {
                ended.add("\(error is CancellationError)")
                throw error
            }
            return TransportResponse(Self.head(request))
        }
        let log = EventLog(pauses: [0])
        let task = transport.start(.make("GET", Self.url), receive: log.receive)
        if whilePaused { await log.wait(for: 1) }
        task.cancel()
        task.cancel()
        await log.wait()
        #expect(log.lines == (whilePaused ? ["head 200"] : []) + ["failed cancelled"])
        if !whilePaused {
            while ended.all.isEmpty { await Task.yield() }
            #expect(ended.all == ["true"])
        }
    }

    @Test func itIsRecordedAndReplayed() async throws {
        let folder = try TemporaryFolder()
        let transport = Function { TransportResponse(Self.head($0), body: Data("hello".utf8)) }
        let recorded = try Cassette(folder.file("c.json"), mode: .once)
        let session = HTTPSession(transport: RecordingTransport(recorded, around: transport))
        #expect(try await session.get("http://a.test/") == Data("hello".utf8))
        try recorded.close()
        let replayed = try Cassette(folder.file("c.json"))
        #expect(try await HTTPSession.patient(replayed).get("http://a.test/") == Data("hello".utf8))
        try replayed.close()
    }
}
