internal import CassetteModel
internal import TapeBytes

// Lines of settings, messages and logs, and literals in programs.
extension TextSurvey {
    /// Handles `name: "value"` in programs, `name: value` on a line of its own, and `Authorization: Bearer value` anywhere.
    ///
    /// - Parameter start: the beginning of the name, including its quote.
    mutating func labelled(_ start: Int, _ end: Int, valueFrom: Int, _ meaning: SecretNames.Meaning) {
        // `:name: value`, a symbol of Ruby in YAML.
        let isSymbol = start > 0 && self.bytes[start - 1] == UInt8(ascii: ":") && self.text.beginsLine(start - 1)
        guard !meaning.needsCompany, isSymbol || self.text.mayPrecedeName(start - 1) else { return }
        let start = isSymbol ? start - 1 : start
        var meaning = meaning
        var value = self.text.skipBlanks(valueFrom)
        // `name: Some("value")`, as Rust prints optional values.
        if self.text.isWord("some(", endingAt: value + 5) { value += 5 }
        switch meaning.syntax {
        case .value: break
        case .credentials:
            guard start >= self.fieldEnd else { return }
            if self.credentials(value, meaning) { return }
            // `'Authorization': 'Bearer value'`
            if self.text.isQuote(self.text.byte(value)), self.hasWordScheme(value + 1), self.credentials(value + 1, meaning) { return }
            meaning.needsKeyShape = true
        case .cookie, .setCookie:
            guard value > valueFrom, start >= self.fieldEnd, self.text.beginsLine(start) || self.text.isQuote(self.text.byte(start - 1)),
                let line = self.cookieLine(value)
            else { return }
            return self.cookies(line, meaning)
        }
        if self.text.isQuote(self.text.byte(value)) { return self.literal(value, meaning) }
        if self.change(value, meaning) { return }
        if self.text.byte(value) == UInt8(ascii: "["), meaning.isPlural || meaning.kind == "password" { return self.list(value, meaning) }
        // An anchor, and the tag of a string (YAML 1.2, 6.9).
        let content = self.text.afterNodeProperties(value)
        if content > value, self.text.isQuote(self.text.byte(content)) { return self.literal(content, meaning) }
        // `[name:protected] => value` in PHP.
        if self.text.byte(start - 1) == UInt8(ascii: "["), let close = self.text.endOfVisibility(valueFrom),
            self.printed(close, bracketAt: start - 1, meaning)
        {
            return
        }
        if self.text.byte(content) == UInt8(ascii: "*") { return self.alias(content, meaning) }
        guard self.text.beginsLine(start) else {
            if let range = self.text.headerInQuotes(start, value) ?? self.text.lineInQuotes(start, content) {
                self.addFree(range, meaning)
            } else {
                self.flowValue(value, meaning)
            }
            return
        }
        if let range = self.text.valueAfterScheme(value) { return self.addFree(range, meaning) }
        if self.text.byte(valueFrom) == UInt8(ascii: ":"), self.base64Attribute(valueFrom + 1, meaning) { return }
        if value > valueFrom || self.isPasswordLine(value, meaning), self.bareLine(content, meaning) { return }
        if content > value { return self.block(start, content, meaning) }
        self.block(start, valueFrom, meaning)
    }

    /// Whether the rest of a line looks like a password, so that no blank is needed before it: `password:X` in a frame of STOMP.
    private func isPasswordLine(_ start: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard meaning.kind == "password", let line = self.text.restOfLine(start) else { return false }
        return NamedValue.looksLikePassword(UnsafeRawBufferPointer(rebasing: self.bytes[line]))
            && !NamedValue.isExpression(self.bytes[line])
    }

    /// Handles YAML lines below a name.
    mutating func block(_ start: Int, _ rest: Int, _ meaning: SecretNames.Meaning) {
        guard Self.nestable.contains(meaning.kind), meaning.syntax == .value, !meaning.needsKeyShape || meaning.isPlural,
            start >= self.valueEnd,
            let block = YAMLBlock(self.text, nameAt: start, rest: rest), !block.isDescription
        else { return }
        for (name, range) in block.values { self.addNested(range, name: name, meaning, isWord: false, spelling: .plain) }
    }

