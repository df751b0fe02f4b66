internal import CassetteModel
internal import TapeBytes

// Names that a blank, an arrow, dots, a bar or a comparison separates from their values, as in logs, tables, Lisp and settings.
extension TextSurvey {
    /// Handles a name that is followed by a blank or one of the marks `.`, `,` and `*`. Returns whether it has a value.
    mutating func marked(_ start: Int, _ end: Int) -> Bool {
        guard self.isFree, let meaning = self.meaning(start, end) else { return self.furtherSetting(start, end) }
        guard !meaning.needsCompany, meaning.syntax == .value else { return false }
        switch self.bytes[end] {
        case UInt8(ascii: "."):
            return self.text.byte(end + 1) == UInt8(ascii: ".") && self.afterLeaders(start, end, meaning)
        case UInt8(ascii: ","):
            if self.pairInLines(start, end, meaning) { return true }
            // `{:password, "X"}`
            guard self.isSymbol(start) else { return false }
            return self.literalAfter(self.text.skipBlanks(end + 1), meaning)
        case UInt8(ascii: "*"): return self.cell(start, end, meaning)
        default: break
        }
        let next = self.text.skipBlanks(end)
        if self.pairInLines(start, end, meaning) || self.variableBlock(start, self.text.skipSpace(end), meaning) { return true }
        if self.setting(start, end, meaning) || self.input(ofName: start, end) { return true }
        if self.operation(start, next, meaning) || self.afterLeaders(start, end, meaning) || self.cell(start, end, meaning) { return true }
        if self.isSymbol(start) || self.isDefined(start) {
            let value = self.text.isWord(". ", endingAt: next + 2) ? self.text.skipBlanks(next + 2) : self.text.skipSpace(end)
            if self.literalAfter(value, meaning) { return true }
        }
        return self.column(start, end, next, meaning)
    }

    /// Whether a value looks like a secret where words of sentences and names of programs may be as well.
    func isLikely(_ range: Range<Int>, _ meaning: SecretNames.Meaning) -> Bool {
        let value = UnsafeRawBufferPointer(rebasing: self.bytes[range])
        // Random letters with one or two digits resemble names of programs.
        if NamedValue.isRandomLetters(value) { return true }
        guard !NamedValue.isExpression(self.bytes[range]), !NamedValue.isPathOfNames(self.bytes[range]) else { return false }
        if meaning.needsKeyShape { return NamedValue.looksLikeKey(value) }
        let isChosen = ["password", "secret", "client_secret"].contains(meaning.kind)
        return isChosen ? NamedValue.looksLikePassword(value) : NamedValue.looksLikeToken(value)
    }

    /// Adds a word that looks like a secret. Returns whether it is one.
    private mutating func addLikely(_ range: Range<Int>, _ meaning: SecretNames.Meaning) -> Bool {
        guard range.lowerBound >= self.valueEnd, self.text.isWhole(range), self.isLikely(range, meaning) else { return false }
        self.valueEnd = range.upperBound
        self.addFree(range, meaning)
        return true
    }

    /// A word up to white space, a quote or what ends a text in another one.
    private mutating func plainWord(_ start: Int) -> Range<Int> {
        var end = start
        let most = min(self.bytes.count, start + NamedValue.limit)
        while end < most, self.bytes[end] > 32, !"\"'`\\<".utf8.contains(self.bytes[end]) { end += 1 }
        self.work += end - start
        return start..<end
    }

    /// Whether nothing but blanks follows on the line, or the text around it ends.
    private func endsLine(_ offset: Int) -> Bool {
        guard let next = self.text.byte(self.text.skipBlanks(offset)) else { return true }
        return next == 10 || next == 13 || self.text.isQuote(next) || next == UInt8(ascii: "\\") || next == UInt8(ascii: "<")
    }

    private func beginsText(_ start: Int) -> Bool { self.text.beginsLine(start) || self.text.isQuote(self.text.byte(start - 1)) }

    /// The most bytes of the words before a name in the label of a row: `API key`, `Root account password`.
    private static let labelLimit = 32

    /// Whether at most a few words precede a name on its line or in its cell.
    private func beginsLabel(_ start: Int) -> Bool {
        var first = start
        while first > 0, start - first < Self.labelLimit,
            (self.bytes[first - 1] | 32) >= 97 && (self.bytes[first - 1] | 32) <= 122
                || self.bytes[first - 1] == 32
        { first -= 1 }
        return self.beginsText(first) || self.text.byte(first - 1) == 9
    }

    // MARK: Arrows and comparisons

    private static let arrows: [StaticString] = ["→", "⇒", "➜", "➔", "⟶", "»"]
    private static let comparisons: [StaticString] = ["===", "!==", "==", "!="]
    private static let assignments: [StaticString] = ["?=", "+=", "::=", "||=", "??=", ".="]

