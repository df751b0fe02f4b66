internal import CassetteModel
internal import TapeBytes

// JSON members, and similar literals in programs.
extension TextSurvey {
    /// The most secrets in one array.
    private static let elementLimit = 100

    /// `"name": …`, `'name': …`, `"name" => …` or `"name": "NAME", "value": …`
    mutating func quotedName(_ start: Int, _ end: Int) {
        let quote = self.bytes[end]
        guard start > 0 else { return }
        guard self.bytes[start - 1] == quote else {
            if quote == UInt8(ascii: "\"") { self.lastOfPath(start, end) }
            return
        }
        let colon = self.text.skipComments(self.text.skipSpace(end + 1))
        switch self.text.byte(colon) {
        case UInt8(ascii: ":"):
            if quote == UInt8(ascii: "\""), self.flaggedSecret(start, end, colon) || self.company(start, end, colon: colon) { return }
            let open = self.text.skipSpace(colon + 1)
            let mayBeToken = quote == UInt8(ascii: "\"") && self.text.byte(open) == quote
            guard let meaning = self.meaning(start, end) ?? (mayBeToken ? SecretNames.meaning(ofToken: self.bytes[start..<end]) : nil)
            else {
                return
            }
            if self.text.byte(open) == UInt8(ascii: "{") { self.identifier(start, end, openAt: open, meaning) }
            if quote == UInt8(ascii: "\""), self.member(start, colon, meaning) { return }
            if self.isFree { self.labelled(start - 1, end, valueFrom: colon + 1, meaning) }
        case UInt8(ascii: "=") where self.text.byte(colon + 1) == UInt8(ascii: "\""):
            // `"NAME"="value"` in files of the Windows registry.
            guard self.isFree, self.text.beginsLine(start - 1) || self.text.byte(start - 2) == UInt8(ascii: "."),
                let meaning = self.meaning(start, end)
            else { return }
            self.literal(colon + 1, meaning)
        case UInt8(ascii: "="), UInt8(ascii: "-"):
            guard self.isFree, self.text.byte(colon + 1) == UInt8(ascii: ">"), let meaning = self.meaning(start, end) else { return }
            self.literal(self.text.skipSpace(colon + 2), meaning)
        case UInt8(ascii: "]"): if self.isFree { self.indexed(start, end, closing: colon) }
        case UInt8(ascii: ";"): if self.isFree { self.serialized(start, end, semicolon: colon) }
        case UInt8(ascii: ","), UInt8(ascii: "}"):
            guard self.isFree else { return }
            if quote == UInt8(ascii: "\""), !self.manifest(start, end), self.pair(start, end, openAt: start - 1) { return }
            if self.listedCredentials(start, end, comma: colon) || self.listedValue(start, end, comma: colon) { return }
            self.argument(start, end, comma: colon)
        default:
            if self.isFree, let meaning = self.meaning(start, end), !meaning.needsCompany, meaning.syntax == .value,
                self.pairInLines(start, end, meaning) || self.variableBlock(start, colon, meaning)
            {
                return
            }
            if self.text.byte(self.text.skipSpaceBack(start - 1) - 1) == UInt8(ascii: "=") { self.namedTag(around: start) }
        }
    }

    /// Handles `"Authorization", "Bearer value"`, as programs list names and values of header fields. Returns whether it is one.
    private mutating func listedCredentials(_ start: Int, _ end: Int, comma: Int) -> Bool {
        let value = self.text.skipSpace(comma + 1)
        guard self.text.byte(comma) == UInt8(ascii: ","), self.text.isQuote(self.text.byte(value)), self.hasWordScheme(value + 1),
            let meaning = self.meaning(start, end), meaning.syntax == .credentials
        else { return false }
        return self.credentials(value + 1, meaning)
    }

