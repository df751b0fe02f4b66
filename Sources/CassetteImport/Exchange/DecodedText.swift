internal import CassetteModel
internal import TapeBytes

/// A text that a tool has made of the bytes of a body, brought back to bytes.
///
/// Tools replace bytes that are no text by U+FFFD, and some cut long texts: such a text is not what was sent.
struct DecodedText {
    /// In the charset that the type names.
    let bytes: [UInt8]
    /// Whether the text has U+FFFD, which stands for any bytes.
    private let hasReplacement: Bool
    private let isASCII: Bool
    /// Whether the type is one of text.
    private let isTextual: Bool

    /// - Parameters:
    ///   - text: in UTF-8.
    ///   - type: a Content-Type, which may be empty.
    init(_ text: [UInt8], type: String, context: ImportContext) {
        self.bytes = context.bytes(of: text, type: type)
        self.hasReplacement = Self.hasReplacement(text)
        self.isASCII = !text.contains { $0 >= 128 }
        let type = type.lowercased()
        self.isTextual = type.isEmpty || ["text/", "json", "xml", "script", "form", "yaml", "graphql"].contains { type.contains($0) }
    }

    /// Whether these are all bytes that were sent.
    ///
    /// A text without U+FFFD may be longer: people edit recordings, and some tools count characters.
    ///
    /// - Parameters:
    ///   - size: of the body in bytes, as the tool gives it; nil if it is not known.
    ///   - length: the Content-Length of a body without codings.
    func isWhole(size: Int?, length: Int?) -> Bool {
        guard let size = size ?? length else { return !self.hasReplacement }
        guard !self.hasReplacement else { return self.bytes.count == size }
        guard self.bytes.count >= size else { return false }
        // Characters that were other bytes: of a charset that nobody names, or of no text.
        let isOther = length.map { self.bytes.count > $0 } ?? (!self.isTextual && self.bytes.count > size)
        return self.isASCII || !isOther
    }

    private static func hasReplacement(_ text: [UInt8]) -> Bool {
        var start = text.startIndex
        while let index = text[start...].firstIndex(of: 0xEF) {
            if text[index...].starts(with: [0xEF, 0xBF, 0xBD]) { return true }
            start = index + 1
        }
        return false
    }
}
