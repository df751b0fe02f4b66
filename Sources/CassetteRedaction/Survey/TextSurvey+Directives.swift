internal import CassetteModel
internal import TapeBytes

// Lines that begin with a command, followed by a blank and its argument, and credentials after a scheme anywhere.
extension TextSurvey {
    /// Commands and settings whose argument is a secret, or a name and a secret.
    enum Directive: Sendable, Hashable {
        /// `ENV NAME value` in a Dockerfile.
        case environment
        /// `AUTH value` in Redis, `AUTH PLAIN value` in SMTP (RFC 4954).
        case authentication
        /// `PASS value` in FTP and POP3 (RFC 959, 4.1.1; RFC 1939, 7).
        case passwordCommand
        /// `requirepass value` in Redis.
        case redisSetting
        /// `proxy_set_header NAME value` and `add_header NAME value` in nginx.
        case header
        /// `setx NAME value` in Windows.
        case permanentVariable
        /// `setenv NAME value` in csh.
        case variable
        /// `ConvertTo-SecureString "value"` in PowerShell.
        case secureString
        /// `stringData:` in a manifest of Kubernetes.
        case stringData
        /// `kind: Secret` in a manifest of Kubernetes.
        case manifest
        /// `a1 LOGIN user value` in IMAP (RFC 9051, 6.2.3).
        case login
        /// The last fixed word of a command, with a blank after it: `vault login `.
        case subcommand
    }

    /// - Parameter offset: the offset of the anchor's four bytes.
    mutating func directive(_ directive: Directive, at offset: Int) {
        guard self.isFree else { return }
        switch directive {
        case .environment: self.environment(offset)
        case .authentication: self.authentication(offset)
        case .passwordCommand: self.passwordCommand(offset)
        case .redisSetting: self.redisSetting(offset - 4)
        case .header: self.headerDirective(offset)
        case .permanentVariable: self.variable("setx", endingAt: offset + 3)
        case .variable: self.variable("setenv", endingAt: offset + 3)
        case .secureString: self.secureString(offset - 5)
        case .stringData: self.stringData(offset - 4)
        case .manifest: self.manifestLine(offset - 4)
        case .login: self.loginCommand(offset + 4)
        case .subcommand: self.subcommand(before: offset + 3)
        }
    }

    private static let password = SecretNames.Meaning(kind: "password")

    /// A word up to white space, a quote or a byte that ends a value in a program.
    private func word(_ start: Int, ending marks: StaticString = "\"'`\\<>;") -> Range<Int> {
        let marks = UnsafeBufferPointer(start: marks.utf8Start, count: marks.utf8CodeUnitCount)
        var end = start
        let most = min(self.bytes.count, start + NamedValue.limit)
        while end < most, self.bytes[end] > 32, !marks.contains(self.bytes[end]) { end += 1 }
        return start..<end
    }

    func name(_ start: Int) -> Range<Int> {
        var end = start
        while let byte = self.text.byte(end), SecretShape.Alphabet.word.contains(byte), end - start <= SecretNames.lengthLimit { end += 1 }
        return start..<end
    }

    /// Handles a value in quotes, or one word.
    mutating func argument(_ start: Int, _ meaning: SecretNames.Meaning, hasDigit: Bool = false) {
        if self.text.isQuote(self.text.byte(start)) { return self.literal(start, meaning, hasDigit: hasDigit) }
        let range = self.word(start)
        guard range.count >= 4, self.text.isWhole(range),
            !hasDigit || NamedValue.looksLikePassword(UnsafeRawBufferPointer(rebasing: self.bytes[range]))
        else { return }
        self.addFree(range, meaning)
    }

    private mutating func environment(_ start: Int) {
        guard self.text.beginsLine(start) else { return }
        let name = self.name(self.text.skipBlanks(start + 4))
        guard !name.isEmpty, let blank = self.text.byte(name.upperBound), blank == 32 || blank == 9,
            let meaning = self.meaning(name.lowerBound, name.upperBound), !meaning.needsCompany
        else { return }
        self.argument(self.text.skipBlanks(name.upperBound), meaning)
    }

