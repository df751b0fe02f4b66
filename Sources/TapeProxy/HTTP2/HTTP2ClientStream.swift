internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeHTTP2

/// One stream of an HTTP/2 client connection: a request, and its answer.
///
/// Keeps what came of the request's body until its exchange reads, a window of it at most. Not Sendable: lives on its event loop.
final class HTTP2ClientStream: ClientStream {
    /// Bytes of an answer that may wait for the client's window.
    private static let highWater = 64 << 10

    let peer: ClientPeer
    private let id: Int32
    private let codec: HTTP2Connection
    /// Nil once the client has left: a recorder that waits for its disk calls an exchange back later.
    private weak var connection: HTTP2ClientConnection?
    private let request: IncomingRequest
    private var exchange: (any ClientExchange)?
    private var input = ByteBuffer()
    private var trailers: HeaderFields?
    /// The client has sent its last byte.
    private var isEnded = false
    /// The exchange has had its last byte.
    private var isDelivered = false
    private var isReading = false
    private var isDelivering = false
    private var answerTrailers: HeaderFields?
    private var hasHead = false
    /// Set once the answer is complete: from then on the client has to take it.
    private var drainDeadline: NIODeadline?
    private var lastPending = 0
    private(set) var isWritable = true
    private(set) var answerSize = 0

    init(_ id: Int32, codec: HTTP2Connection, connection: HTTP2ClientConnection, request: IncomingRequest) {
        self.id = id
        self.codec = codec
        self.connection = connection
        self.peer = connection.peer
        self.request = request
        self.isDelivered = !request.hasBody
    }

    private var proxy: ProxyContext { self.peer.session }

    func begin(_ exchange: any ClientExchange) {
        self.exchange = exchange
        exchange.start()
    }

    // MARK: The request

    func receive(_ bytes: ByteBuffer) {
        guard !self.isDelivered else { return self.codec.credit(self.id, bytes.readableBytes) }
        if self.input.readableBytes == 0 { self.input = bytes } else { self.input.writeImmutableBuffer(bytes) }
    }

    func receive(trailers section: HTTP2FieldSection) {
        guard section.problem == nil, !section.isTooLarge else { return self.codec.reset(self.id, code: .protocolError) }
        self.trailers = section.fields
    }

    func inputEnded() {
        self.isEnded = true
    }

    var hasInput: Bool { self.input.readableBytes > 0 || (self.isEnded && !self.isDelivered) }

    func setReading(_ reads: Bool) {
        self.isReading = reads
        if reads { self.deliver() }
    }

    /// Gives the exchange what has come, if it reads.
    func deliver() {
        guard self.isReading, !self.isDelivering, !self.isDelivered, self.hasInput, case .message(let exchange)? = self.exchange?.kind
        else {
            return
        }
        self.isDelivering = true
        var bytes = ByteBuffer()
        swap(&bytes, &self.input)
        self.isDelivered = self.isEnded
        var events: [BodyEvent]?
        if self.isEnded, let trailers { events = [.data(0..<bytes.readableBytes), .trailers(trailers)] }
        self.codec.credit(self.id, bytes.readableBytes)
        exchange.requestBody(BodyPiece(bytes: bytes, events: events, isLast: self.isEnded))
        self.isDelivering = false
        self.connection?.flush()
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
            for case .trailers(let fields) in events { self.answerTrailers = fields }
        }
        self.write(piece.payload)
    }

    func write(_ buffer: ByteBuffer) {
        self.answerSize += buffer.readableBytes
        self.codec.send(self.id, buffer)
        guard self.isWritable, self.codec.pending(self.id) >= Self.highWater else { return }
        self.isWritable = false
        self.exchange?.clientWritabilityChanged(false)
    }

    func send(_ answer: ProxyAnswer, isFinal: Bool) {
        self.proxy.log.answered(status: answer.status, error: answer.error, connection: self.peer.id)
        let hasBody = self.request.head.method != "HEAD"
        self.send(answer.head, framing: hasBody ? .length(answer.body.count) : .none)
        if hasBody { self.write(ByteBuffer(bytes: answer.body)) }
    }

    /// A recorded answer is kept as HTTP/1 sends it.
    func send(_ answer: ReadyAnswer) -> Bool { false }

    func flush() { self.connection?.flush() }

    /// The client has taken some of the answer: more may be written.
    func checkWritability() {
        let pending = self.codec.pending(self.id)
        if pending < self.lastPending, self.drainDeadline != nil { self.startDraining() }
        self.lastPending = pending
        guard !self.isWritable, pending < Self.highWater / 2 else { return }
        self.isWritable = true
        self.exchange?.clientWritabilityChanged(true)
    }

    func finish() {
        guard self.exchange != nil else { return }
        self.exchange = nil
        self.startDraining()
        self.codec.end(self.id, trailers: self.answerTrailers.map { HTTP2Fields(trailers: $0) })
        self.connection?.flush()
    }

    /// The answer is complete, the rest of its request is not wanted (RFC 9113, 8.1).
    func answerSent() {
        if !self.isEnded { self.codec.reset(self.id, code: .noError) }
    }

    func cut() {
        self.exchange = nil
        self.startDraining()
        self.codec.cut(self.id, code: .internalError)
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

    func closeOutput() { self.finish() }

    func closeAfterFlush(isCut: Bool) {
        if isCut { self.cut() } else { self.finish() }
    }

    // MARK: Ends

    /// - Parameter code: why the client, or nghttp2 for it, ended the stream.
    func closed(_ code: HTTP2ErrorCode) {
        self.exchange.take()?.clientLeft("client reset its stream: \(code)")
    }

    func connectionLeft(_ reason: String) {
        self.exchange.take()?.clientLeft(reason)
    }

    func proxyStopped() { self.exchange?.proxyStopped() }

    // MARK: Time

    private func startDraining() { self.drainDeadline = self.proxy.now + .seconds(Int64(self.proxy.limits.clientStall)) }

    /// No exchange works for it: the client has to take what was written.
    var isOver: Bool { self.exchange == nil }

    var isIdle: Bool { self.exchange?.isIdle ?? false }

    var deadline: NIODeadline { self.exchange?.deadline ?? self.drainDeadline ?? .distantFuture }

    func deadlinePassed() {
        guard let exchange else { return self.codec.reset(self.id, code: .cancel) }
        exchange.deadlinePassed()
    }
}