    /// Handles `name = value`, `name := value` and `name : value`, with blanks before the mark.
    mutating func spaced(markAt offset: Int) {
        guard self.isFree else { return }
        var end = offset
        let isColonAndEquals = self.bytes[offset] == UInt8(ascii: ":") && self.text.byte(offset + 1) == UInt8(ascii: "=")
        let mark = isColonAndEquals ? offset + 1 : offset
        while end > 0, mark - end < 64, self.bytes[end - 1] == 32 || self.bytes[end - 1] == 9 { end -= 1 }
        let isQuoted = self.text.isQuote(self.text.byte(end - 1))
        if isQuoted { end -= 1 }
        let start = self.text.startOfName(end)
        guard start < end, end - start <= SecretNames.lengthLimit, !isQuoted || self.text.isQuote(self.text.byte(start - 1)),
            let meaning = self.meaning(start, end), !meaning.needsCompany
        else { return }
        let first = isQuoted ? start - 1 : start
        if self.text.byte(mark + 1) == UInt8(ascii: ">") {
            // `:name => "value"` in Ruby, `name => 'value'` in Perl.
            guard self.bytes[mark] == UInt8(ascii: "="), self.text.mayPrecedeSymbol(first - 1) else { return }
            let value = self.text.skipSpace(mark + 2)
            // `[name => value]`
            return self.text.isQuote(self.text.byte(value)) ? self.literal(value, meaning) : self.valueAmongWords(value, meaning)
        }
        if self.bytes[mark] == UInt8(ascii: ":") {
            // This is JSON, which was read starting from the name.
            guard !isQuoted else { return }
            return self.labelled(first, end, valueFrom: mark + 1, meaning)
        }
        guard meaning.syntax == .value || meaning.syntax == .credentials, self.text.mayPrecedeName(first - 1), first >= self.valueEnd else {
            return
        }
        let value = self.text.skipBlanks(mark + 1)
        if meaning.syntax == .credentials, self.credentials(value, meaning) { return }
        if self.text.isQuote(self.text.byte(value)) {
            // `const token = 'a'` is a character in a program.
            if !self.text.beginsLine(first), let next = self.text.byte(value + 2), self.text.isQuote(next) { return }
            return self.literal(value, meaning)
        }
        if self.text.byte(value) == UInt8(ascii: "[") { return self.list(value, meaning) }
        if self.text.byte(value) == UInt8(ascii: "{") { return self.inlineTable(value, meaning) }
        if let range = self.text.lineInQuotes(first, value) { return self.addFree(range, meaning) }
        if let range = self.text.heredoc(value) { return self.addFree(range, meaning) }
        if let next = self.text.continued(value), self.text.beginsLine(first) {
            self.bareLine(next, meaning)
            return
        }
        if self.text.byte(value) == UInt8(ascii: "("), meaning.kind == "authorization" { return self.userAndPassword(value) }
        guard self.text.beginsLine(first), let line = self.text.restOfLine(value) else { return self.valueAmongWords(value, meaning) }
        // A single word may be a variable of a program.
        let isIdentifier = self.bytes[line].allSatisfy { ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 == UInt8(ascii: "_") }
        if isIdentifier || meaning.isCompound && NamedValue.isNumberedName(self.bytes[line]), !self.isInSections { return }
        if !self.bareLine(value, meaning) { self.valueAmongWords(value, meaning) }
    }

    /// Handles the value of `name = value` and `name => value` among other words, as in logs: one word that looks like a password or a
    /// token, and not like an expression of a program.
    ///
    /// - Parameter isInSentence: whether words of a sentence may also be in this place.
    mutating func valueAmongWords(_ start: Int, _ meaning: SecretNames.Meaning, isInSentence: Bool = false) {
        guard meaning.syntax == .value, start >= self.valueEnd else { return }
        var end = start
        let most = min(self.bytes.count, start + NamedValue.limit)
        // A blank precedes each mark, so that no two values overlap.
        while end < most, !self.text.endsBareValue(self.bytes[end]) { end += 1 }
        self.work += end - start
        // `token = make(…)` and `key = a1 + b1` are code.
        guard end < most || end == self.bytes.count, !(self.text.byte(end).map { "([{".utf8.contains($0) } ?? false),
            !(self.text.byte(self.text.skipBlanks(end)).map { "+*?=".utf8.contains($0) } ?? false)
        else { return }
        // The end of a sentence.
        while end > start, self.bytes[end - 1] == UInt8(ascii: ".") || self.bytes[end - 1] == UInt8(ascii: ":") { end -= 1 }
        let value = UnsafeRawBufferPointer(rebasing: self.bytes[start..<end])
        let isChosen = !isInSentence && ["password", "secret", "client_secret"].contains(meaning.kind)
        guard value.count >= NeedleIndex.lengthLimit, !NamedValue.isExpression(self.bytes[start..<end]),
            isChosen ? NamedValue.looksLikePassword(value) : NamedValue.looksLikeToken(value)
        else { return }
        self.valueEnd = end
        self.addFree(start..<end, meaning)
    }

