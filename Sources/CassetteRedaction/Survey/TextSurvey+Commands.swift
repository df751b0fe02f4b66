internal import CassetteModel
internal import TapeBytes

// Command lines, lists of a command's words, and entries of .netrc.
extension TextSurvey {
    /// Handles a flag of a command. Each command is read once.
    ///
    /// - Parameter hyphen: the offset of the flag's hyphen.
    mutating func command(flagAt hyphen: Int) {
        guard self.isFree, hyphen >= self.commandEnd else { return }
        self.parameter(flagAt: hyphen)
        self.input(ofFlag: hyphen)
        for found in self.commands.passwords(flagAt: hyphen) {
            self.commandEnd = max(self.commandEnd, found.range.upperBound)
            if found.isCookie {
                self.cookies(found.range, SecretNames.Meaning(kind: "cookie", syntax: .cookie))
            } else {
                self.addWord(found.range, kind: found.kind)
            }
        }
    }

    /// Handles `-Password X` in PowerShell and `set -x NAME X` in fish.
    private mutating func parameter(flagAt hyphen: Int) {
        let flag = self.name(hyphen + 1)
        guard !flag.isEmpty, let blank = self.text.byte(flag.upperBound), blank == 32 || blank == 9 else { return }
        let next = self.text.skipBlanks(flag.upperBound)
        if flag.count <= 3 {
            guard self.bytes[flag].allSatisfy({ "xgUu".utf8.contains($0) }), self.text.isWord("set", endingAt: hyphen - 1),
                self.text.mayPrecedeName(hyphen - 5)
            else { return }
            let name = self.name(next)
            guard !name.isEmpty, let mark = self.text.byte(name.upperBound), mark == 32 || mark == 9,
                let meaning = self.meaning(name.lowerBound, name.upperBound), !meaning.needsCompany, meaning.syntax == .value
            else { return }
            return self.argument(self.text.skipBlanks(name.upperBound), meaning)
        }
        guard flag.count <= SecretNames.lengthLimit, self.bytes[flag.lowerBound] >= 65, self.bytes[flag.lowerBound] <= 90,
            let meaning = self.meaning(flag.lowerBound, flag.upperBound), !meaning.needsCompany, !meaning.needsKeyShape, !meaning.isPlural,
            meaning.syntax == .value
        else { return }
        self.argument(next, meaning, hasDigit: true)
    }

    /// `--NAME VALUE`
    mutating func option(at offset: Int) {
        guard self.isFree else { return }
        self.input(ofOption: self.name(offset + 2))
        guard let (name, range) = self.commands.option(at: offset) else { return }
        guard let meaning = self.meaning(name.lowerBound, name.upperBound) else { return self.furtherOption(name, range) }
        guard !meaning.needsCompany, !meaning.needsKeyShape, meaning.syntax == .value, !self.isOfSentence(range) else { return }
        self.addFree(range, meaning)
    }

    /// Words that follow an option in sentences and usage messages.
    private static let wordsOfSentences: Set<String> = [
        "and", "or", "is", "are", "was", "the", "a", "an", "to", "for", "from", "in", "on", "of", "with", "option", "options", "flag",
        "flags",
        "value", "values", "argument", "arguments", "parameter", "must", "can", "may", "will", "should", "if", "when", "as", "instead",
        "which", "that", "not", "has", "does", "requires", "takes", "sets", "name",
    ]

    /// Whether a word after an option belongs to a sentence about it: `the --token flag`, `--password VALUE`.
    private func isOfSentence(_ range: Range<Int>) -> Bool {
        guard range.count <= 10 else { return false }
        return Self.wordsOfSentences.contains(String(decoding: self.bytes[range], as: UTF8.self).lowercased())
    }

    /// Handles `--github-token X`, and `--from-literal=NAME=X` of a secret in Kubernetes.
    private mutating func furtherOption(_ name: Range<Int>, _ range: Range<Int>) {
        if name.count == 12, self.text.isWord("from-literal", endingAt: name.upperBound) {
            var line = name.lowerBound
            while line > 0, name.lowerBound - line < Self.literalReach, self.bytes[line - 1] != 10 { line -= 1 }
            self.work += name.lowerBound - line
            guard ByteSearch.contains("secret", in: UnsafeRawBufferPointer(rebasing: self.bytes[line..<name.lowerBound])),
                let equals = range.first(where: { self.bytes[$0] == UInt8(ascii: "=") })
            else { return }
            let value = equals + 1
            if value == range.upperBound {
                if self.text.isQuote(self.text.byte(value)) { self.literal(value, SecretNames.Meaning(kind: "secret")) }
                return
            }
            return self.addFree(value..<range.upperBound, SecretNames.Meaning(kind: "secret"))
        }
        if name.count == 10, self.text.isWord("basic-auth", endingAt: name.upperBound) {
            guard let colon = range.first(where: { self.bytes[$0] == UInt8(ascii: ":") }), colon + 1 < range.upperBound else { return }
            return self.addFree(colon + 1..<range.upperBound, SecretNames.Meaning(kind: "password"))
        }
        guard var meaning = SecretNames.meaning(ofField: self.bytes[name]) else { return }
        (meaning.needsKeyShape, meaning.isPlural) = (false, false)
        if self.isLikely(range, meaning) { self.addFree(range, meaning) }
    }

    /// How many bytes before an option the kind of its object may be.
    private static let literalReach = 512

    /// Handles `password` followed by a blank: a tag, or an entry of a .netrc file.
    mutating func blankAfterName(_ start: Int, _ end: Int) {
        guard self.isFree, let meaning = self.meaning(start, end), meaning.kind == "password" else { return }
        if start > 0,
            self.bytes[start - 1] == UInt8(ascii: "<")
                || self.bytes[start - 1] == UInt8(ascii: ":") && (self.text.byte(start - 2).map(FormSpelling.isAlphanumeric) ?? false)
        {
            return self.namedTag(around: end)
        }
        let value = self.text.skipSpace(end)
        // `PASSWORD 'X'` in SQL, `:password "X"` in Clojure.
        if self.text.isQuote(self.text.byte(value)), self.text.byte(value) != UInt8(ascii: "`"), self.text.mayPrecedeSymbol(start - 1) {
            return self.literal(value, meaning, hasDigit: true)
        }
        if self.networkPassword(start, end, meaning) { return }
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

    /// Handles `username ada password 7 X` and `password 0 X` in the settings of routers, with the kind of its encoding before the value.
    /// Returns whether it is one.
    private mutating func networkPassword(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) -> Bool {
        let kind = self.text.skipBlanks(end)
        guard let digit = self.text.byte(kind), digit >= 48, digit <= 57, self.text.byte(kind + 1) == 32 else { return false }
        var line = start
        while line > 0, start - line < SecretNames.lengthLimit, self.bytes[line - 1] != 10 { line -= 1 }
        guard line == 0 || self.bytes[line - 1] == 10 else { return false }
        line = self.text.skipBlanks(line)
        guard line == start || self.text.isWord("username ", endingAt: line + 9) || self.text.isWord("enable ", endingAt: line + 7),
            let value = self.text.restOfLine(kind + 2), value.count >= 4, !self.bytes[value].contains(where: { $0 <= 32 })
        else { return false }
        self.addFree(value, meaning)
        return true
    }

    /// Between `The password` and its value in a sentence, or in a log.
    private static let verbs: [StaticString] = ["was set to", "was changed to", "set to", "changed to", "is", "was", "->", "=="]

    private mutating func addWord(_ range: Range<Int>, kind: String) {
        guard !range.isEmpty else { return }
        self.addFree(range, SecretNames.Meaning(kind: kind))
    }
}
