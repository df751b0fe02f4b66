internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeRecorder

/// Records the messages of one WebSocket as they pass: reads both directions, and hands each message to the recorder when it is whole.
///
/// Watches and never judges: what it cannot read ends the recording of this conversation, and passes on all the same. Not Sendable: lives
/// on its event loop.
final class WebSocketRecording: TunnelWatcher {
    /// After so long without a byte, the memory of zlib is given back.
    private static let quiet = TimeAmount.seconds(2)

    /// Deflated bytes read at once, which may make 4 MiB of messages: about as much as the recorder takes at a time.
    private static let pieceSize = 4 << 10

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
    /// Who ended the conversation, and how; nil while nobody has.
    private var end: Cut?
    private var problem: String?
    /// What was passed on and not read yet, while the recorder is full.
    private var unread: CircularBuffer<Unread> = []
    private var packing: Scheduled<Void>?
    private var lastByte = NIODeadline.distantPast

    /// - Parameters:
    ///   - interaction: both heads.
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
        self.read()
        self.packWhenQuiet()
        return !self.proxy.isRecorderFull
    }

    func whenReady(_ call: @escaping () -> Void) {
        self.proxy.whenRecorderDrains(self) { [weak self] in
            guard let self else { return }
            self.read()
            if self.proxy.isRecorderFull { self.whenReady(call) } else { call() }
        }
    }

    /// - Parameter isLast: reads all of it, however full the recorder is.
    private func read(isLast: Bool = false) {
        while isLast || !self.proxy.isRecorderFull, var next = self.unread.popFirst() {
            // Once one side cannot be read, what the other says has nothing to be an answer to.
            guard self.problem == nil else { return self.unread.removeAll() }
            var bytes = next.bytes
            if self.isDeflated, !isLast, let piece = next.bytes.readSlice(length: min(Self.pieceSize, bytes.readableBytes)) {
                bytes = piece
                if next.bytes.readableBytes > 0 { self.unread.prepend(next) }
            }
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

    /// How the exchange ended, as far as is known.
    var outcome: Outcome {
        if let problem { return .cut(Cut(by: .recorder, reason: problem)) }
        guard let end else { return .complete }
        switch end.by {
        case .client where self.closes.contains(.client), .origin where self.closes.contains(.server): return .complete
        case .recorder where self.closes.count == 2: return .complete
        case .client, .origin, .recorder: return .cut(end)
        }
    }

    /// Both connections are closed.
    func ended(_ counts: TunnelCounts) {
        self.packing?.cancel()
        self.packing = nil
        self.read(isLast: true)
        let at = self.elapsed
        if let message = self.client.ended() { self.take(.message(message), from: .client, at: at) }
        if let message = self.server.ended() { self.take(.message(message), from: .server, at: at) }
        self.interaction.tunnel = counts
        self.interaction.timing.total = at
        self.interaction.outcome = self.outcome
        self.proxy.record(.closed(self.interaction, stored: nil))
    }
}
