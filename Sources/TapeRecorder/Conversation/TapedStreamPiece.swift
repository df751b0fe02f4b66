package import CassetteModel
internal import CassetteRedaction
package import TapeBytes
package import TapeExchange

/// Whole events, messages, values or parts of a body that its sender makes bit by bit, on their way to the journal of their exchange.
///
/// The exchange itself is recorded when it ends, like any other. These pieces matter only if the recorder ends first.
package struct TapedStreamPiece: ConversationMessage {
    private let side: Tap.Side
    /// Milliseconds since the request head for the request, and since the answer's head for the answer.
    private let at: Double
    /// nil for the end of the body.
    private var bytes: [UInt8]?
    private let headers: HeaderFields
    /// Secrets have been removed from the bytes.
    private var isSearched = false

    /// - Parameters:
    ///   - bytes: nil if the body has ended.
    ///   - headers: the message's fields, which determine the type of its body.
    package init(_ side: Tap.Side, _ bytes: [UInt8]?, at: Double, headers: HeaderFields) {
        self.side = side
        self.at = at
        self.bytes = bytes
        self.headers = headers
    }

    /// Even a short piece costs as much time as the search of about a kilobyte.
    package var weight: Int { 1024 + (self.bytes?.count ?? 0) }

    package var mayTakeLong: Bool { (self.bytes?.count ?? 0) > ExchangeRedaction.textAtOnce }

    package mutating func search(_ place: inout MessagePlace) throws {
        guard let bytes, let redactor = place.redactor else { return }
        var request = RecordedRequest(method: "", url: "", headers: self.headers)
        var body: WireBody? = WireBody(bytes)
        _ = redactor.redact(request: &request, body: &body)
        self.bytes = body?.bytes ?? bytes
        self.isSearched = true
    }

    package func write(_ place: MessagePlace, into writer: inout JSONWriter) throws {
        var (piece, place) = (self, place)
        if !piece.isSearched { try piece.search(&place) }
        writer.beginObject(.inline)
        writer.member("at")
        writer.milliseconds(self.at)
        writer.member("from")
        writer.string(self.side == .request ? "client" : "server")
        if let bytes = piece.bytes {
            let isText = UTF8Validator.isValid(bytes)
            writer.member(isText ? "text" : "base64")
            bytes.withUnsafeBytes { if isText { writer.string(utf8: $0) } else { writer.base64($0) } }
        } else {
            writer.member("end")
            writer.bool(true)
        }
        writer.endObject()
    }
}

/// The whole body of a request that was too long for memory, on its way to the journal of its exchange.
package struct TapedLargeRequest: ConversationMessage {
    private let at: Double
    /// The bytes after the last block.
    private let rest: [UInt8]
    private let headers: HeaderFields
    /// The body without its secrets, once it has been searched.
    private var searched: TapedStreamPiece?

    /// - Parameters:
    ///   - rest: the bytes after the last block that was handed on.
    ///   - at: milliseconds since the request head.
    package init(rest: [UInt8], at: Double, headers: HeaderFields) {
        (self.rest, self.at, self.headers) = (rest, at, headers)
    }

    package var weight: Int { 128 + self.rest.count }
    package var mayTakeLong: Bool { true }
    package var needsRequest: Bool { true }

    /// Nil if it is too long for the journal.
    private func whole(_ place: MessagePlace) -> TapedStreamPiece? {
        place.request.map { TapedStreamPiece(.request, $0 + self.rest, at: self.at, headers: self.headers) }
    }

    package mutating func search(_ place: inout MessagePlace) throws {
        guard var piece = self.whole(place) else { return }
        try piece.search(&place)
        self.searched = piece
    }

    package func write(_ place: MessagePlace, into writer: inout JSONWriter) throws {
        guard let piece = self.searched ?? self.whole(place) else { throw TooLong() }
        try piece.write(place, into: &writer)
    }

    /// The journal then ends before the answer: it must not look as if the request had no body.
    private struct TooLong: Error {}
}

/// Cuts a long-running body into its events, messages, values or parts as it arrives.
///
/// Holds incomplete ones, up to a limit.
package struct StreamCutter: Sendable {
    /// Bytes of an incomplete event or message.
    private static let limit = 256 << 10

    package let framing: StreamFraming
    private var divider: StreamDivider
    private var held: [UInt8] = []
    /// Something longer than the limit arrived, so nothing is cut any more.
    private var isGivenUp = false

    /// Nil for a body that is no stream, or that is coded as a whole, so that its content is unknown until its end.
    package init?(_ headers: HeaderFields) {
        guard let framing = StreamFraming(headers) else { return nil }
        self.framing = framing
        self.divider = StreamDivider(framing)
    }

    /// Takes the next bytes and returns those that form whole events or messages now, if any.
    package mutating func push(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard !self.isGivenUp, !bytes.isEmpty else { return nil }
        var end: Int?
        self.divider.push(bytes) { end = $0 }
        guard let end else {
            self.held.append(contentsOf: bytes)
            self.isGivenUp = self.held.count > Self.limit
            return nil
        }
        var whole: [UInt8] = []
        swap(&whole, &self.held)
        whole.append(contentsOf: bytes[..<end])
        self.held.append(contentsOf: bytes[end...])
        return whole.isEmpty ? nil : whole
    }
}
