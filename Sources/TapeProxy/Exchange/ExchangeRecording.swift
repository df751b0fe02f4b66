internal import CassetteModel
internal import NIOCore
package import TapeBytes
internal import TapeExchange
internal import TapeRecorder

/// Records one forwarded exchange: taps the bytes that pass and hands the exchange to the recorder once, at the end.
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
    /// For an answer that may run for a long time: writes its exchange to a file next to the cassette while it runs.
    private var journal: StreamJournal?

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
        let started = proxy.timestamp(at: request.start)
        proxy.configuration.watch?(.began(id: id, started: started, method: request.head.method, url: request.url))
        var recorded = RecordedRequest(
            method: request.head.method, connectProtocol: request.head.connectProtocol, url: request.url,
            target: request.target == .asterisk ? "*" : nil, version: request.head.version, headers: request.head.fields)
        if let raw = request.head.rawTarget {
            let count = raw.count { $0 >= 0x80 }
            recorded.note = "\(count) bytes of the target that are not ASCII are percent-encoded here; they were forwarded as they came"
        }
        self.tap = Tap(id: id, started: started, request: recorded, framing: request.framing)
    }

    mutating func modified(_ modification: Modification) { self.tap?.modified(modification) }

    private var elapsed: Double { Double((self.proxy.now - self.start).nanoseconds) / 1e6 }

    /// - Parameter blocked: how many milliseconds the request was held before Wiretape decided how to answer it.
    mutating func connected(_ connection: ConnectionInfo, _ timing: DialTiming?, blocked: Double?) {
        self.tap?.connected(connection, blocked: blocked, dns: timing?.dns, connect: timing?.connect, tls: timing?.tls)
        self.sendStarted = self.elapsed
    }

    /// The request's head was sent on this stream of the connection.
    mutating func opened(stream: Int) { self.tap?.opened(stream: stream) }

    mutating func requestEnded() {
        let (at, sendStarted) = (self.elapsed, self.sendStarted)
        self.tap?.requestEnded(at: at, sendStarted: sendStarted)
        if self.journal?.isOpen == true { self.keep(.request, nil, at: at) }
    }

    mutating func interim(_ head: ResponseHead) {
        let at = self.elapsed
        self.tap?.interim(InterimResponse(head, at: at))
    }

    mutating func responseBegan(_ head: ResponseHead, framing: BodyFraming) {
        let at = self.elapsed
        self.tap?.responseBegan(RecordedResponse(head), framing: framing, at: at)
        guard self.isOn, let answer = StreamCutter(head.fields), let request = self.tap?.soFar.request.headers else {
            return
        }
        self.journal = StreamJournal(
            request: StreamCutter(request), requestHeaders: request, answer: answer, answerHeaders: head.fields, answerStart: at)
    }

    /// How long after its beginning a streamed answer starts to be journaled next to the cassette; nil if the answer is not a stream or the
    /// journal is already open.
    var journalDelay: TimeAmount? { self.journal?.isOpen == false ? .milliseconds(250) : nil }

    /// Writes everything received so far to a file next to the cassette. From now on each event or message is written within a second.
    /// Does nothing if part of the answer has left memory, or of a request that has not ended.
    mutating func openJournal() {
        guard self.journal?.isOpen == false, let interaction = self.tap?.soFar, let bodies = self.tap?.bodiesSoFar() else { return }
        let isWhole = self.tap?.requestIsWhole == true
        guard !bodies.requestHasBlocks || isWhole, let id else { return }
        self.journal?.isOpen = true
        self.proxy.record(.opened(interaction, .body))
        let at = self.elapsed
        if bodies.requestHasBlocks {
            let headers = interaction.request.headers
            self.proxy.record(.message(exchange: id, TapedLargeRequest(rest: bodies.request, at: at, headers: headers)))
            self.proxy.record(.message(exchange: id, TapedStreamPiece(.request, nil, at: at, headers: headers)))
        } else {
            bodies.request.withUnsafeBytes { self.keep(.request, $0, at: at) }
            if isWhole, !bodies.request.isEmpty { self.keep(.request, nil, at: at) }
        }
        bodies.response.withUnsafeBytes { self.keep(.response, $0, at: at) }
    }

    /// - Parameter bytes: nil at the end of the body.
    private mutating func keep(_ side: Tap.Side, _ bytes: UnsafeRawBufferPointer?, at: Double) {
        guard let id, let pieces = self.journal?.pieces(side, bytes, at: at) else { return }
        for piece in pieces { self.proxy.record(.message(exchange: id, piece)) }
    }

    mutating func responseEnded() { self.tap?.responseEnded() }

    mutating func tunnelled(_ counts: TunnelCounts) { self.tap?.tunnelled(counts) }

    /// The answer opened a WebSocket, whose messages are recorded from now on; nil if the exchange is not recorded.
    ///
    /// - Parameter answer: fields of the answer, which say how much of the request's offer was accepted.
    mutating func webSocket(offer: HeaderFields, answer: HeaderFields) -> WebSocketRecording? {
        guard let tap = self.tap.take() else { return nil }
        let agreement = WebSocketAgreement(offer: offer, answer: answer)
        return WebSocketRecording(tap.soFar, start: self.start, agreement: agreement, proxy: self.proxy)
    }

    mutating func body(_ side: Tap.Side, _ piece: BodyPiece) { self.body(side, piece, at: self.elapsed) }

    /// - Parameter at: arrival time, in milliseconds since the exchange began.
    mutating func body(_ side: Tap.Side, _ piece: BodyPiece, at: Double) {
        guard self.isOn else { return }
        piece.bytes.withUnsafeReadableBytes { bytes in
            guard let events = piece.events else { return self.data(side, bytes, of: piece.bytes, from: 0, at: at) }
            for event in events {
                switch event {
                case .data(let range):
                    self.data(side, UnsafeRawBufferPointer(rebasing: bytes[range]), of: piece.bytes, from: range.lowerBound, at: at)
                case .chunk(let size, let line): self.tap?.chunk(side, size: size, line: line, at: at)
                case .lastChunk(let line): self.tap?.lastChunk(side, line: line)
                case .trailers(let fields): self.tap?.trailers(side, fields)
                }
            }
        }
    }

    /// Blocks of a large body go straight to the recorder without a copy if they fill most of their buffer's memory.
    private mutating func data(_ side: Tap.Side, _ bytes: UnsafeRawBufferPointer, of buffer: ByteBuffer, from offset: Int, at: Double) {
        if self.journal?.isOpen == false, self.tap?.spills(side, bytes.count) == true { self.outgrowsMemory(side) }
        if let id, self.journal == nil, self.tap?.isBlock(side, bytes.count) == true, buffer.storageCapacity <= 2 * bytes.count,
            let block = buffer.getSlice(at: buffer.readerIndex + offset, length: bytes.count)
        {
            self.tap?.passed(side, bytes, at: at)
            return self.proxy.record(.block(exchange: id, side: side, bytes: HeldBuffer(buffer: block)))
        }
        let block = self.tap?.data(side, bytes, at: at)
        if self.journal?.isOpen == true { self.keep(side, bytes, at: at) }
        guard let block, let id = self.tap?.id else { return }
        self.proxy.record(.block(exchange: id, side: side, bytes: block))
    }

    /// Bytes that leave memory now could not be added to the journal later.
    private mutating func outgrowsMemory(_ side: Tap.Side) {
        // A JSON array this long that came within the delay is a document, not a stream.
        if side == .response, self.journal?.answer.framing == .elements {
            self.journal = nil
        } else {
            self.openJournal()
        }
    }

    /// Drops the exchange: nothing of it is recorded.
    mutating func discard() {
        if self.tap != nil { self.proxy.session.didNotRecord() }
        self.tap = nil
        guard let id else { return }
        self.proxy.record(.dropped(exchange: id))
        self.proxy.configuration.watch?(.discarded(id: id))
    }

    /// Hands the exchange to the recorder, once.
    ///
    /// - Parameter stored: called later, when it is known whether the exchange is on disk.
    /// - Returns: whether `stored` will be called, which is the case only with full durability.
    mutating func end(_ outcome: Outcome, stored: @escaping (Result<Void, RecorderProblem>) -> Void) -> Bool {
        let at = self.elapsed
        guard let exchange = self.tap.take()?.ended(outcome, at: at) else { return false }
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

    /// The end of the answer is withheld until the exchange is on disk.
    var waitsForDisk: Bool { self.isOn && self.proxy.configuration.waitsForDisk }
}

