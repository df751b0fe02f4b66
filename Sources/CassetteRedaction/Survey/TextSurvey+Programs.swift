internal import CassetteModel
internal import TapeBytes

// Values in programs, in dumps that programs print, and in SQL and LDIF.
extension TextSurvey {
    /// Handles `[name]`: the head of a section, a line of PHP's `print_r`, an item of a form.
    mutating func bracketed(_ start: Int, _ end: Int) {
        guard self.text.byte(start - 1) == UInt8(ascii: "["), let meaning = self.meaning(start, end), !meaning.needsCompany else { return }
        var close = end + 1
        if self.text.byte(close) == UInt8(ascii: "=") {
            let outer = self.text.startOfName(start - 1)
            guard outer < start - 1, outer == 0 ? self.isForm : self.text.mayPrecedeItem(outer - 1, inForm: self.isForm) else { return }
            return self.itemValue(close + 1, meaning)
        }
        if self.printed(close, bracketAt: start - 1, meaning) { return }
        // `[[name]]` in TOML.
        if self.text.byte(close) == UInt8(ascii: "]") { close += 1 }
        close = self.text.skipBlanks(close)
        if self.text.byte(close) == 13 { close += 1 }
        guard self.text.byte(close) == 10 || self.text.byte(close) == UInt8(ascii: "#") else { return }
        let open = self.text.byte(start - 2) == UInt8(ascii: "[") ? start - 2 : start - 1
        if self.text.beginsLine(open) || self.text.isQuote(self.text.byte(open - 1)) { self.section(closing: close, meaning) }
    }

    /// Handles ` => value` after the bracket of `[name]`, up to a blank or the end of the line. Returns whether it is one.
    @discardableResult
    mutating func printed(_ close: Int, bracketAt open: Int, _ meaning: SecretNames.Meaning) -> Bool {
        let arrow = self.text.skipBlanks(close)
        guard self.text.byte(arrow) == UInt8(ascii: "="), self.text.byte(arrow + 1) == UInt8(ascii: ">") else { return false }
        let value = self.text.skipBlanks(arrow + 2)
        guard value >= self.valueEnd else { return true }
        var end = value
        let most = min(self.bytes.count, value + NamedValue.limit)
        // A bracket that does not begin a line is within another string, which ends the value.
        let isEnclosed = self.text.isView || !self.text.beginsLine(open)
        while end < most, self.bytes[end] > 32, !isEnclosed || !"\"'\\<&".utf8.contains(self.bytes[end]) { end += 1 }
        self.valueEnd = end
        if end > value { self.addFree(value..<end, meaning) }
        return true
    }

    /// Handles `name("value")`, as in setters and SQL's `PASSWORD('value')`.
    mutating func called(_ start: Int, _ end: Int) {
        // `HTTPBasicAuth('user', 'X')`
        if self.text.isWord("auth", endingAt: end) { return self.userAndPassword(end) }
        guard self.text.isQuote(self.text.byte(end + 1)), let meaning = self.meaning(start, end), !meaning.needsCompany else { return }
        self.literal(end + 1, meaning, hasDigit: true)
    }

    /// Handles `('user', 'password')`.
    mutating func userAndPassword(_ open: Int) {
        let user = self.text.skipSpace(open + 1)
        guard self.text.isQuote(self.text.byte(user)), let close = self.endOfLiteral(user) else { return }
        let comma = self.text.skipSpace(close + 1)
        guard self.text.byte(comma) == UInt8(ascii: ",") else { return }
        self.literal(self.text.skipSpace(comma + 1), SecretNames.Meaning(kind: "password"), hasDigit: true)
    }

    /// Handles `a['name'] = 'value'`, and `["name"]=>` with `string(9) "value"` on the next line, as printed by PHP's `var_dump`.
    mutating func indexed(_ start: Int, _ end: Int, closing close: Int) {
        let equals = self.text.skipBlanks(close + 1)
        guard self.text.byte(equals) == UInt8(ascii: "="), let meaning = self.meaning(start, end), !meaning.needsCompany else { return }
        guard self.text.byte(equals + 1) == UInt8(ascii: ">") else { return self.literal(self.text.skipBlanks(equals + 1), meaning) }
        let type = self.text.skipSpace(equals + 2)
        guard self.text.isWord("string(", endingAt: type + 7) else { return }
        self.counted(type + 7, ")", meaning)
    }

