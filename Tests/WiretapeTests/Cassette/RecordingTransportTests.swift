import CassetteModel
import CassettePlayback
import CassetteStore
import ClientTestSupport
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct RecordingTransportTests {
    private let url = "http://a.test/pets"

    /// Records the stub's answers, and returns the exchanges in the file.
    private func recorded(
        _ responses: [StubResponse], in folder: TemporaryFolder, mode: RecordMode = .once,
        settings: Cassette.Settings = Cassette.Settings(),
        _ use: (RecordingTransport) async throws -> Void
    ) async throws -> [Interaction] {
        let cassette = try Cassette(folder.file("a.json"), mode: mode, settings: settings)
        try await use(RecordingTransport(cassette, around: StubTransport(responses)))
        _ = try cassette.close()
        let file = try RecordedCassette(path: folder.file("a.json"))
        return try (0..<file.count).map { try file.interaction(at: $0) }
    }

    @Test func recordedExchangeIsReplayed() async throws {
        let folder = try TemporaryFolder()
        var response = StubResponse(status: 201, headers: ["X-A": "1"], chunks: [.init(Data("one".utf8)), .init(Data("two".utf8))])
        response.trailers = ["Checksum": "7"]
        response.interim = [(103, ["Link": "</a>"])]
        let exchanges = try await self.recorded([response], in: folder) { transport in
            let log = try await transport.exchange(
                "POST", self.url, body: .data(Data("{}".utf8)), headers: [("Content-Type", "application/json")])
            #expect(log.lines == ["sent 2 of 2", "interim 103", "head 201", "chunk one", "chunk two", "trailers Checksum: 7", "end"])
            #expect(log.head?.source == .recorded(cassette: folder.file("a.json"), id: 1))
        }
        #expect(exchanges.count == 1)
        #expect(exchanges.first?.request.headers.lines == ["Host: a.test", "Content-Type: application/json", "Content-Length: 2"])
        #expect(exchanges.first?.request.body?.isComplete == true)
        #expect(exchanges.first?.response?.reason == Array("Created".utf8))
        let replayed = ReplayTransport(try Cassette(folder.file("a.json")))
        let log = try await replayed.exchange(
            "POST", self.url, body: .data(Data("{ }".utf8)), headers: [("Content-Type", "application/json")])
        #expect(log.lines.filter { !$0.hasPrefix("chunk") } == ["sent 3 of 3", "interim 103", "head 201", "trailers Checksum: 7", "end"])
        #expect(log.body == Data("onetwo".utf8))
    }

    @Test func aDecodedBodyIsRecordedSoThatHeadAndBodyGoTogether() async throws {
        let folder = try TemporaryFolder()
        let fields: HTTPSession.Headers = ["Content-Encoding": "gzip", "Content-Length": "63", "Content-Type": "text/plain"]
        let exchanges = try await self.recorded([.response(headers: fields, body: Data("decoded".utf8))], in: folder) { transport in
            let log = try await transport.exchange("GET", self.url)
            #expect(log.head?.headers == fields)
        }
        let response = try #require(exchanges.first?.response)
        #expect(response.headers.lines == ["Content-Length: 7", "Content-Type: text/plain"])
        #expect(response.codedHeaders?.lines == ["Content-Encoding: gzip", "Content-Length: 63"])
        #expect(response.body?.content == .text(Array("decoded".utf8)))
        let log = try await ReplayTransport(try Cassette(folder.file("a.json"))).exchange("GET", self.url)
        #expect(log.body == Data("decoded".utf8))
        #expect(log.head?.headers.value(for: "content-encoding") == "gzip")
        #expect(log.head?.headers.values(for: "content-length") == ["63"])
    }

    @Test func aHeadAnswerKeepsItsCoding() async throws {
        let folder = try TemporaryFolder()
        let fields: HTTPSession.Headers = ["Content-Encoding": "gzip", "Content-Length": "63"]
        let exchanges = try await self.recorded([.response(headers: fields)], in: folder) { _ = try await $0.exchange("HEAD", self.url) }
        #expect(exchanges.first?.response?.headers.lines == ["Content-Encoding: gzip", "Content-Length: 63"])
        #expect(exchanges.first?.response?.body == nil)
    }

    @Test func failedCutAndCancelledExchangesAreRecordedAsSuch() async throws {
        let folder = try TemporaryFolder()
        let cut = StubResponse(
            status: 200, chunks: [.init(Data("half".utf8))], ending: .failure(TransportFailure(.network(.truncated), "closed")))
        let hang = StubResponse(status: 200, chunks: [.init(Data("ha".utf8))], ending: .hang)
        let unsupported = StubResponse(status: nil, ending: .failure(TransportFailure(.unsupported, "no")))
        let exchanges = try await self.recorded([cut, .failure(.refused, "nobody"), hang, unsupported], in: folder) { transport in
            let log1 = try await transport.exchange("GET", self.url)
            #expect(log1.lines == ["head 200", "chunk half", "failed truncated"])
            let log2 = try await transport.exchange("GET", "http://b.test/")
            #expect(log2.lines == ["failed refused"])
            let log = EventLog()
            let task = transport.start(.make("GET", "http://c.test/")) { log.receive($0) }
            await log.wait(for: 2)
            task.cancel()
            await log.wait()
            #expect(log.lines == ["head 200", "chunk ha", "failed cancelled"])
            let log3 = try await transport.exchange("GET", "http://d.test/")
            #expect(log3.lines == ["failed unsupported"])
        }
        #expect(exchanges.count == 3)
        #expect(exchanges[0].outcome == .cut(Cut(by: .origin, kind: .truncated, reason: "closed")))
        #expect(exchanges[0].response?.body?.isComplete == false)
        #expect(exchanges[1].outcome == .failed(Failure(kind: .refused, message: "nobody")))
        #expect(exchanges[2].outcome == .cut(Cut(by: .client, kind: .cancelled, reason: "the request was cancelled")))
        let transport = ReplayTransport(try Cassette(folder.file("a.json")))
        let log4 = try await transport.exchange("GET", self.url)
        #expect(log4.lines == ["head 200", "chunk half", "failed truncated"])
        let log5 = try await transport.exchange("GET", "http://b.test/")
        #expect(log5.lines == ["failed refused"])
    }

    @Test func anInvisibleBodyIsNeverRecordedAsEmpty() async throws {
        let folder = try TemporaryFolder()
        let exchanges = try await self.recorded([.response(204)], in: folder) {
            let log6 = try await $0.exchange("POST", self.url, body: .unobservable)
            #expect(log6.lines == ["head 204", "end"])
        }
        let body = try #require(exchanges.first?.request.body)
        #expect(!body.isComplete)
        #expect(body.note == "the body could not be seen by the recorder")
    }

    @Test func newEpisodesAreAddedToTheExistingOnes() async throws {
        let folder = try TemporaryFolder()
        _ = try await self.recorded([.text("one")], in: folder) { _ = try await $0.exchange("GET", self.url) }
        let exchanges = try await self.recorded([.text("two")], in: folder, mode: .newEpisodes) { transport in
            let log7 = try await transport.exchange("GET", self.url)
            #expect(log7.lines == ["head 200", "chunk one", "end"])
            let log8 = try await transport.exchange("GET", "\(self.url)?page=2")
            #expect(log8.lines == ["head 200", "chunk two", "end"])
        }
        #expect(exchanges.map(\.id) == [1, 2])
    }

    @Test func aLargeBodyPassesThroughTheQueueInBlocks() async throws {
        let folder = try TemporaryFolder()
        let size = 10 << 20
        try folder.write([UInt8](repeating: 65, count: size), to: "large")
        let pieces = (0..<160).map { StubResponse.Chunk(Data(repeating: UInt8($0 & 255), count: 64 << 10)) }
        let exchanges = try await self.recorded([StubResponse(status: 200, chunks: pieces)], in: folder) { transport in
            let log = try await transport.exchange("PUT", self.url, body: .file(URL(fileURLWithPath: folder.file("large")), size: size))
            #expect(log.lines.last == "end")
            #expect(log.body.count == size)
        }
        #expect(exchanges.first?.request.body?.size == size)
        #expect(exchanges.first?.response?.body?.size == size)
        let cassette = try Cassette(folder.file("a.json"))
        let log = try await ReplayTransport(cassette).exchange(
            "PUT", self.url, body: .file(URL(fileURLWithPath: folder.file("large")), size: size))
        #expect(log.body.count == size)
        #expect(log.lines.last == "end")
    }

    @Test func secretsAreTakenOutBeforeTheDisk() async throws {
        let folder = try TemporaryFolder()
        var settings = Cassette.Settings()
        settings.secrets = ["API_KEY": "k3y-0123456789"]
        let exchanges = try await self.recorded([.json(#"{"echo":"k3y-0123456789"}"#)], in: folder, settings: settings) {
            _ = try await $0.exchange("GET", self.url, headers: [("Authorization", "Bearer abcdefghijklmnop")])
        }
        let text = String(decoding: try folder.read("a.json"), as: UTF8.self)
        #expect(!text.contains("k3y-0123456789") && !text.contains("abcdefghijklmnop"))
        #expect(exchanges.count == 1)
        let transport = ReplayTransport(try Cassette(folder.file("a.json")))
        let log9 = try await transport.exchange("GET", self.url, headers: [("Authorization", "Bearer another")])
        #expect(log9.lines.last == "end")
    }

    @Test func aTimeoutIsATimeoutInTheReplay() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let network = ScriptedTransport { exchange, number in if number > 1 { exchange.answer(200, [:], "x") } }
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        func session(_ transport: any Transport) -> HTTPSession {
            .plain(transport) {
                $0.clock = clock
                $0.timeouts.idle = .milliseconds(500)
            }
        }
        let retrier = HTTPSession.Interceptor.retrying { context, error in
            guard context.retryCount == 0, (error as? TransportFailure)?.kind == .network(.timeout) else { return .doNotRetry }
            return .retry
        }
        let recording = session(RecordingTransport(cassette, around: network))
        let task = recording.request(self.url, interceptor: retrier).serializingString()
        _ = await network.exchange(1)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(500))
        #expect(await task.response.value == "x")
        try cassette.close()
        let file = try RecordedCassette(path: folder.file("a.json"))
        #expect(file.count == 2)
        guard case .failed(let failure) = try file.interaction(at: 0).outcome else {
            Issue.record("recorded as \(try file.interaction(at: 0).outcome)")
            return
        }
        #expect(failure.kind == .timeout)
        let replay = session(ReplayTransport(try Cassette(folder.file("a.json"))))
        let response = await replay.request(self.url, interceptor: retrier).serializingString().response
        #expect(response.value == "x")
        #expect(response.attempts.first?.error?.code == .timedOut)
    }

    @Test func whyAnAnswerWasCutNamesNoSecret() async throws {
        let folder = try TemporaryFolder()
        let url = "http://a.test/pets?api_key=k3y-0123456789&page=2"
        let failure = TransportFailure(.network(.truncated), "GET \"\(url)\" failed: the connection was lost")
        let exchanges = try await self.recorded(
            [
                StubResponse(status: 200, chunks: [.init(Data("half".utf8))], ending: .failure(failure)),
                StubResponse(status: nil, ending: .failure(failure)),
            ], in: folder
        ) {
            for _ in 0..<2 { _ = try await $0.exchange("GET", url) }
        }
        #expect(!String(decoding: try folder.read("a.json"), as: UTF8.self).contains("k3y-0123456789"))
        guard case .cut(let cut) = exchanges.first?.outcome else { throw TestProblem("recorded as \(exchanges)") }
        #expect(cut.reason.hasPrefix("GET \"http://a.test/pets") && cut.reason.hasSuffix("failed: the connection was lost"))
    }
}

