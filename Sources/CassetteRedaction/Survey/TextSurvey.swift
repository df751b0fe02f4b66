internal import CassetteModel
internal import TapeBytes

/// Finds secrets in a text of any kind by what names them and by what they look like: members of JSON, items of URLs and forms, elements
/// and attributes of XML, literals in programs, lines of logs and settings, tokens, keys, user information of URLs.
///
/// Looks at the bytes as they are: no parser, so that what is cut, broken or within something else is found too. Decides nothing about
/// what is done with them.
struct TextSurvey {
    /// Secrets in one array.
    private static let elementLimit = 100

    private let text: SurveyText
    private let bytes: UnsafeRawBufferPointer
    /// Whether a name may be at the very beginning, as in a form.
    private let isForm: Bool
    /// Whether names count beyond JSON, XML elements and URLs: in other texts than these, names are the caller's or chance.
    private let isFree: Bool
    private var companyInJSON = OAuthCompany.inJSON
    private var companyInQueries = OAuthCompany.inQueries
    /// The query that was looked at last.
    private var query = 0..<0
    /// Where the credentials or cookies end that were read last: what is in them is not read again.
    private var fieldEnd = 0
    /// Where the bare value ends that was looked at last: a name within it begins no other, or each of thousands would reach to its end.
    private var valueEnd = 0
    /// The next `<` from an offset on that was asked for last.
    private var nextMark = 0..<0
    private var findings: [Finding] = []
    /// Where the last password of a command ends that was read.
    private var commandEnd = 0
    /// Texts of base64 that may hold names.
    private var base64: [Range<Int>] = []
    /// Where the last end tag of an element of each kind was: no start tag before it belongs to the next one.
    private var elementFloors: [String: Int] = [:]
    /// Whether lines of the text are settings in sections; nil before the first question.
    private var hasSections: Bool?

    private init(_ text: SurveyText, _ kind: TextKind) {
        self.text = text
        self.bytes = text.bytes
        self.isForm = kind == .form
        self.isFree = kind == .plain && text.isReadable
    }

    /// - Parameters:
    ///   - hasMore: the text goes on after these bytes: a value that reaches their end is not found.
    ///   - isView: the text is another one without its escapes.
    static func findings(
        in bytes: UnsafeRawBufferPointer, as kind: TextKind = .plain, hasMore: Bool = false, isView: Bool = false
    ) -> [Finding] { self.survey(bytes, as: kind, hasMore: hasMore, isView: isView).findings }

    /// What is found, and the texts of base64 in which names may be.
    static func survey(
        _ bytes: UnsafeRawBufferPointer, as kind: TextKind = .plain, hasMore: Bool = false, isView: Bool = false
    ) -> (findings: [Finding], base64: [Range<Int>]) {
        let text = SurveyText(bytes: bytes, hasMore: hasMore, isView: isView)
        var survey = TextSurvey(text, kind)
        let shapes = ShapeSurvey(text: text)
        SurveyTable.shared.scan(bytes) { anchor, offset in
            switch anchor {
            case .name: survey.name(endingAt: offset + 3)
            case .shapes(let indices): survey.findings += shapes.findings(indices, anchorAt: offset)
            case .webToken:
                if let token = shapes.webToken(at: offset) {
                    survey.findings.append(token)
                } else {
                    survey.base64(around: offset, isBeginning: true)
                }
            case .armour: if let key = shapes.privateKey(at: offset) { survey.findings.append(key) }
            case .blank: survey.spaced(markAt: offset + 2)
            case .flag: survey.command(flagAt: offset)
            case .option:
                survey.option(at: offset)
                survey.command(flagAt: offset)
            case .base64Beginning: survey.base64(around: offset, isBeginning: true)
            case .base64: survey.base64(around: offset, isBeginning: false)
            }
        }
        return (survey.findings + URLUserSurvey.findings(in: text), survey.base64)
    }

    private mutating func base64(around offset: Int, isBeginning: Bool) {
        guard offset >= self.base64.last?.upperBound ?? 0 else { return }
        guard let range = Base64Text.range(in: self.text, around: offset, isBeginning: isBeginning) else { return }
        self.base64.append(range)
    }

