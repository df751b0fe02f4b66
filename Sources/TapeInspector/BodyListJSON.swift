internal import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// The components of a body or a conversation, as JSON: parts, defects, events and messages.
///
/// Does not include their bytes, except the beginnings of events and messages.
enum BodyListJSON {
    /// The most bytes of an event or message in the list.
    private static let previewSize = 1024
    /// The most lines of a Protocol Buffers tree.
    private static let treeLimit = 2000
    /// The most events of one stream in the list.
    private static let eventLimit = 5000

    /// nil if the body has no parts.
    static func parts(_ contents: BodyContents, _ headers: HeaderFields) throws -> [UInt8]? {
        let whole = try contents.forRandomAccess()
        guard let parts = try BodyParts(whole, headers: headers) else { return nil }
        return try self.list("parts", parts.all) { part, writer in
            self.text("label", part.label, &writer)
            self.text("name", part.name, &writer)
            self.text("filename", part.filename, &writer)
            self.text("type", part.type, &writer)
            self.number("offset", part.data.lowerBound, &writer)
            self.number("size", part.data.count, &writer)
            self.text("words", part.words, &writer)
            writer.member("multipart")
            writer.bool(part.isMultipart)
            self.fields(part.fields, &writer)
            guard !part.isMultipart else { return }
            let data = try part.contents(in: whole)
            self.number("decoded", data.size, &writer)
            try self.form(data, part.fields, &writer)
        } with: {
            $0.member("otherBoundary")
            $0.bool(parts.isOfOtherBoundary)
            $0.member("hidden")
            $0.bool(parts.isHidden)
            self.text("boundary", MultipartType(headers)?.boundary.map { VisibleText.line($0.bytes) }, &$0)
        }
    }

    /// nil if the body is no upload.
    static func lint(_ contents: BodyContents, _ headers: HeaderFields, _ context: BodyLint.Context) throws -> [UInt8]? {
        guard let lint = try BodyLint(contents, headers: headers, context) else { return nil }
        return self.list("findings", lint.findings) { finding, writer in
            BodyJSON.finding(finding, &writer)
            self.texts("excerpt", finding.excerpt?.lines ?? [], &writer)
        }
    }

    /// The gRPC messages or the events in a body; nil if it has neither.
    static func messages(_ body: Body, _ headers: HeaderFields, reader: BodyReader) throws -> [UInt8]? {
        let contents = { try BodyContents(body, headers: headers, reader: reader, readsBroken: true) }
        if let events = try BodyEvents(body, headers: headers, contents: contents()) {
            var shown: [BodyEvent] = []
            try events.forEach { event in
                shown.append(event)
                return shown.count < self.eventLimit
            }
            return self.list("events", shown) { event, writer in
                self.number("number", event.number, &writer)
                self.text("words", event.words, &writer)
                self.text("type", event.event.type, &writer)
                self.text("id", event.event.id, &writer)
                if let at = event.at {
                    writer.member("at")
                    writer.milliseconds(at)
                }
                self.number("size", event.event.data.count, &writer)
                self.preview(Array(event.event.data.prefix(self.previewSize)), &writer)
            } with: {
                self.number("rest", events.rest, &$0)
                self.number("count", events.count, &$0)
                self.text("noun", events.noun, &$0)
            }
        }
        guard let messages = BodyMessages(body, reader: reader) else { return nil }
        return try self.list("messages", messages.all) { message, writer in
            self.number("number", message.number, &writer)
            self.text("words", message.words, &writer)
            self.number("size", message.size, &writer)
            if let after = message.message.after { self.number("after", after, &writer) }
            if let tree = message.tree {
                self.tree(tree, &writer)
            } else {
                self.preview(try message.contents().prefix(self.previewSize), &writer)
            }
        } with: {
            self.number("rest", messages.rest, &$0)
        }
    }

