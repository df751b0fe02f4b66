public import CassetteModel

/// Takes the secrets out of the messages of WebSockets, as out of bodies.
///
/// A message has no media type: what looks like JSON is searched as JSON, other text as text, and in other bytes a placeholder is as long as its
/// secret.
extension Redactor {
    /// A message whose payload is not in a file.
    ///
    /// - Returns: how many places were changed.
    @discardableResult
    public func redact(_ message: inout WebSocketMessage) -> Int {
        switch message.content {
        case .text(let payload):
            guard let (bytes, count) = self.redacted(payload, isText: true) else { return 0 }
            message.content = .text(.bytes(bytes))
            return count
        case .binary(let payload):
            guard let (bytes, count) = self.redacted(payload, isText: false) else { return 0 }
            message.content = .binary(.bytes(bytes))
            return count
        case .ping(let bytes):
            guard let (bytes, count) = self.redacted(.bytes(bytes), isText: false) else { return 0 }
            message.content = .ping(Array(bytes.prefix(125)))
            return count
        case .pong(let bytes):
            guard let (bytes, count) = self.redacted(.bytes(bytes), isText: false) else { return 0 }
            message.content = .pong(Array(bytes.prefix(125)))
            return count
        case .close(let close):
            guard close.code != nil, let (reason, count) = self.redacted(.bytes(Array(close.reason)), isText: false) else { return 0 }
            message.content = .close(WebSocketClose(payload: Array(close.payload.prefix(2)) + Array(reason.prefix(123))))
            return count
        }
    }

    /// A payload that is too large for memory: `deliver` gets the redacted bytes in pieces, and is not called where nothing is to be done.
    public func redact(
        webSocket source: ByteSource, isText: Bool, isComplete: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        var first = [UInt8](repeating: 0, count: min(1, source.size))
        try first.withUnsafeMutableBytes { try source.read(at: 0, into: $0) }
        return try self.redact(source, headers: Self.headers(first.first, isText: isText), isComplete: isComplete, deliver: deliver)
    }

    private func redacted(_ payload: WebSocketPayload, isText: Bool) -> (bytes: [UInt8], count: Int)? {
        guard let bytes = payload.inlineBytes, !bytes.isEmpty else { return nil }
        var request = RecordedRequest(method: "", url: "", headers: Self.headers(bytes.first { !" \t\r\n".utf8.contains($0) }, isText: isText))
        var body: WireBody? = WireBody(bytes)
        let count = self.redact(request: &request, body: &body).count
        guard let redacted = body?.bytes, redacted != bytes else { return nil }
        return (redacted, count)
    }

    private static func headers(_ first: UInt8?, isText: Bool) -> HeaderFields {
        let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        return HeaderFields([
            "Content-Type: " + (isJSON ? "application/json" : isText ? "text/plain; charset=utf-8" : "application/octet-stream")
        ])
    }
}
