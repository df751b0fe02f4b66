internal import CassetteModel

/// How the end of a message's body is determined (RFC 9112, 6.3).
public enum BodyFraming: Sendable, Hashable {
    /// No body at all, as opposed to an empty or truncated one.
    case none
    case length(Int)
    case chunked
    /// Ends with the connection in an HTTP/1 response, and with the stream in HTTP/2 (RFC 9113, 8.1).
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
        // RFC 9112, 6.3, rules 1 and 2: these have no body, whatever their fields say.
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

    /// A message with both length fields "ought to be handled as an error" (RFC 9112, 6.3): two recipients may use different lengths, so
    /// that bytes of the body to one are another message to the other.
    private static func refuseBoth(_ length: Int?, side: MessageSide) throws(MessageError) {
        guard length != nil else { return }
        throw side.fault(.framing, "\(side.name) has both Content-Length and Transfer-Encoding; send one of them")
    }

    /// The value of Content-Length: only digits, and repeated only as the same line.
    ///
    /// RFC 9110, 8.6 lets a recipient either merge equal values or refuse them. Equal lines are merged (as by h11 and Go); a list in one
    /// line is refused (as by Go, llhttp and nginx).
    private static func contentLength(_ fields: HeaderFields, side: MessageSide) throws(MessageError) -> Int? {
        guard let first = fields.firstIndex(of: "content-length") else { return nil }
        let value = fields.valueBytes(at: first)
        for index in (first + 1)..<max(first + 1, fields.count) where fields.isNamed("content-length", at: index) {
            guard fields.valueBytes(at: index) == value else {
                throw side.fault(.framing, "\(side.name) has different Content-Length lines; send one")
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

    /// Whether the only transfer coding is chunked. Any other is refused, because nothing here can decode it (RFC 9112, 6.1).
    private static func isChunked(_ fields: HeaderFields, version: HTTPVersion, side: MessageSide) throws(MessageError) -> Bool {
        guard let first = fields.firstIndex(of: "transfer-encoding") else { return false }
        guard version >= .http11 else {
            // RFC 9112, 6.1: an HTTP/1.0 hop may have forwarded the field without understanding it.
            throw side.fault(.framing, "\(side.name) is \(version) and has Transfer-Encoding; send HTTP/1.1")
        }
        for index in (first + 1)..<max(first + 1, fields.count) where fields.isNamed("transfer-encoding", at: index) {
            throw side.fault(.framing, "\(side.name) has several Transfer-Encoding lines; send one")
        }
        let value = fields.valueBytes(at: first)
        guard FieldList.equals(value, "chunked") else {
            // RFC 9112, 6.1: the status for an unimplemented coding is 501. It is also used for values that do not name a coding.
            throw side.fault(.coding, status: 501, "\(side.name) has the Transfer-Encoding \(ASCII.quoted(value)); send only \"chunked\"")
        }
        return true
    }
}