    /// WebSocket messages, starting at this number.
    static func socket(_ messages: WebSocketMessages, reader: BodyReader, from first: Int, count: Int) throws -> [UInt8] {
        var shown: [SocketMessage] = []
        try reader.forEachSocketMessage(of: messages) { message in
            if message.number >= first { shown.append(message) }
            return shown.count < count
        }
        return try self.list("messages", shown) { message, writer in
            self.number("number", message.number, &writer)
            self.text("from", message.message.from.rawValue, &writer)
            self.text("kind", message.kind, &writer)
            self.text("words", message.words, &writer)
            self.text("note", message.message.note, &writer)
            self.number("size", message.size, &writer)
            writer.member("at")
            writer.milliseconds(message.message.at)
            writer.member("data")
            writer.bool(message.message.content.isData)
            if message.message.content.isData { self.preview(try message.contents().prefix(self.previewSize), &writer) }
        } with: {
            self.number("count", messages.count, &$0)
        }
    }

    // MARK: Pieces

    private static func list<Element>(
        _ name: StaticString, _ elements: [Element], _ each: (Element, inout JSONWriter) throws -> Void,
        with more: (inout JSONWriter) -> Void = { _ in }
    ) rethrows -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        more(&writer)
        writer.member(name)
        writer.beginArray(.inline)
        for element in elements {
            writer.element()
            writer.beginObject(.inline)
            try each(element, &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [10]
    }

    /// Text as it is, and any other bytes as hex digits.
    private static func preview(_ bytes: [UInt8], _ writer: inout JSONWriter) {
        var text = bytes
        // The last character may be truncated.
        for _ in 0..<4 where !UTF8Validator.isValid(text) && text.count > max(0, bytes.count - 4) { text.removeLast() }
        if UTF8Validator.isValid(text), !text.contains(where: { $0 < 0x20 && $0 != 9 && $0 != 10 && $0 != 13 }) {
            self.text("text", String(decoding: text, as: UTF8.self), &writer)
        } else {
            self.text("hex", Hex.encode(Array(bytes.prefix(64))), &writer)
        }
    }

    private static func tree(_ tree: ProtoMessage, _ writer: inout JSONWriter) {
        writer.member("tree")
        writer.beginArray(.inline)
        var count = 0
        ProtoText.write(tree) { line in
            count += 1
            writer.element()
            writer.beginArray(.inline)
            writer.element()
            writer.integer(line.depth)
            for text in [line.key, line.value, line.label] {
                writer.element()
                writer.string(text)
            }
            writer.endArray()
            return count < self.treeLimit
        }
        writer.endArray()
    }

    private static func form(_ contents: BodyContents, _ headers: HeaderFields, _ writer: inout JSONWriter) throws {
        let form: String
        switch try BodyForm(contents, headers: headers) {
        case .json: form = "json"
        case .lines: form = "lines"
        case .form: form = "form"
        case .markup: form = "markup"
        case .text: form = "text"
        case .binary: form = "binary"
        case .image(let image):
            form = "image"
            writer.member("image")
            writer.beginObject(.inline)
            self.text("format", image.format.rawValue, &writer)
            if let size = image.size {
                self.number("width", size.width, &writer)
                self.number("height", size.height, &writer)
            }
            writer.endObject()
        }
        self.text("form", form, &writer)
    }

    private static func fields(_ fields: HeaderFields, _ writer: inout JSONWriter) {
        self.texts("headers", FieldLines.texts(fields), &writer)
    }

    private static func texts(_ name: StaticString, _ texts: [String], _ writer: inout JSONWriter) {
        writer.member(name)
        writer.beginArray(.inline)
        for text in texts {
            writer.element()
            writer.string(text)
        }
        writer.endArray()
    }

    private static func text(_ name: StaticString, _ value: String?, _ writer: inout JSONWriter) {
        guard let value else { return }
        writer.member(name)
        writer.string(value)
    }

    private static func number(_ name: StaticString, _ value: Int, _ writer: inout JSONWriter) {
        writer.member(name)
        writer.integer(value)
    }
}
