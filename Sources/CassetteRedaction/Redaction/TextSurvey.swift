internal import CassetteModel
internal import Platform
internal import TapeBytes

/// Finds secrets in a text of any kind by what names them and by what they look like: members of JSON, items of URLs and forms, elements
/// and attributes of XML, literals in programs, lines of logs and settings, tokens, keys, user information of URLs.
///
/// Looks at the bytes as they are: no parser, so that what is cut, broken or within something else is found too. Decides nothing about
/// what is done with them.
struct TextSurvey {
    /// Bytes of one secret; a longer value is no secret but a document.
    static let valueLimit = 64 << 10
    /// White space between a name and its value.
    static let spaceLimit = 64
    /// User information of a URL.
    private static let userLimit = 512
    /// Secrets in one array.
    private static let elementLimit = 100

    let text: UnsafeRawBufferPointer
    /// Whether a name may be at the very beginning, as in a form.
    private let isForm: Bool
    /// Whether names count beyond JSON, XML elements and URLs: in other texts than these, names are the caller's or chance.
    private let isFree: Bool
    /// The text goes on: what is at its end may not be all of it.
    private let hasMore: Bool
    /// The text is one within another, whose marks are in it as well: a value may not run over one.
    private let isView: Bool
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
    var findings: [Finding] = []

    private init(_ text: UnsafeRawBufferPointer, _ kind: TextKind, hasMore: Bool, isView: Bool) {
        self.isView = isView
        self.text = text
        self.isForm = kind == .form
        self.isFree = kind == .plain && Self.isText(text)
        self.hasMore = hasMore
    }

    /// - Parameters:
    ///   - hasMore: the text goes on: a value that reaches its end is left to who has more of it.
    ///   - isView: the text is another one without its escapes.
    static func findings(
        in text: UnsafeRawBufferPointer, as kind: TextKind = .plain, hasMore: Bool = false, isView: Bool = false
    ) -> [Finding] {
        var survey = TextSurvey(text, kind, hasMore: hasMore, isView: isView)
        SurveyTable.shared.scan(text) { anchor, offset in
            switch anchor {
            case .name: survey.name(endingAt: offset + 3)
            case .shapes(let indices): survey.shapes(indices, anchorAt: offset)
            case .webToken: survey.webToken(at: offset)
            case .armour: survey.privateKey(at: offset)
            }
        }
        survey.userInformation()
        return survey.findings
    }

    /// Whether names can be words at all: in an image or an archive of some MiB, three bytes of chance are one, and what follows is no value.
    private static func isText(_ text: UnsafeRawBufferPointer) -> Bool {
        !text.prefix(4096).contains { $0 < 9 || $0 > 13 && $0 < 32 && $0 != 27 }
    }

    // MARK: Names

    private mutating func name(endingAt end: Int) {
        let start = self.startOfName(end)
        guard start < end, end - start <= SecretNames.lengthLimit else { return }
        switch self.text[end] {
        case UInt8(ascii: "\""): self.quotedName(start, end)
        case UInt8(ascii: "'"): if self.isFree { self.quotedName(start, end) }
        case UInt8(ascii: "="): self.meaning(start, end).map { self.item(start, end, $0) }
        case UInt8(ascii: ":"):
            if self.isFree { self.meaning(start, end).map { self.labelled(start, end, valueFrom: end + 1, $0) } }
        default: self.meaning(start, end).map { self.element(start, end, $0) }
        }
    }

    private func meaning(_ start: Int, _ end: Int) -> SecretNames.Meaning? { SecretNames.meaning(ofMember: self.text[start..<end]) }

    /// Whether a range is all of what it is: at the end of a text that goes on, nobody knows.
    func isWhole(_ range: Range<Int>) -> Bool { !self.hasMore || range.upperBound < self.text.count }

    private func startOfName(_ end: Int) -> Int {
        var start = end
        while start > 0, end - start <= SecretNames.lengthLimit {
            let byte = self.text[start - 1]
            guard
                FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            else { break }
            start -= 1
        }
        return start
    }

    private func skipSpace(_ offset: Int) -> Int {
        var offset = offset
        let end = min(self.text.count, offset + Self.spaceLimit)
        while offset < end, self.text[offset] <= 32 { offset += 1 }
        return offset
    }

