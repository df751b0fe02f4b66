extension Body {
    /// Whether a readable form was put off when the body was recorded: it lies in the raw spool, or in a sidecar with codings still on
    /// that could be taken off.
    public func isUndeveloped(_ headers: HeaderFields) -> Bool {
        switch self.content {
        case .raw: return true
        case .file:
            guard self.codings.isEmpty, self.original == nil, self.note == nil else { return false }
            switch ContentEncoding(headers) {
            case .coded: return true
            case .none, .other: return false
            }
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .multipart, .binary: return false
        }
    }
}
