internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// Writes one answer to an HTTP/1 client: its head and its body's framing. Decides whether the connection stays open (RFC 9112).
///
/// Makes the buffers, in order. Independent of sockets: see `HTTP1ClientConnection`.
struct HTTP1ResponseWriter {
    /// The largest body, in bytes, that is copied into the buffer of its head. A second buffer is cheaper for a larger body.
    private static let joinLimit = 4096

    private let request: IncomingRequest
    /// The head waits for the first bytes of the body, so that a small answer takes one write.
    private var heldHead: ByteBuffer?
    /// A chunked answer is sent to an HTTP/1.0 client without its chunk framing (RFC 9112, 6.1).
    private var removesChunking = false
    /// Chunks an HTTP/2 answer that has no length.
    private var chunking: ChunkWriter?
    private var status = 0
    /// Closing the connection ends the body (RFC 9112, 6.3).
    private(set) var endsByClose = false
    /// The connection may stay open after the answer, as far as the client knows.
    private(set) var persists = false

    init(_ request: IncomingRequest) { self.request = request }

    /// nil if the client does not support interim responses (RFC 9110, 15.2).
    func interim(_ head: ResponseHead) -> ByteBuffer? {
        guard HopByHop.passesInterim(to: self.request.head.version) else { return nil }
        return ByteBuffer(
            bytes: HopByHop.forwardedResponse(
                (self.request.reverse?.response(head) ?? head).asHTTP1(.none, method: "HEAD").head, keepsClient: true,
                clientVersion: self.request.head.version))
    }

    /// - Parameter mayPersist: the proxy would serve another request on the connection.
    mutating func begin(_ head: ResponseHead, framing: BodyFraming, mayPersist: Bool) {
        self.status = head.status
        let (head, framing) = self.translated(head, framing)
        self.removesChunking = HopByHop.needsDechunking(framing, clientVersion: self.request.head.version)
        self.endsByClose = framing == .untilClose || self.removesChunking
        self.persists =
            mayPersist && self.request.persists && !self.endsByClose && Persistence.staysOpen(after: head, framing: framing)
        // In reverse mode, the client uses another name for the origin.
        let shown = self.request.reverse?.response(head) ?? head
        self.heldHead = ByteBuffer(
            bytes: HopByHop.forwardedResponse(
                shown, keepsClient: self.persists, clientVersion: self.request.head.version, removesChunking: self.removesChunking))
    }

    /// Translates an HTTP/2 answer to HTTP/1. Without a length, it is chunked if the client supports that; otherwise closing ends it.
    private mutating func translated(_ head: ResponseHead, _ framing: BodyFraming) -> (ResponseHead, BodyFraming) {
        guard head.version.major >= 2 else { return (head, framing) }
        let translated = head.asHTTP1(framing, method: self.request.head.method, knowsChunked: self.request.head.version >= .http11)
        if translated.framing == .chunked {
            self.chunking = ChunkWriter(sendsTrailers: HopByHop.takesTrailers(self.request.head.fields))
        }
        return translated
    }

    /// Writes a piece of the body, after the head if that is still held.
    mutating func body(_ piece: BodyPiece, write: (ByteBuffer) -> Void) {
        let bytes = self.chunking?.write(piece) ?? (self.removesChunking ? piece.payload : piece.bytes)
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

    /// An answer from the proxy itself.
    ///
    /// - Parameter keeps: the connection may serve another request.
    mutating func local(_ answer: ProxyAnswer, keeps: Bool) -> ByteBuffer {
        self.persists = keeps && self.request.persists
        let option: ConnectionOption = !self.persists ? .close : self.request.head.version >= .http11 ? .none : .keepAlive
        return ByteBuffer(bytes: answer.bytes(method: self.request.head.method, persistence: option))
    }

    /// A recorded answer in one piece; nil if this client needs it in another form.
    mutating func ready(_ answer: ReadyAnswer, mayPersist: Bool) -> ByteBuffer? {
        guard mayPersist, self.request.persists, self.request.head.version >= .http11 else { return nil }
        self.persists = true
        guard let reverse = self.request.reverse else { return answer.buffer }
        return ByteBuffer(bytes: reverse.response(wire: answer.bytes, clientVersion: self.request.head.version))
    }

    /// Whether the next request may come on this connection although the body of this one was neither requested nor sent. 417 tells the
    /// client to repeat the request without its expectation (RFC 9110, 10.1.1).
    var invitesRepetition: Bool { self.status == 417 && self.request.expectsContinue }
}

/// Frames HTTP/2 bodies, which have no length, for HTTP/1.1 (RFC 9112, 7.1).
struct ChunkWriter {
    /// The recipient has asked for trailers (RFC 9110, 6.5.1).
    let sendsTrailers: Bool

    func write(_ piece: BodyPiece) -> ByteBuffer {
        let payload = piece.payload
        var out = ByteBuffer()
        if payload.readableBytes > 0 {
            out.writeString("\(String(payload.readableBytes, radix: 16))\r\n")
            out.writeImmutableBuffer(payload)
            out.writeString("\r\n")
        }
        guard piece.isLast else { return out }
        out.writeString("0\r\n")
        if self.sendsTrailers { for case .trailers(let fields) in piece.events ?? [] { out.writeBytes(fields.bytes) } }
        out.writeString("\r\n")
        return out
    }
}

/// A recorded answer for an HTTP/1.1 client that keeps its connection open: head and body in one piece.
struct ReadyAnswer: Sendable {
    /// Sent unchanged to each client, so nothing may write to it.
    let buffer: ByteBuffer

    /// Wraps an answer that was prepared before.
    init(_ buffer: ByteBuffer) { self.buffer = buffer }

    var bytes: [UInt8] { Array(self.buffer.readableBytesView) }

    /// nil if the answer cannot be sent in one piece: it closes its connection, is truncated, has a body too large to hold in memory, or
    /// has a field that must fit the request.
    init?(_ answer: RecordedAnswer) {
        guard let head = answer.head, answer.isComplete, answer.outcome == .complete, answer.interim.isEmpty, answer.requestWasRead,
            Persistence.staysOpen(after: head, framing: answer.framing),
            !DigestAuthenticationInfo.isIn(head.fields), answer.trailers.map(DigestAuthenticationInfo.isIn) != true
        else { return nil }
        var bytes = HopByHop.forwardedResponse(
            head.asHTTP1(answer.framing, method: answer.method).head, keepsClient: true, clientVersion: .http11)
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
        self.buffer = ByteBuffer(bytes: bytes)
    }
}

/// The Connection field of the proxy's own answers (RFC 9112, 9.3).
enum ConnectionOption: Sendable {
    /// An HTTP/1.1 connection stays open without the field.
    case none
    /// An HTTP/1.0 client needs the field to keep the connection open.
    case keepAlive
    case close
}
