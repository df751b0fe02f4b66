internal import CassetteModel

/// How the end of a message's body is determined (RFC 9112, 6.3).
public enum BodyFraming: Sendable, Hashable {
    /// No body at all: neither an empty one nor a cut one.
    case none
    case length(Int)
    case chunked
    /// Of a response of HTTP/1 the connection's end, of HTTP/2 the stream's (RFC 9113, 8.1).
    case untilClose

    /// The framing of a request.
    public static func ofRequest(_ head: RequestHead) throws(MessageError) -> BodyFraming {
        let length = try self.contentLength(head.fields, side: .request)
        if head.version.major >= 2 { return length.map { .length($0) } ?? .untilClose }
        guard try self.isChunked(head.fields, version: head.version, side: .request) else { return length.map { .length($0) } ?? .none }
        try self.refuseBoth(length, side: .request)
        return .chunked
    }

    /// The framing of a response to a request with this method.
    public static func ofResponse(_ head: ResponseHead, requestMethod: String) throws(MessageError) -> BodyFraming {
        // RFC 9112, 6.3, rules 1 and 2: these have no body whatever their fields say.
        if requestMethod == "HEAD" || head.status < 200 || head.status == 204 || head.status == 304 { return .none }
        if requestMethod == "CONNECT", head.status < 300 { return .none }
        let length = try self.contentLength(head.fields, side: .response)
        if head.version.major >= 2 { return length.map { .length($0) } ?? .untilClose }
        if try self.isChunked(head.fields, version: head.version, side: .response) {
            try self.refuseBoth(length, side: .response)
            return .chunked
        }
        return length.map { .length($0) } ?? .untilClose
    }

    /// A message with both length fields "ought to be handled as an error" (RFC 9112, 6.3): two readers may take different lengths, and
    /// what is a body to one is a message to the other.
    private static func refuseBoth(_ length: Int?, side: MessageSide) throws(MessageError) {
        guard length != nil else { return }
        throw side.fault(.framing, "\(side.name) has both Content-Length and Transfer-Encoding; send one of them")
    }

    /// The value of Content-Length: digits alone, repeated only as the same line.
    ///
    /// RFC 9110, 8.6 lets a recipient merge equal values or refuse. Equal lines are merged (h11, Go); a list in one line is refused
    /// (Go, llhttp, nginx).
    private static func contentLength(_ fields: HeaderFields, side: MessageSide) throws(MessageError) -> Int? {
        guard let first = fields.firstIndex(of: "content-length") else { return nil }
        let value = fields.valueBytes(at: first)
        for index in (first + 1)..<max(first + 1, fields.count) where fields.isNamed("content-length", at: index) {
            guard fields.valueBytes(at: index) == value else {
                throw side.fault(.framing, "\(side.name) has Content-Length lines that differ; send one")
            }
        }
        var length = 0
        for byte in value {
            guard ASCII.isDigit(byte) else {
                throw side.fault(.framing, "\(side.name) has the Content-Length \(ASCII.quoted(value)); send digits only")
            }
            let (shifted, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, carry) = shifted.addingReportingOverflow(Int(byte - 48))
            guard !overflow, !carry else {
                throw side.fault(.framing, "\(side.name) has the Content-Length \(ASCII.quoted(value)); send at most \(Int.max)")
            }
            length = sum
        }
        guard !value.isEmpty else { throw side.fault(.framing, "\(side.name) has an empty Content-Length; send digits") }
        return length
    }

    /// Whether the one transfer coding is chunked; any other is refused, since nothing here can decode it (RFC 9112, 6.1).
    private static func isChunked(_ fields: HeaderFields, version: HTTPVersion, side: MessageSide) throws(MessageError) -> Bool {
        guard let first = fields.firstIndex(of: "transfer-encoding") else { return false }
        guard version >= .http11 else {
            // RFC 9112, 6.1: an HTTP/1.0 hop may have passed the field on without understanding it.
            throw side.fault(.framing, "\(side.name) is \(version) and has Transfer-Encoding; send HTTP/1.1")
        }
        for index in (first + 1)..<max(first + 1, fields.count) where fields.isNamed("transfer-encoding", at: index) {
            throw side.fault(.framing, "\(side.name) has several Transfer-Encoding lines; send one")
        }
        let value = fields.valueBytes(at: first)
        guard FieldList.equals(value, "chunked") else {
            // A name of a coding not implemented is 501 (RFC 9112, 6.1); anything else is no coding at all.
            throw side.fault(.coding, status: 501, "\(side.name) has the Transfer-Encoding \(ASCII.quoted(value)); send \"chunked\" alone")
        }
        return true
    }
}
