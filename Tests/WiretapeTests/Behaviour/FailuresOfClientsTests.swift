import CassetteModel
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client fails in a replay as it failed live: every failure, before and after the head, with every kind of client.
@Suite struct FailuresOfClientsTests {
    enum End: Sendable, Hashable, CustomTestStringConvertible {
        /// The network fails.
        case network(Failure.Kind)
        /// The client's own limit is exceeded.
        case ownTimeout
        /// The client cancels.
        case ownCancel

        static let all = Failure.Kind.allCases.filter { $0 != .cancelled }.map { Self.network($0) } + [.ownTimeout, .ownCancel]

        var testDescription: String {
            switch self {
            case .network(let kind): kind.rawValue
            case .ownTimeout: "own timeout"
            case .ownCancel: "own cancel"
            }
        }
    }

    enum Phase: Sendable, Hashable, CaseIterable { case beforeHead, afterHead }

    private static let address = "http://table.test/a"

    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// The origin's behaviour: it fails, or is silent until the client disconnects.
    private static func response(_ end: End, _ phase: Phase) -> StubResponse {
        let ending: StubResponse.Ending =
            if case .network(let kind) = end { .failure(TransportFailure(.network(kind), "as the table says")) } else { .hang }
        switch phase {
        case .beforeHead: return StubResponse(status: nil, ending: ending)
        case .afterHead: return StubResponse(status: 200, chunks: [.init(Data("part".utf8))], ending: ending)
        }
    }

    /// Records with one client, and replays with another.
    ///
    /// - Parameter isDecided: whether the cassette has chosen an exchange when the replaying client ends.
    private func outcomes(
        _ response: StubResponse, _ phase: Phase, isDecided: Bool = true,
        of client: (_ transport: any Transport, _ reached: Signal, _ isLive: Bool) async throws -> String
    ) async throws -> (live: String, replayed: String) {
        let path = self.folder.file("a.json")
        let recording = try Cassette(path, mode: .once)
        let reached = Signal()
        let network = Announcing(inner: StubTransport { _ in response }, phase: phase, reached: reached)
        let live = try await client(RecordingTransport(recording, around: network), reached, true)
        #expect(try recording.close().recorded == 1)
        let cassette = try Cassette(path)
        let replayReached = Signal()
        let replay = Announcing(inner: cassette.transport, phase: phase, reached: replayReached)
        let replayed = try await client(replay, replayReached, false)
        let unused = try cassette.close().report.verdict.unused
        #expect(unused.isEmpty || !isDecided)
        return (live, replayed)
    }