    private func first(_ words: [StaticString], at offset: Int) -> Int? {
        words.first { self.text.isWord($0, endingAt: offset + $0.utf8CodeUnitCount) }.map { offset + $0.utf8CodeUnitCount }
    }

    /// The end of `->`, `-->`, `=>`, `~>`, `>>` or an arrow of Unicode.
    private func endOfArrow(_ start: Int) -> Int? {
        if let end = self.first(Self.arrows, at: start) { return end }
        var end = start
        while let byte = self.text.byte(end), "-=~>".utf8.contains(byte), end - start < 32 { end += 1 }
        return end - start > 1 && self.text.byte(end - 1) == UInt8(ascii: ">") ? end : nil
    }

    /// Handles `name -> value`, `name == "value"` and `name ?= value`. Returns whether there is such a mark.
    private mutating func operation(_ start: Int, _ mark: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard self.text.mayPrecedeSymbol(start - 1) else { return false }
        if let end = self.first(Self.comparisons, at: mark) { return self.compared(self.text.skipBlanks(end), meaning) }
        if let end = self.first(Self.assignments, at: mark), self.text.beginsLine(start) {
            let value = self.text.skipBlanks(end)
            if self.text.isQuote(self.text.byte(value)) { self.literal(value, meaning) } else { self.bareLine(value, meaning) }
            return true
        }
        guard let end = self.endOfArrow(mark) else { return false }
        let value = self.text.skipBlanks(end)
        guard value > end else { return false }
        if self.text.isQuote(self.text.byte(value)) { return self.literalAfter(value, meaning) }
        self.valueAmongWords(value, meaning)
        return true
    }

    /// Handles `name: old -> new`, as logs of changes have it. Returns whether it is one.
    mutating func change(_ value: Int, _ meaning: SecretNames.Meaning) -> Bool {
        let old = self.plainWord(value)
        guard !old.isEmpty, self.text.byte(old.upperBound) == 32, let end = self.endOfArrow(self.text.skipBlanks(old.upperBound)),
            self.text.byte(end) == 32
        else { return false }
        _ = self.addLikely(old, meaning)
        self.valueAmongWords(self.text.skipBlanks(end), meaning)
        return true
    }

    /// Handles the value that a program or a log compares with a secret. Words and names stay.
    @discardableResult
    mutating func compared(_ value: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard self.text.isQuote(self.text.byte(value)) else {
            self.valueAmongWords(value, meaning)
            return true
        }
        guard let close = self.endOfLiteral(value) else { return false }
        // People choose passwords like names with numbers.
        let range = value + 1..<close
        let isPassword = meaning.kind == "password" && NamedValue.looksLikePassword(UnsafeRawBufferPointer(rebasing: self.bytes[range]))
        if isPassword || self.isLikely(range, meaning) { self.literal(value, meaning) }
        return true
    }

    /// Handles a value in quotes that has a digit. Returns whether there are quotes.
    mutating func literalAfter(_ value: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard self.text.isQuote(self.text.byte(value)), self.text.byte(value) != UInt8(ascii: "`"), let close = self.endOfLiteral(value)
        else { return false }
        if meaning.kind == "password" || self.isLikely(value + 1..<close, meaning) { self.literal(value, meaning, hasDigit: true) }
        return true
    }

    // MARK: Lisp

    /// `:name`, `:namespace/name` and `(name`
    private func isSymbol(_ start: Int) -> Bool {
        guard let before = self.text.byte(start - 1) else { return false }
        if before == UInt8(ascii: "(") { return true }
        guard before == UInt8(ascii: "/") else { return before == UInt8(ascii: ":") && self.text.mayPrecedeSymbol(start - 1) }
        let outer = self.text.startOfName(start - 1)
        return outer < start - 1 && self.text.byte(outer - 1) == UInt8(ascii: ":")
    }

    private static let definitions: [StaticString] = ["def", "define", "defvar", "defparameter", "defconst", "setq", "setf", "private"]

    /// `(def name`, `(setq name`, `(def ^:private name`
    private func isDefined(_ start: Int) -> Bool {
        let end = self.text.skipSpaceBack(start)
        return end < start
            && Self.definitions.contains { word in
                self.text.isWord(word, endingAt: end)
                    && self.text.byte(end - word.utf8CodeUnitCount - 1).map { "(:".utf8.contains($0) } ?? false
            }
    }

    // MARK: Columns