    /// `"name": …`, `'name': …`, `"name" => …` or `"name": "NAME", "value": …`
    private mutating func quotedName(_ start: Int, _ end: Int) {
        let quote = self.text[end]
        guard start > 0, self.text[start - 1] == quote else { return }
        let colon = self.skipSpace(end + 1)
        switch self.byte(colon) {
        case UInt8(ascii: ":"):
            guard let meaning = self.meaning(start, end) else { return }
            if quote == UInt8(ascii: "\""), self.member(start, colon, meaning) { return }
            if self.isFree { self.labelled(start - 1, end, valueFrom: colon + 1, meaning) }
        case UInt8(ascii: "="):
            guard self.isFree, self.byte(colon + 1) == UInt8(ascii: ">"), let meaning = self.meaning(start, end) else { return }
            self.literal(self.skipSpace(colon + 2), meaning)
        default: if quote == UInt8(ascii: "\""), self.isFree { self.pair(start, end) }
        }
    }

    /// Nil at the text's end.
    private func byte(_ offset: Int) -> UInt8? { offset >= 0 && offset < self.text.count ? self.text[offset] : nil }

    /// `"name": "value"`. Whether the value is one of JSON.
    private mutating func member(_ start: Int, _ colon: Int, _ meaning: SecretNames.Meaning) -> Bool {
        let value = self.skipSpace(colon + 1)
        guard value < self.text.count else { return true }
        switch self.text[value] {
        case UInt8(ascii: "\""):
            // A code is an error's in most JSON.
            guard let close = self.endOfString(value + 1), !meaning.needsCompany || self.isBesideMembersOfOAuth(start, close) else {
                return true
            }
            self.addString(value + 1..<close, meaning)
        case UInt8(ascii: "["): self.elements(value + 1, meaning)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            var last = value + 1
            while last < self.text.count, JSONNumberText.mayHold(self.text[last]) { last += 1 }
            // A short number counts something.
            guard last - value >= 4, meaning.syntax == .value || meaning.syntax == .credentials else { return true }
            self.add(value..<last, meaning, .number)
        default: return false
        }
        return true
    }

    /// The value of a string of JSON.
    private mutating func addString(_ range: Range<Int>, _ meaning: SecretNames.Meaning) {
        switch meaning.syntax {
        case .value, .credentials: self.add(range, meaning, .json)
        case .cookie, .setCookie: self.cookies(range, meaning)
        }
    }

    private mutating func cookies(_ range: Range<Int>, _ meaning: SecretNames.Meaning) {
        guard self.isWhole(range), CookieField.mayBe(self.text, range) else { return }
        self.findings += CookieField.findings(in: self.text, range, isSet: meaning.syntax == .setCookie, isEscaped: true)
    }

    /// Another member of a token request in JSON.
    private mutating func isBesideMembersOfOAuth(_ start: Int, _ end: Int) -> Bool {
        self.companyInJSON.isIn(max(0, start - OAuthCompany.reach)..<min(self.text.count, end + OAuthCompany.reach), of: self.text)
    }

    /// Elements that look like keys: `"password": ["is too short"]` is a form's complaint.
    private mutating func elements(_ start: Int, _ meaning: SecretNames.Meaning) {
        var meaning = meaning
        meaning.needsKeyShape = meaning.syntax == .value || meaning.syntax == .credentials
        var offset = self.skipSpace(start)
        for _ in 0..<Self.elementLimit {
            guard offset < self.text.count, self.text[offset] == UInt8(ascii: "\""), let close = self.endOfString(offset + 1) else {
                return
            }
            self.addString(offset + 1..<close, meaning)
            let comma = self.skipSpace(close + 1)
            guard comma < self.text.count, self.text[comma] == UInt8(ascii: ",") else { return }
            offset = self.skipSpace(comma + 1)
        }
    }

