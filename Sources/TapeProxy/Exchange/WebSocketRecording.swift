internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeRecorder

/// Records the messages of one WebSocket as they pass. Reads both directions and hands each message to the recorder when it is whole.
///
/// Only observes. If it meets bytes it cannot parse, it stops recording this conversation; the bytes are still forwarded. Takes turns with
/// the other connections of its event loop, since a few bytes may hold many or long messages. Not Sendable: lives on its event loop.
final class WebSocketRecording: TunnelWatcher {
    /// After this long without a byte, zlib's memory is released.
    private static let quiet = TimeAmount.seconds(2)

    /// Bytes read in one piece. Deflated bytes may expand a thousandfold.
    private static let (deflatedSize, plainSize) = (512, 8 << 10)
    /// Limits of one turn (pieces, messages and inflated bytes), after which other connections are served. A turn takes less than 2 ms.
    private static let (deflatedPieces, plainPieces, messagesInTurn, inflatedInTurn) = (16, 32, 500, 256 << 10)
    /// Neither side is read while more forwarded bytes than this have not been parsed yet.
    private static let unreadLimit = 256 << 10

    private struct Unread {
        var bytes: ByteBuffer
        let side: WebSocketSide
        let at: Double
    }

    private let proxy: ProxyContext
    private let isDeflated: Bool
    private let start: NIODeadline
    private var interaction: Interaction
    private var client: WebSocketReader
    private var server: WebSocketReader
    private var closes: Set<WebSocketSide> = []
    /// Who ended the conversation, and how; nil while it runs.
    private var end: Cut?
    private var problem: String?
    /// Bytes that were forwarded but not parsed yet, because the recorder is full.
    private var unread: CircularBuffer<Unread> = []
    private var unreadSize = 0
    private var messages = 0
    private var hasNextTurn = false
    /// Called once enough has been read.
    private var ready: (() -> Void)?
    /// The byte counts of the whole tunnel and the time when the conversation ended; nil before that.
    private var total: (counts: TunnelCounts, at: Double)?
    private var packing: Scheduled<Void>?
    private var lastByte = NIODeadline.distantPast

    /// - Parameters:
    ///   - interaction: request and response heads.
    ///   - start: when the exchange began.
    init(_ interaction: Interaction, start: NIODeadline, agreement: WebSocketAgreement, proxy: ProxyContext) {
        self.proxy = proxy
        self.start = start
        self.isDeflated = agreement.deflate != nil
        self.interaction = interaction
        self.client = WebSocketReader(.client, stand: .watcher, agreement: agreement)
        self.server = WebSocketReader(.server, stand: .watcher, agreement: agreement)
        proxy.record(.opened(interaction, .webSocket))
    }

    var id: Int { self.interaction.id }

    private var elapsed: Double { Double((self.proxy.now - self.start).nanoseconds) / 1e6 }

    func passed(_ bytes: ByteBuffer, from side: WebSocketSide) -> Bool {
        self.lastByte = self.proxy.now
        self.unread.append(Unread(bytes: bytes, side: side, at: self.elapsed))
        self.unreadSize += bytes.readableBytes
        // If a turn is scheduled, earlier bytes are waiting for it, and these come after them.
        if !self.hasNextTurn { self.takeTurn() }
        self.packWhenQuiet()
        return self.isReady
    }

    func whenReady(_ call: @escaping () -> Void) {
        self.ready = call
        if self.proxy.isRecorderBusy { self.waitForRecorder() }
    }

    /// Messages that cannot be recorded do not pass if the proxy refuses what it cannot record.
    var refusal: String? {
        guard self.proxy.configuration.diskFullPolicy == .refuse, let obstacle = self.proxy.recorder?.obstacle else { return nil }
        return "the conversation could not be recorded any more: \(obstacle.message)"
    }

    private var isReady: Bool { !self.proxy.isRecorderBusy && self.unreadSize <= Self.unreadLimit }

    // MARK: Turns

    private func takeTurn() {
        self.read(pieces: self.isDeflated ? Self.deflatedPieces : Self.plainPieces)
        if self.unread.isEmpty, self.total != nil { return self.finish() }
        if self.isReady, let ready = self.ready.take() { ready() }
        guard !self.unread.isEmpty || self.ready != nil else { return }
        if self.proxy.isRecorderBusy { self.waitForRecorder() } else { self.awaitTurn() }
    }

    private func awaitTurn() {
        guard !self.hasNextTurn else { return }
        self.hasNextTurn = true
        // A task that is executed at once would run before the loop looks at its other connections.
        self.proxy.loop.assumeIsolated().scheduleTask(in: .milliseconds(1)) {
            guard self.hasNextTurn else { return }
            self.hasNextTurn = false
            self.proxy.readClock()
            self.takeTurn()
        }
    }