    /// Handles `Password ........ value` and `Password....: value`, with the value at the end of its line.
    private mutating func afterLeaders(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) -> Bool {
        var offset = self.text.skipBlanks(end)
        let first = offset
        while let byte = self.text.byte(offset), ".-_".utf8.contains(byte), offset - first < 128 { offset += 1 }
        guard offset - first >= 3, self.beginsLabel(start) else { return false }
        offset = self.text.skipBlanks(offset)
        if self.text.byte(offset) == UInt8(ascii: ":") || self.text.byte(offset) == UInt8(ascii: "=") {
            offset = self.text.skipBlanks(offset + 1)
        }
        let value = self.plainWord(offset)
        return self.endsLine(value.upperBound) && self.addLikely(value, meaning)
    }

    /// Handles a value after a tab or several blanks, at the end of a line that begins with the name; for a password, also after one blank.
    private mutating func column(_ start: Int, _ end: Int, _ next: Int, _ meaning: SecretNames.Meaning) -> Bool {
        let isTab = self.bytes[end..<next].contains(9)
        // `passwd ada` is a command.
        guard isTab || next - end > 1 || meaning.kind == "password" && end - start > 6, next > end,
            isTab || next - end > 1 ? self.beginsLabel(start) : self.beginsText(start)
        else { return false }
        let value = self.plainWord(next)
        guard self.endsLine(value.upperBound) || isTab && self.text.byte(value.upperBound) == 9 else { return false }
        return self.addLikely(value, meaning)
    }

    /// The length of a bar between columns, also of one drawn by box characters; 0 for anything else.
    func bar(at offset: Int) -> Int {
        guard let byte = self.text.byte(offset) else { return 0 }
        if byte == UInt8(ascii: "|") { return 1 }
        guard byte == 0xE2, let second = self.text.byte(offset + 1), let third = self.text.byte(offset + 2) else { return 0 }
        return second == 0x94 && (third == 0x82 || third == 0x83) || second == 0x95 && third == 0x91 ? 3 : 0
    }

    /// Whether a bar ends at an offset.
    private func isBar(before offset: Int) -> Bool {
        self.text.byte(offset - 1) == UInt8(ascii: "|") || offset > 2 && self.bar(at: offset - 3) == 3
    }

    private static let wrappers: StaticString = "*`_"

    /// Handles `| name | value |` and `name | value`, with the value in the last column, or a key in any.
    private mutating func cell(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) -> Bool {
        var offset = end
        while let byte = self.text.byte(offset), "*`".utf8.contains(byte), offset - end < 3 { offset += 1 }
        offset = self.text.skipBlanks(offset)
        var isBar = false
        while case let length = self.bar(at: offset), length > 0 { (offset, isBar) = (offset + length, true) }
        guard isBar else { return false }
        var first = start
        while first > 0, "*`".utf8.contains(self.bytes[first - 1]), start - first < 3 { first -= 1 }
        var outer = first
        while outer > 0, first - outer < 64, self.bytes[outer - 1] == 32 || self.bytes[outer - 1] == 9 { outer -= 1 }
        guard self.isBar(before: outer) || self.beginsText(first) || self.text.byte(outer - 1) == UInt8(ascii: "*") else { return false }
        offset = self.text.skipBlanks(offset)
        while let byte = self.text.byte(offset), "*`".utf8.contains(byte) { offset += 1 }
        var last = offset
        let most = min(self.bytes.count, offset + NamedValue.limit)
        while last < most, self.bytes[last] > 32, !"\"'`\\<".utf8.contains(self.bytes[last]), self.bar(at: last) == 0 { last += 1 }
        self.work += last - offset
        let value = offset..<last
        var rest = last
        while let byte = self.text.byte(rest), "*`".utf8.contains(byte) { rest += 1 }
        rest = self.text.skipBlanks(rest)
        while case let length = self.bar(at: rest), length > 0 { rest += length }
        // Further columns describe a parameter, not its value.
        guard self.endsLine(rest) || NamedValue.looksLikeKey(UnsafeRawBufferPointer(rebasing: self.bytes[value])) else { return false }
        return self.addLikely(value, meaning)
    }

    // MARK: Settings

    private static let valueWords: [StaticString] = ["values", "value", "default", "val"]
    private static let nameWords: [StaticString] = ["name", "key", "variable", "parameter", "n", "k"]

    /// The content after `value:` or `value =` at an offset.
    private func content(_ words: [StaticString], at offset: Int) -> Int? {
        var offset = offset
        if self.text.isQuote(self.text.byte(offset)) { offset += 1 }
        guard var end = self.first(words, at: offset) else { return nil }
        if self.text.isQuote(self.text.byte(end)) { end += 1 }
        let mark = self.text.skipBlanks(end)
        guard self.text.byte(mark) == UInt8(ascii: ":") || self.text.byte(mark) == UInt8(ascii: "=") else { return nil }
        return self.text.skipBlanks(mark + 1)
    }

