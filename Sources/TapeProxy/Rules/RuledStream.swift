internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TrafficRules

/// The client stream of an exchange whose answer rules change: edits the answer, breaks it, and delays it, on its way to the client.
///
/// The exchange that makes the answer uses it like any other client stream, and knows of no rules. Not Sendable: lives on its event loop.
final class RuledStream: ClientStream {
    private let base: any ClientStream
    private let player: AnswerPlayer
    private var editing: AnswerEditing<ProxyAnswer>?
    private var breaking: AnswerBreaking<ProxyAnswer>?
    /// Nil if nothing of the answer is paused.
    private let pausing: AnswerPausing?
    /// Asks the request for bytes, or pauses it.
    private let setRequestReading: (Bool) -> Void
    private let requestHasInput: () -> Bool
    private let becomes: (any ClientExchange) -> Void
    /// The index of the recorded exchange that answers; nil once its answer was taken back, and for any other answer.
    private var recorded: Int?
    private var isTunnel = false
    /// The client asked for a WebSocket on HTTP/2, which a final answer opens (RFC 8441, 5).
    var opensTunnelByHead = false
    private var tunnel: TunnelBreaking?
    private var framing = BodyFraming.none
    private var trailers = HeaderFields()
    private var neverIndexed = NeverIndexed()
    /// A body is edited or corrupted on another thread.
    private(set) var isWorking = false
    /// Nobody gets the rest of the answer.
    private var hasLeft = false
    /// The exchange has ended the answer, or closed its stream.
    private(set) var answerIsMade = false
    /// Whether the client has been told to send its body, so that the exchange need not do it again (RFC 9110, 10.1.1).
    var hasContinued = false
    /// Called when the exchange has ended the answer.
    var answerMade: () -> Void = {}
    /// Called when a rule has ended the answer before the exchange did.
    var brokenByRule: () -> Void = {}
    /// Is told of each item that goes to the client, of a stall when it begins, and whether a rule has made it.
    var watched: (AnswerItem, Bool) -> Void = { _, _ in }
    /// Called when the answer has gone to the client, or never will.
    var ended: () -> Void = {}
    /// Called when the exchange may go on sending.
    var writabilityChanged: (Bool) -> Void = { _ in }

    init(
        _ base: any ClientStream, editing: AnswerEditing<ProxyAnswer>?, pausing: AnswerPausing?, breaking: AnswerBreaking<ProxyAnswer>?,
        latency: TimeAmount,
        buckets: [TokenBucket],
        request: (setReading: (Bool) -> Void, hasInput: () -> Bool), becomes: @escaping (any ClientExchange) -> Void
    ) {
        self.base = base
        self.editing = editing
        self.breaking = breaking
        self.pausing = pausing
        self.player = AnswerPlayer(client: base, latency: latency, buckets: buckets)
        self.setRequestReading = request.setReading
        self.requestHasInput = request.hasInput
        self.becomes = becomes
        self.pausing?.deliver = { [weak self] in self?.pass($0) }
        self.pausing?.drained = { [weak self] in self?.writabilityChanged(true) }
        self.player.drained = { [weak self] in self?.writabilityChanged(true) }
        self.player.stalled = { [weak self] in self?.watched(.stall($0), true) }
        self.player.ended = { [weak self] _ in
            guard let self else { return }
            self.ended()
            if !self.answerIsMade, !self.isTunnel { self.brokenByRule() }
        }
    }

    var peer: ClientPeer { self.base.peer }
    var hasInput: Bool { self.requestHasInput() }
    /// Of what the exchange has made so far, which may not have been sent yet.
    private(set) var answerSize = 0
    /// What a rule has cut off is taken and dropped.
    var isWritable: Bool { self.player.isOver || !self.player.isFull && self.pausing?.isFull != true }
    /// The client waits for a timer of a rule, or for somebody's decision.
    var isWaiting: Bool { self.player.isWaiting || self.pausing?.isWaiting == true }
    var isOver: Bool { self.player.isOver }

