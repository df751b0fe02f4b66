internal import CassetteModel
internal import TapeBytes

// Command lines, lists of a command's words, and entries of .netrc.
extension TextSurvey {
    /// Handles a flag of a command. Each command is read once.
    ///
    /// - Parameter hyphen: the offset of the flag's hyphen.
    mutating func command(flagAt hyphen: Int) {
        guard self.isFree, hyphen >= self.commandEnd else { return }
        for found in self.commands.passwords(flagAt: hyphen) {
            self.commandEnd = max(self.commandEnd, found.range.upperBound)
            if found.isCookie {
                self.cookies(found.range, SecretNames.Meaning(kind: "cookie", syntax: .cookie))
            } else {
                self.addWord(found.range, kind: found.kind)
            }
        }
    }

    /// `--NAME VALUE`
    mutating func option(at offset: Int) {
        guard self.isFree, let (name, range) = self.commands.option(at: offset),
            let meaning = self.meaning(name.lowerBound, name.upperBound), !meaning.needsCompany, !meaning.needsKeyShape,
            meaning.syntax == .value
        else { return }
        self.addFree(range, meaning)
    }

    /// Handles `password` followed by a blank: a tag, or an entry of a .netrc file.
    mutating func blankAfterName(_ start: Int, _ end: Int) {
        guard self.isFree, let meaning = self.meaning(start, end), meaning.kind == "password" else { return }
        if start > 0,
            self.bytes[start - 1] == UInt8(ascii: "<")
                || self.bytes[start - 1] == UInt8(ascii: ":") && (self.text.byte(start - 2).map(FormSpelling.isAlphanumeric) ?? false)
        {
            return self.namedTag(around: end)
        }
        if self.variableOfContainer(start, end, meaning) { return }
        let value = self.text.skipSpace(end)
        // `PASSWORD 'X'` in SQL, `:password "X"` in Clojure.
        if self.text.isQuote(self.text.byte(value)), self.text.byte(value) != UInt8(ascii: "`"), self.text.mayPrecedeSymbol(start - 1) {
            return self.literal(value, meaning, hasDigit: true)
        }
        if let range = self.commands.passwordOfEntry(start, end) { return self.addWord(range, kind: "password") }
        for verb in Self.verbs where self.text.isWord(verb, endingAt: value + verb.utf8CodeUnitCount) {
            let end = value + verb.utf8CodeUnitCount
            guard let blank = self.text.byte(end), blank == 32 || blank == UInt8(ascii: ":") else { continue }
            return self.valueAmongWords(self.text.skipBlanks(end + 1), meaning, isInSentence: true)
        }
        // `db.password X` in properties of Java.
        let word = self.text.skipBlanks(end)
        if self.text.beginsLine(start), self.bytes[start..<end].contains(UInt8(ascii: ".")), let line = self.text.restOfLine(word),
            NamedValue.looksLikePassword(UnsafeRawBufferPointer(rebasing: self.bytes[line])), !NamedValue.isExpression(self.bytes[line])
        {
            self.bareLine(word, meaning)
        }
    }

    /// Between `The password` and its value in a sentence, or in a log.
    private static let verbs: [StaticString] = ["was set to", "was changed to", "set to", "changed to", "is", "was", "->", "=="]

    /// Handles `name: NAME` with `value: X` on the next line, as in manifests of containers. Returns whether it is one.
    private mutating func variableOfContainer(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) -> Bool {
        let key = self.text.skipSpaceBack(start)
        guard self.text.isWord("name:", endingAt: key), self.text.beginsLine(key - 5) else { return false }
        var line = self.text.skipBlanks(end)
        if self.text.byte(line) == 13 { line += 1 }
        guard self.text.byte(line) == 10 else { return false }
        let value = self.text.skipBlanks(line + 1)
        guard self.text.isWord("value:", endingAt: value + 6) else { return false }
        let content = self.text.skipBlanks(value + 6)
        if self.text.isQuote(self.text.byte(content)) { self.literal(content, meaning) } else { self.bareLine(content, meaning) }
        return true
    }

    private mutating func addWord(_ range: Range<Int>, kind: String) {
        guard !range.isEmpty else { return }
        self.addFree(range, SecretNames.Meaning(kind: kind))
    }
}
