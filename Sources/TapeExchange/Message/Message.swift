public import CassetteModel

/// The request line and header section of a request, as received. For HTTP/2, the pseudo-fields provide them (RFC 9113, 8.3.1).
///
/// The target is visible ASCII but otherwise unchecked: see `RequestTarget`.
public struct RequestHead: Sendable, Hashable {
    public var method: String
    /// For HTTP/2, the path. ASCII: bytes above 0x7F are percent-encoded.
    public var target: String
    /// The target as received, if it has bytes above 0x7F; nil otherwise.
    public var rawTarget: [UInt8]?
    /// For HTTP/2, the host and port; nil for HTTP/1, which has a Host field.
    public var authority: String?
    public var version: HTTPVersion
    public var fields: HeaderFields
    public var neverIndexed = NeverIndexed()
    /// The protocol that an extended CONNECT asks for, such as `websocket` (RFC 8441, 4). Its method is GET here, as in the HTTP/1.1
    /// equivalent.
    public var connectProtocol: String?

    public init(method: String, target: String, version: HTTPVersion, fields: HeaderFields) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
    }
}

extension RequestHead {
    /// Sets the target as received. Some clients send non-ASCII letters unencoded, contrary to RFC 3986, 2.
    ///
    /// - Parameter target: must not contain control bytes.
    public mutating func take(target: some Collection<UInt8>) {
        guard target.contains(where: { $0 >= 0x80 }) else { return }
        self.rawTarget = Array(target)
        self.target = PercentEncoding.ofNonASCII(target)
    }

    /// The bytes to send for the last part of the target: as received, if it was percent-encoded here.
    public func wire(_ originForm: String) -> [UInt8] {
        guard let rawTarget else { return Array(originForm.utf8) }
        var start = rawTarget.endIndex
        var left = originForm.utf8.count
        while start > rawTarget.startIndex, left > 0 {
            start -= 1
            left -= rawTarget[start] >= 0x80 ? 3 : 1
        }
        // If a path began with a query, its slash was added here and is not in the received bytes.
        guard start < rawTarget.endIndex, let first = originForm.utf8.first, first != rawTarget[start], rawTarget[start] < 0x80 else {
            return Array(rawTarget[start...])
        }
        return [first] + rawTarget[(start + 1)...]
    }
}

