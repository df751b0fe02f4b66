public import CassetteModel
public import TapeBytes

/// Reads and writes the messages of a WebSocket in a cassette's structure.
///
/// Text messages are `text` or `json`, binary ones `base64` or `file`. The member `binary` is present if the form would imply the opposite.
public enum WebSocketMessageCoder {
    private static let forms = ["json", "text", "base64", "file", "ping", "pong", "close"]
    private static let members =
        forms + ["at", "from", "deflated", "rsv", "style", "size", "fileSha256", "binary", "frames", "thinned", "complete", "note"]
    /// RFC 6455, 5.5.
    private static let controlLimit = 125

    // MARK: Writing

    /// Writes the value of the member `webSocket`: an array, or the file with the messages.
    static func encode(_ messages: WebSocketMessages, into writer: inout JSONWriter) {
        switch messages {
        case .inline(let messages): self.encode(messages, into: &writer)
        case .file(let sidecar, let count):
            writer.beginObject(.inline)
            writer.member("file")
            writer.string(sidecar.path)
            writer.member("size")
            writer.integer(sidecar.size)
            writer.member("count")
            writer.integer(count)
            if sidecar.sha256 != SidecarName.digest(in: sidecar.path) ?? "" {
                writer.member("sha256")
                writer.string(sidecar.sha256)
            }
            writer.endObject()
        }
    }

    /// Writes an array, with one message per line if it fits.
    public static func encode(_ messages: [WebSocketMessage], into writer: inout JSONWriter) {
        writer.beginArray(.lines)
        for message in messages {
            writer.element()
            self.encode(message, into: &writer)
        }
        writer.endArray()
    }

    /// Writes one message's object.
    ///
    /// - Parameter isOneLine: writes no line end at all, for a line of a journal. Otherwise long JSON and text of several lines are written
    ///   on separate lines.
    public static func encode(_ message: WebSocketMessage, isOneLine: Bool = false, into writer: inout JSONWriter) {
        if isOneLine { return self.object(message, .inline, isOneLine: true, &writer) }
        guard !self.hasLines(message) else { return self.object(message, .lines, isOneLine: false, &writer) }
        let (mark, column, count) = (writer.mark, writer.column, writer.count)
        self.object(message, .inline, isOneLine: false, &writer)
        // When written inline, only JSON that is too wide contains line breaks.
        guard writer.column - column != writer.count - count else { return }
        writer.rewind(to: mark)
        self.object(message, .lines, isOneLine: false, &writer)
    }

    private static func hasLines(_ message: WebSocketMessage) -> Bool {
        guard case .text(let bytes)? = message.content.payload, let first = bytes.firstIndex(of: 10) else { return false }
        return first + 1 < bytes.count
    }

    private static func object(_ message: WebSocketMessage, _ layout: JSONWriter.Layout, isOneLine: Bool, _ writer: inout JSONWriter) {
        writer.beginObject(layout)
        writer.member("at")
        writer.milliseconds(message.at)
        writer.member("from")
        writer.string(message.from.rawValue)
        if message.isDeflated {
            writer.member("deflated")
            writer.bool(true)
        }
        if message.reserved != 0 {
            writer.member("rsv")
            writer.integer(message.reserved)
        }
        switch message.content {
        case .text(let payload): self.payload(payload, isBinary: false, isOneLine, &writer)
        case .binary(let payload): self.payload(payload, isBinary: true, isOneLine, &writer)
        case .ping(let bytes):
            writer.member("ping")
            self.control(bytes, &writer)
        case .pong(let bytes):
            writer.member("pong")
            self.control(bytes, &writer)
        case .close(let close):
            writer.member("close")
            self.close(close, &writer)
        }
        if !message.frames.isEmpty {
            writer.member("frames")
            writer.beginArray(.inline)
            for size in message.frames {
                writer.element()
                writer.integer(size)
            }
            writer.endArray()
        }
        if message.isThinned {
            writer.member("thinned")
            writer.bool(true)
        }
        if !message.isComplete {
            writer.member("complete")
            writer.bool(false)
        }
        if let note = message.note {
            writer.member("note")
            writer.string(note)
        }
        writer.unknown(message.unknown)
        writer.endObject()
    }

