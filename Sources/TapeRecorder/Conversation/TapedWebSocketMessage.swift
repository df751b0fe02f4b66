internal import CassetteFormat
package import CassetteModel
internal import CassetteRedaction
package import TapeBytes
package import TapeExchange

/// A WebSocket message on its way to the recorder.
package struct TapedWebSocketMessage: ConversationMessage {
    private let taped: TapedMessage
    /// Milliseconds from the start of the exchange to the message's last byte.
    private let at: Double
    private let side: WebSocketSide
    /// The message without its secrets, once it has been searched. If the message has a spool, the payload is there.
    private var searched: WebSocketMessage?

    package init(_ taped: TapedMessage, at: Double, from side: WebSocketSide) {
        self.taped = taped
        self.at = at
        self.side = side
    }

    /// Even an empty message costs as much time as the search of about a kilobyte, and a client may send hundreds of thousands.
    package var weight: Int { 1024 + self.taped.bytes.count + self.taped.frames.count * 8 }

    package var blocks: Tap.Side? { self.taped.isSpilled ? self.side == .client ? .request : .response : nil }

    package var mayTakeLong: Bool { self.taped.isSpilled || self.taped.bytes.count > ExchangeRedaction.textAtOnce }

    package mutating func search(_ place: inout MessagePlace) throws {
        let isText = self.taped.kind == .text
        let payload = place.spool == nil ? Self.payload(self.taped.bytes, isText: isText) : .bytes([])
        var message = WebSocketMessage(self.taped, at: self.at, from: self.side, payload: payload)
        if let spool = place.spool {
            try spool.write(self.taped.bytes)
            var fresh: OpenSpool?
            let outcome = try place.redactor?.redact(&message, payload: spool.source) { piece in
                let target = try fresh ?? OpenSpool(place.store.makeSpool(), digest: place.digest())
                fresh = target
                try target.write(piece)
            }
            // If the message could not be searched, none of it is kept.
            if outcome?.isBodyChanged == true { place.spool = fresh }
        } else {
            place.redactor?.redact(&message)
        }
        self.searched = message
    }

    package func write(_ place: MessagePlace, into writer: inout JSONWriter) throws {
        var (copy, place) = (self, place)
        if copy.searched == nil { try copy.search(&place) }
        guard var message = copy.searched else { return }
        let isText = self.taped.kind == .text
        var sink = BodyStoreSink(store: place.store, digest: place.digest)
        if let spool = place.spool {
            message.content = self.content(try WebSocketForm.payload(spool.source, isText: isText, sink: &sink))
        } else if let payload = message.content.payload, let bytes = payload.inlineBytes, !WebSocketForm.isFinal(payload) {
            message.content = self.content(try WebSocketForm.payload(bytes, isText: isText, sink: &sink))
        }
        WebSocketMessageCoder.encode(message, isOneLine: true, into: &writer)
    }

    private func content(_ payload: WebSocketPayload) -> WebSocketContent {
        self.taped.kind == .text ? .text(payload) : .binary(payload)
    }

    /// The bytes in the form in which they are searched for secrets.
    private static func payload(_ bytes: [UInt8], isText: Bool) -> WebSocketPayload {
        if let style = bytes.withUnsafeBytes(JSONBody.style(of:)) { return .json(bytes, style: style) }
        return isText && UTF8Validator.isValid(bytes) ? .text(bytes) : .bytes(bytes)
    }
}
