internal import NIOCore
internal import TapeExchange

/// The requests of one HTTP/1 client connection: keeps the received bytes and parses heads and bodies from them (RFC 9112).
///
/// Independent of sockets and exchanges: see `HTTP1ClientConnection`.
struct HTTP1RequestReader {
    /// The result of reading the bytes between two requests.
    enum Reading {
        case head(RequestHead)
        /// Nothing, too few bytes to tell, or part of a head. `begins` is true for the first part.
        case needsMore(begins: Bool)
        /// The body of the last request, which was not asked for.
        case notHTTP
        /// The first bytes in a tunnel are not HTTP. They stay in the input.
        case otherProtocol
        /// The HTTP/2 preface (RFC 9113, 3.4), which stays in the input.
        case http2
        /// A SOCKS 5 client (RFC 1928, 3), whose first bytes stay in the input.
        case socks
    }

    private var input: ByteBuffer?
    private var head: HeadParser
    /// The body of the current request.
    private var body = HTTP1BodyReader.none
    private var bodyHasBegun = false
    /// The next bytes are a request, or the body of the last one, which was not asked for.
    private var mayBeBody = false
    /// The last request has been read to its end.
    private(set) var isRead = true
    private(set) var isInsideHead = false
    /// No request has been read, so HTTP/2 may begin here.
    private var mayBeHTTP2 = true
    /// The protocol negotiated with the client.
    private var agreed: AgreedProtocol?
    /// Another protocol may begin here, inside TLS.
    private var mayBeOther = false
    /// Nothing has been read, so SOCKS may begin here.
    private var mayBeSOCKS = true

    init(limits: Limits) { self.head = HeadParser(limits: limits) }

    // MARK: Input

    /// Whether the bytes that have not been read begin with a request line.
    var beginsRequest: Bool { self.input.map { ProtocolSniffer.request($0.readableBytesView) == .http } ?? false }

    /// The second word of the bytes that have not been read; nil if there is none.
    var target: String? {
        guard let view = self.input?.readableBytesView else { return nil }
        let line = view.prefix(2_000).prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        return words.count > 1 ? String(decoding: words[1], as: UTF8.self) : nil
    }

    /// Bytes received but not read yet.
    var size: Int { self.input?.readableBytes ?? 0 }

    mutating func append(_ buffer: ByteBuffer) {
        if self.size == 0 { self.input = buffer } else { self.input?.writeImmutableBuffer(buffer) }
    }

    mutating func dropInput() { self.input = nil }

    /// Takes the input out, for an exchange that reads raw bytes.
    mutating func takeInput() -> ByteBuffer? { self.input.take() }

    mutating func putBack(_ input: ByteBuffer) { self.input = input }

    /// Copies the remaining bytes, so that they do not keep a whole read buffer alive.
    mutating func compact() {
        guard let input else { return }
        if input.readableBytes == 0 {
            self.input = nil
        } else if input.readableBytes < input.capacity / 2 {
            self.input = ByteBuffer(buffer: input)
        }
    }

    // MARK: Requests

    mutating func readHead() throws(MessageError) -> Reading {
        guard var input else { return .needsMore(begins: false) }
        if self.mayBeSOCKS, let first = input.readableBytesView.first {
            self.mayBeSOCKS = false
            if first == 5 { return .socks }
        }
        if self.mayBeBody {
            switch ProtocolSniffer.request(input.readableBytesView) {
            case .http: self.mayBeBody = false
            case .needsMore: return .needsMore(begins: false)
            case .tls, .other: return .notHTTP
            }
        }
        if self.mayBeHTTP2 {
            // Whether the bytes are a valid preface is checked by HTTP/2.
            if self.agreed == .http2, input.readableBytes > 0 { return .http2 }
            switch Self.isPreface(input.readableBytesView) {
            case true? where self.agreed == .http1:
                throw MessageError(
                    .startLine, status: 400,
                    "HTTP/2 arrived on a connection that negotiated HTTP/1.1 (ALPN); offer \"h2\" in the TLS handshake")
            case true?: return .http2
            case nil: return .needsMore(begins: true)
            case false?: self.mayBeHTTP2 = false
            }
        }
        if self.mayBeOther {
            if ProtocolSniffer.isForeign(input.readableBytesView) { return .otherProtocol }
        }
        let parsed = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in try self.head.parseRequest(bytes) }
        guard let parsed else {
            let begins = !self.isInsideHead
            self.isInsideHead = true
            return .needsMore(begins: begins)
        }
        self.isInsideHead = false
        self.mayBeOther = false
        input.moveReaderIndex(forwardBy: parsed.consumed)
        self.input = input
        return .head(parsed.head)
    }

    /// nil if there are too few bytes to tell.
    private static func isPreface(_ bytes: ByteBufferView) -> Bool? {
        guard bytes.first == UInt8(ascii: "P") else { return bytes.isEmpty ? nil : false }
        let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8
        guard zip(bytes, preface).allSatisfy(==) else { return false }
        return bytes.count < preface.count ? nil : true
    }

    /// Starts again inside a tunnel.
    ///
    /// - Parameter agreed: the negotiated protocol; nil to detect it from the first bytes.
    mutating func enterTunnel(agreed: AgreedProtocol?) {
        self.mayBeHTTP2 = true
        self.mayBeOther = true
        self.agreed = agreed
    }

    /// A request begins. The next bytes are its body.
    mutating func begin(_ request: IncomingRequest, limits: Limits) {
        self.isRead = !request.hasBody
        self.bodyHasBegun = false
        self.body = HTTP1BodyReader(framing: request.framing, side: .request, limits: limits)
    }

    /// The next bytes of the request body; nil if none have arrived or the request has been read to its end.
    mutating func readBody() throws(MessageError) -> BodyPiece? {
        guard !self.isRead, var input = self.input.take() else { return nil }
        self.bodyHasBegun = true
        let piece = try self.body.read(&input)
        self.input = input
        self.isRead = piece.isLast
        return piece
    }

    /// No part of the body has arrived, and more is due.
    var awaitsBody: Bool { !self.isRead && !self.bodyHasBegun }

    /// The request is over. The next bytes are the next request.
    ///
    /// - Parameter mayBeBody: they may also be the body of this request, which was not asked for.
    mutating func end(mayBeBody: Bool) {
        self.mayBeBody = mayBeBody
        self.isRead = true
    }
}