    // MARK: Members of JSON

    private mutating func name(endingAt end: Int) {
        let start = self.text.startOfName(end)
        guard start < end, end - start <= SecretNames.lengthLimit else { return }
        switch self.bytes[end] {
        case 32, 9, 10, 13: self.entry(start, end)
        case UInt8(ascii: "<"): self.meaning(start, end).map { self.pairOfElements(start, end, $0) }
        case UInt8(ascii: "\""): self.quotedName(start, end)
        case UInt8(ascii: "'"): if self.isFree { self.quotedName(start, end) }
        case UInt8(ascii: "="): (self.meaning(start, end) ?? self.variable(start, end)).map { self.item(start, end, $0) }
        case UInt8(ascii: ":"):
            if self.isFree {
                (self.meaning(start, end) ?? self.variable(start, end)).map { self.labelled(start, end, valueFrom: end + 1, $0) }
            }
        default: self.meaning(start, end).map { self.element(start, end, $0) }
        }
    }

    private func meaning(_ start: Int, _ end: Int) -> SecretNames.Meaning? { SecretNames.meaning(ofMember: self.bytes[start..<end]) }

    private func variable(_ start: Int, _ end: Int) -> SecretNames.Meaning? {
        self.isFree ? SecretNames.meaning(ofVariable: self.bytes[start..<end]) : nil
    }

    /// `"name": …`, `'name': …`, `"name" => …` or `"name": "NAME", "value": …`
    private mutating func quotedName(_ start: Int, _ end: Int) {
        let quote = self.bytes[end]
        guard start > 0, self.bytes[start - 1] == quote else { return }
        let colon = self.text.skipSpace(end + 1)
        switch self.text.byte(colon) {
        case UInt8(ascii: ":"):
            guard let meaning = self.meaning(start, end) else { return }
            if quote == UInt8(ascii: "\""), self.member(start, colon, meaning) { return }
            if self.isFree { self.labelled(start - 1, end, valueFrom: colon + 1, meaning) }
        case UInt8(ascii: "="):
            guard self.isFree, self.text.byte(colon + 1) == UInt8(ascii: ">"), let meaning = self.meaning(start, end) else { return }
            self.literal(self.text.skipSpace(colon + 2), meaning)
        default: if quote == UInt8(ascii: "\""), self.isFree { self.pair(start, end) }
        }
    }

    /// `"name": "value"`. Whether the value is one of JSON.
    private mutating func member(_ start: Int, _ colon: Int, _ meaning: SecretNames.Meaning) -> Bool {
        let value = self.text.skipSpace(colon + 1)
        guard value < self.bytes.count else { return true }
        switch self.bytes[value] {
        case UInt8(ascii: "\""):
            // A code is an error's in most JSON.
            guard let close = self.text.endOfString(value + 1), !meaning.needsCompany || self.isBesideMembersOfOAuth(start, close) else {
                return true
            }
            self.addString(value + 1..<close, meaning)
        case UInt8(ascii: "["):
            self.elements(value + 1, meaning)
            if meaning.isPlural { self.nested(value, meaning) }
        case UInt8(ascii: "{"):
            self.nested(value, meaning)
            // `password: { type: 'string' }` of programs is none of JSON.
            return self.text.byte(self.text.skipSpace(value + 1)) == UInt8(ascii: "\"")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            var last = value + 1
            while last < self.bytes.count, JSONNumberText.mayHold(self.bytes[last]) { last += 1 }
            // A short number counts something.
            guard last - value >= 4, meaning.syntax == .value || meaning.syntax == .credentials else { return true }
            self.add(value..<last, meaning, .number)
        default: return false
        }
        return true
    }

    /// Kinds under whose names objects hold the secrets themselves; a session or an assertion is a document.
    private static let nestable: Set<String> = [
        "password", "secret", "token", "access_token", "refresh_token", "id_token", "client_secret", "api-key", "aws-secret",
    ]

