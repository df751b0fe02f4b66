internal import TapeBytes

/// A content as objects and arrays of JSON: a single one, or one on each line (NDJSON, RFC 7464) or in each event (Server-Sent Events).
struct JSONTexts {
    let documents: [JSONDocument]
    /// Whether there may be any number of texts.
    let isStream: Bool

    /// Nil for anything else.
    init?(_ content: [UInt8]) {
        if let document = Self.document(content[...]) {
            (self.documents, self.isStream) = ([document], false)
            return
        }
        let isEvents = Self.fields.contains { content.starts(with: $0) }
        var documents: [JSONDocument] = []
        for line in content.split(whereSeparator: { $0 == 10 || $0 == 13 || $0 == 0x1e }) {
            var text = line
            if isEvents {
                guard text.starts(with: Self.data) else { continue }
                text = text.dropFirst(Self.data.count)
                // The end of a stream of a language model.
                if text.elementsEqual(" [DONE]".utf8) { continue }
            }
            guard let document = Self.document(text) else { return nil }
            documents.append(document)
        }
        guard !documents.isEmpty else { return nil }
        (self.documents, self.isStream) = (documents, true)
    }

    private static func document(_ text: ArraySlice<UInt8>) -> JSONDocument? {
        guard let first = text.first(where: { $0 > 32 }), first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
        return try? JSONDocument(Array(text))
    }

    private static let data = Array("data:".utf8)
    private static let fields = ["data:", "event:", "id:", "retry:", ":"].map { Array($0.utf8) }
}
