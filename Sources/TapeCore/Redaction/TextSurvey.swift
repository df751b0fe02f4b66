#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Finds secrets in a text of any kind by what names them and by what they look like: members of JSON, items of URLs and forms, elements
/// of XML, tokens, keys, user information of URLs.
///
/// Looks at the octets as they stand: no parser, so that what is cut, broken or within something else is found too. Decides nothing about
/// what is done with them.
struct TextSurvey {
    /// Octets of one secret; a longer value is no secret but a document.
    static let valueLimit = 64 << 10
    /// White space between a name and its value.
    private static let spaceLimit = 64
    /// User information of a URL.
    private static let userLimit = 512
    /// Secrets in one array.
    private static let elementLimit = 100

    let text: UnsafeRawBufferPointer
    /// Whether a name may stand at the very beginning, as in a form.
    private let isForm: Bool
    var findings: [Finding] = []

    private init(_ text: UnsafeRawBufferPointer, isForm: Bool) {
        self.text = text
        self.isForm = isForm
    }

    static func findings(in text: UnsafeRawBufferPointer, isForm: Bool = false) -> [Finding] {
        var survey = TextSurvey(text, isForm: isForm)
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

    // MARK: Names

    private mutating func name(endingAt end: Int) {
        let start = self.startOfName(end)
        guard start < end, end - start <= SecretNames.lengthLimit, let meaning = SecretNames.meaning(of: self.text[start..<end]) else {
            return
        }
        switch self.text[end] {
        case UInt8(ascii: "\""): self.member(start, end, meaning)
        case UInt8(ascii: "="): self.item(start, end, meaning)
        default: self.element(start, end, meaning)
        }
    }

    private func startOfName(_ end: Int) -> Int {
        var start = end
        while start > 0, end - start <= SecretNames.lengthLimit {
            let octet = self.text[start - 1]
            guard
                FormSpelling.isAlphanumeric(octet) || octet == UInt8(ascii: "_") || octet == UInt8(ascii: "-") || octet == UInt8(ascii: ".")
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

    /// `"name": "value"`
    private mutating func member(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        guard start > 0, self.text[start - 1] == UInt8(ascii: "\"") else { return }
        let colon = self.skipSpace(end + 1)
        guard colon < self.text.count, self.text[colon] == UInt8(ascii: ":") else { return }
        let value = self.skipSpace(colon + 1)
        guard value < self.text.count else { return }
        switch self.text[value] {
        case UInt8(ascii: "\""):
            // A code is an error's in most JSON.
            guard let close = self.endOfString(value + 1), !meaning.needsCompany || self.isBesideMembersOfOAuth(start, close) else {
                return
            }
            self.add(value + 1..<close, meaning, .json)
        case UInt8(ascii: "["): self.elements(value + 1, meaning)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            var last = value + 1
            while last < self.text.count, JSONNumberText.mayHold(self.text[last]) { last += 1 }
            // A short number counts something.
            guard last - value >= 4 else { return }
            self.add(value..<last, meaning, .number)
        default: return
        }
    }

    /// Another member of a token request in JSON.
    private func isBesideMembersOfOAuth(_ start: Int, _ end: Int) -> Bool {
        let near = UnsafeRawBufferPointer(rebasing: self.text[max(0, start - 2048)..<min(self.text.count, end + 2048)])
        return OAuthCompany.members.contains { ByteSearch.contains($0, in: near) }
    }

    /// Elements that look like keys: `"password": ["is too short"]` is a form's complaint.
    private mutating func elements(_ start: Int, _ meaning: SecretNames.Meaning) {
        var meaning = meaning
        meaning.needsKeyShape = true
        var offset = self.skipSpace(start)
        for _ in 0..<Self.elementLimit {
            guard offset < self.text.count, self.text[offset] == UInt8(ascii: "\""), let close = self.endOfString(offset + 1) else {
                return
            }
            self.add(offset + 1..<close, meaning, .json)
            let comma = self.skipSpace(close + 1)
            guard comma < self.text.count, self.text[comma] == UInt8(ascii: ",") else { return }
            offset = self.skipSpace(comma + 1)
        }
    }

    private func endOfString(_ start: Int) -> Int? {
        var offset = start
        let most = min(self.text.count, start + Self.valueLimit)
        while offset < most {
            if self.text[offset] == UInt8(ascii: "\"") { return offset }
            offset += self.text[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    /// `?name=value` or `&name=value`
    private mutating func item(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        // `/page;jsessionid=value?…` of Java's servers.
        let isInPath = start > 0 && self.text[start - 1] == UInt8(ascii: ";") && meaning.kind == "session" && !meaning.needsKeyShape
        guard start > 0 ? isInPath || self.mayPrecedeItem(start - 1) : self.isForm else { return }
        var last = end + 1
        let most = min(self.text.count, last + Self.valueLimit)
        while last < most, !self.endsItem(self.text[last]), !isInPath || self.text[last] != UInt8(ascii: "?") { last += 1 }
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

    private func endsItem(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "\\"), UInt8(ascii: "`"), UInt8(ascii: ")"), 0...32:
            true
        default: false
        }
    }

    /// Another parameter of OAuth in the same query.
    private func hasCompany(_ start: Int, _ end: Int) -> Bool {
        var lower = start
        while lower > 0, start - lower < 2048, !self.endsItem(self.text[lower - 1]) || self.text[lower - 1] == UInt8(ascii: "&") {
            lower -= 1
        }
        var upper = end
        while upper < self.text.count, upper - end < 2048, !self.endsItem(self.text[upper]) || self.text[upper] == UInt8(ascii: "&") {
            upper += 1
        }
        let query = UnsafeRawBufferPointer(rebasing: self.text[lower..<upper])
        return OAuthCompany.names.contains { ByteSearch.contains($0, in: query) }
    }

    /// `<name>value<`
    private mutating func element(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) {
        guard !meaning.needsCompany, start > 0, self.text[start - 1] == UInt8(ascii: "<") || self.text[start - 1] == UInt8(ascii: ":")
        else { return }
        let close = min(ByteScan.index(of: UInt8(ascii: "<"), in: self.upTo(end + 1 + Self.valueLimit), from: end + 1), self.text.count)
        guard close < self.text.count, close - end <= Self.valueLimit, self.text[close] == UInt8(ascii: "<") else { return }
        // Elements within it are found for themselves.
        guard close + 1 < self.text.count, self.text[close + 1] == UInt8(ascii: "/") else { return }
        self.add(end + 1..<close, meaning, .plain)
    }

    private func upTo(_ end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self.text[..<min(end, self.text.count)])
    }

    private mutating func add(_ range: Range<Int>, _ meaning: SecretNames.Meaning, _ spelling: Finding.Spelling) {
        let value = UnsafeRawBufferPointer(rebasing: self.text[range])
        guard !value.isEmpty, !value.allSatisfy({ $0 <= 32 }), !Placeholder.isWhole(value) else { return }
        if meaning.needsKeyShape, !Self.looksLikeKey(value) { return }
        guard let secret = spelling.decode(value), !secret.withUnsafeBytes(Placeholder.isWhole) else { return }
        self.findings.append(Finding(kind: meaning.kind, range: range, secret: secret, spelling: spelling, isSure: meaning.isSure))
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
                self.text[start - 3] == UInt8(ascii: ":"), start < at
            else { continue }
            self.user(start, at)
        }
    }

    private static func endsUser(_ octet: UInt8) -> Bool {
        switch octet {
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