    private static func payload(_ payload: WebSocketPayload, isBinary: Bool, _ isOneLine: Bool, _ writer: inout JSONWriter) {
        let isShownAsText: Bool
        switch payload {
        case .file(let sidecar):
            isShownAsText = false
            writer.member("file")
            writer.string(sidecar.path)
            writer.member("size")
            writer.integer(sidecar.size)
            if sidecar.sha256 != SidecarName.digest(in: sidecar.path) ?? "" {
                writer.member("fileSha256")
                writer.string(sidecar.sha256)
            }
        case .bytes(let bytes):
            isShownAsText = false
            ContentEncoder.encode(.binary(bytes), headers: HeaderFields(), into: &writer)
        case .text(let bytes), .json(let bytes, _):
            isShownAsText = UTF8Validator.isValid(bytes)
            if isOneLine, isShownAsText {
                self.line(payload, bytes, &writer)
            } else {
                ContentEncoder.encode(isShownAsText ? payload.bodyContent : .binary(bytes), headers: HeaderFields(), into: &writer)
            }
        }
        guard isBinary == isShownAsText else { return }
        writer.member("binary")
        writer.bool(isBinary)
    }

    /// Writes text as one string, and JSON without white space, which its style restores.
    private static func line(_ payload: WebSocketPayload, _ bytes: [UInt8], _ writer: inout JSONWriter) {
        guard case .json(_, let style) = payload, let compact = self.compact(bytes, style) else {
            writer.member("text")
            return bytes.withUnsafeBytes { writer.string(utf8: $0) }
        }
        ContentEncoder.style(style, &writer)
        writer.member("json")
        writer.raw(compact)
    }

    /// Nil if it is not JSON after all. Compact JSON contains no line breaks, unless its style does not match its bytes.
    private static func compact(_ bytes: [UInt8], _ style: JSONStyle) -> [UInt8]? {
        // The style that most programs write.
        style == .compact && !bytes.contains(10) ? bytes : bytes.withUnsafeBytes { JSONBody.restore($0, style: .compact) }
    }

    private static func control(_ bytes: [UInt8], _ writer: inout JSONWriter) {
        guard !bytes.withUnsafeBytes(ReadableText.isReadable) else { return bytes.withUnsafeBytes { writer.string(utf8: $0) } }
        writer.beginObject(.inline)
        writer.member("base64")
        bytes.withUnsafeBytes { writer.base64($0) }
        writer.endObject()
    }

    private static func close(_ close: WebSocketClose, _ writer: inout JSONWriter) {
        writer.beginObject(.inline)
        if let code = close.code, UTF8Validator.isValid(Array(close.reason)) {
            writer.member("code")
            writer.integer(code)
            if !close.reason.isEmpty {
                writer.member("reason")
                close.reason.withUnsafeBytes { writer.string(utf8: $0) }
            }
        } else if !close.payload.isEmpty {
            writer.member("base64")
            close.payload.withUnsafeBytes { writer.base64($0) }
        }
        writer.endObject()
    }

    // MARK: Reading

    /// Reads one message's object, as in a line of a journal.
    public static func decode(_ json: [UInt8], _ place: InteractionPlace) throws(CassetteError) -> WebSocketMessage {
        let document: JSONDocument
        do {
            document = try JSONDocument(json)
        } catch {
            throw place.error(.damaged, line: error.line, member: "", error.reason)
        }
        return try self.decode(document.root, "", place)
    }

    /// Reads the value of the member `webSocket`.
    static func decode(messages value: JSONValue, _ path: String, _ place: InteractionPlace) throws(CassetteError) -> WebSocketMessages {
        guard value.kind == .object else { return .inline(try self.decode(list: value, path, place)) }
        let reader = try ObjectReader(value, path, place, known: ["file", "size", "count", "sha256"])
        try reader.refuseUnknown()
        guard let file = try reader.path("file") else { throw reader.error(value, "file", "expected a path") }
        let digest = try reader.digest("sha256") ?? SidecarName.digest(in: file) ?? ""
        return .file(
            Sidecar(path: file, size: try reader.requiredInt("size"), sha256: digest), count: try reader.requiredInt("count"))
    }

    static func decode(list value: JSONValue, _ path: String, _ place: InteractionPlace) throws(CassetteError) -> [WebSocketMessage] {
        guard value.kind == .array else { throw place.error(.damaged, line: value.line, member: path, "expected an array") }
        var messages: [WebSocketMessage] = []
        for element in value.elements { messages.append(try self.decode(element, "\(path)[\(messages.count)]", place)) }
        return messages
    }