    /// Handles a command that sets a variable of the environment.
    ///
    /// - Parameter end: the end of the command's name.
    private mutating func variable(_ command: StaticString, endingAt end: Int) {
        let start = end - command.utf8CodeUnitCount
        guard self.text.isWord(command, endingAt: end),
            self.text.mayPrecedeName(start - 1) || self.text.byte(start - 1) == UInt8(ascii: ">")
        else { return }
        let name = self.name(self.text.skipBlanks(end))
        guard !name.isEmpty, let blank = self.text.byte(name.upperBound), blank == 32 || blank == 9,
            let meaning = self.meaning(name.lowerBound, name.upperBound), !meaning.needsCompany, meaning.syntax == .value
        else { return }
        self.argument(self.text.skipBlanks(name.upperBound), meaning)
    }

    /// Handles a string in quotes after a command, or after its option `-String`.
    private mutating func secureString(_ start: Int) {
        let end = start + 12
        guard self.text.isWord("convertto-securestring", endingAt: end) else { return }
        var value = self.text.skipBlanks(end)
        if self.text.isWord("-string", endingAt: value + 7) { value = self.text.skipBlanks(value + 7) }
        guard self.text.isQuote(self.text.byte(value)) else { return }
        self.literal(value, Self.password)
    }

    // MARK: Manifests

    private static let secrets = SecretNames.Meaning(kind: "secret", isPlural: true)

    /// Handles `stringData:` and the lines below it, whose values are secrets under any name (Kubernetes, "Secret v1 core").
    private mutating func stringData(_ start: Int) {
        guard start >= 0, self.text.isWord("stringdata:", endingAt: start + 11), self.text.beginsLine(start) else { return }
        self.work += SearchBudget.costOfName
        self.block(start, start + 11, Self.secrets)
    }

    /// How many bytes before and after a manifest's kind its values are searched for.
    private static let manifestReach = 4096

    /// Handles `kind: Secret` on a line, with the lines below `data:` in the same column before or after it. Their values are base64.
    private mutating func manifestLine(_ start: Int) {
        guard start >= 0, self.text.isWord("kind:", endingAt: start + 5), self.text.isWord("secret", endingAt: start + 12),
            start == 0 || self.bytes[start - 1] <= 32, [nil, 10, 13].contains(self.text.byte(self.text.skipBlanks(start + 12)))
        else { return }
        let indent = self.indentation(start)
        let least = max(self.manifestEnd, start - Self.manifestReach)
        let most = min(self.bytes.count, start + Self.manifestReach)
        let reach = UnsafeRawBufferPointer(rebasing: self.bytes[..<most])
        var names: [Int] = []
        var feed = least == 0 ? -1 : ByteScan.index(of: 10, in: reach, from: min(least, most))
        while feed < most {
            let name = self.text.skipBlanks(feed + 1)
            let column = name - feed - 1
            // Another document (YAML 1.2, 9.1.4), or another item of a list.
            if self.text.isWord("---", endingAt: feed + 4) || column < indent && self.text.byte(name) == UInt8(ascii: "-") {
                guard feed < start else { break }
                names = []
            } else if column == indent, self.text.isWord("data:", endingAt: name + 5) {
                names.append(name)
            }
            feed = ByteScan.index(of: 10, in: reach, from: feed + 1)
        }
        self.manifestEnd = max(self.manifestEnd, min(feed, most))
        self.work += most - least + names.count * SearchBudget.costOfName
        for name in names { self.block(name, name + 5, Self.secrets) }
    }

    /// How many bytes precede an offset on its line.
    private func indentation(_ offset: Int) -> Int {
        var start = offset
        while start > 0, offset - start < 64, self.bytes[start - 1] != 10 { start -= 1 }
        return offset - start
    }

    // MARK: Commands

    /// Whether at most a prompt precedes a command on its line.
    private func beginsCommand(_ start: Int) -> Bool {
        // A string may start with the line.
        self.text.beginsLine(start) || self.text.isQuote(self.text.byte(start - 1))
            || self.text.byte(start - 1) == 32 && self.text.byte(start - 2) == UInt8(ascii: ">")
    }

