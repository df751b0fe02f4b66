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
    fileprivate var isSearched = false

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

/// The whole body of a request that was too long for memory, on its way to the journal of its exchange. It takes as many lines as its length
/// needs, so it may have any.
package struct TapedLargeRequest: ConversationMessage {
    /// Of one line, in bytes of the body. JSON escapes a byte to at most six, which a line of a journal has room for.
    static let pieceSize = 128 << 10

    private let at: Double
    /// The bytes after the last block.
    private let rest: [UInt8]
    private let headers: HeaderFields
    /// The body without its secrets, where that is known: in memory, or as a whole in the place's spool.
    private enum Searched { case unchanged, memory([UInt8]), spool }
    private var searched: Searched?

    /// - Parameters:
    ///   - rest: the bytes after the last block that was handed on.
    ///   - at: milliseconds since the request head.
    package init(rest: [UInt8], at: Double, headers: HeaderFields) {
        (self.rest, self.at, self.headers) = (rest, at, headers)
    }

    package var weight: Int { 128 + self.rest.count }
    package var mayTakeLong: Bool { true }
    package var needsRequest: Bool { true }

    /// The bytes as they were sent. Throws if the blocks are missing: it must not look as if the request had a shorter body.
    private func sent(_ place: MessagePlace) throws -> ByteSource {
        guard let spool = place.spool else { throw Missing() }
        return ByteSource(joining: [spool.source, ByteSource(self.rest)])
    }

    private struct Missing: Error {}

    /// As the exchange itself is redacted: in memory up to a limit, and in pieces beyond it.
    package mutating func search(_ place: inout MessagePlace) throws {
        let sent = try self.sent(place)
        guard let redactor = place.redactor else {
            self.searched = .unchanged
            return
        }
        guard sent.size > ExchangeRedaction.memoryLimit else {
            var request = RecordedRequest(method: "", url: "", headers: self.headers)
            let bytes = try sent.load()
            var body: WireBody? = WireBody(bytes)
            _ = redactor.redact(request: &request, body: &body)
            self.searched = .memory(body?.bytes ?? bytes)
            return
        }
        var fresh: OpenSpool?
        let outcome = try redactor.redact(sent, headers: self.headers, isComplete: true) { piece in
            let target = try fresh ?? OpenSpool(place.store.makeSpool(), digest: NoDigest())
            fresh = target
            try target.write(piece)
        }
        if let fresh, outcome.isBodyChanged {
            place.spool = fresh
            self.searched = .spool
        } else {
            self.searched = .unchanged
        }
    }

    /// Not used: see `writeLines`.
    package func write(_ place: MessagePlace, into writer: inout JSONWriter) throws {
        try self.writeLines(place, into: &writer) { _ in }
    }

    package func writeLines(_ place: MessagePlace, into writer: inout JSONWriter, take: (inout JSONWriter) throws -> Void) throws {
        var (message, place) = (self, place)
        if message.searched == nil { try message.search(&place) }
        let source: ByteSource =
            switch message.searched {
            case .memory(let bytes): ByteSource(bytes)
            case .spool: place.spool?.source ?? ByteSource([])
            case .unchanged, nil: try message.sent(place)
            }
        var start = 0
        while start < source.size {
            let end = min(start + Self.pieceSize, source.size)
            var piece = TapedStreamPiece(.request, try source[start..<end].load(), at: self.at, headers: self.headers)
            piece.isSearched = true
            try piece.write(place, into: &writer)
            try take(&writer)
            start = end
        }
    }
}

/// For files that are removed again, and never named by their content.
struct NoDigest: ContentDigest {
    func update(_ bytes: UnsafeRawBufferPointer) {}
    func finalize() -> [UInt8] { [] }
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
