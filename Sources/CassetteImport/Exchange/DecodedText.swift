internal import CassetteModel
internal import TapeBytes

/// A text that a tool decoded from the bytes of a body, converted back to bytes.
///
/// Tools replace bytes that are not text by U+FFFD, and some truncate long texts. Such a text is not what was sent.
struct DecodedText {
    /// In the charset that the type names.
    let bytes: [UInt8]
    /// Whether the text contains U+FFFD, which may replace any bytes.
    private let hasReplacement: Bool
    private let isASCII: Bool
    /// Whether the type is textual.
    private let isTextual: Bool

    /// - Parameters:
    ///   - text: the text in UTF-8.
    ///   - type: a Content-Type, which may be empty.
    init(_ text: [UInt8], type: String, context: ImportContext) {
        self.bytes = context.bytes(of: text, type: type)
        self.hasReplacement = Self.hasReplacement(text)
        self.isASCII = !text.contains { $0 >= 128 }
        self.isTextual = Self.isTextual(type)
    }

    /// Whether a body that a recording has as text has U+FFFD in place of bytes, if the recording does not give the body's size.
    ///
    /// - Parameters:
    ///   - text: the text in UTF-8.
    ///   - size: the number of bytes in the encoding in which the text was sent.
    ///   - fields: the header fields of its message.
    ///   - replacesBytes: whether the tool writes U+FFFD for bytes that are not text. Other tools store such bytes as base64 or hex, so
    ///     that U+FFFD in a text was sent.
    static func lacksBytes(_ text: [UInt8], size: Int, _ fields: HeaderFields, replacesBytes: Bool = false) -> Bool {
        guard self.hasReplacement(text) else { return false }
        if !fields.contains("content-encoding"), let length = fields.first("content-length").flatMap({ Int($0) }) { return size != length }
        return replacesBytes || !self.isTextual(fields.first("content-type") ?? "")
    }

    private static func isTextual(_ type: String) -> Bool {
        let type = type.lowercased()
        return type.isEmpty || ["text/", "json", "xml", "script", "form", "yaml", "graphql"].contains { type.contains($0) }
    }

    /// Whether the text represents all bytes that were sent.
    ///
    /// A text without U+FFFD may be longer than the body's size: people edit recordings, and some tools count characters.
    ///
    /// - Parameters:
    ///   - size: the body's size in bytes, according to the tool; nil if unknown.
    ///   - length: the Content-Length of a body without codings.
    func isWhole(size: Int?, length: Int?) -> Bool {
        guard let size = size ?? length else { return !self.hasReplacement }
        guard !self.hasReplacement else { return self.bytes.count == size }
        guard self.bytes.count >= size else { return false }
        // Characters that were sent as other bytes, because the charset was not declared or the body was not text.
        let isOther = length.map { self.bytes.count > $0 } ?? (!self.isTextual && self.bytes.count > size)
        return self.isASCII || !isOther
    }

    private static func hasReplacement(_ text: [UInt8]) -> Bool { self.firstReplacement(text) != nil }

    /// The index of the first U+FFFD; nil if there is none.
    static func firstReplacement(_ text: [UInt8]) -> Int? {
        var start = text.startIndex
        while let index = text[start...].firstIndex(of: 0xEF) {
            if text[index...].starts(with: [0xEF, 0xBF, 0xBD]) { return index }
            start = index + 1
        }
        return nil
    }
}