    /// `"name": {"value": "…"}`
    private mutating func nested(_ open: Int, _ meaning: SecretNames.Meaning) {
        guard Self.nestable.contains(meaning.kind), !meaning.needsCompany, meaning.syntax == .value,
            meaning.isPlural || !meaning.needsKeyShape, let nested = NestedValues(self.text, openAt: open)
        else { return }
        for (name, range) in nested.values {
            self.addNested(range, name: name, meaning, isWord: nested.hasType)
        }
    }

    private mutating func addNested(
        _ range: Range<Int>, name: Range<Int>?, _ meaning: SecretNames.Meaning, isWord: Bool, spelling: Finding.Spelling = .json
    ) {
        guard meaning.isPlural || name.map({ NestedValues.isOfValue(self.bytes[$0]) }) ?? true else { return }
        // A name of its own, which is found for itself.
        if let name, self.meaning(name.lowerBound, name.upperBound) != nil, !NestedValues.isOfValue(self.bytes[name]) { return }
        let value = UnsafeRawBufferPointer(rebasing: self.bytes[range])
        let isPassword = meaning.kind == "password" || meaning.kind == "secret" || meaning.kind == "client_secret"
        guard NamedValue.mayBeSecret(self.bytes[range]), isPassword && !isWord || NamedValue.looksLikePassword(value) else { return }
        if isPassword, meaning.isPlural, value.contains(where: { $0 <= 32 }) { return }
        var plain = meaning
        (plain.isPlural, plain.needsKeyShape) = (false, false)
        // Words of language models, among which are some with digits.
        if meaning.isPlural, !isPassword, !NamedValue.looksLikeToken(value) { return }
        self.add(range, plain, spelling)
    }

    /// The value of a string of JSON.
    private mutating func addString(_ range: Range<Int>, _ meaning: SecretNames.Meaning) {
        switch meaning.syntax {
        case .value, .credentials: self.add(range, meaning, .json)
        case .cookie, .setCookie: self.cookies(range, meaning)
        }
    }

    private mutating func cookies(_ range: Range<Int>, _ meaning: SecretNames.Meaning) {
        guard self.text.isWhole(range), CookieField.mayBe(self.bytes, range) else { return }
        self.findings += CookieField.findings(in: self.bytes, range, isSet: meaning.syntax == .setCookie, isEscaped: true)
    }

    /// Another member of a token request in JSON.
    private mutating func isBesideMembersOfOAuth(_ start: Int, _ end: Int) -> Bool {
        self.companyInJSON.isIn(max(0, start - OAuthCompany.reach)..<min(self.bytes.count, end + OAuthCompany.reach), of: self.bytes)
    }

    /// Elements that look like keys: `"password": ["is too short"]` is a form's complaint.
    private mutating func elements(_ start: Int, _ meaning: SecretNames.Meaning) {
        var meaning = meaning
        meaning.needsKeyShape = meaning.syntax == .value || meaning.syntax == .credentials
        let isPassword = meaning.kind == "password"
        var offset = self.text.skipSpace(start)
        for _ in 0..<Self.elementLimit {
            guard offset < self.bytes.count, self.bytes[offset] == UInt8(ascii: "\""), let close = self.text.endOfString(offset + 1) else {
                return
            }
            let value = UnsafeRawBufferPointer(rebasing: self.bytes[offset + 1..<close])
            meaning.needsKeyShape =
                meaning.syntax != .cookie && meaning.syntax != .setCookie && !(isPassword && NamedValue.looksLikePassword(value))
            self.addString(offset + 1..<close, meaning)
            let comma = self.text.skipSpace(close + 1)
            guard comma < self.bytes.count, self.bytes[comma] == UInt8(ascii: ",") else { return }
            offset = self.text.skipSpace(comma + 1)
        }
    }