/// What happens to an exchange before it reaches the cassette, or instead.
package enum WatchedExchange: Sendable {
    case began(id: Int, started: Timestamp, method: String, url: String)
    /// It will not be in the cassette.
    case discarded(id: Int)
    /// The recorded exchange at this index answers.
    case replayed(index: Int, method: String, url: String)
    /// No recorded exchange answers.
    case missed(method: String, url: String)
}

/// Selects what goes to the journal of a running exchange: whole events and messages, and any other request once it is complete.
private struct StreamJournal {
    /// nil if the request is not a stream.
    var request: StreamCutter?
    let requestHeaders: HeaderFields
    var answer: StreamCutter
    let answerHeaders: HeaderFields
    /// Milliseconds from the exchange's start to the answer's head.
    let answerStart: Double
    var isOpen = false
    /// Holds a request that is not a stream, because a secret split across two pieces would be detected in neither. nil if it is too long.
    private var heldRequest: [UInt8]? = []

    init(
        request: StreamCutter?, requestHeaders: HeaderFields, answer: StreamCutter, answerHeaders: HeaderFields, answerStart: Double
    ) {
        self.request = request
        self.requestHeaders = requestHeaders
        self.answer = answer
        self.answerHeaders = answerHeaders
        self.answerStart = answerStart
    }

