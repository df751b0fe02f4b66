internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeHTTP2

/// One request to an origin that speaks HTTP/2, and its answer.
///
/// While the exchange does not read, keeps the received part of the answer's body: at most one window. Not Sendable: lives on its event
/// loop.
final class HTTP2UpstreamStream: UpstreamStream {
    /// Bytes of a request that may wait for the origin's window.
    private static let highWater = 64 << 10

    private let connection: HTTP2UpstreamConnection
    private var exchange: (any UpstreamExchange)?
    /// nil until the request has been sent.
    private var id: Int32?
    private var method = ""
    private var input = ByteBuffer()
    private var window = StreamWindow()
    private var trailers: HTTP2FieldSection?
    private var requestTrailers: HTTP2Fields?
    private var requestIsSent = false
    private var isReading = true
    private var hasHead = false
    private var hasBody = false
    private var interimCount = 0
    private var isEnded = false
    private var isOver = false
    /// Why the answer ends after the part that is kept.
    private var failure: Failure?
    private var isDelivering = false
    private(set) var isWritable = true

    init(_ connection: HTTP2UpstreamConnection) { self.connection = connection }

    var version: HTTPVersion { .http2 }

    private var authority: String { self.connection.route.origin.authority }

    // MARK: Exchanges

    func take(_ exchange: any UpstreamExchange) { self.exchange = exchange }

    func takePeerNames() -> [String] { self.connection.connection.takePeerNames() }

    var number: Int? { self.id.map(Int.init) }

    func use() -> (info: ConnectionInfo, timing: DialTiming?) { self.connection.connection.use() }

    /// Requests with credentials for a connection never use HTTP/2, whose connections are shared.
    func bind(to client: Int) {}

    func release(by client: Int) { self.leave(.noError) }

    func cancel() { self.leave(.cancel) }

    func cancelAfterFlush() {
        self.connection.flushNow()
        self.cancel()
    }

    private func leave(_ code: HTTP2ErrorCode) {
        self.exchange = nil
        guard !self.isOver else { return }
        self.isOver = true
        guard let id else { return self.connection.forget() }
        if !(self.isEnded && self.requestIsSent) { self.connection.reset(id, code: code) }
    }

    // MARK: The request

    func send(_ head: RequestHead, target: RequestTarget, framing: BodyFraming) {
        let hasBody = framing != .none && framing != .length(0)
        self.method = head.method
        self.requestIsSent = !hasBody
        let fields = HTTP2Fields(head, target: target, origin: self.connection.route.origin)
        let waits = hasBody && self.connection.isFull
        guard let id = self.connection.open(self, fields, hasBody: hasBody) else {
            self.isOver = true
            self.connection.forget()
            self.exchange?.originFailed(
                Failure(kind: .reset, message: "\"\(self.authority)\" accepts no more requests on its connection."), isUnprocessed: true)
            return
        }
        self.id = id
        guard waits else { return }
        // The body is not requested until the head has been sent. Until then the request may be sent again on another connection.
        self.block(id)
    }

    private func block(_ id: Int32) {
        self.isWritable = false
        self.connection.isBlocked(self, id)
        self.exchange?.originWritabilityChanged(false)
    }

    func send(_ piece: BodyPiece) {
        guard let id, !self.isOver else { return }
        for case .trailers(let fields) in piece.events ?? [] {
            self.requestTrailers = HTTP2Fields(trailers: fields, neverIndexed: piece.neverIndexed)
        }
        self.connection.send(id, piece.payload)
        if piece.isLast {
            self.requestIsSent = true
            self.connection.end(id, trailers: self.requestTrailers)
        }
        if self.isWritable, self.connection.pending(id) >= Self.highWater { self.block(id) }
    }

    func flush() { self.connection.flush() }

    /// Whether the origin has taken enough of the request for more to be written.
    func isWritableAgain() -> Bool {
        guard let id, self.connection.wasSent(id), self.connection.pending(id) < Self.highWater / 2 else { return false }
        self.isWritable = true
        self.exchange?.originWritabilityChanged(true)
        return self.isWritable
    }

    // MARK: The answer

    func setReading(_ reads: Bool) {
        guard reads != self.isReading else { return }
        self.isReading = reads
        // Deferred, because the exchange may be in the middle of something.
        if reads, self.id != nil { self.connection.deliverLater(self) }
    }