    /// Handles `s:4:"name";s:5:"value";` as written by PHP's `serialize`.
    mutating func serialized(_ start: Int, _ end: Int, semicolon: Int) {
        guard self.text.isWord("s:", endingAt: semicolon + 3), let meaning = self.meaning(start, end), !meaning.needsCompany else { return }
        self.counted(semicolon + 3, ":", meaning)
    }

    /// Handles a length in bytes, a mark, and as many bytes in quotes. The length is adjusted to the placeholder.
    private mutating func counted(_ start: Int, _ mark: StaticString, _ meaning: SecretNames.Meaning) {
        var end = start
        var count = 0
        while let byte = self.text.byte(end), byte >= 48, byte <= 57, end - start < 6 {
            count = count * 10 + Int(byte - 48)
            end += 1
        }
        guard end > start, self.text.byte(end) == mark.utf8Start[0] else { return }
        let quote = self.text.skipBlanks(end + 1)
        guard self.text.byte(quote) == UInt8(ascii: "\""), self.text.byte(quote + 1 + count) == UInt8(ascii: "\"") else { return }
        let range = quote + 1..<quote + 1 + count
        guard var finding = self.text.finding(range, meaning, .plain) else { return }
        finding.count = start..<end
        self.findings.append(finding)
    }

    /// Handles `define('NAME', 'value')` in PHP, and other calls with a name and a value.
    mutating func argument(_ start: Int, _ end: Int, comma: Int) {
        let open = self.text.skipSpaceBack(start - 1) - 1
        guard self.text.byte(comma) == UInt8(ascii: ","), self.text.byte(open) == UInt8(ascii: "("),
            let meaning = self.meaning(start, end), !meaning.needsCompany
        else { return }
        let value = self.text.skipSpace(comma + 1)
        self.literal(value, meaning, hasDigit: !self.text.isWord("define", endingAt: self.text.skipSpaceBack(open)))
    }

    // MARK: SQL

    /// Handles `IDENTIFIED BY 'value'` and `IDENTIFIED WITH plugin BY 'value'`.
    ///
    /// - Parameter blank: the offset after the first word.
    mutating func identified(before blank: Int) {
        guard self.isFree, self.text.isWord("identified", endingAt: blank) else { return }
        var end = self.text.skipSpace(blank)
        if self.text.isWord("with", endingAt: end + 4) {
            end = self.text.skipSpace(end + 4)
            while let byte = self.text.byte(end), SecretShape.Alphabet.word.contains(byte), end - blank < SecretNames.lengthLimit {
                end += 1
            }
            end = self.text.skipSpace(end)
        }
        guard self.text.isWord("by", endingAt: end + 2), self.text.byte(end + 2).map({ $0 <= 32 }) ?? false else { return }
        end = self.text.skipSpace(end + 2)
        for word in ["password", "values"] as [StaticString] where self.text.isWord(word, endingAt: end + word.utf8CodeUnitCount) {
            end = self.text.skipSpace(end + word.utf8CodeUnitCount)
        }
        let value = end
        let meaning = SecretNames.Meaning(kind: "password")
        if self.text.isQuote(self.text.byte(value)) { return self.literal(value, meaning) }
        var last = value
        let most = min(self.bytes.count, value + NamedValue.limit)
        while last < most, !self.text.endsBareValue(self.bytes[last]) { last += 1 }
        if last - value >= 4 { self.addFree(value..<last, meaning) }
    }

    // MARK: LDIF

    /// Handles ` base64` after the two colons of an attribute (RFC 2849). Returns whether it is one.
    mutating func base64Attribute(_ start: Int, _ meaning: SecretNames.Meaning) -> Bool {
        let value = self.text.skipBlanks(start)
        var end = value
        let most = min(self.bytes.count, value + NamedValue.limit)
        // A line that begins with a blank continues the previous one.
        while end < most,
            Base64Run.value(self.bytes[end]) != nil || self.bytes[end] == UInt8(ascii: "=")
                || self.bytes[end] == 10 && self.text.byte(end + 1) == 32 || self.bytes[end] == 32 && self.bytes[end - 1] == 10
        { end += 1 }
        guard end - value >= 4, self.text.byte(end).map({ $0 <= 32 }) ?? true else { return false }
        self.add(value..<end, meaning, .base64)
        return true
    }
}
