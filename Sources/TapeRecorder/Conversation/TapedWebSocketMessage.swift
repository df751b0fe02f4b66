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
        var message = WebSocketMessage(self.taped, at: self.at, from: self.side, payload: .bytes(self.taped.bytes))
        if let spool = place.spool {
            try spool.write(self.taped.bytes)
            message.content = self.content(try self.payload(spool, place, note: &message.note))
            spool.discard()
        } else {
            if let redactor = place.redactor { redactor.redact(&message) }
            if case .bytes(let bytes)? = message.content.payload {
                var sink = BodyStoreSink(store: place.store, digest: place.digest)
                message.content = self.content(try WebSocketForm.payload(bytes, isText: self.taped.kind == .text, sink: &sink))
            }
        }
        WebSocketMessageCoder.encode(message, isOneLine: true, into: &writer)
    }

    private func content(_ payload: WebSocketPayload) -> WebSocketContent {
        self.taped.kind == .text ? .text(payload) : .binary(payload)
    }

    /// A payload in a file, searched for secrets piece by piece.
    private func payload(_ spool: OpenSpool, _ place: MessagePlace, note: inout String?) throws -> WebSocketPayload {
        let isText = self.taped.kind == .text
        var sink = BodyStoreSink(store: place.store, digest: place.digest)
        guard let redactor = place.redactor else { return try WebSocketForm.payload(spool.source, isText: isText, sink: &sink) }
        var fresh: OpenSpool?
        defer { fresh?.discard() }
        let outcome = try redactor.redact(webSocket: spool.source, isText: isText, isComplete: self.taped.isComplete) { piece in
            let target = try fresh ?? OpenSpool(place.store.makeSpool(), digest: place.digest())
            try target.write(piece)
            fresh = target
        }
        if !outcome.notes.isEmpty { note = ([note].compactMap { $0 } + outcome.notes).joined(separator: "; ") }
        return try WebSocketForm.payload(fresh?.source ?? spool.source, isText: isText, sink: &sink)
    }
}