    /// Handles `name: NAME` with `value: X` on the line after or before it, or after a comma, as in manifests and HCL. Returns whether it is
    /// one.
    ///
    /// - Parameter end: the end of the name, which may be in quotes.
    mutating func pairInLines(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) -> Bool {
        let isQuoted = self.text.isQuote(self.text.byte(start - 1))
        let mark = self.text.skipSpaceBack(isQuoted ? start - 1 : start) - 1
        guard mark > 0, self.text.byte(mark) == UInt8(ascii: ":") || self.text.byte(mark) == UInt8(ascii: "=") else { return false }
        let keyEnd = self.text.skipSpaceBack(mark)
        guard let word = Self.nameWords.first(where: { self.text.isWord($0, endingAt: keyEnd) }) else { return false }
        let key = keyEnd - word.utf8CodeUnitCount
        guard self.text.byte(key - 1).map({ $0 <= 32 || "{,(".utf8.contains($0) || self.text.isQuote($0) }) ?? true else { return false }
        var next = isQuoted ? end + 1 : end
        next = self.text.skipSpace(next)
        if self.text.byte(next) == UInt8(ascii: ",") { next = self.text.skipSpace(next + 1) }
        if let value = self.content(Self.valueWords, at: next) { return self.settingsValue(value, meaning) }
        // The line before, or the item before a comma.
        var last = self.text.skipSpaceBack(key)
        if last > 0, self.bytes[last - 1] == UInt8(ascii: "-") { last = self.text.skipSpaceBack(last - 1) }
        guard last < key || self.text.byte(last - 1) == UInt8(ascii: ",") else { return false }
        var line = last
        while line > 0, last - line < Self.lineLimit, self.bytes[line - 1] != 10, self.bytes[line - 1] != UInt8(ascii: "{") { line -= 1 }
        self.work += last - line
        line = self.text.skipBlanks(line)
        while self.text.byte(line) == UInt8(ascii: "-") { line = self.text.skipBlanks(line + 1) }
        guard let value = self.content(Self.valueWords, at: line), value < last else { return false }
        return self.settingsValue(value, meaning)
    }

    /// The longest line before a name, in bytes.
    private static let lineLimit = 512

    private mutating func settingsValue(_ value: Int, _ meaning: SecretNames.Meaning) -> Bool {
        if self.text.byte(value) == UInt8(ascii: "[") {
            self.list(value, meaning)
            return true
        }
        // The first item of a list below.
        let item = self.text.skipSpace(value)
        if item > value, self.text.isWord("- ", endingAt: item + 2) {
            let first = self.text.skipBlanks(item + 2)
            if self.text.isQuote(self.text.byte(first)) { self.literal(first, meaning) } else { self.bareLine(first, meaning) }
            return true
        }
        if self.text.isQuote(self.text.byte(value)) {
            self.literal(value, meaning)
        } else if let range = self.text.heredoc(value) {
            self.addFree(range, meaning)
        } else if let line = self.text.restOfLine(value), !self.bytes[line].contains(where: { "},".utf8.contains($0) }) {
            self.bareLine(value, meaning)
        } else {
            // In a mapping within braces.
            self.flowValue(value, meaning)
        }
        return true
    }

    /// The words before the name of a block whose value is in it, as in Terraform.
    private static let blockWords: [StaticString] = ["variable", "output", "parameter", "param", "input"]
    /// The most bytes and lines of such a block.
    private static let blockLimit = (bytes: 2048, lines: 32)

    /// Handles `variable "name" { … default = "X" }` and `output "name" { value = "X" }`. Returns whether it is one.
    ///
    /// - Parameter open: the offset of the brace.
    mutating func variableBlock(_ start: Int, _ open: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard self.text.byte(open) == UInt8(ascii: "{") else { return false }
        let before = self.text.skipSpaceBack(self.text.isQuote(self.text.byte(start - 1)) ? start - 1 : start)
        guard before < start, Self.blockWords.contains(where: { self.text.isWord($0, endingAt: before) }) else { return false }
        let most = min(self.bytes.count, open + Self.blockLimit.bytes)
        var offset = self.text.skipSpace(open + 1)
        for _ in 0..<Self.blockLimit.lines {
            guard offset < most, self.bytes[offset] != UInt8(ascii: "}") else { break }
            if let value = self.content(["default", "value"], at: offset) { return self.settingsValue(value, meaning) }
            let line = offset
            while offset < most, self.bytes[offset] != 10 { offset += 1 }
            self.work += offset - line
            offset = self.text.skipSpace(offset)
        }
        return true
    }
}