    private mutating func authentication(_ start: Int) {
        guard self.beginsCommand(start) else { return }
        if self.text.byte(start + 4) == 13 { return self.bulkStrings(start + 4) }
        guard let blank = self.text.byte(start + 4), blank == 32 || blank == 9,
            let line = self.text.restOfLine(self.text.skipBlanks(start + 4)), !line.isEmpty
        else { return }
        let words = self.bytes[line].split(whereSeparator: { $0 <= 32 })
        guard words.count <= 2, let last = words.last, last.count >= 4, !"\"'`\\<;(".utf8.contains(where: last.contains) else { return }
        let isMechanism = words[0].allSatisfy { $0 >= 65 && $0 <= 90 || $0 == UInt8(ascii: "-") || $0 >= 48 && $0 <= 57 }
        // `AUTH PLAIN LOGIN` lists mechanisms.
        guard words.count == 1 ? !isMechanism || words[0].count > 12 : !last.allSatisfy({ $0 >= 65 && $0 <= 90 }) else { return }
        self.addFree(last.startIndex..<last.endIndex, Self.password)
    }

    /// Handles the arguments after `AUTH` in the Redis protocol: `$9`, a line end, and as many bytes.
    private mutating func bulkStrings(_ lineEnd: Int) {
        var offset = lineEnd
        for _ in 0..<2 {
            guard self.text.byte(offset) == 13, self.text.byte(offset + 1) == 10, self.text.byte(offset + 2) == UInt8(ascii: "$") else {
                return
            }
            let digits = self.name(offset + 3)
            guard let count = Int(String(decoding: self.bytes[digits], as: UTF8.self)), count > 0, count <= NamedValue.limit,
                self.text.byte(digits.upperBound) == 13
            else { return }
            let value = digits.upperBound + 2..<digits.upperBound + 2 + count
            guard value.upperBound <= self.bytes.count else { return }
            offset = value.upperBound
            // The first of two arguments is a user.
            if self.text.byte(offset + 2) == UInt8(ascii: "$") { continue }
            guard var finding = self.text.finding(value, Self.password, .plain) else { return }
            finding.count = digits
            self.findings.append(finding)
            return
        }
    }

    /// Handles the arguments of a command whose tag has a digit, since sentences have none.
    private mutating func loginCommand(_ blank: Int) {
        let tag = self.name(self.startOfWord(blank - 7))
        guard blank >= 8, self.text.isWord("login ", endingAt: blank), self.bytes[blank - 7] == 32, tag.upperBound == blank - 7,
            self.text.beginsLine(tag.lowerBound), self.bytes[tag].contains(where: { $0 >= 48 && $0 <= 57 }),
            let line = self.text.restOfLine(blank)
        else { return }
        let words = self.bytes[line].split(separator: 32)
        guard words.count == 2, var value = words.last?.indices else { return }
        if value.count > 2, self.text.isQuote(self.text.byte(value.lowerBound)), self.bytes[value.upperBound - 1] == UInt8(ascii: "\"") {
            value = value.dropFirst().dropLast()
        }
        self.addFree(value, Self.password)
    }

    private func startOfWord(_ end: Int) -> Int {
        var start = end
        while start > 0, end - start < 32, SecretShape.Alphabet.word.contains(self.bytes[start - 1]) { start -= 1 }
        return max(start, 0)
    }

    /// How many bytes before `PASS` the command with the user is searched for.
    private static let commandReach = 256

    private mutating func passwordCommand(_ start: Int) {
        guard self.text.byte(start + 4) == 32, self.text.beginsLine(start) || self.text.isWord("> ", endingAt: start),
            let value = self.text.restOfLine(start + 5), value.count >= 4, !self.bytes[value].contains(where: { $0 <= 32 })
        else { return }
        let before = UnsafeRawBufferPointer(rebasing: self.bytes[max(0, start - Self.commandReach)..<start])
        guard ByteSearch.contains("USER ", in: before) else { return }
        self.addFree(value, Self.password)
    }