    static func decode(_ value: JSONValue, _ path: String, _ place: InteractionPlace) throws(CassetteError) -> WebSocketMessage {
        let reader = try ObjectReader(value, path, place, known: self.members)
        guard let at = try reader.double("at") else { throw reader.error(value, "at", "is missing") }
        let sender = try reader.required("from")
        guard let from = sender.string.flatMap(WebSocketSide.init) else {
            throw reader.error(sender, "from", "expected 'client' or 'server'")
        }
        guard let (name, form) = try ContentDecoder.choice(of: self.forms, reader) else {
            throw reader.error(value, "text", "expected one of \(self.forms.map { "'\($0)'" }.joined(separator: ", "))")
        }
        return WebSocketMessage(
            at: at, from: from, content: try self.content(name, form, reader), isDeflated: try reader.bool("deflated") ?? false,
            reserved: try reader.int("rsv", in: 0...7) ?? 0, frames: try self.frames(reader),
            isThinned: try reader.bool("thinned") ?? false,
            isComplete: try reader.bool("complete") ?? true, note: try reader.string("note"), unknown: reader.unknown)
    }

    private static func content(_ name: String, _ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> WebSocketContent {
        switch name {
        case "ping": return .ping(try self.control(value, name, reader))
        case "pong": return .pong(try self.control(value, name, reader))
        case "close": return .close(try self.close(value, reader))
        case "file":
            guard let path = try reader.path("file") else { throw reader.error(value, "file", "expected a path") }
            let digest = try reader.digest("fileSha256") ?? SidecarName.digest(in: path) ?? ""
            let file = WebSocketPayload.file(Sidecar(path: path, size: try reader.requiredInt("size"), sha256: digest))
            return try reader.bool("binary") ?? true ? .binary(file) : .text(file)
        default:
            switch try ContentDecoder.decode(name, value, reader, headers: HeaderFields()) {
            case .json(let bytes, let style):
                return try reader.bool("binary") ?? false ? .binary(.json(bytes, style: style)) : .text(.json(bytes, style: style))
            case .text(let bytes): return try reader.bool("binary") ?? false ? .binary(.text(bytes)) : .text(.text(bytes))
            case .binary(let bytes): return try reader.bool("binary") ?? true ? .binary(.bytes(bytes)) : .text(.bytes(bytes))
            case .empty, .encodedText, .form, .lines, .events, .multipart, .grpc, .file, .raw:
                throw reader.error(value, name, "expected JSON, text or base64")
            }
        }
    }

    private static func control(_ value: JSONValue, _ name: String, _ reader: ObjectReader) throws(CassetteError) -> [UInt8] {
        let bytes: [UInt8]
        if value.kind == .object {
            let inner = try ObjectReader(value, reader.memberPath(name), reader.place, known: ["base64"])
            try inner.refuseUnknown()
            bytes = try self.base64(inner)
        } else {
            bytes = try reader.utf8(name) ?? []
        }
        guard bytes.count <= self.controlLimit else {
            throw reader.error(value, name, "expected at most \(self.controlLimit) bytes, found \(bytes.count)")
        }
        return bytes
    }

    private static func close(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> WebSocketClose {
        let inner = try ObjectReader(value, reader.memberPath("close"), reader.place, known: ["code", "reason", "base64"])
        try inner.refuseUnknown()
        let reason = try inner.utf8("reason")
        let close: WebSocketClose
        if let code = try inner.int("code", in: 0...Int(UInt16.max)) {
            guard inner["base64"] == nil else { throw inner.error(value, "base64", "expected it without 'code'") }
            close = WebSocketClose(code: UInt16(code), reason: reason ?? [])
        } else {
            guard reason == nil else { throw inner.error(value, "code", "is missing, although there is a reason") }
            close = WebSocketClose(payload: inner["base64"] == nil ? [] : try self.base64(inner))
        }
        guard close.payload.count <= self.controlLimit else {
            throw inner.error(value, "reason", "expected at most \(self.controlLimit - 2) bytes, found \(close.payload.count - 2)")
        }
        return close
    }

    private static func base64(_ reader: ObjectReader) throws(CassetteError) -> [UInt8] {
        let value = try reader.required("base64")
        guard let text = try reader.utf8("base64"), let bytes = Base64.decode(text) else {
            throw reader.error(value, "base64", "expected base64 with its padding and no line ends")
        }
        return bytes
    }

    private static func frames(_ reader: ObjectReader) throws(CassetteError) -> [Int] {
        guard let value = reader["frames"] else { return [] }
        guard value.kind == .array else { throw reader.error(value, "frames", "expected an array") }
        var frames: [Int] = []
        for element in value.elements {
            guard frames.count < WebSocketMessage.frameLimit else {
                throw reader.error(element, "frames", "expected at most \(WebSocketMessage.frameLimit) sizes", code: .tooLarge)
            }
            guard let size = element.int, (0...ObjectReader.largest).contains(size) else {
                throw reader.error(element, "frames", "expected whole numbers from 0")
            }
            frames.append(size)
        }
        return frames
    }
}