    func clientWritabilityChanged() { self.player.writabilityChanged() }

    /// A client that leaves before the end of an answer that a rule delays or breaks may ask again.
    func clientLeft() {
        if !self.player.isOver {
            self.editing?.clientLeft()
            self.breaking?.clientLeft()
            self.takeBack()
            // Nobody gets what was held back, but the report says that the fault did not come.
            _ = self.tunnel?.ended()
        }
        self.hasLeft = true
        self.player.stop()
        self.pausing?.clientLeft()
    }

    func answers(with index: Int) { self.recorded = index }

    private func takeBack() {
        guard let index = self.recorded.take() else { return }
        self.peer.session.session.brokenByRule(index)
    }

    /// Ends the answer in place of an exchange.
    func end(by item: AnswerItem) {
        self.answerIsMade = true
        self.play(item, isInjected: true)
    }

    private func play(_ item: AnswerItem, isInjected: Bool) {
        // A stall is told when it begins: a latency or a slow rate may come before it.
        if case .stall = item {} else { self.watched(item, isInjected) }
        self.player.put(item)
    }

    // MARK: The answer

    private func put(_ item: AnswerItem) {
        if let edit = self.editing?.longEdit(before: item) {
            return self.work(edit) { stream, edited in for item in edited + [item] { stream.edited(item) } }
        }
        for item in self.editing?.put(item) ?? [item] { self.edited(item) }
    }

    private func edited(_ item: AnswerItem) { if let pausing { pausing.put(item) } else { self.pass(item) } }

    /// Works on a whole body without keeping the event loop from its other connections. Only the end of the answer is left to come.
    private func work<Result: Sendable>(_ work: @escaping @Sendable () -> Result, then: @escaping (RuledStream, Result) -> Void) {
        self.isWorking = true
        let proxy = self.peer.session
        let working = proxy.computing.run(on: proxy.loop, work)
        working.assumeIsolated().whenComplete { [weak self] result in
            guard let self else { return }
            proxy.readClock()
            self.isWorking = false
            guard !self.hasLeft else { return }
            switch result {
            case .success(let value): then(self, value)
            // The pool has too much to do, or the proxy stops.
            case .failure: self.play(.end(.cut), isInjected: true)
            }
            self.flush()
        }
    }

    /// The rest of an item's way, once nobody waits for a decision about it.
    private func pass(_ item: AnswerItem) {
        if self.isTunnel {
            guard self.tunnel != nil else { return self.play(item, isInjected: false) }
            switch item {
            case .data(let bytes):
                for item in self.tunnel?.put(ByteBuffer(bytes: bytes)) ?? [] { self.play(item, isInjected: true) }
            case .end, .closeOutput:
                for item in self.tunnel?.ended() ?? [] { self.play(item, isInjected: true) }
                self.play(item, isInjected: false)
            case .interim, .head, .local, .raw, .stall, .flush: self.play(item, isInjected: false)
            }
            return
        }
        // Nothing of what follows is a body.
        if self.opensTunnelByHead, case .head(let head, _) = item, (200...299).contains(head.status) { self.breaking = nil }
        guard self.breaking != nil else { return self.play(item, isInjected: false) }
        if let corruption = self.breaking?.longCorruption(before: item) {
            return self.work(corruption) { stream, body in
                stream.broken(stream.breaking?.put(body) ?? [])
                stream.broken(stream.breaking?.put(item) ?? [])
            }
        }
        self.broken(self.breaking?.put(item) ?? [])
    }

    private func broken(_ items: [AnswerItem]) {
        for item in items { self.play(item, isInjected: self.breaking?.hasCome == true) }
        if self.breaking?.isBroken == true { self.takeBack() }
    }