    /// The closing quote, or the end of a text that is cut in the string.
    private func endOfString(_ start: Int) -> Int? {
        var offset = start
        let most = min(self.text.count, start + Self.valueLimit)
        while offset < most {
            if self.text[offset] == UInt8(ascii: "\"") { return offset }
            offset += self.text[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        return most == self.text.count && !self.hasMore ? most : nil
    }

    // MARK: Pairs

    /// `"name": "NAME", "value": "VALUE"`, as HAR, collections of requests and settings of containers have fields; `key` too, in either
    /// order.
    private mutating func pair(_ start: Int, _ end: Int) {
        guard let key = self.keyOfMember(valueAt: start - 1, ["name", "key"]),
            var meaning = SecretNames.meaning(ofHeader: self.text[start..<end]) ?? self.meaning(start, end)
        else { return }
        if let cookie = self.meaning(start, end), cookie.syntax != .value { meaning = cookie }
        guard let value = self.valueAfter(end + 1) ?? self.valueBefore(key) else { return }
        if meaning.needsCompany, !self.isBesideMembersOfOAuth(start, max(end, value.upperBound)) { return }
        switch meaning.syntax {
        case .value: self.add(value, meaning, .json)
        case .cookie, .setCookie: self.cookies(value, meaning)
        case .credentials:
            guard self.isWhole(value) else { return }
            if self.text[value].contains(UInt8(ascii: "\\")) { return self.add(value, meaning, .json) }
            self.findings += CredentialsField(self.text, value, kind: meaning.kind).findings
        }
    }

    /// Where the member's quoted name begins whose value begins at an offset; nil if it has another name.
    private func keyOfMember(valueAt offset: Int, _ names: [StaticString]) -> Int? {
        let colon = self.skipSpaceBack(offset)
        guard self.byte(colon - 1) == UInt8(ascii: ":") else { return nil }
        let quote = self.skipSpaceBack(colon - 1) - 1
        guard self.byte(quote) == UInt8(ascii: "\"") else { return nil }
        for name in names where self.isWord(name, endingAt: quote) && self.byte(quote - name.utf8CodeUnitCount - 1) == UInt8(ascii: "\"") {
            return quote - name.utf8CodeUnitCount - 1
        }
        return nil
    }

    private func isWord(_ word: StaticString, endingAt end: Int) -> Bool {
        let start = end - word.utf8CodeUnitCount
        return start >= 0 && end <= self.text.count
            && (0..<word.utf8CodeUnitCount).allSatisfy { self.text[start + $0] | 32 == word.utf8Start[$0] }
    }

    /// Behind which no white space is.
    private func skipSpaceBack(_ offset: Int) -> Int {
        var start = offset
        while start > 0, offset - start < Self.spaceLimit, self.text[start - 1] <= 32 { start -= 1 }
        return start
    }

    /// Short members between a name and its value.
    private static let betweenLimit = 3
    private static let betweenLength = 64

    /// The string of the member `value` among the next members of an object.
    private func valueAfter(_ start: Int) -> Range<Int>? {
        var comma = self.skipSpace(start)
        for _ in 0...Self.betweenLimit {
            guard self.byte(comma) == UInt8(ascii: ",") else { return nil }
            let quote = self.skipSpace(comma + 1)
            guard self.byte(quote) == UInt8(ascii: "\""), let end = self.endOfShortString(quote + 1) else { return nil }
            let colon = self.skipSpace(end + 1)
            guard self.byte(colon) == UInt8(ascii: ":") else { return nil }
            let value = self.skipSpace(colon + 1)
            if end - quote == 6, self.isWord("value", endingAt: end) {
                guard self.byte(value) == UInt8(ascii: "\""), let close = self.endOfString(value + 1) else { return nil }
                return value + 1..<close
            }
            switch self.byte(value) {
            case UInt8(ascii: "\""):
                guard let close = self.endOfShortString(value + 1) else { return nil }
                comma = self.skipSpace(close + 1)
            case UInt8(ascii: "{"), UInt8(ascii: "["), nil: return nil
            default:
                var last = value
                while last < self.text.count, last - value < Self.betweenLength, FormSpelling.isAlphanumeric(self.text[last]) { last += 1 }
                comma = self.skipSpace(last)
            }
        }
        return nil
    }

    private func endOfShortString(_ start: Int) -> Int? {
        let most = min(self.text.count, start + Self.betweenLength)
        return (start..<most).first { self.text[$0] == UInt8(ascii: "\"") }
    }

    /// The string of the member `value` right before a member's name.
    private func valueBefore(_ key: Int) -> Range<Int>? {
        let comma = self.skipSpaceBack(key) - 1
        guard self.byte(comma) == UInt8(ascii: ",") else { return nil }
        let close = self.skipSpaceBack(comma) - 1
        guard self.byte(close) == UInt8(ascii: "\"") else { return nil }
        var open = close - 1
        while open >= 0, close - open <= Self.valueLimit {
            if self.text[open] == UInt8(ascii: "\"") {
                var slashes = 0
                while self.byte(open - slashes - 1) == UInt8(ascii: "\\") { slashes += 1 }
                if slashes % 2 == 0 { break }
                open -= slashes
            }
            open -= 1
        }
        guard open >= 0, close - open <= Self.valueLimit, self.keyOfMember(valueAt: open, ["value"]) != nil else { return nil }
        return open + 1..<close
    }

    // MARK: Items

    /// `?name=value` or `&name=value`; where names are free, `name="value"` and `name=value` too.
    private mutating func item(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        // `/page;jsessionid=value?…` of Java's servers.
        let isInPath = start > 0 && self.text[start - 1] == UInt8(ascii: ";") && meaning.kind == "session" && !meaning.needsKeyShape
        guard start > 0 ? isInPath || self.mayPrecedeItem(start - 1) : self.isForm else {
            if self.isFree { self.assignment(start, end, meaning) }
            return
        }
        guard meaning.syntax == .value || meaning.syntax == .credentials, start >= self.valueEnd else { return }
        var last = end + 1
        let most = min(self.text.count, last + Self.valueLimit)
        while last < most, !self.endsItem(self.text[last]), !isInPath || self.text[last] != UInt8(ascii: "?") { last += 1 }
        self.valueEnd = last
        guard last < most || last == self.text.count else { return }
        if meaning.needsCompany, !self.hasCompany(start, last) { return }
        self.add(end + 1..<last, meaning, self.isForm ? .form : .query)
    }

    private func mayPrecedeItem(_ offset: Int) -> Bool {
        switch self.text[offset] {
        case UInt8(ascii: "&"), UInt8(ascii: "?"): true
        case UInt8(ascii: "#"): !self.isForm
        // `&amp;` of HTML
        case UInt8(ascii: ";"): offset >= 4 && self.text[offset - 4] == UInt8(ascii: "&") && self.text[offset - 1] == UInt8(ascii: "p")
        default: false
        }
    }

    private func endsItem(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "\\"), UInt8(ascii: "`"), UInt8(ascii: ")"), 0...32:
            true
        default: false
        }
    }

