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

    private let proxy: ProxyContext
    private let start: NIODeadline
    private var interaction: Interaction
    private var client: WebSocketReader
    private var server: WebSocketReader
    private var closes: Set<WebSocketSide> = []
    /// Who ended the conversation, and how; nil while nobody has.
    private var end: Cut?
    private var problem: String?
    private var packing: Scheduled<Void>?
    private var lastByte = NIODeadline.distantPast

    /// - Parameters:
    ///   - interaction: both heads.
    ///   - start: when the exchange began.
    init(_ interaction: Interaction, start: NIODeadline, agreement: WebSocketAgreement, proxy: ProxyContext) {
        self.proxy = proxy
        self.start = start
        self.interaction = interaction
        self.client = WebSocketReader(.client, stand: .watcher, agreement: agreement)
        self.server = WebSocketReader(.server, stand: .watcher, agreement: agreement)
        proxy.record(.opened(interaction, .webSocket))
    }

    var id: Int { self.interaction.id }

    private var elapsed: Double { Double((self.proxy.now - self.start).nanoseconds) / 1e6 }

    func passed(_ bytes: ByteBuffer, from side: WebSocketSide) -> Bool {
        let at = self.elapsed
        self.lastByte = self.proxy.now
        // Once one side cannot be read, what the other says has nothing to be an answer to.
        guard self.problem == nil else { return true }
        bytes.withUnsafeReadableBytes { bytes in
            switch side {
            case .client: self.client.read(bytes) { self.take($0, from: .client, at: at) }
            case .server: self.server.read(bytes) { self.take($0, from: .server, at: at) }
            }
        }
        self.packWhenQuiet()
        return !self.proxy.isRecorderFull
    }

    func whenReady(_ call: @escaping () -> Void) { self.proxy.whenRecorderDrains(self, call) }

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
        let at = self.elapsed
        if let message = self.client.ended() { self.take(.message(message), from: .client, at: at) }
        if let message = self.server.ended() { self.take(.message(message), from: .server, at: at) }
        self.interaction.tunnel = counts
        self.interaction.timing.total = at
        self.interaction.outcome = self.outcome
        self.proxy.record(.closed(self.interaction, stored: nil))
    }
}
