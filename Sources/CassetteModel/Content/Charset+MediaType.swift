public import TapeBytes

extension Charset {
    /// The bytes of a text under a media type: in the charset that the type names, or in UTF-8.
    ///
    /// For text that another tool has decoded. ASCII text keeps its bytes.
    ///
    /// - Parameter type: a Content-Type, which may be empty.
    /// - Returns: nil if the charset lacks a character of the text.
    public static func bytes(of text: [UInt8], type: String) -> [UInt8]? {
        guard text.contains(where: { $0 >= 128 }), let label = MIMEParameters(type.utf8)["charset"]?.value else { return text }
        let name = String(decoding: label.prefix(64), as: UTF8.self).lowercased()
        let charsets = Charset.candidates(label: name, beginning: UnsafeRawBufferPointer(start: nil, count: 0))
        guard !charsets.isEmpty else { return text }
        return charsets.lazy.compactMap { $0.encode(text) }.first
    }
}