    /// Another parameter of OAuth in the same query.
    private mutating func hasCompany(_ start: Int, _ end: Int) -> Bool {
        func isInside(_ byte: UInt8) -> Bool { !self.endsItem(byte) || byte == UInt8(ascii: "&") }
        if !self.query.contains(start) {
            // What was looked at for the query before is not part of this one.
            let least = min(self.query.upperBound, start)
            var (lower, upper) = (start, end)
            while lower > least, isInside(self.text[lower - 1]) { lower -= 1 }
            while upper < self.text.count, isInside(self.text[upper]) { upper += 1 }
            self.query = lower..<upper
        }
        let lower = max(self.query.lowerBound, start - OAuthCompany.reach)
        return self.companyInQueries.isIn(lower..<min(self.query.upperBound, end + OAuthCompany.reach), of: self.text)
    }

    /// `<name>value<`
    private mutating func element(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        guard !meaning.needsCompany, meaning.syntax == .value || meaning.syntax == .credentials, start > 0,
            self.text[start - 1] == UInt8(ascii: "<") || self.text[start - 1] == UInt8(ascii: ":")
        else { return }
        let close = self.nextMark(from: end + 1)
        if close == self.text.count, close - end <= Self.valueLimit {
            // Cut, in a text of elements: `{"error":"no <token>"}` and `List<Token> of …` are others.
            guard start >= self.valueEnd, !self.isView, self.isMarkup else { return }
            self.valueEnd = close
            guard !self.text[(end + 1)...].contains(where: { $0 <= 32 || "\"'{}[]\\,;".utf8.contains($0) }) else { return }
            return self.add(end + 1..<close, meaning, .plain)
        }
        guard close < self.text.count, close - end <= Self.valueLimit, self.text[close] == UInt8(ascii: "<") else { return }
        // Elements within it are found for themselves.
        guard close + 1 < self.text.count, self.text[close + 1] == UInt8(ascii: "/") else { return }
        self.add(end + 1..<close, meaning, .plain)
    }

