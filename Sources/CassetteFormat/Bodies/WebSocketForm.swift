public import CassetteModel
internal import TapeBytes

/// Chooses the most readable form for the bytes of a WebSocket message: JSON, text, base64, or a file next to the cassette.
///
/// A message has no media type, but is only text or binary.
public enum WebSocketForm {
    /// Handles a message that is completely in memory.
    ///
    /// Text with control characters is still text, such as STOMP's frames that end with a NUL: JSON escapes them.
    public static func payload(_ bytes: [UInt8], isText: Bool, sink: inout some SidecarSink) throws -> WebSocketPayload {
        if let payload = self.readable(bytes, isText: isText) { return payload }
        return try self.payload(ByteSource(bytes), isText: isText, sink: &sink)
    }

    /// Handles a message that may be too large for memory.
    public static func payload(_ source: ByteSource, isText: Bool, sink: inout some SidecarSink) throws -> WebSocketPayload {
        if source.size <= ContentForm.textLimit {
            let bytes = try source.load()
            if let payload = self.readable(bytes, isText: isText) { return payload }
        }
        var prefix = [UInt8](repeating: 0, count: min(source.size, ByteSource.pieceSize))
        try prefix.withUnsafeMutableBytes { try source.read(at: 0, into: $0) }
        let isJSON = prefix.first == UInt8(ascii: "{") || prefix.first == UInt8(ascii: "[")
        let kind = isText ? isJSON ? "json" : "txt" : prefix.withUnsafeBytes(MagicNumber.fileExtension(of:)) ?? "bin"
        return .file(try sink.store(fileExtension: kind) { try source.forEachPiece($0) })
    }

    /// Whether a payload is already in its final form: it was recognised as JSON, and is short enough for the cassette.
    public static func isFinal(_ payload: WebSocketPayload) -> Bool {
        if case .json(let bytes, _) = payload { bytes.count <= ContentForm.textLimit } else { false }
    }

    /// Nil for payloads that go to a file.
    private static func readable(_ bytes: [UInt8], isText: Bool) -> WebSocketPayload? {
        guard bytes.count <= ContentForm.textLimit else { return nil }
        if let style = bytes.withUnsafeBytes(JSONBody.style(of:)) { return .json(bytes, style: style) }
        if isText, UTF8Validator.isValid(bytes) { return .text(bytes) }
        return bytes.count <= ContentForm.binaryLimit ? .bytes(bytes) : nil
    }
}