    /// Handles `["NAME", "value"]`, and `"NAME", "value"` among the names and values of header fields. Returns whether it is one.
    private mutating func listedValue(_ start: Int, _ end: Int, comma: Int) -> Bool {
        let open = self.text.skipSpace(comma + 1)
        guard self.text.byte(comma) == UInt8(ascii: ","), self.text.byte(open) == self.bytes[end] else { return false }
        let before = self.text.skipSpaceBack(start - 1) - 1
        guard self.text.byte(before) == UInt8(ascii: "[") || self.text.byte(before) == UInt8(ascii: ","),
            var meaning = SecretNames.meaning(ofHeader: self.bytes[start..<end]) ?? self.meaning(start, end)
        else { return false }
        if let cookie = self.meaning(start, end), cookie.syntax != .value { meaning = cookie }
        guard !meaning.needsCompany, let close = self.endOfLiteral(open) else { return false }
        let range = open + 1..<close
        let value = UnsafeRawBufferPointer(rebasing: self.bytes[range])
        guard meaning.syntax != .cookie, meaning.syntax != .setCookie else {
            self.cookies(range, meaning)
            return true
        }
        let next = self.text.skipSpace(close + 1)
        let isPair = self.text.byte(before) == UInt8(ascii: "[") && self.text.byte(next) == UInt8(ascii: "]")
        let outer = self.text.byte(self.text.skipSpaceBack(before) - 1)
        let isAmongPairs = isPair && (outer == UInt8(ascii: "[") || outer == UInt8(ascii: ","))
        let isPassword = meaning.kind == "password" || meaning.kind == "secret"
        // A list of names contains no values.
        guard NamedValue.mayBeSecret(self.bytes[range]),
            isAmongPairs && isPassword || isPair && NamedValue.looksLikePassword(value)
                || !isPassword && NamedValue.looksLikeToken(value)
        else { return false }
        self.add(range, meaning, .json)
        return true
    }