    /// Where the next `<` is; the text's end, or what no value reaches, if there is none.
    private mutating func nextMark(from start: Int) -> Int {
        if self.nextMark.contains(start) { return self.nextMark.upperBound }
        let end = min(start + 2 * Self.valueLimit, self.text.count)
        let found = ByteScan.index(of: UInt8(ascii: "<"), in: UnsafeRawBufferPointer(rebasing: self.text[..<end]), from: start)
        self.nextMark = start..<found
        return found
    }

    /// Whether the text begins as XML or HTML does.
    private var isMarkup: Bool { self.text.first { $0 > 32 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF } == UInt8(ascii: "<") }

    // MARK: Lines and literals

    /// `name: "value"` in programs, `name: value` on a line of its own, `Authorization: Bearer value` anywhere.
    ///
    /// - Parameter start: of the name, its quote included.
    private mutating func labelled(_ start: Int, _ end: Int, valueFrom: Int, _ meaning: SecretNames.Meaning) {
        guard !meaning.needsCompany, self.mayPrecedeName(start - 1) else { return }
        var meaning = meaning
        let value = self.skipBlanks(valueFrom)
        switch meaning.syntax {
        case .value: break
        case .credentials:
            guard start >= self.fieldEnd else { return }
            if self.credentials(value, meaning) { return }
            meaning.needsKeyShape = true
        case .cookie, .setCookie:
            guard value > valueFrom, start >= self.fieldEnd, self.beginsLine(start) || self.isQuote(self.byte(start - 1)),
                let line = self.cookieLine(value)
            else { return }
            return self.cookies(line, meaning)
        }
        if self.isQuote(self.byte(value)) { return self.literal(value, meaning) }
        if value > valueFrom, self.beginsLine(start) { self.bareLine(value, meaning) }
    }

    /// `name="value"`, as attributes of XML and settings have it; `name=value` on a line of its own or among others.
    private mutating func assignment(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        guard !meaning.needsCompany, meaning.syntax == .value || meaning.syntax == .credentials, self.mayPrecedeName(start - 1) else {
            return
        }
        let value = end + 1
        if self.isQuote(self.byte(value)) { return self.literal(value, meaning) }
        guard start >= self.valueEnd else { return }
        if self.beginsLine(start), self.bareLine(value, meaning) { return }
        var last = value
        let most = min(self.text.count, value + Self.valueLimit)
        while last < most, !self.endsBareValue(self.text[last]) { last += 1 }
        self.valueEnd = last
        guard last < most || last == self.text.count else { return }
        // `token=make(…)` and `key=keys[1]` are programs.
        if let next = self.byte(last), "([{".utf8.contains(next) { return }
        let range = value..<last
        guard range.count >= NeedleIndex.lengthLimit, self.text[range].contains(where: { $0 >= 48 && $0 <= 57 }),
            !self.isPathOfNames(range)
        else { return }
        self.addFree(range, meaning)
    }

    /// What may be right before a name: white space, and what opens or divides lists; a quote, if the name is in a text of its own. Of a
    /// name with a prefix, the prefix's colon.
    private func mayPrecedeName(_ offset: Int) -> Bool {
        guard let byte = self.byte(offset) else { return true }
        if byte == UInt8(ascii: ":") { return self.byte(offset - 1).map(FormSpelling.isAlphanumeric) ?? false }
        return byte <= 32 || self.isQuote(byte) || "{([,;|".utf8.contains(byte)
    }

