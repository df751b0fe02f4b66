internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeHTTP2

/// One stream of an HTTP/2 client connection: a request and its answer.
///
/// Keeps the received part of the request body until the exchange reads it: at most one window. Not Sendable: lives on its event loop.
final class HTTP2ClientStream: ClientStream, TimedConnection {
    /// Bytes of an answer that may wait for the client's window: less than one TLS record, which most origins fill. Bytes that are read
    /// from the origin in the same turn of the event loop may exceed this.
    private static let highWater = 8 << 10

    let peer: ClientPeer
    private let id: Int32
    private let codec: HTTP2Connection
    /// nil once the client has left. A recorder that waits for its disk may call an exchange back after that.
    private weak var connection: HTTP2ClientConnection?
    private let request: IncomingRequest
    private var exchange: (any ClientExchange)?
    private var input = ByteBuffer()
    private var window = StreamWindow()
    private var trailers: HTTP2FieldSection?
    /// The client has sent its last byte.
    private var isEnded = false
    /// The exchange has received the last byte.
    private var isDelivered = false
    private var isReading = false
    private var isDelivering = false
    private var answerTrailers: HTTP2Fields?
    private var hasHead = false
    /// Set once the answer is complete. The client has to take it by then.
    private var drainDeadline: NIODeadline?
    private var lastPending = 0
    private(set) var isWritable = true
    private var isStalled = false
    private(set) var answerSize = 0
    /// How the connection of the origin broke, and ended the answer; nil if it did not.
    private(set) var brokenBy: ConnectionBreak?
    /// Everything before the break has been sent.
    var hasReachedBreak = false

    init(_ id: Int32, codec: HTTP2Connection, connection: HTTP2ClientConnection, request: IncomingRequest) {
        self.id = id
        self.codec = codec
        self.connection = connection
        self.peer = connection.peer.ofStream()
        self.request = request
        self.isDelivered = !request.hasBody && request.head.connectProtocol == nil
    }

    private var proxy: ProxyContext { self.peer.session }

    /// A stream whose session differs from the connection's ends with its own session.
    func opened() { if self.peer !== self.connection?.peer { self.peer.opened(self) } }

    private func left() { if self.peer !== self.connection?.peer { self.peer.closed(self) } }

    func begin(_ exchange: any ClientExchange) {
        self.exchange = exchange
        exchange.start()
    }

    /// The exchange takes raw bytes, and each direction ends separately.
    var isTunnel: Bool {
        if case .tunnel? = self.exchange?.kind { true } else { false }
    }

    // MARK: The request

    func receive(_ bytes: ByteBuffer) {
        guard !self.isDelivered else { return self.codec.credit(self.id, bytes.readableBytes) }
        if self.input.readableBytes == 0 { self.input = bytes } else { self.input.writeImmutableBuffer(bytes) }
    }

    func receive(trailers section: HTTP2FieldSection) {
        guard section.problem == nil, !section.isTooLarge else { return self.codec.reset(self.id, code: .protocolError) }
        self.trailers = section
    }

    func inputEnded() {
        self.isEnded = true
    }

    /// The client has closed its side of the connection. A request that is not complete stays incomplete.
    func inputCut() {
        guard !self.isEnded else { return }
        self.codec.reset(self.id, code: .cancel)
        self.leave("client closed its side before the end of its request")
    }

    var hasInput: Bool { self.input.readableBytes > 0 || (self.isEnded && !self.isDelivered) }

    func setReading(_ reads: Bool) {
        self.isReading = reads
        if reads { self.deliver() }
    }