    /// Whether a line near the beginning is the head of a section, as in settings files.
    var isInSections: Bool {
        mutating get {
            if let known = self.hasSections { return known }
            var found = false
            var line = 0
            while line < min(self.bytes.count, 4096), !found {
                guard let range = self.text.restOfLine(line) else { break }
                found =
                    range.count > 2 && self.bytes[range.lowerBound] == UInt8(ascii: "[")
                    && self.bytes[range.upperBound - 1] == UInt8(ascii: "]")
                line = max(range.upperBound, line) + 1
                while let byte = self.text.byte(line - 1), byte <= 32, byte != 10 { line += 1 }
            }
            self.hasSections = found
            return found
        }
    }

    /// Handles `name="value"`, as in XML attributes and settings, and `name=value` on a line of its own or among others.
    mutating func assignment(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        guard !meaning.needsCompany, meaning.syntax == .value || meaning.syntax == .credentials else { return }
        let value = end + 1
        if self.text.byte(value) == UInt8(ascii: ">"), self.text.mayPrecedeSymbol(start - 1) {
            // `:name=>"value"`, `name=> value`
            let literal = self.text.skipSpace(value + 1)
            return self.text.isQuote(self.text.byte(literal)) ? self.literal(literal, meaning) : self.valueAmongWords(literal, meaning)
        }
        if self.text.byte(value) == UInt8(ascii: "="), self.text.mayPrecedeName(start - 1) {
            // `name=="value"`
            self.compared(self.text.skipBlanks(self.text.byte(value + 1) == UInt8(ascii: "=") ? value + 2 : value + 1), meaning)
            return
        }
        guard self.text.mayPrecedeName(start - 1) else { return }
        if meaning.syntax == .credentials, start >= self.fieldEnd, self.credentials(value, meaning) { return }
        if self.text.isQuote(self.text.byte(value)) { return self.literal(value, meaning) }
        // `auth=('user', 'X')` in Python.
        if self.text.byte(value) == UInt8(ascii: "("), meaning.kind == "authorization" { return self.userAndPassword(value) }
        // `N'X'` in SQL Server.
        if self.text.byte(value) == UInt8(ascii: "N"), self.text.byte(value + 1) == UInt8(ascii: "'") {
            return self.literal(value + 1, meaning)
        }
        if self.text.byte(value) == UInt8(ascii: "["), meaning.isPlural { return self.list(value, meaning) }
        guard start >= self.valueEnd else { return }
        if let range = self.text.valueInConnectionString(start, value, endingAt: self.endOfConnectionValue(value)) {
            self.valueEnd = range.upperBound
            return self.addFree(range, meaning)
        }
        if self.text.beginsLine(start), self.bareLine(self.text.continued(value) ?? value, meaning) { return }
        if let range = self.text.heredoc(value) { return self.addFree(range, meaning) }
        var last = value
        let most = min(self.bytes.count, value + NamedValue.limit)
        while last < most, !self.text.endsBareValue(self.bytes[last]) { last += 1 }
        self.valueEnd = last
        guard last < most || last == self.bytes.count else { return }
        // `token=make(…)` and `key=keys[1]` are code.
        if let next = self.text.byte(last), "([{".utf8.contains(next) { return }
        let range = value..<last
        // `PGPASSWORD=word psql` and `--password=word`
        let isClear =
            self.variable(start, end) != nil || self.bytes[start] == UInt8(ascii: "-") && self.bytes[start + 1] == UInt8(ascii: "-")
        if isClear, range.count >= 4, !NamedValue.isPathOfNames(self.bytes[range]) { return self.addFree(range, meaning) }
        guard range.count >= NeedleIndex.lengthLimit, self.bytes[range].contains(where: { $0 >= 48 && $0 <= 57 }),
            !NamedValue.isPathOfNames(self.bytes[range])
        else { return }
        self.addFree(range, meaning)
    }

