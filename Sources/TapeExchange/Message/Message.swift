public import CassetteModel

/// The request line and header section of a request, as received; of HTTP/2, what its pseudo-fields say (RFC 9113, 8.3.1).
///
/// The target is visible ASCII but otherwise unchecked: see `RequestTarget`.
public struct RequestHead: Sendable, Hashable {
    public var method: String
    /// Of HTTP/2 the path. ASCII: bytes above 0x7F are percent-encoded.
    public var target: String
    /// The target as it came, if it has bytes above 0x7F; nil otherwise.
    public var rawTarget: [UInt8]?
    /// Of HTTP/2 the host and port; nil for HTTP/1, which has a Host field.
    public var authority: String?
    public var version: HTTPVersion
    public var fields: HeaderFields
    public var neverIndexed = NeverIndexed()
    /// What an extended CONNECT asks for, as `websocket` (RFC 8441, 4). Its method is GET here, as that of HTTP/1.1's request for the same.
    public var connectProtocol: String?

    public init(method: String, target: String, version: HTTPVersion, fields: HeaderFields) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
    }
}

extension RequestHead {
    /// Takes a target as it came. Some clients send other letters than ASCII's as they are, against RFC 3986, 2.
    ///
    /// - Parameter target: without control bytes.
    public mutating func take(target: some Collection<UInt8>) {
        guard target.contains(where: { $0 >= 0x80 }) else { return }
        self.rawTarget = Array(target)
        self.target = PercentEncoding.ofNonASCII(target)
    }

    /// The bytes to send for the last part of the target: as they came, if it was percent-encoded here.
    public func wire(_ originForm: String) -> [UInt8] {
        guard let rawTarget else { return Array(originForm.utf8) }
        var start = rawTarget.endIndex
        var left = originForm.utf8.count
        while start > rawTarget.startIndex, left > 0 {
            start -= 1
            left -= rawTarget[start] >= 0x80 ? 3 : 1
        }
        // A path that begins with a query has a slash that did not come.
        guard start < rawTarget.endIndex, let first = originForm.utf8.first, first != rawTarget[start], rawTarget[start] < 0x80 else {
            return Array(rawTarget[start...])
        }
        return [first] + rawTarget[(start + 1)...]
    }
}

/// Percent-encoding of what URLs hold in ASCII only (RFC 3986, 2.1).
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
    /// The response of this head; its body follows.
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

/// Which peer wrote a message: decides how a fault is named and answered.
public enum MessageSide: Sendable, Hashable {
    case request, response

    /// A fault of the client keeps its status; a fault of the origin is a bad gateway (RFC 9110, 15.6.3).
    func fault(_ code: MessageError.Code, status: Int = 400, _ message: String) -> MessageError {
        MessageError(code, status: self == .request ? status : 502, message)
    }

    var name: String { self == .request ? "request" : "response" }
    var startLineName: String { self == .request ? "request line" : "status line" }
}

/// Why a message was refused.
///
/// Has the status to answer with and a text for people; does not know the connection.
public struct MessageError: Error, Hashable, Sendable {
    public var code: Code
    /// The status to answer a client with; 502 if the origin's message is at fault.
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
        /// A bare CR, a bare LF or an empty line where none belongs.
        public static var lineEnd: Self { Self(value: .lineEnd) }
        /// A field line that does not follow the grammar.
        public static var field: Self { Self(value: .field) }
        /// A line or section past its limit.
        public static var tooLong: Self { Self(value: .tooLong) }
        /// More field lines than the limit.
        public static var tooManyFields: Self { Self(value: .tooManyFields) }
        /// A message whose end is in doubt.
        public static var framing: Self { Self(value: .framing) }
        /// A transfer coding other than chunked.
        public static var coding: Self { Self(value: .coding) }
        /// A chunk that does not follow the grammar.
        public static var chunk: Self { Self(value: .chunk) }
        /// A trailer field that must not be there.
        public static var trailer: Self { Self(value: .trailer) }
        /// A request target that does not follow the grammar or fit the method.
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

/// How much of each part of a message a peer may send before it is refused.
///
/// Counts bytes and lines only; the proxy limits time and the size of bodies.
public struct Limits: Sendable, Hashable {
    /// Bytes of a request line or status line without its CRLF. RFC 9112, 3 asks for at least 8,000; nginx
    /// (`large_client_header_buffers`) and Apache (`LimitRequestLine`) stop at 8 KiB, HAProxy (`tune.bufsize`) at 16 KiB, but browsers send
    /// beacons with URLs of 17 KiB. This leaves room for a URL of 64 KiB.
    public var startLine = 65 * 1024

    /// Bytes of a header section with all its line ends. nginx takes 4 buffers of 8 KiB, HAProxy 16 KiB, Node 16 KiB,
    /// Apache 100 fields of 8 KiB; curl takes 300 KiB from an origin.
    public var headerSection = 64 * 1024

    /// Lines of a header section: with HTTP/2's 32 bytes for each (RFC 9113, 6.5.2), the bytes of a section hold no more. Apache
    /// (`LimitRequestFields`) takes 100 and HAProxy (`tune.http.maxhdr`) 101, but answers with 150 `Set-Cookie` are in use.
    public var fields = 2048

    /// Empty lines skipped before a request line (RFC 9112, 2.2: "at least one").
    public var leadingEmptyLines = 2

    /// Bytes of one chunk-size line without its CRLF. Go (`net/http/internal`, `maxLineLength`) takes 4,096.
    public var chunkLine = 4 * 1024

    /// Bytes of chunk extensions, over a whole body, beyond the payload of their chunks: so a long signed body passes and a flood does
    /// not (CVE-2023-39326). Go allows 16 KiB in the same way, Node 16 KiB a chunk.
    public var chunkExtensions = 16 * 1024

    /// Bytes of a trailer section with all its line ends: as large as HAProxy's buffer.
    public var trailerSection = 16 * 1024

    /// Interim (1xx) responses before a final one; Go's client gave up after 5.
    public var interimResponses = 16

    public init() {}
}
