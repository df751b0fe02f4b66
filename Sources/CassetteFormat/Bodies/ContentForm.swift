internal import CassetteModel
internal import TapeBytes

/// Chooses the most readable form for the bytes of a content: JSON, a form, lines, events, text, base64, or a file next to the cassette.
///
/// Does not decode codings and does not know parts. The chosen form restores exactly the same bytes.
struct ContentForm {
    /// Longer text and JSON goes to a file: nobody reads a longer diff.
    static let textLimit = 64 << 10
    /// Longer binary content goes to a file: nobody reads base64.
    static let binaryLimit = 4 << 10

    var type: MediaType
    /// The value of Content-Type.
    private let field: ArraySlice<UInt8>?
    /// The extension for bytes that are neither text nor of the declared type, since they are still coded.
    private var codedExtension: String?
    /// Used if the field does not name one.
    private let charset: FormCharset?

    init(field: ArraySlice<UInt8>?, codedExtension: String? = nil, charset: FormCharset? = nil) {
        self.type = MediaType(field)
        self.field = field
        self.codedExtension = codedExtension
        self.charset = charset
    }

    /// The whole content, in memory.
    func content(_ bytes: [UInt8], sink: inout some SidecarSink) throws -> BodyContent {
        // Not `.empty`, which means a body without wire bytes: this may be the content of a coded body.
        guard !bytes.isEmpty else { return .text([]) }
        if let content = self.readable(bytes) { return content }
        return try bytes.withUnsafeBytes { buffer in
            let isText = bytes.count > Self.textLimit && self.type.kind != .binary && ReadableText.isReadable(buffer)
            if bytes.count <= Self.binaryLimit { return .binary(bytes) }
            let fileExtension = self.fileExtension(buffer, isText: isText)
            return .file(try sink.store(fileExtension: fileExtension) { try $0(buffer) })
        }
    }

    /// Handles content that may be too large for memory.
    func content(_ source: ByteSource, sink: inout some SidecarSink) throws -> BodyContent {
        if let memory = source.memory { return try self.content(memory, sink: &sink) }
        guard source.size > Self.textLimit else { return try self.content(try source.load(), sink: &sink) }
        return .file(try self.file(source, sink: &sink))
    }

    /// Always stores a file, even if the bytes could have another form.
    func file(_ source: ByteSource, sink: inout some SidecarSink) throws -> Sidecar {
        var prefix = [UInt8](repeating: 0, count: min(source.size, ByteSource.pieceSize))
        try prefix.withUnsafeMutableBytes { try source.read(at: 0, into: $0) }
        let fileExtension = prefix.withUnsafeBytes(self.fileExtension(prefix:))
        return try sink.store(fileExtension: fileExtension) { try source.forEachPiece($0) }
    }

    /// A form that people can read; nil for bytes that have none, or that are too long.
    func readable(_ bytes: [UInt8]) -> BodyContent? {
        guard let first = bytes.first, bytes.count <= Self.textLimit else { return nil }
        return bytes.withUnsafeBytes { buffer in
            if self.mayBeJSON(first), let style = JSONBody.style(of: buffer) { return .json(bytes, style: style) }
            guard self.type.kind != .binary, ReadableText.isReadable(buffer) else { return self.decoded(bytes, buffer) }
            return self.structured(bytes, buffer) ?? .text(bytes)
        }
    }

    /// The extension of the file for these bytes, judging by the first of them.
    func fileExtension(prefix: UnsafeRawBufferPointer) -> String {
        var text = ReadableText()
        text.push(prefix)
        return self.fileExtension(prefix, isText: self.type.kind != .binary && text.isReadable)
    }

    /// curl's `-d` declares any body as a form.
    private func mayBeJSON(_ first: UInt8) -> Bool {
        if self.type.kind == .json { return true }
        return (first == UInt8(ascii: "{") || first == UInt8(ascii: "[")) && (self.type.essence.isEmpty || self.type.isForm)
    }

    private func structured(_ bytes: [UInt8], _ buffer: UnsafeRawBufferPointer) -> BodyContent? {
        if self.type.isForm { return FormText(buffer).map { .form($0) } }
        if self.type.isEventStream { return EventStream(bytes).map { .events($0) } }
        guard let first = buffer.first, self.type.isJSONLines || self.mayBeJSON(first) else { return nil }
        return JSONLines(bytes).map { .lines($0) }
    }

    /// Text in another charset, which is named by the field or indicated by a byte order mark.
    private func decoded(_ bytes: [UInt8], _ buffer: UnsafeRawBufferPointer) -> BodyContent? {
        guard self.type.kind != .binary else { return nil }
        let parameter = self.field.flatMap { MIMEParameters($0)["charset"] }
        let label = parameter.map { String(decoding: $0.value.prefix(64), as: UTF8.self).lowercased() } ?? self.charset?.label ?? ""
        for charset in Charset.candidates(label: label, beginning: buffer) {
            guard let text = charset.decode(bytes), text.withUnsafeBytes(Self.isReadable), charset.encode(text) == bytes else { continue }
            return .encodedText(bytes, charset)
        }
        return nil
    }

    private func fileExtension(_ prefix: UnsafeRawBufferPointer, isText: Bool) -> String {
        if isText {
            return self.type.fileExtension ?? (prefix.first.map(self.mayBeJSON) == true ? "json" : "txt")
        }
        return self.codedExtension ?? self.type.fileExtension ?? MagicNumber.fileExtension(of: prefix) ?? "bin"
    }

    /// U+0080 to U+009F are control characters that nobody sends: the bytes are in a wider charset, or are not text at all.
    private static func isReadable(_ text: UnsafeRawBufferPointer) -> Bool {
        guard ReadableText.isReadable(text) else { return false }
        for (byte, next) in zip(text, text.dropFirst()) where byte == 0xC2 && next < 0xA0 { return false }
        return true
    }
}

/// Decides whether bytes are text that people can read: UTF-8 without control characters except tab, line feed and carriage return.
///
/// Works on pieces. Does not decode other charsets: their bytes only count as text if they happen to be valid UTF-8 as well.
package struct ReadableText {
    private var validator = UTF8Validator()
    package private(set) var isReadable = true

    package init() {}

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    package static func isReadable(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var text = ReadableText()
        text.push(bytes)
        return text.finish()
    }

    package mutating func push(_ bytes: UnsafeRawBufferPointer) {
        guard self.isReadable else { return }
        self.isReadable = !Self.hasControl(bytes) && self.validator.firstInvalid(in: bytes) == nil
    }

    /// Also false if the bytes end within a character.
    func finish() -> Bool { self.isReadable && self.validator.isAtCharacterEnd }

    private static func hasControl(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while bytes.count - offset >= 8 {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // The high bits mark bytes below 32 or equal to 127. A borrow can set a false one, so each byte is checked afterwards.
            let delete = word ^ (Self.ones &* 0x7f)
            let stops = ((word &- Self.ones &* 0x20) & ~word | (delete &- Self.ones) & ~delete) & Self.highs
            if stops != 0 {
                for index in offset..<offset + 8 where Self.isControl(bytes[index]) { return true }
            }
            offset += 8
        }
        while offset < bytes.count {
            if Self.isControl(bytes[offset]) { return true }
            offset += 1
        }
        return false
    }

    private static func isControl(_ byte: UInt8) -> Bool {
        byte < 32 && byte != 9 && byte != 10 && byte != 13 || byte == 127
    }
}
