internal import CassetteModel
internal import TapeBytes

/// Writes the content of a body or part into its object, in the form that it already has.
///
/// Makes no decisions, with one exception: bytes that should be text or JSON but are invalid are written as base64, since a cassette is
/// always UTF-8. Does not handle files.
enum ContentEncoder {
    /// - Parameter headers: the header fields of the message or part, whose Content-Type has the boundary of a multipart.
    static func encode(_ content: BodyContent, headers: HeaderFields, into writer: inout JSONWriter) {
        switch content {
        case .empty, .file, .raw: return
        case .text(let bytes): bytes.withUnsafeBytes { self.text($0, &writer) }
        case .encodedText(let bytes, let charset): self.encodedText(bytes, charset, &writer)
        case .json(let bytes, let style): bytes.withUnsafeBytes { self.json($0, style, &writer) }
        case .form(let form): self.form(form, &writer)
        case .lines(let lines): self.lines(lines, &writer)
        case .events(let events):
            guard UTF8Validator.isValid(events.bytes) else { return self.binary(events.bytes, &writer) }
            self.style(events.style, &writer)
            EventStreamCoder.write(events, into: &writer)
        case .multipart(let body):
            MultipartEncoder.encode(body, named: MultipartType(headers)?.boundary, into: &writer)
        case .grpc(let body): GRPCCoder.write(body, into: &writer)
        case .binary(let bytes): self.binary(bytes, &writer)
        }
    }

    private static func binary(_ bytes: [UInt8], _ writer: inout JSONWriter) {
        writer.member("base64")
        bytes.withUnsafeBytes { writer.base64($0) }
    }

    private static func text(_ bytes: UnsafeRawBufferPointer, _ writer: inout JSONWriter) {
        guard UTF8Validator.isValid(bytes) else {
            writer.member("base64")
            return writer.base64(bytes)
        }
        writer.member("text")
        var end = ByteScan.index(of: 10, in: bytes, from: 0)
        guard end + 1 < bytes.count else { return writer.string(utf8: bytes) }
        writer.beginArray(.lines)
        var start = 0
        while start < bytes.count {
            let next = min(end + 1, bytes.count)
            writer.element()
            writer.string(utf8: UnsafeRawBufferPointer(rebasing: bytes[start..<next]))
            start = next
            end = ByteScan.index(of: 10, in: bytes, from: start)
        }
        writer.endArray()
    }

    private static func encodedText(_ bytes: [UInt8], _ charset: Charset, _ writer: inout JSONWriter) {
        guard let text = charset.decode(bytes), charset.encode(text) == bytes else { return self.binary(bytes, &writer) }
        writer.member("charset")
        writer.string(charset.rawValue)
        text.withUnsafeBytes { self.text($0, &writer) }
    }

    // MARK: Structure

    private static func json(_ bytes: UnsafeRawBufferPointer, _ style: JSONStyle, _ writer: inout JSONWriter) {
        let mark = writer.mark
        self.style(style, &writer)
        writer.member("json")
        guard !JSONBody.write(bytes, into: &writer, depth: writer.depth) else { return }
        writer.rewind(to: mark)
        self.text(bytes, &writer)
    }

    static func style(_ style: JSONStyle, _ writer: inout JSONWriter) {
        guard style != .compact else { return }
        writer.member("style")
        guard style != .spaced else { return writer.raw("\"spaced\"") }
        writer.beginObject(.inline)
        if let indent = style.indent {
            writer.member("indent")
            writer.integer(indent)
        }
        self.gap("colon", style.colon, &writer)
        self.gap("comma", style.comma, &writer)
        self.gap("tail", style.tail, &writer)
        writer.endObject()
    }

    private static func gap(_ name: StaticString, _ text: String, _ writer: inout JSONWriter) {
        guard !text.isEmpty else { return }
        writer.member(name)
        writer.string(text)
    }

    private static func lines(_ lines: JSONLines, _ writer: inout JSONWriter) {
        let mark = writer.mark
        self.style(lines.style, &writer)
        writer.member("lines")
        writer.beginArray(.lines)
        let isWhole = lines.bytes.withUnsafeBytes { bytes in
            lines.lines.allSatisfy { line in
                writer.element()
                return JSONBody.write(UnsafeRawBufferPointer(rebasing: bytes[line]), into: &writer, depth: writer.depth)
            }
        }
        writer.endArray()
        guard isWhole else {
            writer.rewind(to: mark)
            return lines.bytes.withUnsafeBytes { self.text($0, &writer) }
        }
        if lines.lineEnd != .lineFeed {
            writer.member("lineEnd")
            writer.raw("\"\\r\\n\"")
        }
        guard !lines.isEnded else { return }
        writer.member("ended")
        writer.bool(false)
    }

    private static func form(_ form: FormText, _ writer: inout JSONWriter) {
        if form.spelling != .usual {
            writer.member("spelling")
            self.spelling(form.spelling, &writer)
        }
        writer.member("form")
        writer.beginArray(form.fields.count > 1 ? .lines : .inline)
        for field in form.fields {
            writer.element()
            writer.beginArray(.inline)
            writer.element()
            writer.string(field.name)
            if let value = field.value {
                writer.element()
                writer.string(value)
            }
            writer.endArray()
        }
        writer.endArray()
    }

    private static func spelling(_ spelling: FormSpelling, _ writer: inout JSONWriter) {
        writer.beginObject(.inline)
        if spelling.escapesSpace {
            writer.member("space")
            writer.raw("\"%20\"")
        }
        if spelling.usesLowerCaseHex {
            writer.member("hex")
            writer.raw("\"lower\"")
        }
        self.gap("plain", String(decoding: spelling.plain, as: UTF8.self), &writer)
        self.gap("escaped", String(decoding: spelling.escaped, as: UTF8.self), &writer)
        writer.endObject()
    }
}