    private func isQuote(_ byte: UInt8?) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`")
    }

    private func skipBlanks(_ offset: Int) -> Int {
        var offset = offset
        let end = min(self.text.count, offset + Self.spaceLimit)
        while offset < end, self.text[offset] == 32 || self.text[offset] == 9 { offset += 1 }
        return offset
    }

    /// Whether nothing but white space, a dash of YAML, a mark of quotation or `export` is before a name on its line.
    private func beginsLine(_ start: Int) -> Bool {
        var offset = start
        if offset >= 7, self.isWord("export", endingAt: offset - 1) { offset -= 7 }
        let least = max(0, offset - Self.spaceLimit)
        while offset > least {
            switch self.text[offset - 1] {
            case 10, 13: return true
            case 32, 9, UInt8(ascii: "-"), UInt8(ascii: ">"), UInt8(ascii: "<"), UInt8(ascii: "#"), 0xEF, 0xBB, 0xBF: offset -= 1
            default: return false
            }
        }
        return offset == 0
    }

    /// Up to the line's end, without white space there; nil if it is longer than a secret, or not all there.
    private func restOfLine(_ start: Int) -> Range<Int>? {
        var end = start
        let most = min(self.text.count, start + Self.valueLimit)
        while end < most, self.text[end] != 10, self.text[end] != 13 { end += 1 }
        guard end < most || end == self.text.count && !self.hasMore else { return nil }
        while end > start, self.text[end - 1] <= 32 { end -= 1 }
        return start..<end
    }

    /// Cookies up to the line's end, or to the end of the quotes that they are in: `a=b; c="d"`.
    private mutating func cookieLine(_ start: Int) -> Range<Int>? {
        var isOpen = false
        var end = start
        let most = min(self.text.count, start + Self.valueLimit)
        scan: while end < most {
            let byte = self.text[end]
            if byte == 10 || byte == 13 || self.isView && "\\<&".utf8.contains(byte) { break scan }
            if self.isQuote(byte) {
                guard isOpen || byte == UInt8(ascii: "\"") && self.text[end - 1] == UInt8(ascii: "=") else { break scan }
                isOpen.toggle()
            }
            end += 1
        }
        self.fieldEnd = end
        return end < most || end == self.text.count && !self.hasMore ? start..<end : nil
    }

    /// `name: value` and `NAME=value` of settings, up to the line's end or a comment. Whether the line holds a value and nothing else.
    @discardableResult
    private mutating func bareLine(_ start: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard var range = self.restOfLine(start), range.count >= 4 else { return false }
        if self.isView, let mark = range.first(where: { "\"'`\\<&".utf8.contains(self.text[$0]) }) { range = start..<mark }
        if let space = range.first(where: { self.text[$0] <= 32 }) {
            guard self.byte(self.skipBlanks(space)) == UInt8(ascii: "#") else { return false }
            range = start..<space
        }
        // Marks of YAML, of shells and of templates, and the ends of lines of programs.
        guard range.count >= 4, !"[]{}&*!|>%@`<$\"'\\(,;#~".utf8.contains(self.text[start]),
            !",;{([\\\"'".utf8.contains(self.text[range.upperBound - 1]), !self.text[range].contains(UInt8(ascii: "(")),
            !self.isPathOfNames(range) || !self.text[range].contains(UInt8(ascii: "."))
        else { return false }
        self.addFree(range, meaning)
        return true
    }

    /// `a.b.c`
    private func isPathOfNames(_ range: Range<Int>) -> Bool {
        var isStart = true
        var length = 0
        for offset in range {
            let byte = self.text[offset]
            if byte == UInt8(ascii: ".") {
                guard !isStart else { return false }
                (isStart, length) = (true, 0)
                continue
            }
            let isLetter = (byte | 32) >= 97 && (byte | 32) <= 122 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            length += 1
            guard isLetter || !isStart && byte >= 48 && byte <= 57, length < 20 else { return false }
            isStart = false
        }
        return self.text[range].contains(UInt8(ascii: "."))
    }

    private func endsBareValue(_ byte: UInt8) -> Bool {
        byte <= 32 || self.isQuote(byte) || ",;&<>()[]{}\\|".utf8.contains(byte)
    }

    /// A value in quotes, of any kind.
    private mutating func literal(_ start: Int, _ meaning: SecretNames.Meaning) {
        guard let quote = self.byte(start), self.isQuote(quote), !meaning.needsCompany else { return }
        let most = min(self.text.count, start + 1 + Self.valueLimit)
        if quote == UInt8(ascii: "\""), self.byte(start + 1) == quote, self.byte(start + 2) == quote {
            // A block string of GraphQL.
            var end = start + 3
            while end < most, !(self.text[end] == quote && self.byte(end + 1) == quote && self.byte(end + 2) == quote) { end += 1 }
            guard end < most else { return }
            return self.addFree(start + 3..<end, meaning)
        }
        var end = start + 1
        while end < most, self.text[end] != quote {
            guard self.text[end] != 10 else { return }
            end += self.text[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        end = min(end, most)
        guard end < most || end == self.text.count else { return }
        let range = start + 1..<end
        // The quote was another string's last, or another string's first is in it.
        if let first = range.first(where: { self.text[$0] > 32 }), ",:;)]}".utf8.contains(self.text[first]) { return }
        if quote != UInt8(ascii: "\""), self.text[range].contains(UInt8(ascii: "\"")) { return }
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
        while space < self.text.count, space - start < 20, FormSpelling.isAlphanumeric(self.text[space]) || self.text[space] == 45 {
            space += 1
        }
        guard space > start, self.byte(space) == 32 else { return false }
        let scheme = String(decoding: self.text[start..<space], as: UTF8.self).lowercased()
        if Self.parameterSchemes.contains(scheme) {
            // Their own quotes cannot be told from those of a text around them.
            guard !self.isView else { return true }
            self.fieldEnd = start + Self.valueLimit
            guard let line = self.restOfLine(start), !self.text[line].contains(UInt8(ascii: "\\")) else { return true }
            self.fieldEnd = line.upperBound
            self.findings += CredentialsField(self.text, line, kind: meaning.kind).findings
            return true
        }
        guard Self.wordSchemes.contains(scheme) else { return false }
        let value = self.skipBlanks(space)
        var end = value
        let most = min(self.text.count, value + Self.valueLimit)
        while end < most, FormSpelling.isAlphanumeric(self.text[end]) || "-._~+/=:|".utf8.contains(self.text[end]) { end += 1 }
        let word = self.text[value..<end]
        // `Bearer YOUR_TOKEN`
        let isStandIn =
            word.allSatisfy { $0 >= 65 && $0 <= 90 || $0 == UInt8(ascii: "_") } || word.allSatisfy { !FormSpelling.isAlphanumeric($0) }
        guard word.count >= NeedleIndex.lengthLimit, !isStandIn, !SecretNames.isName(word) else { return true }
        self.add(value..<end, meaning, .plain)
        return true
    }

    /// A value in a place that programs and sentences have, too.
    private mutating func addFree(_ range: Range<Int>, _ meaning: SecretNames.Meaning) {
        guard !range.isEmpty, !self.isProse(range), !self.isTemplate(range), !Self.isLocation(self.text[range]),
            String(validating: self.text[range], as: UTF8.self) != nil
        else { return }
        let value = self.text[range]
        let word = String(decoding: value.prefix(16), as: UTF8.self).lowercased()
        guard !word.hasPrefix("your"), !SecretNames.isName(value), !Self.isWord(value),
            value.contains(where: { FormSpelling.isAlphanumeric($0) || $0 >= 128 })
        else { return }
        // A name of a program's, or a word.
        let isName = value.count < 16 && value.allSatisfy { FormSpelling.isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
        self.add(range, meaning, self.text[range].contains(UInt8(ascii: "\\")) ? .json : .plain, isPlaceOnly: isName)
    }

    /// Several words without a digit, as labels and complaints are.
    private func isProse(_ range: Range<Int>) -> Bool {
        self.text[range].contains(32) && !self.text[range].contains { $0 >= 48 && $0 <= 57 }
    }

    /// A place of a template, or a variable.
    private func isTemplate(_ range: Range<Int>) -> Bool {
        let value = UnsafeRawBufferPointer(rebasing: self.text[range])
        if Placeholder.isWhole(value) { return true }
        if ["${", "{{", "<%", "#{", "$(", " + "].contains(where: { ByteSearch.contains($0, in: value) }) { return true }
        guard let first = value.first, first == UInt8(ascii: "$") || first == UInt8(ascii: "<") || first == UInt8(ascii: "%") else {
            return false
        }
        return first == UInt8(ascii: "<") || value.dropFirst().allSatisfy { ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 == 95 || $0 == 37 }
    }

    /// A path, or a URL without users and parameters: `token: "/oauth/token"` says where tokens are.
    static func isLocation(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        var path = value
        if let colon = value.firstIndex(of: UInt8(ascii: ":")), value[colon...].starts(with: "://".utf8),
            value[..<colon].allSatisfy({ FormSpelling.isAlphanumeric($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") })
        {
            guard colon > value.startIndex, !value.contains(where: { "@?#".utf8.contains($0) }) else { return false }
            path = value[(colon + 2)...]
        } else {
            guard ["/", "./", "../", "~/"].contains(where: { value.starts(with: $0.utf8) }) else { return false }
        }
        // A key can begin with a slash, and have more of them.
        return path.split(separator: UInt8(ascii: "/")).allSatisfy { !Self.looksLikeKey(UnsafeRawBufferPointer(rebasing: $0)) }
            && !path.contains { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "+") }
    }

    static func isWord(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        value.count <= 16 && Self.words.contains(String(decoding: value, as: UTF8.self).lowercased())
    }

    /// Types, states and nothings of programs and settings.
    private static let words: Set<String> = [
        "active", "any", "basic", "bearer", "bool", "boolean", "byte", "bytes", "char", "data", "default", "disabled", "empty", "enabled",
        "expired", "false", "float", "hidden", "int", "integer", "invalid", "masked", "missing", "never", "nil", "none", "null", "number",
        "object", "off", "on", "optional", "redacted", "required", "self", "str", "string", "string!", "string?", "text", "this", "true",
        "undefined", "unknown", "unset", "uuid", "valid", "varchar", "void", "yes",
    ]

    // MARK: Findings

    private mutating func add(
        _ range: Range<Int>, _ meaning: SecretNames.Meaning, _ spelling: Finding.Spelling, isPlaceOnly: Bool = false
    ) {
        guard self.isWhole(range), var finding = Self.finding(in: self.text, range, meaning, spelling) else { return }
        finding.isPlaceOnly = isPlaceOnly || Self.isLocation(self.text[range])
        self.findings.append(finding)
    }

    /// What a name's value is; nil if it holds no secret.
    static func finding(
        in text: UnsafeRawBufferPointer, _ range: Range<Int>, _ meaning: SecretNames.Meaning, _ spelling: Finding.Spelling
    ) -> Finding? {
        let value = UnsafeRawBufferPointer(rebasing: text[range])
        guard !value.isEmpty, !value.allSatisfy({ $0 <= 32 }), !Placeholder.isWhole(value) else { return nil }
        if meaning.needsKeyShape, !Self.looksLikeKey(value) { return nil }
        guard let secret = spelling.decode(value), !secret.withUnsafeBytes(Placeholder.isWhole) else { return nil }
        return Finding(kind: meaning.kind, range: range, secret: secret, spelling: spelling, isSure: meaning.isSure)
    }

    private static func looksLikeKey(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= 16 else { return false }
        return value.contains { $0 >= 48 && $0 <= 57 } && value.contains { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
            && !value.contains { $0 <= 32 }
    }

    // MARK: Users of URLs

    /// `scheme://user:password@host`
    private mutating func userInformation() {
        guard let base = self.text.baseAddress else { return }
        var from = 0
        while from < self.text.count, let found = memchr(base + from, Int32(UInt8(ascii: "@")), self.text.count - from) {
            let at = UnsafeRawPointer(found) - base
            from = at + 1
            var start = at
            while start > 0, at - start <= Self.userLimit, !Self.endsUser(self.text[start - 1]) { start -= 1 }
            guard start > 2, self.text[start - 1] == UInt8(ascii: "/"), self.text[start - 2] == UInt8(ascii: "/"),
                self.text[start - 3] == UInt8(ascii: ":"), start < at, self.endsScheme(start - 3),
                String(validating: self.text[start..<at], as: UTF8.self) != nil
            else { continue }
            self.user(start, at)
        }
    }

    /// Whether two letters or digits at least are before a colon: what some MiB of an archive have by chance is no URL.
    private func endsScheme(_ colon: Int) -> Bool {
        colon >= 2 && FormSpelling.isAlphanumeric(self.text[colon - 1]) && FormSpelling.isAlphanumeric(self.text[colon - 2])
    }

    private static func endsUser(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"),
            UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "@"), UInt8(ascii: "("), 0...32:
            true
        default: false
        }
    }

    private mutating func user(_ start: Int, _ at: Int) {
        // A placeholder has a colon of its own.
        var colon = start
        while colon < at, self.text[colon] != UInt8(ascii: ":") {
            colon += Placeholder.length(in: self.text, at: colon) ?? 1
        }
        let password = min(colon + 1, at)..<at
        let name = start..<min(colon, at)
        // A name alone, or a long one, is a token.
        if password.isEmpty || name.count >= 20 { self.add(name, SecretNames.Meaning(kind: "userinfo"), .user) }
        if !password.isEmpty { self.add(password, SecretNames.Meaning(kind: "password"), .user) }
    }
}
