internal import TapeBytes

/// What a decoder's error says, in words: where, what was there, what was wanted.
enum DecodingFailure {
    static func text(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        switch error {
        case .keyNotFound(let key, let context):
            return
                "\(self.place(context.codingPath)) has no \"\(self.shown(key.stringValue))\"; make the property optional, or look at the body"
        case .valueNotFound(let type, let context):
            return "\(self.place(context.codingPath)) is null where \"\(type)\" was wanted; make the property optional"
        case .typeMismatch(let type, let context):
            return "\(self.place(context.codingPath)) is not of the type \"\(type)\" that was wanted; change the property's type"
        case .dataCorrupted(let context):
            return "\(self.place(context.codingPath)): \(context.debugDescription)"
        @unknown default: return "\(error)"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String { path.isEmpty ? "the body" : "\"\(self.shown(FormKey.text(of: path)))\"" }

    private static func shown(_ text: String) -> String { PlainText.escape(text.utf8, limit: 200) }
}
