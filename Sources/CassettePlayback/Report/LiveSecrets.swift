internal import CassetteModel
internal import TapeBytes

/// Removes possible secrets from live values shown in a report, if the recording has marks there.
///
/// Which part of the value is the secret is unknown. If the recorded value has a mark, only the parts that match the recorded value are
/// shown. All other values are shown without base64 and hex.
enum LiveSecrets {
    private static let ellipsis = Array("…".utf8)
    /// The shortest base64 or hex that is removed, in characters: nine bytes.
    private static let codeLimit = 12

    /// A live value as it is shown next to a recorded one, which may be nil.
    static func hidden(_ live: [UInt8], recorded: [UInt8]?) -> [UInt8] {
        guard live != recorded else { return live }
        guard let recorded, let marks = self.marks(in: recorded) else { return self.withoutCodes(live) }
        let first = zip(live, recorded[..<marks.lowerBound]).prefix { $0 == $1 }.count
        let last = zip(live[first...].reversed(), recorded[marks.upperBound...].reversed()).prefix { $0 == $1 }.count
        return live[..<first] + self.ellipsis + live[(live.count - last)...]
    }

    /// The same for a recorded value that may have placeholders.
    static func hidden(_ live: [UInt8], where recorded: [UInt8]?) -> [UInt8] {
        guard let marked = recorded.flatMap({ $0.withUnsafeBytes { MatchMark.replaced(in: $0) } }) else { return live }
        return self.hidden(live, recorded: marked)
    }

    /// The range from the first mark of a text to its last one, in any spelling; nil if it has none.
    private static func marks(in text: [UInt8]) -> Range<Int>? {
        text.withUnsafeBytes { text in
            var (start, end) = (text.count, 0)
            var offset = 0
            while let mark = MatchMark.first(in: text, from: offset) {
                (start, end) = (min(start, mark), mark + MatchMark.bytes.count)
                offset = end
            }
            for run in CodedMarks.runs(in: text) { (start, end) = (min(start, run.range.lowerBound), max(end, run.range.upperBound)) }
            return start < end ? start..<end : nil
        }
    }

    /// A text with "…" for words that look like base64 or hex.
    static func withoutCodes(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var start = 0
        while start < text.count {
            guard self.isOfCode(text[start]) else {
                result.append(text[start])
                start += 1
                continue
            }
            let end = text[start...].firstIndex { !self.isOfCode($0) } ?? text.count
            result += self.isCode(text[start..<end]) ? self.ellipsis[...] : text[start..<end]
            start = end
        }
        return result
    }

    private static func isOfCode(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "=")
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "%")
    }

    /// Whether a word has letters and digits, or letters of mixed case, as words of a language do not. Up to twenty digits alone are a
    /// number.
    private static func isCode(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count >= self.codeLimit else { return false }
        let hasLetter = word.contains { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
        let hasDigit = word.contains { $0 >= 48 && $0 <= 57 }
        let small = word.count { $0 >= 97 && $0 <= 122 }
        let capitals = word.count { $0 >= 65 && $0 <= 90 }
        return hasLetter && hasDigit || capitals * 5 > word.count && small > 0 || hasDigit && word.count > 20
    }
}

extension RequestParts {
    /// Takes over the recorded pieces whose marks fit those of this request: they are not a difference.
    func adopting(_ recorded: RequestParts) -> RequestParts {
        self.mapped(recorded) { live, recorded in
            let fits = recorded.bytes.withUnsafeBytes { recorded in live.bytes.withUnsafeBytes { MatchMark.value(recorded, fits: $0) } }
            return fits ? recorded : live
        }
    }

    /// Without possible secrets, where the recorded request has marks.
    func hidingSecrets(where recorded: RequestParts) -> RequestParts {
        var shown = self.mapped(recorded) { live, recorded in
            Piece(LiveSecrets.hidden(Array(live.bytes), recorded: Array(recorded.bytes))[...])
        }
        guard recorded.hasCodedMarks else { return shown }
        func withoutCodes(_ piece: Piece) -> Piece { Piece(LiveSecrets.withoutCodes(Array(piece.bytes))[...]) }
        if self.segments.count != recorded.segments.count { shown.segments = shown.segments.map(withoutCodes) }
        let names = Set(recorded.items.filter(\.hasMarks).map(\.name))
        shown.items = shown.items.map { names.contains($0.name) || recorded.items.contains($0) ? $0 : withoutCodes($0) }
        shown.path = shown.joinedPath
        return shown
    }

    private var hasCodedMarks: Bool {
        (self.segments + self.items + self.fields).contains { $0.bytes.withUnsafeBytes(CodedMarks.areIn) }
    }

    /// - Parameter body: receives a piece and the recorded piece with marks at the same place.
    private func mapped(_ recorded: RequestParts, _ body: (Piece, Piece) -> Piece) -> RequestParts {
        var mapped = self
        if recorded.host.hasMarks { mapped.host = body(self.host, recorded.host) }
        if self.segments.count == recorded.segments.count {
            mapped.segments = zip(self.segments, recorded.segments).map { $1.hasMarks ? body($0, $1) : $0 }
            mapped.path = mapped.joinedPath
        }
        mapped.items = Self.mapped(self.items, recorded.items, name: \.name, body)
        mapped.fields = Self.mapped(self.fields, recorded.fields, name: \.fieldName, body)
        return mapped
    }

    private static func mapped(
        _ live: [Piece], _ recorded: [Piece], name: (Piece) -> ArraySlice<UInt8>, _ body: (Piece, Piece) -> Piece
    ) -> [Piece] {
        var left = recorded.filter { !live.contains($0) }
        return live.map { piece in
            guard !recorded.contains(piece), let index = left.firstIndex(where: { name($0) == name(piece) }) else { return piece }
            let other = left.remove(at: index)
            return other.hasMarks ? body(piece, other) : piece
        }
    }

    private var joinedPath: ArraySlice<UInt8> { Array(self.segments.map(\.bytes).joined(separator: [UInt8(ascii: "/")]))[...] }

    /// The key that the parts came from, without anything beyond the limits of the parts.
    var key: [UInt8] {
        var key = self.method.bytes + [32]
        if !self.scheme.bytes.isEmpty {
            key += self.scheme.bytes + Array("://".utf8)
            if !self.userInformation.bytes.isEmpty { key += self.userInformation.bytes + [UInt8(ascii: "@")] }
            key += self.host.bytes
            if !self.port.bytes.isEmpty { key += [UInt8(ascii: ":")] + self.port.bytes }
        }
        key += self.path
        if !self.items.isEmpty { key += [UInt8(ascii: "?")] + Array(self.items.map(\.bytes).joined(separator: [UInt8(ascii: "&")])) }
        for field in self.fields { key += [10] + field.bytes }
        return Array(key)
    }
}

extension RequestParts.Piece {
    fileprivate var hasMarks: Bool { self.bytes.withUnsafeBytes { MatchMark.isIn($0) } }
}