    /// `"name": "NAME", "value": "VALUE"`, as HAR, collections of requests and settings of containers have fields; `key` too, in either
    /// order.
    private mutating func pair(_ start: Int, _ end: Int) {
        guard let key = self.text.keyOfMember(valueAt: start - 1, ["name", "key"]),
            var meaning = SecretNames.meaning(ofHeader: self.bytes[start..<end]) ?? self.meaning(start, end)
        else { return }
        if let cookie = self.meaning(start, end), cookie.syntax != .value { meaning = cookie }
        guard let value = self.text.valueAfter(end + 1) ?? self.text.valueBefore(key) else { return }
        if meaning.needsCompany, !self.isBesideMembersOfOAuth(start, max(end, value.upperBound)) { return }
        switch meaning.syntax {
        case .value: self.add(value, meaning, .json)
        case .cookie, .setCookie: self.cookies(value, meaning)
        case .credentials:
            guard self.text.isWhole(value) else { return }
            if self.bytes[value].contains(UInt8(ascii: "\\")) { return self.add(value, meaning, .json) }
            self.findings += CredentialsField(self.bytes, value, kind: meaning.kind).findings
        }
    }

    // MARK: Items of queries, elements of XML

    /// `?name=value` or `&name=value`; where names are free, `name="value"` and `name=value` too.
    private mutating func item(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        // `/page;jsessionid=value?…` of Java's servers.
        let isInPath = start > 0 && self.bytes[start - 1] == UInt8(ascii: ";") && meaning.kind == "session" && !meaning.needsKeyShape
        guard start > 0 ? isInPath || self.text.mayPrecedeItem(start - 1, inForm: self.isForm) : self.isForm else {
            if self.isFree { self.assignment(start, end, meaning) }
            return
        }
        guard meaning.syntax == .value || meaning.syntax == .credentials, start >= self.valueEnd else { return }
        if meaning.syntax == .credentials, self.credentials(end + 1, meaning) { return }
        var last = end + 1
        let most = min(self.bytes.count, last + NamedValue.limit)
        let endsAtSemicolon = self.isForm && (start > 0 && self.bytes[start - 1] == UInt8(ascii: ";") || start == 0 && self.hasSemicolons)
        while last < most, !self.text.endsItem(self.bytes[last]), !isInPath || self.bytes[last] != UInt8(ascii: "?"),
            !endsAtSemicolon || self.bytes[last] != UInt8(ascii: ";")
        { last += 1 }
        self.valueEnd = last
        guard last < most || last == self.bytes.count else { return }
        if meaning.needsCompany, !self.hasCompany(start, last) { return }
        self.add(end + 1..<last, meaning, self.isForm ? .form : .query)
    }

    /// Whether the form's items are divided by semicolons.
    private var hasSemicolons: Bool { QuerySurvey.separator(self.bytes) == UInt8(ascii: ";") }

    /// Another parameter of OAuth in the same query.
    private mutating func hasCompany(_ start: Int, _ end: Int) -> Bool {
        func isInside(_ byte: UInt8) -> Bool { !self.text.endsItem(byte) || byte == UInt8(ascii: "&") }
        if !self.query.contains(start) {
            // What was looked at for the query before is not part of this one.
            let least = min(self.query.upperBound, start)
            var (lower, upper) = (start, end)
            while lower > least, isInside(self.bytes[lower - 1]) { lower -= 1 }
            while upper < self.bytes.count, isInside(self.bytes[upper]) { upper += 1 }
            self.query = lower..<upper
        }
        let lower = max(self.query.lowerBound, start - OAuthCompany.reach)
        return self.companyInQueries.isIn(lower..<min(self.query.upperBound, end + OAuthCompany.reach), of: self.bytes)
    }

    /// `<key>name</key><string>value</string>`
    private mutating func pairOfElements(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        guard !meaning.needsCompany, meaning.syntax == .value || meaning.syntax == .credentials,
            let (range, isNumber) = ElementSurvey(text: self.text).valueOfPair(start, end)
        else { return }
        if isNumber, range.count < 4 { return }
        self.add(range, meaning, isNumber ? .number : .plain)
    }

