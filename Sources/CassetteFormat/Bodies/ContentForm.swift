internal import CassetteModel
internal import TapeBytes

/// Chooses the most readable form for the bytes of a content: JSON, a form, lines, events, text, base64, or a file beside the cassette.
///
/// Decodes no codings and knows nothing of parts. The form it chooses gives the same bytes back.
struct ContentForm {
    /// Longer text and JSON goes to a file: no one reads a longer diff.
    static let textLimit = 64 << 10
    /// Longer binary content goes to a file: no one reads base64.
    static let binaryLimit = 4 << 10

    var type: MediaType
    /// The value of Content-Type.
    private let field: ArraySlice<UInt8>?
    /// For bytes that are neither text nor of the type, since they are still coded.
    private var codedExtension: String?
    /// Used if the field names none.
    private let charset: FormCharset?

    init(field: ArraySlice<UInt8>?, codedExtension: String? = nil, charset: FormCharset? = nil) {
        self.type = MediaType(field)
        self.field = field
        self.codedExtension = codedExtension
        self.charset = charset
    }

    /// The whole content, in memory.
    func content(_ octets: [UInt8], sink: inout some SidecarSink) throws -> BodyContent {
        // Not `.empty`: that is a body without wire bytes, and this one may be the content of a coded body.
        guard !octets.isEmpty else { return .text([]) }
        if let content = self.readable(octets) { return content }
        return try octets.withUnsafeBytes { bytes in
            let isText = octets.count > Self.textLimit && self.type.kind != .binary && ReadableText.isReadable(bytes)
            if octets.count <= Self.binaryLimit { return .binary(octets) }
            let fileExtension = self.fileExtension(bytes, isText: isText)
            return .file(try sink.store(fileExtension: fileExtension) { try $0(bytes) })
        }
    }

    /// Content that may be too large for memory.
    func content(_ octets: OctetSource, sink: inout some SidecarSink) throws -> BodyContent {
        if let memory = octets.memory { return try self.content(memory, sink: &sink) }
        guard octets.size > Self.textLimit else { return try self.content(try octets.load(), sink: &sink) }
        return .file(try self.file(octets, sink: &sink))
    }

    /// Always a file, whatever other form the bytes could have.
    func file(_ octets: OctetSource, sink: inout some SidecarSink) throws -> Sidecar {
        var prefix = [UInt8](repeating: 0, count: min(octets.size, OctetSource.pieceSize))
        try prefix.withUnsafeMutableBytes { try octets.read(at: 0, into: $0) }
        let fileExtension = prefix.withUnsafeBytes(self.fileExtension(prefix:))
        return try sink.store(fileExtension: fileExtension) { try octets.forEachPiece($0) }
    }

    /// A form that people read; nil for bytes that have none, or too many.
    func readable(_ octets: [UInt8]) -> BodyContent? {
        guard let first = octets.first, octets.count <= Self.textLimit else { return nil }
        return octets.withUnsafeBytes { bytes in
            if self.mayBeJSON(first), let style = JSONBody.style(of: bytes) { return .json(octets, style: style) }
            guard self.type.kind != .binary, ReadableText.isReadable(bytes) else { return self.decoded(octets, bytes) }
            return self.structured(octets, bytes) ?? .text(octets)
        }
    }

    /// The extension of the file for these bytes, judged by the first of them.
    func fileExtension(prefix: UnsafeRawBufferPointer) -> String {
        var text = ReadableText()
        text.push(prefix)
        return self.fileExtension(prefix, isText: self.type.kind != .binary && text.isReadable)
    }

    /// curl's `-d` calls everything a form.
    private func mayBeJSON(_ first: UInt8) -> Bool {
        if self.type.kind == .json { return true }
        return (first == UInt8(ascii: "{") || first == UInt8(ascii: "[")) && (self.type.essence.isEmpty || self.type.isForm)
    }

    private func structured(_ octets: [UInt8], _ bytes: UnsafeRawBufferPointer) -> BodyContent? {
        if self.type.isForm { return FormText(bytes).map { .form($0) } }
        if self.type.essence == "text/event-stream" { return EventStream(octets).map { .events($0) } }
        guard let first = bytes.first, self.type.isJSONLines || self.mayBeJSON(first) else { return nil }
        return JSONLines(octets).map { .lines($0) }
    }

    /// Text of another charset that the field names, or a byte order mark.
    private func decoded(_ octets: [UInt8], _ bytes: UnsafeRawBufferPointer) -> BodyContent? {
        guard self.type.kind != .binary else { return nil }
        let parameter = self.field.flatMap { MIMEParameters($0)["charset"] }
        let label = parameter.map { String(decoding: $0.value.prefix(64), as: UTF8.self).lowercased() } ?? self.charset?.label ?? ""
        for charset in Charset.candidates(label: label, beginning: bytes) {
            guard let text = charset.decode(octets), text.withUnsafeBytes(Self.isReadable), charset.encode(text) == octets else { continue }
            return .encodedText(octets, charset)
        }
        return nil
    }

    private func fileExtension(_ prefix: UnsafeRawBufferPointer, isText: Bool) -> String {
        if isText {
            return self.type.fileExtension ?? (prefix.first.map(self.mayBeJSON) == true ? "json" : "txt")
        }
        return self.codedExtension ?? self.type.fileExtension ?? MagicNumber.fileExtension(of: prefix) ?? "bin"
    }

    /// U+0080 to U+009F are control characters that no one sends: the bytes are in a wider charset, or no text at all.
    private static func isReadable(_ text: UnsafeRawBufferPointer) -> Bool {
        guard ReadableText.isReadable(text) else { return false }
        for (octet, next) in zip(text, text.dropFirst()) where octet == 0xC2 && next < 0xA0 { return false }
        return true
    }
}

/// Decides whether bytes are text that people can read: UTF-8 without control characters but tab, line feed and carriage return.
///
/// Works on pieces. Other charsets are not decoded: their bytes are text only if they happen to be UTF-8 as well.
package struct ReadableText {
    private var validator = UTF8Validator()
    package private(set) var isReadable = true

    package init() {}

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    package static func isReadable(_ octets: UnsafeRawBufferPointer) -> Bool {
        var text = ReadableText()
        text.push(octets)
        return text.finish()
    }

    package mutating func push(_ octets: UnsafeRawBufferPointer) {
        guard self.isReadable else { return }
        self.isReadable = !Self.hasControl(octets) && self.validator.firstInvalid(in: octets) == nil
    }

    /// Also false if the bytes end within a character.
    func finish() -> Bool { self.isReadable && self.validator.isAtCharacterEnd }

    private static func hasControl(_ octets: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while octets.count - offset >= 8 {
            let word = octets.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // High bits of the bytes below 32 or equal to 127; a borrow can add a false one, which the check of each byte settles.
            let delete = word ^ (Self.ones &* 0x7f)
            let stops = ((word &- Self.ones &* 0x20) & ~word | (delete &- Self.ones) & ~delete) & Self.highs
            if stops != 0 {
                for index in offset..<offset + 8 where Self.isControl(octets[index]) { return true }
            }
            offset += 8
        }
        while offset < octets.count {
            if Self.isControl(octets[offset]) { return true }
            offset += 1
        }
        return false
    }

    private static func isControl(_ octet: UInt8) -> Bool {
        octet < 32 && octet != 9 && octet != 10 && octet != 13 || octet == 127
    }
}
