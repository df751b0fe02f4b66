internal import CassetteModel
internal import TapeBytes

/// Text in another charset than UTF-8, decoded for people.
enum DecodedText {
    /// Text is short; of more than this the octets are shown.
    private static let limit = 4 << 20

    /// The same text in UTF-8; nil for what is no text, or of no charset that this system knows.
    static func read(_ contents: BodyContents, headers: HeaderFields) throws -> BodyContents? {
        let field = headers.firstIndex(of: "content-type").map { MIMEParameters(headers.valueBytes(at: $0)) }
        let label = field?["charset"].map { String(decoding: $0.value, as: UTF8.self).lowercased() } ?? ""
        let beginning = try contents.prefix(4096)
        let charsets = beginning.withUnsafeBytes { Charset.candidates(label: label, beginning: $0) }
        guard !charsets.isEmpty, let octets = try contents.load(limit: self.limit) else { return nil }
        for charset in charsets {
            guard let decoded = charset.decode(octets) else { continue }
            let text = BodyContents(decoded.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(decoded.dropFirst(3)) : decoded)
            if try text.size > 0 && BodyForm.isText(text) { return text }
        }
        return nil
    }
}