    /// `</name>` of an element with attributes, with CDATA, or with elements in it.
    private mutating func closedElement(_ slash: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
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
    private mutating func element(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
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
    private func slashOfEndTag(_ start: Int) -> Int? {
        guard start > 1 else { return nil }
        var slash = start - 1
        if self.bytes[slash] == UInt8(ascii: ":") { slash = self.text.startOfName(slash) - 1 }
        guard slash > 0, self.bytes[slash] == UInt8(ascii: "/"), self.bytes[slash - 1] == UInt8(ascii: "<") else { return nil }
        return slash
    }

    /// Where the next `<` is; the text's end, or what no value reaches, if there is none.
    private mutating func nextMark(from start: Int) -> Int {
        if self.nextMark.contains(start) { return self.nextMark.upperBound }
        let end = min(start + 2 * NamedValue.limit, self.bytes.count)
        let found = ByteScan.index(of: UInt8(ascii: "<"), in: UnsafeRawBufferPointer(rebasing: self.bytes[..<end]), from: start)
        self.nextMark = start..<found
        return found
    }

    // MARK: Lines and literals

    /// `name: "value"` in programs, `name: value` on a line of its own, `Authorization: Bearer value` anywhere.
    ///
    /// - Parameter start: of the name, its quote included.
    private mutating func labelled(_ start: Int, _ end: Int, valueFrom: Int, _ meaning: SecretNames.Meaning) {
        guard !meaning.needsCompany, self.text.mayPrecedeName(start - 1) else { return }
        var meaning = meaning
        let value = self.text.skipBlanks(valueFrom)
        switch meaning.syntax {
        case .value: break
        case .credentials:
            guard start >= self.fieldEnd else { return }
            if self.credentials(value, meaning) { return }
            meaning.needsKeyShape = true
        case .cookie, .setCookie:
            guard value > valueFrom, start >= self.fieldEnd, self.text.beginsLine(start) || self.text.isQuote(self.text.byte(start - 1)),
                let line = self.cookieLine(value)
            else { return }
            return self.cookies(line, meaning)
        }
        if self.text.isQuote(self.text.byte(value)) { return self.literal(value, meaning) }
        guard self.text.beginsLine(start) else {
            if let range = self.text.headerInQuotes(start, value) ?? self.text.lineInQuotes(start, value) { self.addFree(range, meaning) }
            return
        }
        if value > valueFrom, self.bareLine(value, meaning) { return }
        self.block(start, valueFrom, meaning)
    }

    /// Lines of YAML below a name.
    private mutating func block(_ start: Int, _ rest: Int, _ meaning: SecretNames.Meaning) {
        guard Self.nestable.contains(meaning.kind), meaning.syntax == .value, !meaning.needsKeyShape || meaning.isPlural,
            start >= self.valueEnd,
            let block = YAMLBlock(self.text, nameAt: start, rest: rest), !block.isDescription
        else { return }
        for (name, range) in block.values { self.addNested(range, name: name, meaning, isWord: false, spelling: .plain) }
    }

    /// `name = value` and `name : value`, with blanks before the mark.
    private mutating func spaced(markAt mark: Int) {
        guard self.isFree else { return }
        var end = mark
        while end > 0, mark - end < 64, self.bytes[end - 1] == 32 || self.bytes[end - 1] == 9 { end -= 1 }
        let isQuoted = self.text.isQuote(self.text.byte(end - 1))
        if isQuoted { end -= 1 }
        let start = self.text.startOfName(end)
        guard start < end, end - start <= SecretNames.lengthLimit, !isQuoted || self.text.isQuote(self.text.byte(start - 1)),
            let meaning = self.meaning(start, end) ?? self.variable(start, end), !meaning.needsCompany
        else { return }
        let first = isQuoted ? start - 1 : start
        if self.bytes[mark] == UInt8(ascii: ":") {
            // Of JSON, which was read from the name on.
            guard !isQuoted else { return }
            return self.labelled(first, end, valueFrom: mark + 1, meaning)
        }
        guard meaning.syntax == .value || meaning.syntax == .credentials, self.text.mayPrecedeName(first - 1), first >= self.valueEnd else {
            return
        }
        let value = self.text.skipBlanks(mark + 1)
        if meaning.syntax == .credentials, self.credentials(value, meaning) { return }
        if self.text.isQuote(self.text.byte(value)) {
            // `const token = 'a'` is a letter of a program.
            if !self.text.beginsLine(first), let next = self.text.byte(value + 2), self.text.isQuote(next) { return }
            return self.literal(value, meaning)
        }
        if let range = self.text.lineInQuotes(first, value) { return self.addFree(range, meaning) }
        guard self.text.beginsLine(first), let line = self.text.restOfLine(value) else { return }
        // A word may be a variable of a program.
        let isIdentifier = self.bytes[line].allSatisfy { ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 == UInt8(ascii: "_") }
        if isIdentifier, !self.isInSections { return }
        self.bareLine(value, meaning)
    }

    /// Whether a line near the beginning is the head of a section, as in files of settings.
    private var isInSections: Bool {
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

    // MARK: Commands

    /// A command with a flag before a password, or after it: each command is read once.
    private mutating func command(flagAt offset: Int) {
        guard self.isFree, offset >= self.commandEnd else { return }
        let commands = CommandSurvey(text: self.text)
        var found = commands.passwords(flagAt: offset)
        if self.bytes[offset + 2] == UInt8(ascii: "p"), let password = commands.passwordOfLogin(optionAt: offset) { found.append(password) }
        for range in found {
            self.commandEnd = max(self.commandEnd, range.upperBound)
            self.addWord(range, kind: "password")
        }
    }

    private mutating func option(at offset: Int) {
        guard self.isFree, let (name, range) = CommandSurvey(text: self.text).option(at: offset),
            let meaning = self.meaning(name.lowerBound, name.upperBound), !meaning.needsCompany, !meaning.needsKeyShape,
            meaning.syntax == .value
        else { return }
        self.addWord(range, kind: meaning.kind)
    }

    /// `password X` of an entry of a .netrc file.
    private mutating func entry(_ start: Int, _ end: Int) {
        guard self.isFree, self.meaning(start, end)?.kind == "password",
            let range = CommandSurvey(text: self.text).passwordOfEntry(start, end)
        else { return }
        self.addWord(range, kind: "password")
    }

    private mutating func addWord(_ range: Range<Int>, kind: String) {
        guard !range.isEmpty else { return }
        self.addFree(range, SecretNames.Meaning(kind: kind))
    }

    /// `name="value"`, as attributes of XML and settings have it; `name=value` on a line of its own or among others.
    private mutating func assignment(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        guard !meaning.needsCompany, meaning.syntax == .value || meaning.syntax == .credentials, self.text.mayPrecedeName(start - 1) else {
            return
        }
        let value = end + 1
        if meaning.syntax == .credentials, start >= self.fieldEnd, self.credentials(value, meaning) { return }
        if self.text.isQuote(self.text.byte(value)) { return self.literal(value, meaning) }
        guard start >= self.valueEnd else { return }
        if let range = self.text.valueInConnectionString(start, value) {
            self.valueEnd = range.upperBound
            return self.addFree(range, meaning)
        }
        if self.text.beginsLine(start), self.bareLine(value, meaning) { return }
        var last = value
        let most = min(self.bytes.count, value + NamedValue.limit)
        while last < most, !self.text.endsBareValue(self.bytes[last]) { last += 1 }
        self.valueEnd = last
        guard last < most || last == self.bytes.count else { return }
        // `token=make(…)` and `key=keys[1]` are programs.
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

    /// Cookies up to the line's end, or to the end of the quotes that they are in: `a=b; c="d"`.
    private mutating func cookieLine(_ start: Int) -> Range<Int>? {
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

    /// `name: value` and `NAME=value` of settings, up to the line's end or a comment. Whether the line holds a value and nothing else.
    @discardableResult
    private mutating func bareLine(_ start: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard var range = self.text.restOfLine(start), range.count >= 4 else { return false }
        if self.text.isView, let mark = range.first(where: { "\"'`\\<&".utf8.contains(self.bytes[$0]) }) { range = start..<mark }
        if let space = range.first(where: { self.bytes[$0] <= 32 }) {
            let next = self.text.byte(self.text.skipBlanks(space))
            guard next == UInt8(ascii: "#") || next == UInt8(ascii: ";") else { return false }
            range = start..<space
        }
        // Marks of YAML, of shells and of templates, and the ends of lines of programs.
        guard range.count >= 4, !"[]{}&*!|>%@`<$\"'\\(,;#~".utf8.contains(self.bytes[start]),
            !",;{([\\\"'".utf8.contains(self.bytes[range.upperBound - 1]), !self.bytes[range].contains(UInt8(ascii: "(")),
            !NamedValue.isPathOfNames(self.bytes[range])
        else { return false }
        self.addFree(range, meaning)
        return true
    }

    /// A value in quotes, of any kind.
    private mutating func literal(_ start: Int, _ meaning: SecretNames.Meaning) {
        guard let quote = self.text.byte(start), self.text.isQuote(quote), !meaning.needsCompany else { return }
        let most = min(self.bytes.count, start + 1 + NamedValue.limit)
        if quote == UInt8(ascii: "\""), self.text.byte(start + 1) == quote, self.text.byte(start + 2) == quote {
            // A block string of GraphQL.
            var end = start + 3
            while end < most, !(self.bytes[end] == quote && self.text.byte(end + 1) == quote && self.text.byte(end + 2) == quote) {
                end += 1
            }
            guard end < most else { return }
            return self.addFree(start + 3..<end, meaning)
        }
        var end = start + 1
        while end < most, self.bytes[end] != quote {
            guard self.bytes[end] != 10 else { return }
            end += self.bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        end = min(end, most)
        guard end < most || end == self.bytes.count else { return }
        let range = start + 1..<end
        // The quote was another string's last, or another string's first is in it.
        if let first = range.first(where: { self.bytes[$0] > 32 }), ",:;)]}".utf8.contains(self.bytes[first]) { return }
        if quote != UInt8(ascii: "\""), self.bytes[range].contains(UInt8(ascii: "\"")) { return }
        switch meaning.syntax {
        case .value, .credentials: self.addFree(range, meaning)
        case .cookie, .setCookie: self.cookies(range, meaning)
        }
    }

    /// Schemes whose credentials are one word, and others that have parameters (IANA, HTTP authentication schemes).
    private static let wordSchemes = ["bearer", "basic", "token", "apikey", "negotiate", "ntlm", "dpop", "bot", "jwt", "key"]
    private static let parameterSchemes = ["digest", "oauth", "hawk", "aws4-hmac-sha256", "signature"]

    /// `Bearer value`. Whether there is a scheme.
    private mutating func credentials(_ start: Int, _ meaning: SecretNames.Meaning) -> Bool {
        var space = start
        while space < self.bytes.count, space - start < 20, FormSpelling.isAlphanumeric(self.bytes[space]) || self.bytes[space] == 45 {
            space += 1
        }
        guard space > start, self.text.byte(space) == 32 else { return false }
        let scheme = String(decoding: self.bytes[start..<space], as: UTF8.self).lowercased()
        if Self.parameterSchemes.contains(scheme) {
            // Their own quotes cannot be told from those of a text around them.
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
        self.add(value..<end, meaning, .plain)
        return true
    }

    /// A value in a place that programs and sentences have, too.
    private mutating func addFree(_ range: Range<Int>, _ meaning: SecretNames.Meaning) {
        let value = self.bytes[range]
        guard NamedValue.mayBeSecret(value) else { return }
        // A name of a program's, or a word.
        let isName = value.count < 16 && value.allSatisfy { FormSpelling.isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
        self.add(range, meaning, value.contains(UInt8(ascii: "\\")) ? .json : .plain, isPlaceOnly: isName)
    }

    private mutating func add(
        _ range: Range<Int>, _ meaning: SecretNames.Meaning, _ spelling: Finding.Spelling, isPlaceOnly: Bool = false
    ) {
        guard var finding = self.text.finding(range, meaning, spelling) else { return }
        finding.isPlaceOnly = finding.isPlaceOnly || isPlaceOnly
        self.findings.append(finding)
    }
}