/// Percent-encoding of bytes that URLs may contain only as ASCII (RFC 3986, 2.1).
enum PercentEncoding {
    static func ofNonASCII(_ bytes: some Collection<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            if byte < 0x80 { text.append(byte) } else { text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The status line and header section of a response, as received.
public struct ResponseHead: Sendable, Hashable {
    public var version: HTTPVersion
    public var status: Int
    public var reason: [UInt8]
    /// The line ended after the status: even the space before the (empty) reason was missing.
    public var omitsReasonSpace: Bool
    public var fields: HeaderFields
    public var neverIndexed = NeverIndexed()

    public init(version: HTTPVersion, status: Int, reason: [UInt8], omitsReasonSpace: Bool = false, fields: HeaderFields) {
        self.version = version
        self.status = status
        self.reason = reason
        self.omitsReasonSpace = omitsReasonSpace && reason.isEmpty
        self.fields = fields
    }
}

extension RecordedResponse {
    /// The response with this head. Its body follows.
    public init(_ head: ResponseHead) {
        self.init(status: head.status, reason: head.reason, version: head.version, headers: head.fields)
        self.omitsReasonSpace = head.omitsReasonSpace
    }
}

extension InterimResponse {
    /// - Parameter at: milliseconds since the exchange started.
    public init(_ head: ResponseHead, at: Double) {
        self.init(version: head.version, status: head.status, reason: head.reason, headers: head.fields, at: at)
        self.omitsReasonSpace = head.omitsReasonSpace
    }
}

/// Which peer wrote a message, which determines how an error is named and answered.
public enum MessageSide: Sendable, Hashable {
    case request, response

    /// A client's error keeps its status. An origin's error is a bad gateway (RFC 9110, 15.6.3).
    func fault(_ code: MessageError.Code, status: Int = 400, _ message: String) -> MessageError {
        MessageError(code, status: self == .request ? status : 502, message)
    }

    var name: String { self == .request ? "request" : "response" }
    var startLineName: String { self == .request ? "request line" : "status line" }
}

/// Why a message was refused.
///
/// Contains the status to answer with and a text for people. Independent of the connection.
public struct MessageError: Error, Hashable, Sendable {
    public var code: Code
    /// The status to answer a client with; 502 if the origin's message is invalid.
    public var status: Int
    /// What is wrong with which part of the message, and what to do next.
    public var message: String

    public struct Code: Hashable, Sendable {
        private enum Value {
            case startLine, version, lineEnd, field, tooLong, tooManyFields, framing, coding, chunk, trailer, target, host
        }
        private var value: Value

        /// A request line or status line that does not follow the grammar.
        public static var startLine: Self { Self(value: .startLine) }
        /// A major version other than 1.
        public static var version: Self { Self(value: .version) }
        /// A bare CR, a bare LF, or an unexpected empty line.
        public static var lineEnd: Self { Self(value: .lineEnd) }
        /// A field line that does not follow the grammar.
        public static var field: Self { Self(value: .field) }
        /// A line or section beyond its limit.
        public static var tooLong: Self { Self(value: .tooLong) }
        /// More field lines than the limit.
        public static var tooManyFields: Self { Self(value: .tooManyFields) }
        /// A message whose end is ambiguous.
        public static var framing: Self { Self(value: .framing) }
        /// A transfer coding other than chunked.
        public static var coding: Self { Self(value: .coding) }
        /// A chunk that does not follow the grammar.
        public static var chunk: Self { Self(value: .chunk) }
        /// A field that is not allowed in a trailer.
        public static var trailer: Self { Self(value: .trailer) }
        /// A request target that does not follow the grammar or does not fit the method.
        public static var target: Self { Self(value: .target) }
        /// A missing, repeated or malformed Host field.
        public static var host: Self { Self(value: .host) }
    }

    public init(_ code: Code, status: Int, _ message: String) {
        self.code = code
        self.status = status
        self.message = message
    }
}

/// How much a peer may send of each part of a message before the message is refused.
///
/// Counts only bytes and lines. The proxy limits time and the size of bodies.
public struct Limits: Sendable, Hashable {
    /// Bytes of a request line or status line without its CRLF. RFC 9112, 3 asks for at least 8,000; nginx (`large_client_header_buffers`)
    /// and Apache (`LimitRequestLine`) stop at 8 KiB, HAProxy (`tune.bufsize`) at 16 KiB. However, browsers send beacons with URLs of 17
    /// KiB. This leaves room for a URL of 64 KiB.
    public var startLine = 65 * 1024

    /// Bytes of a header section including all line ends. nginx accepts 4 buffers of 8 KiB, HAProxy 16 KiB, Node 16 KiB, and Apache 100
    /// fields of
    /// 8 KiB; curl accepts 300 KiB from an origin.
    public var headerSection = 64 * 1024

    /// Lines of a header section. At HTTP/2's 32 bytes per line (RFC 9113, 6.5.2), a section of that size holds no more. Apache
    /// (`LimitRequestFields`) accepts 100 and HAProxy (`tune.http.maxhdr`) 101, but answers with 150 `Set-Cookie` lines occur in practice.
    public var fields = 2048

    /// Empty lines skipped before a request line (RFC 9112, 2.2: "at least one").
    public var leadingEmptyLines = 2

    /// Bytes of one chunk-size line without its CRLF. Go (`net/http/internal`, `maxLineLength`) accepts 4,096.
    public var chunkLine = 4 * 1024

    /// Bytes of chunk extensions in a whole body beyond the payload of their chunks, so that a long signed body passes but a flood does not
    /// (CVE-2023-39326). Go allows 16 KiB in the same way, Node 16 KiB per chunk.
    public var chunkExtensions = 16 * 1024

    /// Bytes of a trailer section including all line ends: the size of HAProxy's buffer.
    public var trailerSection = 16 * 1024

    /// Interim (1xx) responses before a final one. Go's client used to give up after 5.
    public var interimResponses = 16

    public init() {}
}
