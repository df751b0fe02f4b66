internal import CassetteFormat
package import CassetteModel
internal import CassetteRedaction
package import TapeBytes
package import TapeExchange

/// A message of a WebSocket on its way to the recorder.
package struct TapedWebSocketMessage: ConversationMessage {
    private let taped: TapedMessage
    /// Milliseconds from the start of the exchange to its last byte.
    private let at: Double
    private let side: WebSocketSide

    package init(_ taped: TapedMessage, at: Double, from side: WebSocketSide) {
        self.taped = taped
        self.at = at
        self.side = side
    }

    /// What keeps a message together is some 200 bytes.
    package var weight: Int { 200 + self.taped.bytes.count + self.taped.frames.count * 8 }

    package var blocks: Tap.Side? { self.taped.isSpilled ? self.side == .client ? .request : .response : nil }

    package func write(_ place: MessagePlace, into writer: inout JSONWriter) throws {
        let isText = self.taped.kind == .text
        var message = WebSocketMessage(self.taped, at: self.at, from: self.side, payload: Self.payload(self.taped.bytes, isText: isText))
        var sink = BodyStoreSink(store: place.store, digest: place.digest)
        if let spool = place.spool {
            defer { spool.discard() }
            try spool.write(self.taped.bytes)
            var fresh: OpenSpool?
            defer { fresh?.discard() }
            _ = try place.redactor?.redact(&message, payload: spool.source) { piece in
                let target = try fresh ?? OpenSpool(place.store.makeSpool(), digest: place.digest())
                try target.write(piece)
                fresh = target
            }
            message.content = self.content(try WebSocketForm.payload(fresh?.source ?? spool.source, isText: isText, sink: &sink))
        } else {
            place.redactor?.redact(&message)
            if let bytes = message.content.payload?.inlineBytes {
                message.content = self.content(try WebSocketForm.payload(bytes, isText: isText, sink: &sink))
            }
        }
        WebSocketMessageCoder.encode(message, isOneLine: true, into: &writer)
    }

    private func content(_ payload: WebSocketPayload) -> WebSocketContent {
        self.taped.kind == .text ? .text(payload) : .binary(payload)
    }

    /// The bytes as what they are searched for secrets as.
    private static func payload(_ bytes: [UInt8], isText: Bool) -> WebSocketPayload {
        if let style = bytes.withUnsafeBytes(JSONBody.style(of:)) { return .json(bytes, style: style) }
        return isText && UTF8Validator.isValid(bytes) ? .text(bytes) : .bytes(bytes)
    }
}
