extension Body {
    /// Whether a readable form was put off when the body was recorded: it lies in the raw spool, or has codings on that could be taken
    /// off, or parts that were not looked for.
    public func isUndeveloped(_ headers: HeaderFields) -> Bool {
        if case .raw = self.content { return true }
        return self.hasCodingsLeft(headers) || self.hasPartsLeft(headers)
    }

    /// Codings that could be taken off: of a body in a sidecar that was not looked at, or of one that was recorded by a build without
    /// them.
    public func hasCodingsLeft(_ headers: HeaderFields) -> Bool {
        guard self.codings.isEmpty, self.original == nil, case .coded = ContentEncoding(headers) else { return false }
        if let note = self.note { return ContentEncoding.isNoteOfUnknown(note) }
        if case .file = self.content { return true }
        return false
    }

    /// A multipart in one piece, without a note that says why: large ones are recorded so, and those of earlier versions.
    public func hasPartsLeft(_ headers: HeaderFields) -> Bool {
        guard self.note == nil else { return false }
        switch self.content {
        case .text, .binary, .file:
            guard let index = headers.firstIndex(of: "content-type"), MediaType(headers.valueBytes(at: index)).isMultipart else {
                return false
            }
            return !self.codings.isEmpty || ContentEncoding(headers) == .none
        case .empty, .encodedText, .json, .form, .lines, .events, .multipart, .raw: return false
        }
    }
}