    /// The end of a value in a connection string, or its maximum. Each byte of a text is examined only once, even if many unterminated
    /// values follow each other.
    private mutating func endOfConnectionValue(_ value: Int) -> Int {
        let most = min(self.bytes.count, value + SurveyText.connectionValueLimit)
        if !self.connectionValue.contains(value) { self.connectionValue = value..<value }
        var end = self.connectionValue.upperBound
        while end < most, !self.text.endsConnectionValue(self.bytes[end]) { end += 1 }
        self.connectionValue = self.connectionValue.lowerBound..<end
        return min(end, most)
    }

    /// The cookies up to the end of the line or of the surrounding quotes: `a=b; c="d"`.
    mutating func cookieLine(_ start: Int) -> Range<Int>? {
        var isOpen = false
        var end = start
        let most = min(self.bytes.count, start + NamedValue.limit)
        scan: while end < most {
            let byte = self.bytes[end]
            if byte == 10 || byte == 13 || self.text.isView && "\\<&".utf8.contains(byte) { break scan }
            if self.text.isQuote(byte) {
                guard isOpen || byte == UInt8(ascii: "\"") && self.bytes[end - 1] == UInt8(ascii: "=") else { break scan }
                isOpen.toggle()
            }
            end += 1
        }
        self.fieldEnd = end
        return end < most || end == self.bytes.count && !self.text.hasMore ? start..<end : nil
    }

    /// Handles `name: value` and `NAME=value` in settings, up to the end of the line or a comment. Returns whether the line contains
    /// nothing but a value.
    @discardableResult
    mutating func bareLine(_ start: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard var range = self.text.restOfLine(start), range.count >= 4 else { return false }
        if self.text.isView, let mark = range.first(where: { "\"'`\\<&".utf8.contains(self.bytes[$0]) }) { range = start..<mark }
        if let space = range.first(where: { self.bytes[$0] <= 32 }) {
            let next = self.text.byte(self.text.skipBlanks(space))
            guard next == UInt8(ascii: "#") || next == UInt8(ascii: ";") else { return false }
            range = start..<space
        }
        if NamedValue.isStatement(self.bytes[range]) { return false }
        // An item of a mapping in braces on several lines.
        if self.text.byte(range.upperBound - 1) == UInt8(ascii: ",") {
            let value = range.dropLast()
            guard NamedValue.looksLikePassword(UnsafeRawBufferPointer(rebasing: self.bytes[value])),
                !NamedValue.isNumberedName(self.bytes[value]), !NamedValue.isExpression(self.bytes[value])
            else { return false }
            range = value
        }
        // Excludes special characters of YAML, shells and templates, and the line ends of programs.
        guard range.count >= 4, !"[]{}&*!|>%@`<$\"'\\(,;#~".utf8.contains(self.bytes[start]),
            !",;{([\\\"'".utf8.contains(self.bytes[range.upperBound - 1]), !self.bytes[range].contains(UInt8(ascii: "(")),
            !NamedValue.isPathOfNames(self.bytes[range])
        else { return false }
        if meaning.isEveryday, !NamedValue.looksLikePassword(UnsafeRawBufferPointer(rebasing: self.bytes[range])) { return true }
        self.addFree(range, meaning)
        return true
    }

    /// Handles a value in quotes of any kind.
    ///
    /// - Parameter hasDigit: accepts only a single word with a digit.
    mutating func literal(_ start: Int, _ meaning: SecretNames.Meaning, hasDigit: Bool = false) {
        self.oneLiteral(start, meaning, hasDigit: hasDigit)
        // `"old" -> "new"` in a plan of Terraform.
        guard let end = self.endOfLiteral(start), self.text.isWord("->", endingAt: self.text.skipBlanks(end + 1) + 2) else { return }
        let next = self.text.skipBlanks(self.text.skipBlanks(end + 1) + 2)
        if self.text.byte(next) == UInt8(ascii: "\"") { self.oneLiteral(next, meaning, hasDigit: hasDigit) }
    }

