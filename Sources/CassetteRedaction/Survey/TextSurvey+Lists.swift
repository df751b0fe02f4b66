internal import CassetteModel
internal import TapeBytes

// Lists, inline tables and sections in TOML and YAML.
extension TextSurvey {
    /// The most values in one list or table.
    private static let countLimit = 100
    /// The most lines in one section.
    private static let lineLimit = 64

    /// Handles `["value", 'value', value]`: values that look like a key, or like a password under a password's name.
    mutating func list(_ open: Int, _ meaning: SecretNames.Meaning) {
        guard meaning.syntax == .value, Self.nestable.contains(meaning.kind) else { return }
        var offset = open + 1
        for _ in 0..<Self.countLimit {
            offset = self.text.skipSpace(offset)
            self.work += SearchBudget.costOfItem
            guard let value = self.scalar(&offset, endingAt: ",]") else { return }
            self.addNested(value, name: nil, meaning, isWord: true, spelling: self.spelling(value))
            offset = self.text.skipSpace(offset)
            guard self.text.byte(offset) == UInt8(ascii: ",") else { return }
            offset += 1
        }
    }

    /// `{ value = "X", other = 1 }`
    mutating func inlineTable(_ open: Int, _ meaning: SecretNames.Meaning) {
        guard meaning.syntax == .value, Self.nestable.contains(meaning.kind), !meaning.needsKeyShape || meaning.isPlural else { return }
        var offset = open + 1
        for _ in 0..<Self.countLimit {
            let start = self.text.skipSpace(offset)
            var end = start
            while let byte = self.text.byte(end), SecretShape.Alphabet.word.contains(byte), end - start <= SecretNames.lengthLimit {
                end += 1
            }
            offset = self.text.skipBlanks(end)
            guard end > start, self.text.byte(offset) == UInt8(ascii: "=") else { return }
            offset = self.text.skipBlanks(offset + 1)
            self.work += SearchBudget.costOfItem
            guard let value = self.scalar(&offset, endingAt: ",}") else { return }
            self.addNested(value, name: start..<end, meaning, isWord: false, spelling: self.spelling(value))
            offset = self.text.skipSpace(offset)
            guard self.text.byte(offset) == UInt8(ascii: ",") else { return }
            offset += 1
        }
    }