    private func waitForRecorder() {
        self.proxy.whenRecorderDrains(self) { [weak self] in
            guard let self, !self.hasNextTurn else { return }
            self.takeTurn()
        }
    }

    private var inflated: Int { self.client.inflated + self.server.inflated }

    /// - Parameter pieces: the most pieces to read; nil to read everything, however busy the recorder is.
    private func read(pieces: Int?) {
        self.messages = 0
        var count = 0
        let most = self.inflated + Self.inflatedInTurn
        while pieces.map({
            count < $0 && self.messages < Self.messagesInTurn && self.inflated < most && !self.proxy.isRecorderBusy
        }) ?? true,
            var next = self.unread.popFirst()
        {
            // Once one side cannot be parsed, the other side's messages have no context and are dropped too.
            guard self.problem == nil else {
                self.unreadSize = 0
                return self.unread.removeAll()
            }
            count += 1
            var bytes = next.bytes
            let size = min(self.isDeflated ? Self.deflatedSize : Self.plainSize, bytes.readableBytes)
            if let piece = next.bytes.readSlice(length: size) {
                bytes = piece
                if next.bytes.readableBytes > 0 { self.unread.prepend(next) }
            }
            self.unreadSize -= bytes.readableBytes
            bytes.withUnsafeReadableBytes { bytes in
                switch next.side {
                case .client: self.client.read(bytes) { self.take($0, from: .client, at: next.at) }
                case .server: self.server.read(bytes) { self.take($0, from: .server, at: next.at) }
                }
            }
        }
    }

    private func take(_ event: WebSocketEvent, from side: WebSocketSide, at: Double) {
        switch event {
        case .block(let bytes, _):
            self.proxy.record(.block(exchange: self.id, side: side == .client ? .request : .response, bytes: bytes))
        case .message(let message):
            self.messages += 1
            if message.kind == .close { self.closes.insert(side) }
            self.proxy.record(.message(exchange: self.id, TapedWebSocketMessage(message, at: at, from: side)))
        case .failed(let problem):
            self.problem = "the \(side.rawValue) sent what is no WebSocket: \(problem.message)"
            self.proxy.log.webSocketUnreadable(self.id, problem: problem.message)
        }
    }

    private func packWhenQuiet() {
        guard self.packing == nil else { return }
        self.packing = self.proxy.loop.assumeIsolated().scheduleTask(in: Self.quiet) { [weak self] in
            guard let self, self.packing != nil else { return }
            self.packing = nil
            guard .now() - self.lastByte >= Self.quiet else { return self.packWhenQuiet() }
            self.client.pack()
            self.server.pack()
        }
    }

    // MARK: The end

    func ended(by party: Cut.Party, _ reason: String) {
        if self.end == nil { self.end = Cut(by: party, reason: reason) }
    }

    /// How the exchange ended, as far as is known yet.
    var outcome: Outcome {
        if let problem { return .cut(Cut(by: .recorder, reason: problem)) }
        guard let end else { return .complete }
        switch end.by {
        case .client where self.closes.contains(.client), .origin where self.closes.contains(.server): return .complete
        case .recorder where self.closes.count == 2: return .complete
        case .client, .origin, .recorder: return .cut(end)
        }
    }

    /// Both connections are closed. The remaining bytes are read in turns as before.
    func ended(_ counts: TunnelCounts) {
        self.packing?.cancel()
        self.packing = nil
        self.ready = nil
        self.total = (counts, self.elapsed)
        guard !self.unread.isEmpty, !self.proxy.isStopping else { return self.finish() }
        self.proxy.add(self)
        if !self.hasNextTurn { self.takeTurn() }
    }

    private func finish() {
        guard let (counts, at) = self.total.take() else { return }
        self.hasNextTurn = false
        self.read(pieces: nil)
        defer { self.proxy.remove(self) }
        if let message = self.client.ended() { self.take(.message(message), from: .client, at: at) }
        if let message = self.server.ended() { self.take(.message(message), from: .server, at: at) }
        self.interaction.tunnel = counts
        self.interaction.timing.total = at
        self.interaction.outcome = self.outcome
        self.proxy.record(.closed(self.interaction, stored: nil))
    }
}

/// After its end, the conversation counts as an open connection while bytes remain to be read.
extension WebSocketRecording: TimedConnection {
    var deadline: NIODeadline { .distantFuture }
    func deadlinePassed() {}
    func stop() { self.finish() }
    func abort() { self.finish() }
}
