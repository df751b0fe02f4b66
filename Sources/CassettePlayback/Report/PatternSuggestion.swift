/// Suggests a `--pattern` rule that would make a value equal to the recorded one, if both have the same form.
///
/// Knows the forms of values that change from run to run: numbers, times and identifiers. Takes texts as reports show them, and suggests
/// nothing for text that was truncated or escaped.
package enum PatternSuggestion {
    /// Narrow forms come first: the first form that both values have is suggested.
    private static let forms: [(regex: String, fits: @Sendable (Substring.UTF8View) -> Bool)] = [
        ("[0-9]+", { $0.allSatisfy { Self.isDigit($0) } }),
        ("-?[0-9]+(\\.[0-9]+)?", { Self.isNumber($0) }),
        (
            "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
            { Self.has($0, groups: [8, 4, 4, 4, 12], of: { Self.isHexDigit($0) }) }
        ),
        ("[0-9]{4}-[0-9]{2}-[0-9]{2}", { Self.has($0, groups: [4, 2, 2], of: { Self.isDigit($0) }) }),
        ("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?", { Self.isTime($0) }),
        // Shorter strings of these letters may be words.
        ("[0-9a-f]+", { $0.count >= Self.wordLength && $0.allSatisfy { Self.isHexDigit($0) && !Self.isUpper($0) } }),
        ("[0-9a-fA-F]+", { $0.count >= Self.wordLength && $0.allSatisfy { Self.isHexDigit($0) } }),
        ("[A-Za-z0-9_-]+", { $0.count >= Self.wordLength && $0.allSatisfy { Self.isWord($0) } && $0.contains { Self.isDigit($0) } }),
    ]

    /// `PLACE=REGEX`; nil if the values have no form in common.
    package static func text(_ difference: RequestDifference) -> String? {
        switch difference {
        case .path(let here, let recorded, _): self.path(here, recorded).map { "path=\($0)" }
        case .queryItemChanged(let here, let recorded): self.rule(difference, self.value(here), self.value(recorded))
        case .header(_, let here?, let recorded?), .formField(_, let here?, let recorded?): self.rule(difference, here[...], recorded[...])
        case .json(_, let here?, let recorded?), .xml(_, let here?, let recorded?), .grpc(_, _, let here?, let recorded?):
            self.rule(difference, self.unquoted(here), self.unquoted(recorded))
        default: nil
        }
    }

    private static func rule(_ difference: RequestDifference, _ here: Substring?, _ recorded: Substring?) -> String? {
        // The first "=" of a rule ends its place.
        guard let place = difference.ignorablePlace, !place.contains("="), let here, let recorded, let form = self.form(here, recorded)
        else {
            return nil
        }
        return "\(place)=\(form)"
    }

    /// The value of a query item; the whole item if it has no name.
    private static func value(_ item: String) -> Substring? {
        item.firstIndex(of: "=").map { item[item.index(after: $0)...] } ?? item[...]
    }

    /// The content of a JSON string.
    static func unquoted(_ json: String) -> Substring {
        json.utf8.count >= 2 && json.hasPrefix("\"") && json.hasSuffix("\"") ? json.dropFirst().dropLast() : json[...]
    }

    /// `path=REGEX` if the segments that differ look random, so that distinct requests of a recording do not match by chance. Nil if one of
    /// them may be a number or a name with a meaning.
    static func randomPath(_ here: String, _ recorded: String) -> String? {
        self.path(here, recorded) { self.isRandom($0) && self.isRandom($1) }.map { "path=\($0)" }
    }

    /// Whether a text is a UUID, or contains letters as well as digits and is long enough, like hex or base64.
    static func isRandom(_ text: Substring) -> Bool {
        text.utf8.count >= self.randomLength && text.utf8.allSatisfy(self.isWord) && text.utf8.contains(where: self.isDigit)
            && text.utf8.contains { !self.isDigit($0) && $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
    }

    private static let randomLength = 16

    /// The narrowest form that all of these values have; nil if there is none.
    ///
    /// - Parameter mayHaveAffixes: whether values with the same beginning and end may have a form between these: `urn:uuid:UUID`, `UUID.txt`.
    static func form(of values: [[UInt8]], mayHaveAffixes: Bool = false) -> String? {
        let texts = values.map { String(decoding: $0, as: UTF8.self)[...] }
        guard let first = texts.first, !texts.contains(where: \.isEmpty) else { return nil }
        guard let form = self.forms.first(where: { form in texts.allSatisfy { form.fits($0.utf8) } })?.regex else {
            return mayHaveAffixes ? self.formBetweenAffixes(of: texts) : nil
        }
        guard form == self.forms.last?.regex else { return self.bounded(form, texts.map(\.utf8.count)) }
        // Ids often begin with a word for their kind: "call_", "user-".
        let same = texts.dropFirst().reduce(first) { $0.prefix(zip($0, $1).prefix { $0 == $1 }.count) }
        let prefix = same.lastIndex { $0 == "_" || $0 == "-" }.map { same[...$0] } ?? ""
        return prefix + self.bounded(form, texts.map { $0.utf8.count - prefix.utf8.count })
    }

    /// A form that takes any number of characters, limited to the lengths that the values have.
    ///
    /// Random bytes in hex or base64 always have the same length. Numbers often do not, so that only times get one.
    private static func bounded(_ form: String, _ counts: [Int]) -> String {
        guard form.hasSuffix("]+"), let least = counts.min(), let most = counts.max() else { return form }
        let letters = form.dropLast()
        // Seconds and milliseconds since 1970.
        if letters == "[0-9]" { return least == most && (least == 10 || least == 13) ? "\(letters){\(least)}" : form }
        // Shorter ones may be words.
        guard least >= self.randomLength else { return least >= self.wordLength ? "\(letters){\(self.wordLength),}" : form }
        return "\(letters){\(least == most ? "\(least)" : "\(self.randomLength),")}"
    }

    private static let wordLength = 8

    /// Beginnings and ends that are fixed have at most this many characters, and at most this many places to end.
    private static let affixLimit = (length: 64, count: 8)

    /// A form after the beginning that all values share, and before the end that all share. Both end at punctuation, so that no part of an
    /// identifier is taken for a fixed word by chance.
    private static func formBetweenAffixes(of texts: [Substring]) -> String? {
        guard let first = texts.first, texts.allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x5c } }) else { return nil }
        let others = texts.dropFirst()
        let same = others.reduce(first) { $0.prefix(zip($0, $1).prefix { $0 == $1 }.count) }
        let sameEnd = others.reduce(first) { $0.suffix(zip($0.reversed(), $1.reversed()).prefix { $0 == $1 }.count) }
        func isBoundary(_ character: Character) -> Bool { !character.isLetter && !character.isNumber }
        let beginnings = [0] + same.prefix(self.affixLimit.length).enumerated().filter { isBoundary($0.element) }.map { $0.offset + 1 }
        let ends =
            [0] + sameEnd.suffix(self.affixLimit.length).reversed().enumerated().filter { isBoundary($0.element) }.map { $0.offset + 1 }
        let pairs = beginnings.prefix(self.affixLimit.count).flatMap { start in ends.prefix(self.affixLimit.count).map { (start, $0) } }
        // Numbers are last: they would fit the last part of a date.
        let (numbers, narrow) = (self.forms.prefix(2), self.forms.dropFirst(2).dropLast())
        for form in Array(narrow.prefix(3) + numbers + narrow.dropFirst(3)) {
            for (start, end) in pairs.sorted(by: { $0.0 + $0.1 < $1.0 + $1.1 }) {
                guard texts.allSatisfy({ $0.count > start + end && form.fits($0.dropFirst(start).dropLast(end).utf8) }) else { continue }
                return self.escaped(first.prefix(start)) + form.regex + self.escaped(first.suffix(end))
            }
        }
        return nil
    }

    private static func escaped(_ text: Substring) -> String {
        text.map { "\\.^$*+?()[]{}|".contains($0) ? "\\\($0)" : String($0) }.joined()
    }

    private static func form(_ here: Substring, _ recorded: Substring) -> String? {
        guard !here.isEmpty, !recorded.isEmpty else { return nil }
        return self.forms.first { $0.fits(here.utf8) && $0.fits(recorded.utf8) }?.regex
    }

    /// Replaces differing segments by their forms, and keeps the others.
    ///
    /// - Parameter mayDiffer: whether a pattern may replace two segments.
    private static func path(
        _ here: String, _ recorded: String, where mayDiffer: (Substring, Substring) -> Bool = { _, _ in true }
    ) -> String? {
        let (live, kept) = (
            here.split(separator: "/", omittingEmptySubsequences: false), recorded.split(separator: "/", omittingEmptySubsequences: false)
        )
        guard live.count == kept.count else { return nil }
        var segments: [String] = []
        for (one, other) in zip(live, kept) {
            if one == other {
                guard one.utf8.allSatisfy({ Self.isWord($0) || Self.plainOfPaths.contains($0) }) else { return nil }
                segments.append(String(one).replacing(".", with: "\\."))
            } else {
                guard mayDiffer(one, other), let form = self.form(one, other) else { return nil }
                segments.append(form)
            }
        }
        return segments.joined(separator: "/")
    }

    private static let plainOfPaths = Set(".~%!,;:@&=".utf8)

    // MARK: Forms

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) }
    private static func isHexDigit(_ byte: UInt8) -> Bool { self.isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }
    private static func isWord(_ byte: UInt8) -> Bool {
        self.isDigit(byte) || (0x61...0x7a).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    private static func isNumber(_ text: Substring.UTF8View) -> Bool {
        let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count <= 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(self.isDigit) }
    }

    /// Whether a text consists of groups of these lengths between hyphens.
    private static func has(_ text: Substring.UTF8View, groups: [Int], of isMember: (UInt8) -> Bool) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == groups && parts.allSatisfy { $0.allSatisfy(isMember) }
    }

    /// Whether a text is a time in the format of RFC 3339.
    private static func isTime(_ text: Substring.UTF8View) -> Bool {
        guard text.count >= 19, self.has(text.prefix(10), groups: [4, 2, 2], of: self.isDigit),
            text.dropFirst(10).first == UInt8(ascii: "T")
        else { return false }
        var clock = text.dropFirst(11)
        if clock.last == UInt8(ascii: "Z") {
            clock = clock.dropLast()
        } else if let sign = clock.lastIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }) {
            let zone = clock[sign...].dropFirst()
            guard !zone.isEmpty, zone.allSatisfy({ self.isDigit($0) || $0 == UInt8(ascii: ":") }) else { return false }
            clock = clock[..<sign]
        }
        return !clock.isEmpty && clock.allSatisfy { self.isDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
    }
}