    /// The connection also reads for other streams, so its reads do not shrink.
    func shrinkReads() {}

    func receive(_ section: HTTP2FieldSection, endsStream: Bool) {
        guard !self.isOver, let exchange else { return }
        if endsStream { self.isEnded = true }
        guard !self.hasHead else { return self.trailers = section }
        do throws(MessageError) {
            let head = try ResponseHead(section)
            guard head.status >= 200 else {
                self.interimCount += 1
                guard self.interimCount <= Limits().interimResponses else {
                    throw MessageError(.tooManyFields, status: 502, "more than \(Limits().interimResponses) interim responses")
                }
                return exchange.originInterim(head)
            }
            self.hasHead = true
            let framing = endsStream ? .none : try BodyFraming.ofResponse(head, requestMethod: self.method)
            self.hasBody = framing != .none
            exchange.originHead(head, framing: framing)
        } catch {
            if let id { self.connection.reset(id, code: .protocolError) }
            let failure = Failure(answer: error, of: self.authority)
            self.fail(failure, begun: failure)
        }
    }

    func receive(_ bytes: ByteBuffer) {
        if self.input.readableBytes == 0 { self.input = bytes } else { self.input.writeImmutableBuffer(bytes) }
        if self.isOver || !self.hasBody { self.takeInput() }
    }

    func inputEnded() { self.isEnded = true }

    /// Takes the kept bytes, which allows the origin to send as many more.
    @discardableResult
    private func takeInput() -> ByteBuffer {
        var bytes = ByteBuffer()
        swap(&bytes, &self.input)
        guard let id, bytes.readableBytes > 0 else { return bytes }
        self.connection.credit(id, bytes.readableBytes, window: self.isEnded ? nil : self.window.took(bytes.readableBytes))
        return bytes
    }

    /// Releases unused memory while bytes wait for the exchange: they may be a small part of a large read buffer.
    private func keepInput() {
        guard self.input.readableBytes > 0 else { return }
        self.window.stalled()
        self.input.compact()
    }

    /// Gives the exchange the received bytes, if it reads.
    func deliver() {
        guard !self.isDelivering, !self.isOver, let exchange else { return }
        guard self.isReading else { return self.keepInput() }
        self.isDelivering = true
        if self.hasHead, self.hasBody, self.input.readableBytes > 0 || self.isEnded {
            let bytes = self.takeInput()
            var events: [BodyEvent]?
            if self.isEnded, let trailers { events = [.data(0..<bytes.readableBytes), .trailers(trailers.fields)] }
            var piece = BodyPiece(bytes: bytes, events: events, isLast: self.isEnded)
            if let trailers { piece.neverIndexed = trailers.neverIndexed }
            exchange.originBody(piece)
        }
        if self.isEnded, self.hasHead, !self.isOver {
            self.isOver = self.requestIsSent
            exchange.originEnded(readsOn: true)
        }
        self.isDelivering = false
        if let failure = self.failure.take() { self.fail(failure, begun: failure) }
        exchange.originReadComplete()
    }

    // MARK: Ends

    /// - Parameter code: why the stream was ended by the origin, or by nghttp2 on its behalf.
    func closed(_ code: HTTP2ErrorCode) {
        // The usual case: the exchange is over.
        guard !self.isSettled else { return }
        let failure = Failure(
            kind: self.hasHead ? .truncated : .reset, message: "\"\(self.authority)\" reset the stream of the request: \(code).",
            code: Int(code.rawValue))
        // With HTTP_1_1_REQUIRED, the origin has not acted on the request either: it wants it again on another connection.
        self.fail(failure, begun: failure, isUnprocessed: code == .refusedStream || code == .http11Required)
    }

    /// A failure no longer matters, even if the whole answer still waits to be read.
    private var isSettled: Bool { self.isOver || (self.isEnded && self.hasHead) }

    /// - Parameter begun: the failure to report if the answer has begun.
    func fail(_ failure: Failure, begun: Failure, isUnprocessed: Bool = false) {
        guard !self.isSettled else { return }
        // The part of an answer that waits to be read is not lost together with the connection.
        guard self.isReading || self.input.readableBytes == 0 else { return self.failure = begun }
        self.isOver = true
        let exchange = self.exchange
        self.exchange = nil
        exchange?.originFailed(self.hasHead ? begun : failure, isUnprocessed: isUnprocessed)
    }
}