    /// - Parameter bytes: nil at the end of the body.
    mutating func pieces(_ side: Tap.Side, _ bytes: UnsafeRawBufferPointer?, at: Double) -> [TapedStreamPiece] {
        guard side == .request else {
            return self.pieces(side, bytes.flatMap { self.answer.push($0) }, ends: bytes == nil, at: max(0, at - self.answerStart))
        }
        guard self.request == nil else {
            return self.pieces(side, bytes.flatMap { self.request?.push($0) }, ends: bytes == nil, at: at)
        }
        if let bytes {
            guard let held = self.heldRequest?.count, held + bytes.count <= BodyTap.blockSize else {
                self.heldRequest = nil
                return []
            }
            self.heldRequest?.append(contentsOf: bytes)
            return []
        }
        guard let whole = self.heldRequest.take() else { return [] }
        return self.pieces(side, whole.isEmpty ? nil : whole, ends: true, at: at)
    }

    private func pieces(_ side: Tap.Side, _ whole: [UInt8]?, ends: Bool, at: Double) -> [TapedStreamPiece] {
        let headers = side == .request ? self.requestHeaders : self.answerHeaders
        var pieces = whole.map { [TapedStreamPiece(side, $0, at: at, headers: headers)] } ?? []
        if ends { pieces.append(TapedStreamPiece(side, nil, at: at, headers: headers)) }
        return pieces
    }
}

/// A piece of a buffer that was read from a socket and is no longer written to.
private struct HeldBuffer: HeldBytes {
    let buffer: ByteBuffer

    var heldCount: Int { self.buffer.readableBytes }

    func withHeldBytes(_ body: (UnsafeRawBufferPointer) throws(CassetteError) -> Void) throws(CassetteError) {
        var result: Result<Void, CassetteError> = .success(())
        self.buffer.withUnsafeReadableBytes { bytes in
            do throws(CassetteError) { try body(bytes) } catch { result = .failure(error) }
        }
        try result.get()
    }
}