    /// The closing quote of a short literal in either kind of quotes; nil if it is not on the same line.
    func endOfLiteral(_ open: Int) -> Int? {
        guard let quote = self.text.byte(open) else { return nil }
        var end = open + 1
        let most = min(self.bytes.count, open + 8192)
        while end < most, self.bytes[end] != quote, self.bytes[end] != 10 { end += self.bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        return end < most && self.bytes[end] == quote ? end : nil
    }

    // MARK: Paths and terms

    /// The longest path or URL that ends with a secret's name, in bytes.
    private static let pathLimit = 256

    /// Handles a secret's name that ends a longer quoted one: `"path": "/user/password"` with a value next to it, or
    /// `"https://w3id.org/security#secret": "value"`.
    private mutating func lastOfPath(_ start: Int, _ end: Int) {
        guard let mark = self.text.byte(start - 1), "/#:".utf8.contains(mark) else { return }
        var quote = start - 1
        let least = max(0, start - Self.pathLimit)
        while quote > least, self.bytes[quote] > 32, self.bytes[quote] != UInt8(ascii: "\""), self.bytes[quote] != UInt8(ascii: "\\") {
            quote -= 1
        }
        guard self.text.byte(quote) == UInt8(ascii: "\"") else { return }
        let next = self.text.skipSpace(end + 1)
        switch self.text.byte(next) {
        case UInt8(ascii: ":"):
            guard var meaning = self.meaning(start, end), !meaning.needsCompany, meaning.syntax == .value else { return }
            // For the path of an API, the value is a description.
            if self.bytes[quote + 1] == UInt8(ascii: "/") {
                meaning.isCompound = true
                guard self.text.byte(self.text.skipSpace(next + 1)) == UInt8(ascii: "\"") else { return }
            }
            _ = self.member(start, next, meaning)
        case UInt8(ascii: ","), UInt8(ascii: "}"): if self.isFree { _ = self.pair(start, end, openAt: quote) }
        default: return
        }
    }

    /// Handles `"sensitive": true` next to a `value`, as in Terraform states and variables of pipelines. Returns whether it is one.
    private mutating func flaggedSecret(_ start: Int, _ end: Int, _ colon: Int) -> Bool {
        let value = self.text.skipSpace(colon + 1)
        guard self.text.byte(value) == UInt8(ascii: "t"), self.text.isWord("true", endingAt: value + 4),
            ["sensitive", "issecret", "secret"].contains(where: { (word: StaticString) in
                end - start == word.utf8CodeUnitCount && self.text.isWord(word, endingAt: end)
            }), let range = self.text.valueAfter(value + 4) ?? self.text.valueBefore(start - 1), !NamedValue.isWord(self.bytes[range])
        else { return false }
        self.add(range, SecretNames.Meaning(kind: "secret"), .json)
        return true
    }

    /// How many bytes before and after a Secret's kind its values are searched for.
    private static let manifestReach = 4096

    /// Handles a Kubernetes `"kind": "Secret"` with `"data": {"NAME": "…"}` before or after it. Returns whether it is one.
    private mutating func manifest(_ start: Int, _ end: Int) -> Bool {
        guard end - start == 6, self.bytes[start..<end].elementsEqual("Secret".utf8),
            self.text.keyOfMember(valueAt: start - 1, ["kind"]) != nil
        else { return false }
        let least = max(self.manifestEnd, start - Self.manifestReach)
        let most = min(self.bytes.count, end + Self.manifestReach)
        self.manifestEnd = most
        var mark = least
        while mark < most {
            mark = ByteScan.index(of: UInt8(ascii: "{"), in: UnsafeRawBufferPointer(rebasing: self.bytes[..<most]), from: mark)
            guard mark < most else { break }
            if self.text.keyOfMember(valueAt: mark, ["data", "stringdata"]) != nil, let values = NestedValues(self.text, openAt: mark) {
                // The values of `data` are base64.
                let isCoded = self.text.keyOfMember(valueAt: mark, ["data"]) != nil
                for (_, range, _) in values.values {
                    self.addNested(
                        range, name: nil, SecretNames.Meaning(kind: "secret"), isWord: false,
                        spelling: isCoded ? self.codedSpelling(range) : .json)
                }
            }
            mark += 1
        }
        return true
    }

    /// Handles `"name": "value"`. Returns whether the value is JSON.
    mutating func member(_ start: Int, _ colon: Int, _ meaning: SecretNames.Meaning) -> Bool {
        let value = self.text.skipComments(self.text.skipSpace(colon + 1))
        guard value < self.bytes.count else { return true }
        switch self.bytes[value] {
        case UInt8(ascii: "\""):
            // In most JSON, a code is an error code.
            guard let close = self.text.endOfString(value + 1), !meaning.needsCompany || self.isBesideMembersOfOAuth(start, close) else {
                return true
            }
            self.addString(value + 1..<close, meaning)
        case UInt8(ascii: "["):
            self.elements(value + 1, meaning)
            // `[{"@value": "…"}]` in JSON-LD.
            if meaning.isPlural || self.text.byte(self.text.skipSpace(value + 1)) == UInt8(ascii: "{") { self.nested(value, meaning) }
        case UInt8(ascii: "{"):
            self.nested(value, meaning)
            // `password: { type: 'string' }` in a program is not JSON.
            return self.text.byte(self.text.skipSpace(value + 1)) == UInt8(ascii: "\"")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            var last = value + 1
            while last < self.bytes.count, JSONNumberText.mayHold(self.bytes[last]) { last += 1 }
            // A short number counts something, or is a word's number in a language model.
            guard last - value >= 4, !meaning.isEveryday, meaning.syntax == .value || meaning.syntax == .credentials else { return true }
            self.add(value..<last, meaning, .number)
        default: return false
        }
        return true
    }

    /// Kinds whose objects contain the secrets themselves. A session or an assertion is a document.
    static let nestable: Set<String> = [
        "password", "secret", "token", "access_token", "refresh_token", "id_token", "client_secret", "api-key", "aws-secret", "code",
    ]

    /// `"name": {"value": "…"}`
    mutating func nested(_ open: Int, _ meaning: SecretNames.Meaning) {
        guard Self.nestable.contains(meaning.kind), !meaning.needsCompany, meaning.syntax == .value,
            meaning.isPlural || !meaning.needsKeyShape, let nested = NestedValues(self.text, openAt: open)
        else { return }
        for (name, range, isHeld) in nested.values {
            var inner = meaning
            if isHeld { inner.isPlural = true }
            self.addNested(range, name: name, inner, isWord: nested.hasType)
        }
    }

    mutating func addNested(
        _ range: Range<Int>, name: Range<Int>?, _ meaning: SecretNames.Meaning, isWord: Bool, spelling: Finding.Spelling = .json
    ) {
        let isCode = meaning.kind == "code"
        // `{"otp": {"code": "123456"}}`
        func isOfValue(_ name: Range<Int>) -> Bool {
            NestedValues.isOfValue(self.bytes[name]) || isCode && name.count == 4 && self.text.isWord("code", endingAt: name.upperBound)
        }
        guard meaning.isPlural || name.map(isOfValue) ?? true else { return self.addOfUser(range, name, meaning, isWord, spelling) }
        // The member has a name of its own, and is found by that.
        if let name, self.meaning(name.lowerBound, name.upperBound) != nil, !isOfValue(name) { return }
        if let name, NestedValues.isOfDescription(self.bytes[name]) { return }
        let value = UnsafeRawBufferPointer(rebasing: self.bytes[range])
        let isPassword = meaning.kind == "password" || meaning.kind == "secret" || meaning.kind == "client_secret"
        guard NamedValue.mayBeSecret(self.bytes[range]),
            isPassword && !isWord || NamedValue.looksLikePassword(value) || isPassword && NamedValue.isRandomLetters(value)
                || isCode && NamedValue.isNumber(value)
        else { return }
        if isPassword, meaning.isPlural, value.contains(where: { $0 <= 32 }) { return }
        var plain = meaning
        (plain.isPlural, plain.needsKeyShape) = (false, false)
        // The vocabulary of a language model, in which some words have digits.
        if meaning.isPlural, !isPassword, !NamedValue.looksLikeToken(value) { return }
        self.add(range, plain, spelling)
    }

    /// Handles `"credentials": {"ada": "X"}`: the names of users, of which nothing is known. The value has to look like a password.
    private mutating func addOfUser(
        _ range: Range<Int>, _ name: Range<Int>?, _ meaning: SecretNames.Meaning, _ isWord: Bool, _ spelling: Finding.Spelling
    ) {
        guard meaning.kind == "password", !isWord, let name, self.meaning(name.lowerBound, name.upperBound) == nil,
            !NestedValues.isOfDescription(self.bytes[name]), !self.text.isWord("id", endingAt: name.upperBound),
            NamedValue.mayBeSecret(self.bytes[range]), self.isLikely(range, meaning), !UUIDPlaceholder.isUUID(Array(self.bytes[range]))
        else { return }
        self.add(range, SecretNames.Meaning(kind: meaning.kind), spelling)
    }

    /// The value of a string of JSON.
    mutating func addString(_ range: Range<Int>, _ meaning: SecretNames.Meaning) {
        switch meaning.syntax {
        case .value, .credentials: self.add(range, meaning, .json)
        case .cookie, .setCookie: self.cookies(range, meaning)
        }
    }

    mutating func cookies(_ range: Range<Int>, _ meaning: SecretNames.Meaning) {
        guard self.text.isWhole(range), CookieField.mayBe(self.bytes, range) else { return }
        var found = CookieField.findings(in: self.bytes, range, isSet: meaning.syntax == .setCookie, isEscaped: true)
        // A value at the end of the text may continue.
        if range.upperBound == self.bytes.count, let last = found.indices.last { found[last].cookie?.isPreference = false }
        self.findings += found
    }

    /// Whether another member of a token request in JSON is nearby.
    mutating func isBesideMembersOfOAuth(_ start: Int, _ end: Int) -> Bool {
        self.companyInJSON.isIn(max(0, start - OAuthCompany.reach)..<min(self.bytes.count, end + OAuthCompany.reach), of: self.bytes)
    }

    /// Handles elements that look like keys: `"password": ["is too short"]` is a validation error.
    ///
    /// - Parameter isNamed: whether the list is that of a setting's values, which are secrets if they look like passwords.
    mutating func elements(_ start: Int, _ meaning: SecretNames.Meaning, isNamed: Bool = false) {
        var meaning = meaning
        meaning.needsKeyShape = meaning.syntax == .value || meaning.syntax == .credentials
        let isPassword = meaning.kind == "password"
        var offset = self.text.skipSpace(start)
        for _ in 0..<Self.elementLimit {
            guard offset < self.bytes.count, self.bytes[offset] == UInt8(ascii: "\""), let close = self.text.endOfString(offset + 1) else {
                return
            }
            let value = UnsafeRawBufferPointer(rebasing: self.bytes[offset + 1..<close])
            // `"Authorization": ["Bearer value"]`, as programs print header fields.
            if meaning.syntax == .credentials, value.contains(32), !value.contains(UInt8(ascii: "\\")) {
                self.findings += CredentialsField(self.bytes, offset + 1..<close, kind: meaning.kind).findings
            }
            meaning.needsKeyShape =
                meaning.syntax != .cookie && meaning.syntax != .setCookie && !(isPassword && NamedValue.looksLikePassword(value))
                && !(isNamed && NamedValue.looksLikePassword(value) && !NamedValue.isExpression(self.bytes[offset + 1..<close]))
            self.addString(offset + 1..<close, meaning)
            let comma = self.text.skipSpace(close + 1)
            guard comma < self.bytes.count, self.bytes[comma] == UInt8(ascii: ",") else { return }
            offset = self.text.skipSpace(comma + 1)
        }
    }

    /// Handles `"name": "NAME", "value": "VALUE"`, in either order, as in HAR, request collections and container settings. The name may
    /// also be a path (JSON Patch, RFC 6902; SCIM, RFC 7644, 3.5.2), a field or a type. Returns whether it is one.
    ///
    /// - Parameter open: the quote before the name, or before the path that ends with it.
    mutating func pair(_ start: Int, _ end: Int, openAt open: Int) -> Bool {
        let isNamed = self.text.keyOfMember(valueAt: open, ["name", "key", "path"])
        guard let key = isNamed ?? self.text.keyOfMember(valueAt: open, Self.namingMembers),
            var meaning = SecretNames.meaning(ofHeader: self.bytes[start..<end]) ?? self.meaning(start, end)
                ?? SecretNames.meaning(ofField: self.bytes[start..<end])
        else { return false }
        if let cookie = self.meaning(start, end), cookie.syntax != .value { meaning = cookie }
        guard let value = self.text.valueAfter(end + 1) ?? self.text.valueBefore(key) else {
            return self.pairOfValues(end, key: key, meaning)
        }
        if meaning.needsCompany, !self.isBesideMembersOfOAuth(start, max(end, value.upperBound)) { return false }
        switch meaning.syntax {
        case .value:
            // A form definition describes its value as a string, or tells what to enter.
            let isOrdinary = isNamed == nil ? !NamedValue.mayBeSecret(self.bytes[value]) : NamedValue.isWord(self.bytes[value])
            if !isOrdinary { self.add(value, meaning, .json) }
        case .cookie, .setCookie: self.cookies(value, meaning)
        case .credentials:
            guard self.text.isWhole(value) else { return true }
            if self.bytes[value].contains(UInt8(ascii: "\\")) {
                self.add(value, meaning, .json)
            } else {
                self.findings += CredentialsField(self.bytes, value, kind: meaning.kind).findings
            }
        }
        return true
    }

    /// Handles `"name": "NAME", "values": ["VALUE"]`, in either order, also with an object around the value. Returns whether it is one.
    private mutating func pairOfValues(_ end: Int, key: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard !meaning.needsCompany, let open = self.text.valuesAfter(end + 1) ?? self.valuesBefore(key) else { return false }
        if self.bytes[open] == UInt8(ascii: "[") {
            self.elements(open + 1, meaning, isNamed: true)
            guard self.text.byte(self.text.skipSpace(open + 1)) == UInt8(ascii: "{") else { return true }
        }
        self.nested(open, meaning)
        return true
    }

    /// The bracket of the values in a list or an object before the member with the name.
    private mutating func valuesBefore(_ key: Int) -> Int? {
        let comma = self.text.skipSpaceBack(key) - 1
        guard self.text.byte(comma) == UInt8(ascii: ","), let close = self.text.byte(self.text.skipSpaceBack(comma) - 1),
            close == UInt8(ascii: "]") || close == UInt8(ascii: "}"), let object = self.object(around: key)
        else { return nil }
        for name in object.others where name.upperBound < key && self.text.isOfValues(name) {
            let open = self.text.skipSpace(self.text.skipSpace(name.upperBound + 1) + 1)
            if self.text.byte(open) == UInt8(ascii: "[") || self.text.byte(open) == UInt8(ascii: "{") { return open }
        }
        return nil
    }

    private static let namingMembers: [StaticString] = [
        "field", "attribute", "property", "param", "parameter", "variable", "type", "target", "selector", "header", "k", "n", "column",
        "setting", "option", "parameterkey", "label", "designation",
    ]
}