    private mutating func redisSetting(_ start: Int) {
        guard start >= 0 else { return }
        let name = self.name(start)
        guard
            name.count == 11 && self.text.isWord("requirepass", endingAt: name.upperBound)
                || name.count == 10 && self.text.isWord("masterauth", endingAt: name.upperBound),
            self.text.byte(start - 1).map({ $0 <= 32 || self.text.isQuote($0) || $0 == UInt8(ascii: "-") }) ?? true,
            let blank = self.text.byte(name.upperBound), blank == 32 || blank == 9
        else { return }
        self.argument(self.text.skipBlanks(name.upperBound), Self.password)
    }

    private mutating func headerDirective(_ start: Int) {
        let next = self.name(self.text.skipBlanks(self.name(start).upperBound))
        guard !next.isEmpty, let blank = self.text.byte(next.upperBound), blank == 32 || blank == 9,
            let meaning = SecretNames.meaning(ofHeader: self.bytes[next]), !meaning.needsCompany
        else { return }
        let value = self.text.skipBlanks(next.upperBound)
        let first = self.text.isQuote(self.text.byte(value)) ? value + 1 : value
        if self.hasWordScheme(first) {
            _ = self.credentials(first, meaning)
            return
        }
        self.argument(value, meaning, hasDigit: true)
    }

    // MARK: Schemes

    /// Handles `Bearer value` and `"Bearer", "value"`, with any spelling of the field's name before or after it.
    ///
    /// - Parameter end: the end of the scheme.
    mutating func scheme(endingAt end: Int) {
        let start = end - 6
        guard self.isFree || self.isURL, self.text.isWord("bearer", endingAt: end), start >= self.fieldEnd,
            self.text.byte(start - 1).map({ !SecretShape.Alphabet.word.contains($0) }) ?? true
        else { return }
        var value = self.text.skipBlanks(end)
        if self.text.isQuote(self.text.byte(end)) {
            let comma = self.text.skipSpace(end + 1)
            value = self.text.skipSpace(comma + 1)
            guard self.text.byte(comma) == UInt8(ascii: ","), self.text.isQuote(self.text.byte(value)) else { return }
            value += 1
        }
        guard value > end, value >= self.schemeEnd else { return }
        var last = value
        let most = min(self.bytes.count, value + NamedValue.limit)
        while last < most, FormSpelling.isAlphanumeric(self.bytes[last]) || "-._~+/=:|".utf8.contains(self.bytes[last]) { last += 1 }
        self.schemeEnd = last
        let word = UnsafeRawBufferPointer(rebasing: self.bytes[value..<last])
        let isInQuotes = self.text.isQuote(self.text.byte(last)) || self.text.byte(last) == UInt8(ascii: "\\")
        guard word.count >= 8, Self.isToken(word, isInQuotes: isInQuotes) else { return }
        self.add(value..<last, SecretNames.Meaning(kind: "authorization", followsScheme: true), .plain)
    }

    /// Handles `Basic value` (RFC 7617, 2). The value is base64 of a user, a colon and a password, which no word is.
    ///
    /// - Parameter end: the end of the scheme.
    mutating func basicScheme(endingAt end: Int) {
        let start = end - 5
        guard self.isFree || self.isURL, self.text.isWord("basic", endingAt: end), start >= self.fieldEnd,
            self.text.byte(start - 1).map({ !SecretShape.Alphabet.word.contains($0) }) ?? true
        else { return }
        let value = self.text.skipBlanks(end)
        guard value >= self.schemeEnd else { return }
        var last = value
        let most = min(self.bytes.count, value + NamedValue.limit)
        while last < most, Base64.value(self.bytes[last]) != nil { last += 1 }
        while last < most, self.bytes[last] == UInt8(ascii: "=") { last += 1 }
        self.schemeEnd = last
        self.work += last - value
        guard self.text.isWhole(value..<last), let found = CredentialsField.basic(self.bytes, value..<last) else { return }
        self.findings.append(found)
    }

    private static func isToken(_ word: UnsafeRawBufferPointer, isInQuotes: Bool) -> Bool {
        if NamedValue.looksLikeKey(word) { return true }
        guard isInQuotes else { return false }
        let hasBothCases = word.contains { $0 >= 97 && $0 <= 122 } && word.contains { $0 >= 65 && $0 <= 90 }
        return NamedValue.looksLikeToken(word) || word.count >= 20 && hasBothCases
    }
}
