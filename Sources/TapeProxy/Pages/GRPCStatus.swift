internal import CassetteModel
internal import TapeExchange

/// The end of a gRPC call that the proxy answers itself: a status, and a sentence that the client's library shows (gRPC over HTTP2,
/// "Responses").
struct GRPCStatus: Sendable, Hashable {
    /// The most bytes of an encoded message. Clients accept 8 KiB of fields in total.
    static let messageLimit = 4096

    /// The gRPC status code.
    var code: Int
    var message: String
    /// The value of the `Wiretape-Error` field.
    var error: String

    /// The call differed from the recording. Libraries do not retry on 9, FAILED_PRECONDITION.
    static func miss(_ text: String) -> GRPCStatus { GRPCStatus(code: 9, message: ProxyAnswer.missPrefix + text, error: "miss") }

    static func deadline(_ text: String) -> GRPCStatus { GRPCStatus(code: 4, message: text, error: "timeout") }

    init(code: Int, message: String, error: String) {
        self.code = code
        self.message = message
        self.error = error
    }

    /// nil if the answer is not an error.
    init?(_ answer: ProxyAnswer) {
        guard let error = answer.error else { return nil }
        self.init(code: Self.code(answer.status, error), message: answer.text, error: error)
    }

    /// Maps the actual problem, not the HTTP status by gRPC's table, which is for those who know nothing else. The reasons are in
    /// docs/decisions/0045-grpc-statuses.md.
    private static func code(_ status: Int, _ error: String) -> Int {
        switch (status, error) {
        // The origin sent something other than HTTP: INTERNAL.
        case (_, Failure.Kind.malformed.rawValue): 13
        // INTERNAL
        case (400, _), (414, _), (417, _), (431, _), (505, _): 13
        // UNAUTHENTICATED
        case (401, _), (407, _): 16
        // PERMISSION_DENIED
        case (403, _): 7
        // DEADLINE_EXCEEDED
        case (408, _), (504, _): 4
        // FAILED_PRECONDITION: a miss, or a problem that a different client configuration would fix.
        case (421, _), (424, _), (508, _): 9
        // UNIMPLEMENTED
        case (501, _): 12
        // UNAVAILABLE
        case (502, _), (503, _): 14
        // RESOURCE_EXHAUSTED
        case (507, _): 8
        // DATA_LOSS: the cassette cannot be read.
        case (500, _): 15
        // UNKNOWN
        default: 2
        }
    }

    /// Sent after a body, or in place of one.
    var trailers: HeaderFields {
        var fields = HeaderFields()
        fields.append(name: "grpc-status", value: String(self.code))
        fields.append(name: "grpc-message", value: Self.encoded(self.message))
        fields.append(name: "wiretape-error", value: self.error)
        return fields
    }

    /// The head of an answer that consists only of trailers.
    func head(_ call: GRPCCall) -> ResponseHead {
        var fields = HeaderFields()
        fields.append(name: "content-type", value: call.contentType)
        let trailers = self.trailers
        for index in 0..<trailers.count { fields.append(line: trailers.line(at: index)) }
        return ResponseHead(version: .http2, status: 200, reason: [], fields: fields)
    }

    /// Percent-encodes everything but visible ASCII and spaces, and the percent sign itself ("Status-Message"). Truncated after a whole
    /// character.
    static func encoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for character in text.unicodeScalars {
            let bytes = Array(String(character).utf8)
            let isPlain = bytes.count == 1 && (0x20...0x7E).contains(bytes[0]) && bytes[0] != UInt8(ascii: "%")
            guard encoded.count + (isPlain ? 1 : 3 * bytes.count) <= self.messageLimit else { break }
            if isPlain {
                encoded += bytes
            } else {
                for byte in bytes { encoded += Array("%\(Self.hex(byte >> 4))\(Self.hex(byte & 15))".utf8) }
            }
        }
        // Leading and trailing spaces are not part of a field's value (RFC 9113, 8.2.1).
        while encoded.last == UInt8(ascii: " ") { encoded.removeLast() }
        let start = encoded.firstIndex { $0 != UInt8(ascii: " ") } ?? encoded.endIndex
        return String(decoding: encoded[start...], as: UTF8.self)
    }

    private static func hex(_ digit: UInt8) -> String { String(digit, radix: 16, uppercase: true) }
}