    /// Gives the exchange the received bytes, if it reads.
    func deliver() {
        guard !self.isDelivering, !self.isDelivered, self.hasInput else { return }
        if case .tunnel(let exchange)? = self.exchange?.kind { return self.pass(to: exchange) }
        guard self.isReading, case .message(let exchange)? = self.exchange?.kind else { return self.keepInput() }
        self.isDelivering = true
        var bytes = ByteBuffer()
        swap(&bytes, &self.input)
        self.isDelivered = self.isEnded
        var events: [BodyEvent]?
        if self.isEnded, let trailers { events = [.data(0..<bytes.readableBytes), .trailers(trailers.fields)] }
        self.codec.credit(self.id, bytes.readableBytes)
        if !self.isEnded, let size = self.window.took(bytes.readableBytes) { self.codec.growWindow(self.id, to: size) }
        var piece = BodyPiece(bytes: bytes, events: events, isLast: self.isEnded)
        if let trailers { piece.neverIndexed = trailers.neverIndexed }
        exchange.requestBody(piece)
        self.isDelivering = false
        self.connection?.flush()
    }

    /// Passes on a WebSocket in the stream (RFC 8441): raw bytes, and a separate end for each direction.
    private func pass(to exchange: any TunnelExchange) {
        guard self.isReading, exchange.takesBytes else { return self.keepInput() }
        self.isDelivering = true
        var bytes = ByteBuffer()
        swap(&bytes, &self.input)
        let count = bytes.readableBytes
        if count > 0 { exchange.clientBytes(&bytes) }
        let taken = count - bytes.readableBytes
        if bytes.readableBytes > 0 { self.input = bytes }
        self.codec.credit(self.id, taken)
        if !self.isEnded, let size = self.window.took(taken) { self.codec.growWindow(self.id, to: size) }
        if self.isEnded, bytes.readableBytes == 0 {
            self.isDelivered = true
            if !exchange.clientEnded() { self.finish() }
        }
        self.isDelivering = false
        self.connection?.flush()
    }

    /// Releases unused memory while bytes wait for the exchange: they may be a small part of a large read buffer.
    private func keepInput() {
        guard self.input.readableBytes > 0 else { return }
        self.window.stalled()
        self.input.compact()
    }

    // MARK: The answer

    func send(interim head: ResponseHead) {
        self.codec.interim(self.id, HTTP2Fields(self.request.reverse?.response(head) ?? head))
    }

    func send(_ head: ResponseHead, framing: BodyFraming) {
        self.hasHead = true
        let fields = HTTP2Fields(self.request.reverse?.response(head) ?? head)
        self.answerSize += fields.size
        self.codec.respond(self.id, fields, hasBody: framing != .none)
    }

    func send(_ piece: BodyPiece) {
        if let events = piece.events {
            for case .trailers(let fields) in events {
                self.answerTrailers = HTTP2Fields(trailers: fields, neverIndexed: piece.neverIndexed)
            }
        }
        self.write(piece.payload)
    }

    func write(_ buffer: ByteBuffer) {
        self.answerSize += buffer.readableBytes
        self.codec.send(self.id, buffer)
        guard self.isWritable, self.codec.pending(self.id) >= Self.highWater else { return }
        self.isWritable = false
        self.connection?.isBlocked(self, self.id)
    }

    func send(_ answer: ProxyAnswer, isFinal: Bool) {
        self.proxy.count { $0.answered += 1 }
        self.proxy.log.answered(status: answer.status, error: answer.error, connection: self.peer.id)
        if let call = self.request.call, let status = GRPCStatus(answer) { return self.send(status.head(call), framing: .none) }
        let hasBody = self.request.head.method != "HEAD" && !answer.isBodiless
        self.send(answer.head, framing: hasBody ? .length(answer.body.count) : .none)
        if hasBody { self.write(ByteBuffer(bytes: answer.body)) }
    }

    /// Recorded answers are cached in HTTP/1 form, which cannot be sent here.
    func send(_ answer: ReadyAnswer) -> Bool { false }

    func flush() { self.connection?.flush() }

    /// The client takes nothing more for now, and much of this answer is left. It may be a long time until it reads again.
    func stalled() {
        guard !self.isStalled, !self.isWritable else { return }
        self.isStalled = true
        self.codec.compact(self.id)
        self.exchange?.clientStalled()
        self.exchange?.clientWritabilityChanged(false)
    }