    private func check(_ outcomes: (live: String, replayed: String), _ end: End, expected: String? = nil) {
        #expect(outcomes.live == outcomes.replayed)
        if let expected { #expect(outcomes.live == expected) }
    }

    /// The session's own limit is short only live: the replay reports the timeout at once.
    private static func session(_ transport: any Transport, _ end: End, _ isLive: Bool) -> HTTPSession {
        .plain(transport) { $0.timeouts.idle = end == .ownTimeout && isLive ? .milliseconds(20) : .seconds(60) }
    }

    private static func expected(_ end: End) -> String {
        switch end {
        case .network(.timeout), .ownTimeout: "timedOut timeout"
        case .ownCancel: "cancelled cancelled"
        case .network(let kind): "network \(kind.rawValue)"
        }
    }

    private static func text(_ error: WiretapeError?) -> String {
        error.map { "\($0.code) \($0.networkFailure?.rawValue ?? "-")" } ?? "no error"
    }

    @Test(arguments: End.all, Phase.allCases) func facadeFailsAlike(end: End, phase: Phase) async throws {
        let outcomes = try await self.outcomes(Self.response(end, phase), phase) { transport, reached, isLive in
            let request = Self.session(transport, end, isLive).request(Self.address)
            async let response = request.serializingData().response
            if end == .ownCancel {
                await reached.wait()
                request.cancel()
            }
            return Self.text(await response.error)
        }
        self.check(outcomes, end, expected: Self.expected(end))
    }

    @Test(arguments: End.all, Phase.allCases) func adapterFailsAlike(end: End, phase: Phase) async throws {
        let url = try #require(URL(string: Self.address))
        let outcomes = try await self.outcomes(Self.response(end, phase), phase) { transport, reached, isLive in
            let session = URLSession(configuration: .answered(by: transport))
            let request = URLRequest(url: url, timeoutInterval: end == .ownTimeout && isLive ? 0.05 : 60)
            let code = Guarded<Int?>(nil)
            let ended = Signal()
            let task = session.dataTask(with: request) { _, _, error in
                code.withLock { $0 = (error as NSError?)?.code }
                ended.send()
            }
            task.resume()
            if end == .ownCancel {
                await reached.wait()
                task.cancel()
            }
            await ended.wait()
            return code.withLock { $0.map { "\($0)" } ?? "no error" }
        }
        let expected: Int =
            switch end {
            case .network(let kind): kind.urlErrorCode().rawValue
            case .ownTimeout: URLError.timedOut.rawValue
            case .ownCancel: URLError.cancelled.rawValue
            }
        self.check(outcomes, end, expected: "\(expected)")
    }

    @Test(arguments: End.all) func webSocketFailsAlikeWhileItOpens(end: End) async throws {
        // A client that cancels immediately may leave before the cassette is asked.
        let outcomes = try await self.outcomes(
            Self.response(end, .beforeHead), .beforeHead, isDecided: end != .ownCancel
        ) { transport, reached, isLive in
            let session = Self.session(transport, end, isLive)
            let opening = Task { await socketError { _ = try await session.webSocket("ws://table.test/a") } }
            if end == .ownCancel {
                await reached.wait()
                opening.cancel()
            }
            return Self.text(await opening.value)
        }
        self.check(outcomes, end, expected: Self.expected(end))
    }

    /// An open WebSocket has no limits of its own.
    @Test(arguments: End.all.filter { $0 != .ownTimeout }) func webSocketFailsAlikeWhileItIsOpen(end: End) async throws {
        let response = StubResponse.webSocket { socket in
            try await socket.send("part")
            if case .network(let kind) = end { throw TransportFailure(.network(kind), "as the table says") }
            _ = try await socket.receive()
        }
        let outcomes = try await self.outcomes(response, .afterHead) { transport, _, isLive in
            let socket = try await Self.session(transport, end, isLive).webSocket("ws://table.test/a")
            #expect(try await socket.receive() == .text("part"))
            if end == .ownCancel { socket.cancel() }
            return Self.text(await socketError { _ = try await socket.receive() })
        }
        self.check(outcomes, end, expected: Self.expected(end))
    }

    /// Recorded before cassettes had the kind of a failure.
    @Test func cassetteWithoutKindsReplaysAsBefore() async throws {
        for (party, phase, expected) in [
            (Cut.Party.client, Phase.afterHead, "network truncated"), (.client, .beforeHead, "cancelled cancelled"),
            (.origin, .afterHead, "network truncated"), (.recorder, .afterHead, "network truncated"),
        ] {
            var interaction = CassetteFixture.interaction(url: Self.address, body: CassetteFixture.text("part", isComplete: false))
            if phase == .beforeHead { interaction.response = nil }
            interaction.outcome = .cut(Cut(by: party, reason: "left"))
            let folder = try TemporaryFolder()
            let session = HTTPSession.plain(ReplayTransport(try CassetteFixture.cassette([interaction], in: folder)))
            #expect(Self.text(await session.request(Self.address).serializingData().response.error) == expected)
        }
    }
}

/// Arrives once, for one waiter.
private final class Signal: Sendable {
    private struct State {
        var hasCome = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())

    func send() {
        let waiter = self.state.withLock { state in
            state.hasCome = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { waiter in
            let hasCome = self.state.withLock { state in
                if !state.hasCome { state.waiter = waiter }
                return state.hasCome
            }
            if hasCome { waiter.resume() }
        }
    }
}

/// Signals that an exchange has reached a phase.
private struct Announcing: Transport, WebSocketTransport {
    let inner: any Transport
    let phase: FailuresOfClientsTests.Phase
    let reached: Signal

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let task = self.inner.start(request) { event in
            let demand = receive(event)
            if case .chunk = event, self.phase == .afterHead { self.reached.send() }
            return demand
        }
        if self.phase == .beforeHead { self.reached.send() }
        return task
    }

    func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        self.reached.send()
        return try await SocketOpening.open(request, protocols: protocols, with: self.inner)
    }
}
