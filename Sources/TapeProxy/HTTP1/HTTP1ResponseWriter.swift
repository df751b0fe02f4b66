internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// One answer as an HTTP/1 client gets it: its head, the framing of its body, and what becomes of the connection (RFC 9112).
///
/// Gives buffers to write, in order. Knows no sockets: see `HTTP1ClientConnection`.
struct HTTP1ResponseWriter {
    /// A body of up to so many bytes is copied after its head; more is cheaper to write from two places.
    private static let joinLimit = 4096

    private let request: IncomingRequest
    /// The head waits for the first bytes of the body: one write for a small answer.
    private var heldHead: ByteBuffer?
    /// A chunked answer to an HTTP/1.0 client goes out without its chunk framing (RFC 9112, 6.1).
    private var removesChunking = false
    private var status = 0
    /// The client reads our close as the end of the body (RFC 9112, 6.3).
    private(set) var endsByClose = false
    /// The client may take the connection to stay open after the answer.
    private(set) var persists = false

    init(_ request: IncomingRequest) { self.request = request }

    /// Nil for a client that knows no interim responses (RFC 9110, 15.2).
    func interim(_ head: ResponseHead) -> ByteBuffer? {
        guard HopByHop.passesInterim(to: self.request.head.version) else { return nil }
        return ByteBuffer(
            bytes: HopByHop.forwardedResponse(
                self.request.reverse?.response(head) ?? head, keepsClient: true, clientVersion: self.request.head.version))
    }

    /// - Parameter mayPersist: the proxy would serve another request on the connection.
    mutating func begin(_ head: ResponseHead, framing: BodyFraming, mayPersist: Bool) {
        self.status = head.status
        self.removesChunking = HopByHop.needsDechunking(framing, clientVersion: self.request.head.version)
        self.endsByClose = framing == .untilClose || self.removesChunking
        self.persists =
            mayPersist && self.request.persists && !self.endsByClose && Persistence.staysOpen(after: head, framing: framing)
        // As the client gets it, which may know the origin under another name.
        let shown = self.request.reverse?.response(head) ?? head
        self.heldHead = ByteBuffer(
            bytes: HopByHop.forwardedResponse(
                shown, keepsClient: self.persists, clientVersion: self.request.head.version, removesChunking: self.removesChunking))
    }

    /// What to write for a piece of the body, the head before it if that is still held.
    mutating func body(_ piece: BodyPiece, write: (ByteBuffer) -> Void) {
        let bytes = self.removesChunking ? piece.payload : piece.bytes
        if var head = self.heldHead.take() {
            if bytes.readableBytes <= Self.joinLimit {
                head.writeImmutableBuffer(bytes)
                return write(head)
            }
            write(head)
        }
        if bytes.readableBytes > 0 { write(bytes) }
    }

    /// Bytes of the head that are not written yet.
    var heldSize: Int { self.heldHead?.readableBytes ?? 0 }

    mutating func takeHeldHead() -> ByteBuffer? { self.heldHead.take() }

    /// An answer of the proxy's own.
    ///
    /// - Parameter keeps: the connection serves another request.
    mutating func own(_ answer: ProxyAnswer, keeps: Bool) -> ByteBuffer {
        self.persists = keeps && self.request.persists
        let option: ConnectionOption = !self.persists ? .close : self.request.head.version >= .http11 ? .none : .keepAlive
        return ByteBuffer(bytes: answer.bytes(method: self.request.head.method, persistence: option))
    }

    /// A recorded answer in one piece; nil if this client needs it another way.
    mutating func ready(_ answer: ReadyAnswer, mayPersist: Bool) -> ByteBuffer? {
        guard mayPersist, self.request.persists, self.request.head.version >= .http11 else { return nil }
        self.persists = true
        guard let reverse = self.request.reverse else { return ByteBuffer(bytes: answer.bytes) }
        return ByteBuffer(bytes: reverse.response(wire: answer.bytes, clientVersion: self.request.head.version))
    }

    /// Whether the next request may come on this connection though the body of this one was neither asked for nor sent: 417 tells the client
    /// to repeat the request without its expectation (RFC 9110, 10.1.1).
    var invitesRepetition: Bool { self.status == 417 && self.request.expectsContinue }
}

/// A recorded answer as an HTTP/1.1 client that keeps its connection gets it: head and body in one piece.
struct ReadyAnswer: Sendable {
    let bytes: [UInt8]

    /// Nil if such a client does not get it in one piece: it ends its connection, was cut, or has a body that is too large to hold.
    init?(_ answer: RecordedAnswer) {
        guard let head = answer.head, answer.isComplete, answer.outcome == .complete, answer.interim.isEmpty, answer.requestWasRead,
            Persistence.staysOpen(after: head, framing: answer.framing)
        else { return nil }
        var bytes = HopByHop.forwardedResponse(head, keepsClient: true, clientVersion: .http11)
        switch answer.payload {
        case .file, .parts, .coded: return nil
        case .none: break
        case .bytes(let body):
            var framer = BodyFramer(
                arrival: answer.arrival, isChunked: answer.framing == .chunked, size: body.count, isComplete: true,
                trailers: answer.trailers)
            body.withUnsafeBytes { framer.frame($0, into: &bytes) }
            framer.end(into: &bytes)
        }
        self.bytes = bytes
    }
}
