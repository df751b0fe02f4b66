internal import CassetteModel
internal import TapeBytes

// Elements of XML and HTML.
extension TextSurvey {
    /// `<key>name</key><string>value</string>`
    mutating func pairOfElements(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        guard !meaning.needsCompany, meaning.syntax == .value || meaning.syntax == .credentials else { return }
        let elements = ElementSurvey(text: self.text)
        guard let (range, isNumber) = elements.valueOfPair(start, end) else {
            if let range = elements.valueBeforePair(start) { self.add(range, meaning, .plain) }
            return
        }
        if isNumber, range.count < 4 { return }
        self.add(range, meaning, isNumber ? .number : .plain)
    }

    /// `<entry key="name">value</entry>`, `<add key="name" value="value"/>` and `<name value="value"/>`, in any order of attributes.
    ///
    /// - Parameter offset: an offset within the tag.
    mutating func namedTag(around offset: Int) {
        guard self.isFree, let tag = self.tags.tag(around: offset), let meaning = self.meaning(of: tag), !meaning.needsCompany,
            meaning.syntax == .value || meaning.syntax == .credentials
        else { return }
        let element = self.word(tag.name)
        if let value = tag.attributes.first(where: { Self.valueAttributes.contains(self.word($0.name)) && !$0.value.isEmpty })?.value {
            // The text shown on a button.
            let type = tag.attributes.first { self.word($0.name) == "type" }.map { self.word($0.value) } ?? ""
            guard !Self.shownElements.contains(element), !Self.shownInputs.contains(type) else { return }
            return self.addFree(value, meaning)
        }
        guard !tag.isEmpty, !Self.voidElements.contains(element), let value = ElementSurvey(text: self.text).value(from: tag.end) else {
            return
        }
        // Text for people: Android resources, labels.
        if Self.shownElements.contains(element), !NamedValue.looksLikePassword(UnsafeRawBufferPointer(rebasing: self.bytes[value])) {
            return
        }
        self.addFree(value, meaning)
    }

    private static let valueAttributes: Set<String> = ["value", "val", "content", "data", "default"]
    private static let shownElements: Set<String> = [
        "string", "button", "option", "label", "a", "td", "th", "li", "span", "div", "p", "h1", "h2", "h3", "h4", "legend", "text", "item",
    ]
    private static let shownInputs: Set<String> = ["submit", "button", "reset", "checkbox", "radio", "image"]
    private static let voidElements: Set<String> = ["input", "meta", "img", "br", "link"]
    private static let nameAttributes: Set<String> = ["name", "key", "id", "property", "field", "n", "k", "param"]

    /// The meaning of a tag's value, by its attributes or its own name.
    private func meaning(of tag: MarkupTags.Tag) -> SecretNames.Meaning? {
        for (name, value) in tag.attributes where value.count <= SecretNames.lengthLimit {
            if Self.nameAttributes.contains(self.word(name)) {
                var range = value
                while let first = range.first, self.bytes[first] <= 32 { range.removeFirst() }
                while let last = range.last, self.bytes[last] <= 32 { range.removeLast() }
                // `user[password]`
                if let last = range.last, self.bytes[last] == UInt8(ascii: "]"),
                    let open = range.last(where: { self.bytes[$0] == UInt8(ascii: "[") })
                {
                    range = open + 1..<last
                }
                if let meaning = self.meaning(range.lowerBound, range.upperBound) { return meaning }
            } else if self.word(name) == "type", self.word(value) == "password" {
                return SecretNames.Meaning(kind: "password")
            }
        }
        return tag.name.count <= SecretNames.lengthLimit ? self.meaning(tag.name.lowerBound, tag.name.upperBound) : nil
    }

    /// The text in lower case; empty if it is long.
    private func word(_ range: Range<Int>) -> String {
        range.count <= 16 ? String(decoding: self.bytes[range], as: UTF8.self).lowercased() : ""
    }

    /// Handles end tags with blanks before the bracket, `</name >`, in an XML text.
    mutating func endTagsWithBlanks() {
        guard self.text.isMarkup, !self.text.isHTML else { return }
        var mark = ByteScan.index(of: UInt8(ascii: "<"), in: self.bytes, from: 0)
        while mark < self.bytes.count {
            let slash = mark + 1
            mark = ByteScan.index(of: UInt8(ascii: "<"), in: self.bytes, from: mark + 1)
            guard self.text.byte(slash) == UInt8(ascii: "/") else { continue }
            var end = slash + 1
            while end < self.bytes.count, end - slash <= 2 * SecretNames.lengthLimit, self.bytes[end] > 32,
                self.bytes[end] != UInt8(ascii: ">")
            {
                end += 1
            }
            guard let next = self.text.byte(end), next <= 32 else { continue }
            let start = self.text.startOfName(end)
            if let meaning = self.meaning(start, end), !meaning.needsCompany, meaning.syntax == .value || meaning.syntax == .credentials {
                self.closedElement(slash, end, meaning)
            }
        }
    }

