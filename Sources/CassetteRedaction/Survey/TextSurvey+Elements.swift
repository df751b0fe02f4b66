internal import CassetteModel
internal import TapeBytes

// Elements of XML and HTML.
extension TextSurvey {
    /// `<key>name</key><string>value</string>`
    mutating func pairOfElements(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        guard !meaning.needsCompany, meaning.syntax == .value || meaning.syntax == .credentials,
            let (range, isNumber) = ElementSurvey(text: self.text).valueOfPair(start, end)
        else { return }
        if isNumber, range.count < 4 { return }
        self.add(range, meaning, isNumber ? .number : .plain)
    }

    /// `</name>` of an element with attributes, with CDATA, or with elements in it.
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
            // Cut, in a text of elements: `{"error":"no <token>"}` and `List<Token> of …` are others.
            guard start >= self.valueEnd, !self.text.isView, self.text.isMarkup else { return }
            self.valueEnd = close
            guard !self.bytes[(end + 1)...].contains(where: { $0 <= 32 || "\"'{}[]\\,;".utf8.contains($0) }) else { return }
            return self.add(end + 1..<close, meaning, .plain)
        }
        guard close < self.bytes.count, close - end <= NamedValue.limit, self.bytes[close] == UInt8(ascii: "<") else { return }
        // Elements within it are found for themselves.
        guard close + 1 < self.bytes.count, self.bytes[close + 1] == UInt8(ascii: "/") else { return }
        self.add(end + 1..<close, meaning, .plain)
    }

    /// The slash of `</name>` or `</prefix:name>`.
    func slashOfEndTag(_ start: Int) -> Int? {
        guard start > 1 else { return nil }
        var slash = start - 1
        if self.bytes[slash] == UInt8(ascii: ":") { slash = self.text.startOfName(slash) - 1 }
        guard slash > 0, self.bytes[slash] == UInt8(ascii: "/"), self.bytes[slash - 1] == UInt8(ascii: "<") else { return nil }
        return slash
    }

    /// Where the next `<` is; the text's end, or what no value reaches, if there is none.
    mutating func nextMark(from start: Int) -> Int {
        if self.nextMark.contains(start) { return self.nextMark.upperBound }
        let end = min(start + 2 * NamedValue.limit, self.bytes.count)
        let found = ByteScan.index(of: UInt8(ascii: "<"), in: UnsafeRawBufferPointer(rebasing: self.bytes[..<end]), from: start)
        self.nextMark = start..<found
        return found
    }
}
