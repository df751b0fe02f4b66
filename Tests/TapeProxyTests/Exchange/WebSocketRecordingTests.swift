import CassetteModel
import NIOCore
import NIOEmbedded
import TapeBytes
import TapeExchange
import TapeRecorder
import TapeTestSupport
import Testing
@testable import TapeProxy

/// The recording of one WebSocket, with a recorder that is full whenever the test wants it.
@Suite struct WebSocketRecordingTests {
    /// Accepts everything, and reports when it is full.
    private final class NarrowSink: ExchangeSink {
        private struct State {
            var weight = 0
            var sizes: [Int] = []
            var messages = 0
            var isOpen = false
            var isClosed = false
            var takesAll = false
            var isBusyAnyway = false

            var isFull: Bool { !self.takesAll && self.weight >= NarrowSink.limit }
        }

        static let limit = 1 << 20
        private let state = Guarded(State())

        func nextID() -> Int { 1 }

        func put(_ item: RecorderItem) -> Bool {
            self.state.withLock { state in
                switch item {
                case .block(_, _, let bytes):
                    state.weight += bytes.heldCount
                    state.sizes.append(bytes.heldCount)
                case .message(_, let message):
                    state.weight += message.weight
                    state.messages += 1
                case .opened: state.isOpen = true
                case .closed: state.isClosed = true
                case .exchange, .dropped: break
                }
                return state.isFull
            }
        }

        var isFull: Bool { self.state.withLock { $0.isFull } }
        func isBusy() -> Bool { self.isFull || self.isBusyAnyway }

        /// The recorder has no limit.
        var takesAll: Bool {
            get { self.state.withLock { $0.takesAll } }
            set { self.state.withLock { $0.takesAll = newValue } }
        }

        /// The recorder has room, but not for conversations.
        var isBusyAnyway: Bool {
            get { self.state.withLock { $0.isBusyAnyway } }
            set { self.state.withLock { $0.isBusyAnyway = newValue } }
        }

        func onDrain(_ call: @escaping @Sendable () -> Void) {}
        var obstacle: RecorderProblem? { nil }

        /// Writes its contents, and returns how much that was.
        func drain() -> Int {
            self.state.withLock { state in
                defer { state.weight = 0 }
                return state.weight
            }
        }

        var messages: Int { self.state.withLock { $0.messages } }
        var isClosed: Bool { self.state.withLock { $0.isClosed } }
        /// The bytes of all blocks.
        var size: Int { self.state.withLock { $0.sizes.reduce(0, +) } }
    }

    private func recording(_ sink: NarrowSink, deflates: Bool) throws -> (WebSocketRecording, ProxyContext) {
        let proxy = try EmbeddedProxy.context(EmbeddedEventLoop(), recorder: sink)
        let interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h/", headers: HeaderFields()))
        let agreement = WebSocketAgreement(deflate: deflates ? PerMessageDeflate() : nil)
        return (WebSocketRecording(interaction, start: proxy.now, agreement: agreement, proxy: proxy), proxy)
    }

    /// This many MiB of zeros as one deflated message, which takes about 40 KiB.
    private func dense(_ count: Int) throws -> ByteBuffer {
        var writer = WebSocketWriter(.server, agreement: WebSocketAgreement(deflate: PerMessageDeflate()))
        var bytes: [UInt8] = []
        [UInt8](repeating: 0, count: count << 20).withUnsafeBytes { writer.message(false, $0, isDeflated: true, to: &bytes) }
        return ByteBuffer(bytes: bytes)
    }

    @Test func neitherSideIsReadWhileTheRecorderIsFull() throws {
        let sink = NarrowSink()
        let (recording, proxy) = try self.recording(sink, deflates: false)
        let frame = WebSocketTalk.text(String(repeating: "x", count: 60_000), from: .server)
        var passed = 0
        while recording.passed(ByteBuffer(bytes: frame), from: .server) { passed += 1 }
        #expect(passed == 17)
        var calls = 0
        recording.whenReady { calls += 1 }
        proxy.recorderDrained()
        #expect(calls == 0, "it is as full as before")
        _ = sink.drain()
        proxy.recorderDrained()
        #expect(calls == 1)
        #expect(recording.passed(ByteBuffer(bytes: frame), from: .server))
    }

