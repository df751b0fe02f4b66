internal import CassetteFormat
package import CassetteModel
package import TapeBytes

/// The JSON description of a body, its parts and its defects.
///
/// Does not contain the body's bytes: `--body` and `--part` write those.
package struct BodyJSON {
    private var writer = JSONWriter()

    package init(exchange: Int, message: MessageChoice) {
        self.writer.beginObject(.lines)
        Self.start(exchange, message, &self.writer)
    }

    /// - Parameter messages: the messages of a gRPC body.
    package mutating func describe(
        _ body: Body, _ headers: HeaderFields, _ contents: BodyContents, messages: BodyMessages? = nil
    ) throws {
        Self.text("type", ExchangeRow.type(headers), &self.writer)
        Self.number("size", body.size, &self.writer)
        self.writer.member("complete")
        self.writer.bool(body.isComplete)
        Self.text("coding", BodyWords.coding(headers), &self.writer)
        Self.number("decoded", contents.size, &self.writer)
        if let breaking = contents.breaking {
            self.writer.member("broken")
            self.writer.beginObject(.inline)
            Self.text("coding", breaking.name.rawValue, &self.writer)
            Self.number("offset", breaking.problem.offset, &self.writer)
            Self.text("reason", breaking.problem.reason, &self.writer)
            self.writer.endObject()
        }
        try Self.image(contents, &self.writer)
        Self.text("note", body.note, &self.writer)
        if let messages {
            self.writer.member("messages")
            self.writer.beginArray(.lines)
            for message in messages.all {
                self.writer.element()
                self.writer.beginObject(.inline)
                Self.message(message, &self.writer)
                self.writer.endObject()
            }
            self.writer.endArray()
        }
        guard let parts = try BodyParts(contents, headers: headers) else { return }
        self.writer.member("parts")
        self.writer.beginArray(.lines)
        let whole = try contents.forRandomAccess()
        for part in parts.all {
            self.writer.element()
            self.writer.beginObject(.lines)
            try Self.part(part, whole, &self.writer)
            self.writer.endObject()
        }
        self.writer.endArray()
    }

    package mutating func describe(_ part: BodyPart, in contents: BodyContents) throws { try Self.part(part, contents, &self.writer) }

    package mutating func describe(_ message: BodyMessage) { Self.message(message, &self.writer) }

    package mutating func finish() -> [UInt8] {
        self.writer.endObject()
        return self.writer.bytes
    }

    // MARK: In arrays

    package static func append(
        _ finding: BodyLint.Finding, exchange: Int, message: MessageChoice, file: String? = nil, to writer: inout JSONWriter
    ) {
        writer.element()
        writer.beginObject(.inline)
        self.text("file", file, &writer)
        self.start(exchange, message, &writer)
        self.finding(finding, &writer)
        writer.endObject()
    }

    /// The members of one finding, in the object that the writer has begun.
    package static func finding(_ finding: BodyLint.Finding, _ writer: inout JSONWriter) {
        self.text("problem", finding.kind, &writer)
        if let offset = finding.offset { self.number("offset", offset, &writer) }
        self.text("sentence", finding.sentence, &writer)
        guard let change = finding.change else { return }
        writer.member("change")
        writer.beginObject(.inline)
        if let offset = change.offset { self.number("offset", offset, &writer) }
        self.text("before", change.before, &writer)
        self.text("after", change.after, &writer)
        self.text("removed", Hex.encode(change.removed), &writer)
        self.text("inserted", Hex.encode(change.inserted), &writer)
        writer.endObject()
    }

    package static func append(_ file: ExtractedFile, to writer: inout JSONWriter) {
        writer.element()
        writer.beginObject(.inline)
        self.start(file.exchange, file.message, &writer)
        self.text("part", file.part, &writer)
        self.text("path", file.path, &writer)
        self.number("size", file.size, &writer)
        writer.endObject()
    }

    // MARK: Members

    private static func start(_ exchange: Int, _ message: MessageChoice, _ writer: inout JSONWriter) {
        self.number("exchange", exchange, &writer)
        self.text("message", message.rawValue, &writer)
    }

    private static func part(_ part: BodyPart, _ body: BodyContents, _ writer: inout JSONWriter) throws {
        self.text("part", part.label, &writer)
        self.text("name", part.name, &writer)
        self.text("filename", part.filename, &writer)
        self.text("type", part.type, &writer)
        self.number("offset", part.data.lowerBound, &writer)
        self.number("size", part.data.count, &writer)
        try self.image(part.contents(in: body), &writer)
        writer.member("headers")
        writer.beginArray(.inline)
        for index in 0..<part.fields.count {
            writer.element()
            let line = Array(part.fields.line(at: index))
            // As in the cassette, bytes that are not UTF-8 are written as Latin-1 characters.
            line.withUnsafeBytes { UTF8Validator.isValid(line) ? writer.string(utf8: $0) : writer.string(latin1: $0) }
        }
        writer.endArray()
    }

    private static func message(_ message: BodyMessage, _ writer: inout JSONWriter) {
        self.text("part", "\(message.number)", &writer)
        self.number("size", message.message.size, &writer)
        self.number("decoded", message.size, &writer)
        writer.member("compressed")
        writer.bool(message.message.isCompressed)
        if let after = message.message.after { self.number("after", after, &writer) }
    }

    private static func image(_ contents: BodyContents, _ writer: inout JSONWriter) throws {
        guard let image = ImageInfo(try contents.prefix(ImageInfo.prefixSize)) else { return }
        writer.member("image")
        writer.beginObject(.inline)
        self.text("format", image.format.rawValue, &writer)
        if let size = image.size {
            self.number("width", size.width, &writer)
            self.number("height", size.height, &writer)
        }
        writer.endObject()
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
