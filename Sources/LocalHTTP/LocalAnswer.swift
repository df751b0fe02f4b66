internal import TapeBytes
package import TapeExchange

/// A complete answer from a server on a loopback address: a status and a body, usually one JSON object.
///
/// An error's object is `{"error": {"code": ..., "message": ...}}`: the code is for programs, the message for people.
package struct LocalAnswer: Error, Sendable, Hashable {
    package var status: Int
    package var reason: String
    /// `Name: value`, without line ends.
    package var fields: [String]
    package var type: String
    package var body: [UInt8]

    package init(status: Int, reason: String, fields: [String] = [], type: String = "application/json", body: [UInt8]) {
        self.status = status
        self.reason = reason
        self.fields = fields
        self.type = type
        self.body = body
    }

    /// An error.
    package init(status: Int, reason: String, fields: [String] = [], code: String, message: String) {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("error")
        writer.beginObject(.inline)
        writer.member("code")
        writer.string(code)
        writer.member("message")
        writer.string(message)
        writer.endObject()
        writer.endObject()
        self.init(status: status, reason: reason, fields: fields, body: writer.bytes + [UInt8(ascii: "\n")])
    }

    /// The answer to a request that does not follow the grammar.
    package init(_ error: MessageError) {
        let reason =
            switch error.status {
            case 400: "Bad Request"
            case 414: "URI Too Long"
            case 417: "Expectation Failed"
            case 431: "Request Header Fields Too Large"
            case 501: "Not Implemented"
            case 505: "HTTP Version Not Supported"
            default: "Error"
            }
        self.init(status: error.status, reason: reason, code: "bad-request", message: error.message + ".")
    }

    /// The answer as sent.
    ///
    /// - Parameters:
    ///   - isHead: whether the request asked only for the head.
    ///   - keepsAlive: false if the connection closes afterwards.
    package func bytes(isHead: Bool = false, keepsAlive: Bool = false) -> [UInt8] {
        self.head(.length(self.body.count), keepsAlive: keepsAlive) + (isHead ? [] : self.body)
    }

    /// How a body is delimited.
    package enum Framing: Sendable, Hashable {
        case length(Int)
        /// The length is unknown when the body begins.
        case chunked
    }

    /// Only the head, for a body that is sent in pieces.
    package func head(_ framing: Framing, keepsAlive: Bool) -> [UInt8] {
        let length =
            switch framing {
            case .length(let length): "Content-Length: \(length)"
            case .chunked: "Transfer-Encoding: chunked"
            }
        let lines =
            ["HTTP/1.1 \(self.status) \(self.reason)"] + self.fields + [
                "Content-Type: \(self.type)", "X-Content-Type-Options: nosniff", "Cache-Control: no-store", length,
            ] + (keepsAlive ? [] : ["Connection: close"])
        return Array("\(lines.joined(separator: "\r\n"))\r\n\r\n".utf8)
    }

    package static let tooSlow = LocalAnswer(
        status: 408, reason: "Request Timeout", code: "timeout", message: "the request did not arrive in time: send it in one piece.")
}

/// An answer whose body is made piece by piece. Each piece is made when the client has taken the previous one.
///
/// Not Sendable: its caller asks for the pieces in turn.
package struct LocalStream {
    package var head: LocalAnswer
    package var framing: LocalAnswer.Framing
    /// The next piece; nil after the last. Throws if the body cannot continue, so that the client sees it truncated.
    package var next: () throws -> [UInt8]?

    package init(head: LocalAnswer, framing: LocalAnswer.Framing, next: @escaping () throws -> [UInt8]?) {
        self.head = head
        self.framing = framing
        self.next = next
    }

    /// A piece as a chunk (RFC 9112, 7.1), or unchanged if the length is known. Empty pieces are skipped, because an empty chunk ends a
    /// body.
    package static func wire(_ piece: [UInt8], _ framing: LocalAnswer.Framing) -> [UInt8] {
        guard framing == .chunked, !piece.isEmpty else { return piece }
        return Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10]
    }

    /// The bytes after the last piece.
    package static func end(_ framing: LocalAnswer.Framing) -> [UInt8] { framing == .chunked ? Array("0\r\n\r\n".utf8) : [] }
}

/// The bytes requested by a Range field (RFC 9110, 14.2).
package enum ByteRange: Equatable {
    case all
    case part(Range<Int>)
    /// Outside the available bytes: 416.
    case unsatisfiable

    /// Accepts a single range of bytes. A field that asks for anything else is ignored, as the RFC allows.
    package init(_ field: String?, of size: Int) {
        self = .all
        guard let field, field.lowercased().hasPrefix("bytes=") else { return }
        let sides = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
        guard sides.count == 2, sides.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }) else { return }
        switch (Int(sides[0]), Int(sides[1])) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        case (let first?, nil) where sides[1].isEmpty: self = first < size ? .part(first..<size) : .unsatisfiable
        case (nil, let count?) where sides[0].isEmpty: self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        default: return
        }
    }

    /// The status of an answer, the field that describes its content, and the bytes. Throws 416.
    package static func resolve(_ field: String?, of size: Int) throws(LocalAnswer) -> (answer: LocalAnswer, range: Range<Int>) {
        let type = "application/octet-stream"
        switch ByteRange(field, of: size) {
        case .all: return (LocalAnswer(status: 200, reason: "OK", fields: ["Accept-Ranges: bytes"], type: type, body: []), 0..<size)
        case .part(let range):
            let content = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return (LocalAnswer(status: 206, reason: "Partial Content", fields: [content], type: type, body: []), range)
        case .unsatisfiable:
            throw LocalAnswer(
                status: 416, reason: "Range Not Satisfiable", fields: ["Content-Range: bytes */\(size)"], code: "range",
                message: "the range is not within the \(size) bytes: request one that is.")
        }
    }
}