    /// Whether the client has taken enough of the answer for more to be written.
    func isWritableAgain() -> Bool {
        guard self.codec.pending(self.id) < Self.highWater / 2 else { return false }
        self.isWritable = true
        self.isStalled = false
        // Also resumes senders that stop only because of `isWritable`.
        self.exchange?.clientWritabilityChanged(true)
        return self.isWritable
    }

    func finish() {
        guard self.exchange != nil else { return }
        self.exchange = nil
        self.startDraining()
        self.codec.end(self.id, trailers: self.answerTrailers)
        self.connection?.flush()
    }

    /// RFC 9113, 8.7.
    func refuse() -> Bool {
        self.exchange = nil
        self.startDraining()
        self.codec.reset(self.id, code: .refusedStream)
        self.connection?.flush()
        return true
    }

    func cut() { self.cut(.reset(.internalError)) }
    func cut(code: UInt32) { self.cut(.reset(HTTP2ErrorCode(rawValue: code))) }

    /// The connection of the origin broke. That of the client breaks as well, if this concerns no other stream.
    func breakOff(isReset: Bool) {
        self.brokenBy = isReset ? .reset : .close
        self.cut(.broken)
    }

    private func cut(_ cut: HTTP2Cut) {
        self.exchange = nil
        self.startDraining()
        self.codec.cut(self.id, cut)
        self.connection?.flush()
    }

    func reset(code: UInt32, isOfConnection: Bool) {
        self.exchange = nil
        self.startDraining()
        if isOfConnection {
            self.codec.end(code: HTTP2ErrorCode(rawValue: code))
        } else {
            self.codec.reset(self.id, code: HTTP2ErrorCode(rawValue: code))
        }
        self.connection?.flush()
    }

    func close() {
        let exchange = self.exchange.take()
        self.startDraining()
        self.codec.reset(self.id, code: .cancel)
        self.connection?.flush()
        exchange?.clientLeft("client stream closed")
    }

    func become(_ exchange: any ClientExchange) {
        guard self.exchange != nil else { return }
        self.exchange = exchange
    }

    /// The other direction of a tunnel continues.
    func closeOutput() {
        self.codec.end(self.id)
        self.connection?.flush()
    }

    func closeAfterFlush(isCut: Bool) {
        if isCut { self.cut() } else { self.finish() }
    }

    // MARK: Ends

    /// Ends the exchange of a client that has left. The exchange gets the bytes of its request that it has not read.
    private func leave(_ reason: String) {
        let exchange = self.exchange.take()
        if case .message(let exchange)? = exchange?.kind, !self.isDelivered, self.input.readableBytes > 0 || self.isEnded {
            exchange.requestRest(BodyPiece(bytes: self.input, isLast: self.isEnded))
            self.input = ByteBuffer()
        }
        exchange?.clientLeft(reason)
    }

    /// - Parameter code: why the stream was ended by the client, or by nghttp2 on its behalf.
    func closed(_ code: HTTP2ErrorCode) {
        self.leave("client reset its stream: \(code)")
        self.left()
    }

    func connectionLeft(_ reason: String) {
        self.leave(reason)
        self.left()
    }

    func stop() { if self.isIdle { self.close() } }

    func abort() {
        self.proxyStopped()
        self.close()
    }

    func proxyStopped() { self.exchange?.proxyStopped() }

    // MARK: Time

    private func startDraining() {
        self.drainDeadline = self.proxy.now + .seconds(Int64(self.proxy.limits.clientStall))
        self.lastPending = self.codec.pending(self.id)
    }

    var isIdle: Bool { self.exchange?.isIdle ?? false }

    var deadline: NIODeadline { self.exchange?.deadline ?? self.drainDeadline ?? .distantFuture }

    /// Whether the client has taken nothing of a complete answer since its time limit began.
    var hasStalled: Bool { self.exchange == nil && self.codec.pending(self.id) >= self.lastPending }

    func deadlinePassed() {
        if let exchange { return exchange.deadlinePassed() }
        if self.hasStalled { self.codec.reset(self.id, code: .cancel) } else { self.startDraining() }
    }
}