@Suite struct RecordingTaskTests {
    /// A scripted transport that keeps the calls it gets.
    private final class Scripted: Transport, TransportTask {
        struct State: Sendable {
            var receive: (@Sendable (TransportEvent) -> Demand)?
            var orders: [String] = []
        }

        let state = Guarded(State())
        /// Signalled by each resume.
        let resumed = DispatchSemaphore(value: 0)

        func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
            self.state.withLock { $0.receive = receive }
            return self
        }

        func cancel() { self.state.withLock { $0.orders.append("cancel") } }
        func resume() {
            self.state.withLock { $0.orders.append("resume") }
            self.resumed.signal()
        }
        func tell(_ event: TransportEvent) -> Demand? { self.state.withLock { $0.receive }?(event) }
        var orders: [String] { self.state.withLock { $0.orders } }
    }

    @Test func pauseAndResumeAreThoseOfTheReceiver() throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let inner = Scripted()
        let log = EventLog(pauses: [0])
        let task = RecordingTransport(cassette, around: inner).start(.make("GET", "http://a.test/")) { log.receive($0) }
        #expect(inner.tell(.chunk(Data("a".utf8))) == .pause)
        task.resume()
        #expect(inner.orders == ["resume"])
        #expect(inner.tell(.chunk(Data("b".utf8))) == .more)
        task.cancel()
        #expect(inner.orders == ["resume", "cancel"])
        #expect(inner.tell(.failed(.cancelled())) == .more)
        task.cancel()
        #expect(inner.orders == ["resume", "cancel"])
        #expect(log.lines == ["chunk a", "chunk b", "failed cancelled"])
        try cassette.close()
    }

    @Test func aFullRecorderPausesTheNetworkUntilItHasDrained() async throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let inner = Scripted()
        let log = EventLog()
        let task = RecordingTransport(cassette, around: inner).start(.make("GET", "http://a.test/")) { log.receive($0) }
        _ = inner.tell(.head(HTTPSession.Response(url: URL(fileURLWithPath: "/"), status: 200)))
        var pauses = 0
        for _ in 0..<40 where inner.tell(.chunk(Data(repeating: 7, count: 1 << 20))) == .pause { pauses += 1 }
        #expect(pauses > 0)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                inner.resumed.wait()
                continuation.resume()
            }
        }
        #expect(inner.tell(.end) == .more)
        try cassette.close()
        #expect(inner.orders.contains("resume"))
        #expect(try RecordedCassette(path: folder.file("a.json")).interaction(at: 0).response?.body?.size == 40 << 20)
        withExtendedLifetime(task) {}
    }
}