    func send(interim head: ResponseHead) {
        if head.status == 100, self.hasContinued {
            self.hasContinued = false
            return
        }
        self.put(.interim(head))
    }

    func send(_ head: ResponseHead, framing: BodyFraming) {
        self.framing = framing
        self.answerSize += head.fields.size
        guard framing == .chunked else { return self.put(.head(head, framing)) }
        // The body goes on without its chunks, and gets others on its way.
        let fields = head.fields.removing("transfer-encoding")
        self.put(.head(ResponseHead(version: .http2, status: head.status, reason: head.reason, fields: fields), .untilClose))
    }

    func send(_ piece: BodyPiece) {
        for case .trailers(let fields) in piece.events ?? [] {
            self.trailers = fields
            self.neverIndexed = piece.neverIndexed
        }
        let payload = piece.payload
        self.answerSize += payload.readableBytes
        if payload.readableBytes > 0 { self.put(.data(Array(payload.readableBytesView))) }
    }

    func send(_ answer: ProxyAnswer, isFinal: Bool) { self.put(.local(answer, isFinal: isFinal)) }

    /// It would have to be taken apart.
    func send(_ answer: ReadyAnswer) -> Bool { false }

    func finish() { self.end(.finished(self.trailers, self.neverIndexed)) }

    func cut() { self.end(.cut) }

    func cut(code: UInt32) { self.end(.brokenOff(code: code, isReset: true)) }

    func breakOff(isReset: Bool) { self.end(.brokenOff(code: nil, isReset: isReset)) }

    private func end(_ end: AnswerEnd) {
        guard !self.answerIsMade else { return }
        self.answerIsMade = true
        if self.isTunnel { self.putTunnel(.end(end)) } else { self.put(.end(end)) }
        self.answerMade()
    }

    func reset(code: UInt32, isOfConnection: Bool) { self.end(.reset(code: code, isOfConnection: isOfConnection)) }

    func refuse() -> Bool {
        guard self.base.refuse() else { return false }
        self.answerIsMade = true
        self.player.stop()
        self.answerMade()
        return true
    }

    func close() {
        guard self.player.isOver else { return self.base.close() }
        // A rule has ended the answer for the client.
        self.answerIsMade = true
        self.answerMade()
    }

    // MARK: The request

    func setReading(_ reads: Bool) { if self.isTunnel { self.base.setReading(reads) } else { self.setRequestReading(reads) } }

    func become(_ exchange: any ClientExchange) { self.becomes(exchange) }

    // MARK: Tunnels

    /// A WebSocket has opened: bytes follow, without the framing of a body.
    ///
    /// - Parameter breaking: breaks what the server sends; nil passes it.
    func open(_ breaking: TunnelBreaking?) {
        self.isTunnel = true
        self.player.isTunnel = true
        self.tunnel = breaking
        self.pausing?.open()
        // The tunnel itself begins first.
        self.peer.session.loop.assumeIsolated().execute { [weak self] in
            guard let self else { return }
            for item in self.tunnel?.opened() ?? [] { self.play(item, isInjected: true) }
        }
    }

    /// Nothing is read of the client until the tunnel asks for more.
    func pauseTunnel() { self.base.setReading(false) }

    func write(_ buffer: ByteBuffer) {
        guard self.isTunnel else { return self.base.write(buffer) }
        self.answerSize += buffer.readableBytes
        self.putTunnel(.data(Array(buffer.readableBytesView)))
    }

    private func putTunnel(_ item: AnswerItem) { if let pausing { pausing.put(item) } else { self.pass(item) } }

    func flush() { if !self.player.isOver { self.base.flush() } }

    func closeOutput() { if self.isTunnel { self.putTunnel(.closeOutput) } else { self.base.closeOutput() } }

    func closeAfterFlush(isCut: Bool) {
        guard self.isTunnel else { return self.base.closeAfterFlush(isCut: isCut) }
        self.end(isCut ? .cut : .closed)
    }
}