    /// Handles the `</name>` of an element with attributes, CDATA, or nested elements.
    mutating func closedElement(_ slash: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        let floor = self.elementFloors[meaning.kind] ?? 0
        self.elementFloors[meaning.kind] = end
        guard let element = ElementSurvey(text: self.text).element(endingAt: slash, nameEnd: end, floor: floor), !element.isPlain else {
            return
        }
        for (name, range) in element.texts {
            if element.hasElements {
                guard Self.nestable.contains(meaning.kind), !meaning.needsKeyShape || meaning.isPlural else { continue }
                self.addNested(range, name: name, meaning, isWord: false, spelling: .plain)
            } else {
                self.add(range, meaning, .plain)
            }
        }
    }

    /// `<name>value<`
    mutating func element(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        if !meaning.needsCompany, meaning.syntax == .value || meaning.syntax == .credentials,
            let slash = self.slashOfEndTag(start)
        {
            return self.closedElement(slash, end, meaning)
        }
        guard !meaning.needsCompany, meaning.syntax == .value || meaning.syntax == .credentials, start > 0,
            self.bytes[start - 1] == UInt8(ascii: "<") || self.bytes[start - 1] == UInt8(ascii: ":")
        else { return }
        let close = self.nextMark(from: end + 1)
        if close == self.bytes.count, close - end <= NamedValue.limit {
            // The text was cut, within elements. `{"error":"no <token>"}` and `List<Token> of …` are something else.
            guard start >= self.valueEnd, !self.text.isView, self.text.isMarkup else { return }
            self.valueEnd = close
            guard !self.bytes[(end + 1)...].contains(where: { $0 <= 32 || "\"'{}[]\\,;".utf8.contains($0) }) else { return }
            return self.add(end + 1..<close, meaning, .plain)
        }
        guard close < self.bytes.count, close - end <= NamedValue.limit, self.bytes[close] == UInt8(ascii: "<") else { return }
        // Nested elements are found separately.
        guard close + 1 < self.bytes.count, self.bytes[close + 1] == UInt8(ascii: "/") else { return }
        self.add(end + 1..<close, meaning, .plain)
    }

    /// The most entities of which the declaration is searched for.
    private static let entityLimit = 16

    /// The text in the declaration of an entity, `<!ENTITY name "text">` (XML 1.0, 4.2.1), for a value that is a reference to it; nil if it
    /// is something else.
    mutating func declaration(of value: Range<Int>) -> Range<Int>? {
        let name = self.bytes[value].dropFirst().dropLast()
        guard value.count > 2, value.count <= SecretNames.lengthLimit, self.bytes[value.lowerBound] == UInt8(ascii: "&"),
            self.bytes[value.upperBound - 1] == UInt8(ascii: ";"), name.allSatisfy({ SecretShape.Alphabet.word.contains($0) }),
            self.entityCount < Self.entityLimit
        else { return nil }
        self.entityCount += 1
        self.work += value.lowerBound
        var offset = 0
        while true {
            offset = ByteScan.index(of: UInt8(ascii: "<"), in: self.bytes, from: offset) + 1
            guard offset < value.lowerBound else { return nil }
            let start = self.text.skipSpace(offset + 7)
            guard self.text.isWord("!entity", endingAt: offset + 7), start > offset + 7, self.bytes[start...].starts(with: name) else {
                continue
            }
            let quote = self.text.skipSpace(start + name.count)
            guard quote > start + name.count, self.text.isQuote(self.text.byte(quote)), let end = self.endOfLiteral(quote) else { continue }
            return quote + 1..<end
        }
    }

    /// The slash of `</name>` or `</prefix:name>`.
    func slashOfEndTag(_ start: Int) -> Int? {
        guard start > 1 else { return nil }
        var slash = start - 1
        if self.bytes[slash] == UInt8(ascii: ":") { slash = self.text.startOfName(slash) - 1 }
        guard slash > 0, self.bytes[slash] == UInt8(ascii: "/"), self.bytes[slash - 1] == UInt8(ascii: "<") else { return nil }
        return slash
    }

    /// The offset of the next `<`; if there is none, the text's end, or an offset that no value reaches.
    mutating func nextMark(from start: Int) -> Int {
        if self.nextMark.contains(start) { return self.nextMark.upperBound }
        let end = min(start + 2 * NamedValue.limit, self.bytes.count)
        let found = ByteScan.index(of: UInt8(ascii: "<"), in: UnsafeRawBufferPointer(rebasing: self.bytes[..<end]), from: start)
        self.nextMark = start..<found
        return found
    }
}