    @Test func aDenseMessageIsReadAsTheRecorderTakesIt() throws {
        let sink = NarrowSink()
        let (recording, proxy) = try self.recording(sink, deflates: true)
        let loop = try #require(proxy.loop as? EmbeddedEventLoop)
        #expect(recording.passed(try self.dense(40), from: .server))
        var written: [Int] = []
        while sink.messages == 0, written.count < 1000 {
            loop.advanceTime(by: .milliseconds(1))
            written.append(sink.drain())
            proxy.recorderDrained()
        }
        #expect(written.count > 5)
        // The last piece of a turn inflates to at most half a MiB.
        #expect((written.max() ?? 0) <= NarrowSink.limit + (1 << 20))
        #expect(sink.messages == 1 && sink.size > 39 << 20)
    }

    /// With a recorder that accepts everything, other connections wait for one turn, and not for the whole message.
    @Test func oneTurnInflatesLittle() throws {
        let sink = NarrowSink()
        sink.takesAll = true
        let (recording, _) = try self.recording(sink, deflates: true)
        #expect(recording.passed(try self.dense(40), from: .server))
        #expect(sink.size > 0 && sink.size < 1 << 20, "\(sink.size) bytes in one turn")
    }

    /// Exchanges find room while a conversation waits.
    @Test func busyRecorderIsLeftToExchanges() throws {
        let sink = NarrowSink()
        sink.isBusyAnyway = true
        let (recording, proxy) = try self.recording(sink, deflates: false)
        let frame = WebSocketTalk.text("hello", from: .server)
        #expect(!recording.passed(ByteBuffer(bytes: frame), from: .server))
        #expect(sink.messages == 0 && !proxy.isRecorderFull)
        var isReady = false
        recording.whenReady { isReady = true }
        sink.isBusyAnyway = false
        proxy.recorderDrained()
        #expect(sink.messages == 1 && isReady)
    }

    @Test func messagesStillUnreadAtTheEndAreRecorded() throws {
        let sink = NarrowSink()
        let (recording, proxy) = try self.recording(sink, deflates: true)
        #expect(recording.passed(try self.dense(20), from: .server))
        let late = ByteBuffer(bytes: WebSocketTalk.text("late", from: .client))
        #expect(recording.passed(late, from: .client))
        #expect(sink.messages == 0)
        recording.ended(TunnelCounts(sent: 0, received: 0))
        #expect(!sink.isClosed, "it is read in turns")
        try self.run(proxy, sink) { sink.isClosed }
        #expect(sink.messages == 2)
    }

    @Test func aProxyThatStopsWaitsForNoTurn() throws {
        let sink = NarrowSink()
        let (recording, proxy) = try self.recording(sink, deflates: true)
        #expect(recording.passed(try self.dense(20), from: .server))
        recording.ended(TunnelCounts(sent: 0, received: 0))
        proxy.stop(then: proxy.loop.makePromise())
        #expect(sink.messages == 1 && sink.isClosed)
    }

    /// Runs the event loop and the recorder in turns, until the condition is true.
    private func run(_ proxy: ProxyContext, _ sink: NarrowSink, until isDone: () -> Bool) throws {
        let loop = try #require(proxy.loop as? EmbeddedEventLoop)
        for _ in 0..<10_000 where !isDone() {
            loop.advanceTime(by: .milliseconds(1))
            _ = sink.drain()
            proxy.recorderDrained()
        }
        #expect(isDone())
    }

    @Test(arguments: [WebSocketSide.client, .server]) func manyMessagesAreReadInTurns(side: WebSocketSide) throws {
        let sink = NarrowSink()
        let (recording, proxy) = try self.recording(sink, deflates: false)
        // Empty texts, which a client has to mask.
        let frame: [UInt8] = side == .client ? [0x81, 0x80, 0, 0, 0, 0] : [0x81, 0]
        let count = 200_000
        let bytes = ByteBuffer(bytes: Array(repeatElement(frame, count: count).joined()))
        #expect(!recording.passed(bytes, from: side))
        #expect(sink.messages > 0 && sink.messages < 6000, "\(sink.messages) in one turn")
        var isReady = false
        recording.whenReady { isReady = true }
        try self.run(proxy, sink) { isReady }
        recording.ended(TunnelCounts(sent: 0, received: 0))
        try self.run(proxy, sink) { sink.isClosed }
        #expect(sink.messages == count)
    }
}