    private mutating func oneLiteral(_ start: Int, _ meaning: SecretNames.Meaning, hasDigit: Bool) {
        guard let quote = self.text.byte(start), self.text.isQuote(quote), !meaning.needsCompany else { return }
        let most = min(self.bytes.count, start + 1 + NamedValue.limit)
        if quote != UInt8(ascii: "`"), self.text.byte(start + 1) == quote, self.text.byte(start + 2) == quote {
            // A block string in GraphQL, or a literal of several lines in TOML and Python.
            var end = start + 3
            while end < most, !(self.bytes[end] == quote && self.text.byte(end + 1) == quote && self.text.byte(end + 2) == quote) {
                end += 1
            }
            guard end < most else { return }
            // A line end after the opening quotes is not part of the text (TOML, "String"), and the value has none at its end.
            let range = self.text.trimmed(start + 3..<end)
            // JavaScript's `'' + 'a'` is something else.
            if !range.isEmpty { self.addFree(range, meaning) }
            return
        }
        var end = start + 1
        while end < most, self.bytes[end] != quote {
            guard self.bytes[end] != 10 else { return }
            end += self.bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        end = min(end, most)
        guard end < most || end == self.bytes.count else { return }
        let range = start + 1..<end
        // The quote closed another string, or another string starts within the range.
        if let first = range.first(where: { self.bytes[$0] > 32 }), ",:;)]}".utf8.contains(self.bytes[first]) { return }
        if quote != UInt8(ascii: "\""), self.bytes[range].contains(UInt8(ascii: "\"")) { return }
        if hasDigit, meaning.syntax == .value, !NamedValue.looksLikePassword(UnsafeRawBufferPointer(rebasing: self.bytes[range])) { return }
        switch meaning.syntax {
        case .value, .credentials: self.addFree(range, meaning)
        case .cookie, .setCookie: self.cookies(range, meaning)
        }
    }

    /// Schemes whose credentials are one word, and schemes with parameters (IANA, HTTP authentication schemes).
    private static let wordSchemes = ["bearer", "basic", "token", "apikey", "negotiate", "ntlm", "dpop", "bot", "jwt", "key"]
    private static let parameterSchemes = ["digest", "oauth", "hawk", "aws4-hmac-sha256", "signature"]

    /// The scheme that begins at an offset, with the blank after it; nil if there is none.
    private func scheme(_ start: Int) -> (name: String, blank: Int)? {
        var space = start
        while space < self.bytes.count, space - start < 20, FormSpelling.isAlphanumeric(self.bytes[space]) || self.bytes[space] == 45 {
            space += 1
        }
        guard space > start, self.text.byte(space) == 32 else { return nil }
        return (String(decoding: self.bytes[start..<space], as: UTF8.self).lowercased(), space)
    }

    func hasWordScheme(_ start: Int) -> Bool { self.scheme(start).map { Self.wordSchemes.contains($0.name) } ?? false }

    /// Handles `Bearer value`. Returns whether there is a scheme.
    mutating func credentials(_ start: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard let (scheme, space) = self.scheme(start) else { return false }
        // Part of credentials that were already read.
        guard start >= self.fieldEnd else { return true }
        if Self.parameterSchemes.contains(scheme) {
            // Their quotes cannot be distinguished from those of a surrounding text.
            guard !self.text.isView else { return true }
            self.fieldEnd = start + NamedValue.limit
            guard let line = self.text.restOfLine(start), !self.bytes[line].contains(UInt8(ascii: "\\")) else { return true }
            self.fieldEnd = line.upperBound
            self.findings += CredentialsField(self.bytes, line, kind: meaning.kind).findings
            return true
        }
        guard Self.wordSchemes.contains(scheme) else { return false }
        let value = self.text.skipBlanks(space)
        var end = value
        let most = min(self.bytes.count, value + NamedValue.limit)
        while end < most, FormSpelling.isAlphanumeric(self.bytes[end]) || "-._~+/=:|".utf8.contains(self.bytes[end]) { end += 1 }
        let word = self.bytes[value..<end]
        // `Bearer YOUR_TOKEN`
        let isStandIn =
            word.allSatisfy { $0 >= 65 && $0 <= 90 || $0 == UInt8(ascii: "_") } || word.allSatisfy { !FormSpelling.isAlphanumeric($0) }
        guard word.count >= NeedleIndex.lengthLimit, !isStandIn, !SecretNames.isName(word) else { return true }
        var credentials = meaning
        credentials.followsScheme = true
        self.schemeEnd = max(self.schemeEnd, end)
        self.add(value..<end, credentials, .plain)
        return true
    }
}
