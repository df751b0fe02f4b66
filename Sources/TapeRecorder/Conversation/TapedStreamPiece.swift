package import CassetteModel
internal import CassetteRedaction
package import TapeBytes
package import TapeExchange

/// Whole events of a `text/event-stream`, or whole gRPC messages, on their way to the journal of their exchange.
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

    package var weight: Int { 128 + (self.bytes?.count ?? 0) }

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

/// Cuts a long-running body into its events or messages as it arrives.
///
/// Holds incomplete ones, up to a limit.
package struct StreamCutter: Sendable {
    /// Bytes of an incomplete event or message.
    private static let limit = 256 << 10

    private let isGRPC: Bool
    private var frames = GRPCFrames()
    private var held: [UInt8] = []
    /// Something longer than the limit arrived, so nothing is cut any more.
    package private(set) var isGivenUp = false

    /// nil for a body that is not a stream of events or messages, or that is coded as a whole, so that its content is unknown until its
    /// end.
    package init?(_ headers: HeaderFields) {
        if GRPCType(headers) != nil {
            self.isGRPC = true
        } else if headers.areOfEventStream {
            self.isGRPC = false
        } else {
            return nil
        }
        guard !headers.contains("content-encoding") else { return nil }
    }

    /// Takes the next bytes and returns those that form whole events or messages now, if any.
    package mutating func push(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard !self.isGivenUp, !bytes.isEmpty else { return nil }
        let end = self.isGRPC ? self.messagesEnd(bytes) : self.eventsEnd(bytes)
        guard end > 0 else {
            self.held.append(contentsOf: bytes)
            self.isGivenUp = self.held.count > Self.limit
            return nil
        }
        var whole: [UInt8] = []
        swap(&whole, &self.held)
        whole.append(contentsOf: bytes[..<end])
        self.held.append(contentsOf: bytes[end...])
        return whole
    }

    /// How many of the bytes belong to complete messages.
    private mutating func messagesEnd(_ bytes: UnsafeRawBufferPointer) -> Int {
        var (offset, end) = (0, 0)
        self.frames.takeAll(bytes) { piece in
            offset += piece.count
            if piece.isLast { end = offset }
        }
        return end
    }

    /// How many of the bytes belong to complete events. An empty line ends an event (HTML Living Standard, 9.2.5).
    private func eventsEnd(_ bytes: UnsafeRawBufferPointer) -> Int {
        var index = bytes.count - 1
        while index >= 0 {
            guard bytes[index] == 10 else {
                index -= 1
                continue
            }
            var before = index - 1
            if self.byte(before, bytes) == 13 { before -= 1 }
            if self.byte(before, bytes) == 10 { return index + 1 }
            index -= 1
        }
        return 0
    }

    /// A byte of the piece or, with a negative index, of the bytes before it.
    private func byte(_ index: Int, _ bytes: UnsafeRawBufferPointer) -> UInt8? {
        if index >= 0 { return bytes[index] }
        let position = self.held.count + index
        return position >= 0 ? self.held[position] : nil
    }
}