    /// A string without its quotes, or a word. Leaves the offset after it.
    private mutating func scalar(_ offset: inout Int, endingAt marks: StaticString) -> Range<Int>? {
        guard let first = self.text.byte(offset) else { return nil }
        let before = offset
        defer { self.work += offset - before }
        let ends = UnsafeBufferPointer(start: marks.utf8Start, count: marks.utf8CodeUnitCount)
        let most = min(self.bytes.count, offset + NamedValue.limit)
        var end = offset
        if self.text.isQuote(first) {
            let start = offset + 1
            end = start
            while end < most, self.bytes[end] != first, self.bytes[end] != 10 { end += self.bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
            guard end < most, self.bytes[end] == first else { return nil }
            offset = end + 1
            return start..<end
        }
        let start = offset
        while end < most, !ends.contains(self.bytes[end]), self.bytes[end] != 10, !self.text.isQuote(self.bytes[end]) {
            // Nothing unquoted in a list or table contains these (YAML 1.2, 7.3.3). Each of many openings would read the others, too.
            guard !"[{".utf8.contains(self.bytes[end]) else { return nil }
            end += 1
        }
        offset = end
        while end > start, self.bytes[end - 1] <= 32 { end -= 1 }
        return start..<end
    }

    private func spelling(_ range: Range<Int>) -> Finding.Spelling { self.bytes[range].contains(UInt8(ascii: "\\")) ? .json : .plain }

    /// Handles `[name]` on a line of its own, with the lines of the section, `value = "X"`, up to the next one.
    ///
    /// - Parameter close: the offset of the closing bracket.
    mutating func section(closing close: Int, _ meaning: SecretNames.Meaning) {
        guard meaning.syntax == .value, Self.nestable.contains(meaning.kind), !meaning.needsKeyShape || meaning.isPlural else { return }
        var line = close
        for _ in 0..<Self.lineLimit {
            while let byte = self.text.byte(line), byte != 10 { line += 1 }
            guard line < self.bytes.count else { return }
            line = self.text.skipSpace(line)
            guard let first = self.text.byte(line), first != UInt8(ascii: "[") else { return }
            var end = line
            while let byte = self.text.byte(end), SecretShape.Alphabet.word.contains(byte) || byte == UInt8(ascii: "."),
                end - line <= SecretNames.lengthLimit
            { end += 1 }
            var offset = self.text.skipBlanks(end)
            guard end > line, self.text.byte(offset) == UInt8(ascii: "=") || self.text.byte(offset) == UInt8(ascii: ":") else { continue }
            offset = self.text.skipBlanks(offset + 1)
            if let value = self.scalar(&offset, endingAt: "#;"), !value.isEmpty {
                self.addNested(value, name: line..<end, meaning, isWord: false, spelling: self.spelling(value))
            }
        }
    }

    /// Handles an unquoted value in a YAML mapping, a Go struct or the like: `{user: ada, password: X}`.
    mutating func flowValue(_ start: Int, _ meaning: SecretNames.Meaning) {
        guard meaning.syntax == .value, start >= self.valueEnd else { return }
        var end = start
        let most = min(self.bytes.count, start + NamedValue.limit)
        while end < most, !self.text.endsBareValue(self.bytes[end]) { end += 1 }
        self.valueEnd = end
        // `{password: make(x)}` is code.
        let next = self.text.byte(end) ?? 10
        let value = self.bytes[start..<end]
        // The end of a string or of a parenthesis, and neither an argument in a program, `login(password: utf8Bytes16)`, nor part of an
        // identifier, `arn:aws:secretsmanager:1:secret:name-a1b2`.
        let isEnclosed = self.bytes[start - 1] <= 32 && "\"'`);<\\".utf8.contains(next) && !NamedValue.isExpression(value)
        guard next <= 32 || "},]&".utf8.contains(next) || isEnclosed, value.count >= NeedleIndex.lengthLimit else { return }
        guard NamedValue.looksLikePassword(UnsafeRawBufferPointer(rebasing: value)), !NamedValue.isNumberedName(value),
            !NamedValue.isPathOfNames(value)
        else { return }
        self.addFree(start..<end, meaning)
    }

    // MARK: YAML

    /// How many aliases are resolved in one text.
    private static let aliasLimit = 16

    /// Handles `password: *name`, whose value follows `&name` (YAML 1.2, 7.1).
    ///
    /// - Parameter star: the offset of the alias.
    mutating func alias(_ star: Int, _ meaning: SecretNames.Meaning) {
        var end = star + 1
        while let byte = self.text.byte(end), byte > 32, !",]}".utf8.contains(byte), end - star <= SecretNames.lengthLimit { end += 1 }
        guard end > star + 1, meaning.syntax == .value, self.aliasCount < Self.aliasLimit else { return }
        self.aliasCount += 1
        let name = self.bytes[(star + 1)..<end]
        var offset = 0
        while offset < star {
            offset = ByteScan.index(of: UInt8(ascii: "&"), in: self.bytes, from: offset) + 1
            guard offset < star else { return }
            let after = offset + name.count
            guard self.bytes[offset...].starts(with: name), let blank = self.text.byte(after), blank == 32 else { continue }
            let value = self.text.afterNodeProperties(offset - 1)
            if self.text.isQuote(self.text.byte(value)) { return self.literal(value, meaning) }
            self.bareLine(value, meaning)
            return
        }
    }

    /// Handles `? name` on one line with `: value` on the next (YAML 1.2, 8.2.2).
    mutating func complexKeys() {
        guard ByteSearch.contains("? ", in: self.bytes) else { return }
        var colon = 0
        while true {
            colon = ByteScan.index(of: 10, in: self.bytes, from: colon) + 1
            guard colon < self.bytes.count else { return }
            let mark = self.text.skipBlanks(colon)
            guard self.text.byte(mark) == UInt8(ascii: ":"), self.text.byte(mark + 1) == 32 else { continue }
            var end = colon - 1
            while end > 0, self.bytes[end - 1] <= 32, self.bytes[end - 1] != 10 { end -= 1 }
            if self.text.isQuote(self.text.byte(end - 1)) { end -= 1 }
            let start = self.text.startOfName(end)
            let first = self.text.isQuote(self.text.byte(start - 1)) ? start - 1 : start
            let question = self.text.skipSpaceBack(first) - 1
            guard start < end, self.text.byte(question) == UInt8(ascii: "?"),
                self.text.beginsLine(question) || self.text.isQuote(self.text.byte(question - 1)),
                let meaning = self.meaning(start, end), !meaning.needsCompany, meaning.syntax == .value
            else { continue }
            let value = self.text.afterNodeProperties(self.text.skipBlanks(mark + 1))
            if self.text.isQuote(self.text.byte(value)) {
                self.literal(value, meaning)
            } else if self.text.byte(value) == UInt8(ascii: "*") {
                self.alias(value, meaning)
            } else {
                self.bareLine(value, meaning)
            }
        }
    }
}
