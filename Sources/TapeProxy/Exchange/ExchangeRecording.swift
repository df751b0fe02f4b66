internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeRecorder

/// Records one forwarded exchange: taps what passes, and hands it to the recorder once, at the end.
///
/// Does nothing for an exchange that is not recorded. Not Sendable: lives on its event loop.
struct ExchangeRecording: ~Copyable {
    private let proxy: ProxyContext
    private let start: NIODeadline
    /// The number of the exchange; nil if it is not recorded.
    let id: Int?
    private var tap: Tap?
    /// The exchange is recorded.
    let isOn: Bool
    private var sendStarted = 0.0

    init(_ request: IncomingRequest, proxy: ProxyContext, isOn: Bool) {
        self.proxy = proxy
        self.start = request.start
        guard isOn, let recorder = proxy.recorder else {
            self.isOn = false
            self.id = nil
            self.tap = nil
            return
        }
        self.isOn = true
        let id = recorder.nextID()
        self.id = id
        self.tap = Tap(
            id: id, started: proxy.timestamp(at: request.start),
            request: RecordedRequest(
                method: request.head.method, url: request.url, target: request.target == .asterisk ? "*" : nil,
                version: request.head.version, headers: request.head.fields),
            framing: request.framing)
    }

    private var elapsed: Double { Double((self.proxy.now - self.start).nanoseconds) / 1e6 }

    /// - Parameter blocked: milliseconds that the request was held before it was decided what answers it.
    mutating func connected(_ connection: ConnectionInfo, _ timing: DialTiming?, blocked: Double?) {
        self.tap?.connected(connection, blocked: blocked, dns: timing?.dns, connect: timing?.connect, tls: timing?.tls)
        self.sendStarted = self.elapsed
    }

    /// The request's head was sent on a stream of its connection.
    mutating func opened(stream: Int) { self.tap?.opened(stream: stream) }

    mutating func requestEnded() {
        let (at, sendStarted) = (self.elapsed, self.sendStarted)
        self.tap?.requestEnded(at: at, sendStarted: sendStarted)
    }

    mutating func interim(_ head: ResponseHead) {
        let at = self.elapsed
        self.tap?.interim(InterimResponse(head, at: at))
    }

    mutating func responseBegan(_ head: ResponseHead, framing: BodyFraming) {
        let at = self.elapsed
        self.tap?.responseBegan(RecordedResponse(head), framing: framing, at: at)
    }

    mutating func responseEnded() { self.tap?.responseEnded() }

    mutating func tunnelled(_ counts: TunnelCounts) { self.tap?.tunnelled(counts) }

    /// The answer opened a WebSocket, whose messages are recorded from now on; nil if the exchange is not recorded.
    ///
    /// - Parameter answer: what it accepts of the request's offer.
    mutating func webSocket(offer: HeaderFields, answer: HeaderFields) -> WebSocketRecording? {
        guard let tap = self.tap.take() else { return nil }
        let agreement = WebSocketAgreement(offer: offer, answer: answer)
        return WebSocketRecording(tap.soFar, start: self.start, agreement: agreement, proxy: self.proxy)
    }

    mutating func body(_ side: Tap.Side, _ piece: BodyPiece) { self.body(side, piece, at: self.elapsed) }

    /// - Parameter at: when it came, in milliseconds since the exchange began.
    mutating func body(_ side: Tap.Side, _ piece: BodyPiece, at: Double) {
        guard self.isOn else { return }
        piece.bytes.withUnsafeReadableBytes { bytes in
            guard let events = piece.events else { return self.data(side, bytes, at: at) }
            for event in events {
                switch event {
                case .data(let range): self.data(side, UnsafeRawBufferPointer(rebasing: bytes[range]), at: at)
                case .chunk(let size, let line): self.tap?.chunk(side, size: size, line: line, at: at)
                case .lastChunk(let line): self.tap?.lastChunk(side, line: line)
                case .trailers(let fields): self.tap?.trailers(side, fields)
                }
            }
        }
    }

    /// Blocks of large bodies go straight to the recorder.
    private mutating func data(_ side: Tap.Side, _ bytes: UnsafeRawBufferPointer, at: Double) {
        guard let block = self.tap?.data(side, bytes, at: at), let id = self.tap?.id else { return }
        self.proxy.record(.block(exchange: id, side: side, bytes: block))
    }

    /// Nothing of the exchange is recorded.
    mutating func discard() { self.tap = nil }

    /// Hands the exchange to the recorder, once.
    ///
    /// - Parameter stored: called later, when it is known whether the exchange is on disk.
    /// - Returns: whether `stored` will be called: only with full durability.
    mutating func end(_ outcome: Outcome, stored: @escaping (Result<Void, RecorderProblem>) -> Void) -> Bool {
        let at = self.elapsed
        guard let exchange = self.tap?.ended(outcome, at: at) else { return false }
        self.tap = nil
        guard self.waitsForDisk else {
            self.proxy.record(.exchange(exchange, stored: nil))
            return false
        }
        let gate = self.proxy.loopGate
        let proxy = NIOLoopBound(self.proxy, eventLoop: self.proxy.loop)
        let resume = NIOLoopBound(stored, eventLoop: self.proxy.loop)
        self.proxy.record(
            .exchange(
                exchange,
                stored: { result in
                    gate.execute {
                        proxy.value.readClock()
                        resume.value(result)
                    }
                }))
        return true
    }

    /// The answer's end is withheld until the exchange is on disk.
    var waitsForDisk: Bool { self.isOn && self.proxy.configuration.durability == .full }
}
