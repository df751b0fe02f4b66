internal import CassetteModel
internal import Platform
internal import TapeBytes

/// Finds secrets among `name=value` items in forms and URL queries, by their decoded names.
struct QuerySurvey {
    private let rules: RedactionRules
    private let isForm: Bool

    init(rules: RedactionRules, isForm: Bool) {
        self.rules = rules
        self.isForm = isForm
    }

    /// - Parameter range: the range of the items in the text.
    /// - Returns: the findings, and the values that a rule keeps.
    func findings(in text: UnsafeRawBufferPointer, range: Range<Int>) -> (findings: [Finding], kept: [Range<Int>]) {
        var findings: [Finding] = []
        var kept: [Range<Int>] = []
        var start = range.lowerBound
        var hasCompany: Bool?
        let separator = Self.separator(UnsafeRawBufferPointer(rebasing: text[range]))
        while start < range.upperBound {
            let slice = UnsafeRawBufferPointer(rebasing: text[..<range.upperBound])
            let end = ByteScan.index(of: separator, in: slice, from: start)
            let equals = ByteScan.index(of: UInt8(ascii: "="), in: UnsafeRawBufferPointer(rebasing: text[..<end]), from: start)
            let value = min(equals + 1, end)..<end
            let spelling: Finding.Spelling = self.isForm ? .form : .query
            if equals - start <= Self.nameLimit, let name = spelling.decode(UnsafeRawBufferPointer(rebasing: text[start..<equals])) {
                let text = UnsafeRawBufferPointer(rebasing: text[value])
                if self.keeps(name) {
                    kept.append(value)
                } else if !value.isEmpty, !Placeholder.isAll(text), let meaning = self.meaning(name),
                    meaning.isRuled || value.count <= NamedValue.limit, let secret = spelling.decode(text),
                    meaning.isRuled || !OrdinaryValue.isOrdinary(parameter: secret, kind: meaning.kind),
                    !meaning.isEveryday || !secret.withUnsafeBytes({ NamedValue.isOfEveryday($0) }),
                    !meaning.needsCompany || self.company(&hasCompany, UnsafeRawBufferPointer(rebasing: slice[range]))
                {
                    findings.append(
                        Finding(
                            kind: meaning.kind, range: value, secret: secret, spelling: spelling, isSure: meaning.isSure,
                            isRuled: meaning.isRuled))
                }
            }
            start = end + 1
        }
        return (findings, kept)
    }

    /// `;` in a form or query with at least two items that are all `name=value`, and without `&` (HTML 4.01, B.2.2).
    static func separator(_ items: UnsafeRawBufferPointer) -> UInt8 {
        guard ByteScan.index(of: UInt8(ascii: ";"), in: items, from: 0) < items.count,
            ByteScan.index(of: UInt8(ascii: "&"), in: items, from: 0) == items.count
        else { return UInt8(ascii: "&") }
        let parts = items.split(separator: UInt8(ascii: ";"))
        let areItems = parts.allSatisfy { part in
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")), equals > part.startIndex else { return false }
            return part[..<equals].allSatisfy { FormSpelling.isAlphanumeric($0) || "_-.[]%+ ".utf8.contains($0) }
        }
        return parts.count > 1 && areItems ? UInt8(ascii: ";") : UInt8(ascii: "&")
    }

    /// Longer text is not a name.
    private static let nameLimit = 1024

    private func meaning(_ name: [UInt8]) -> SecretNames.Meaning? {
        if let kind = self.isForm ? self.rules.kind(form: name) : self.rules.kind(query: name) {
            return SecretNames.Meaning(kind: kind, isRuled: true)
        }
        guard let meaning = SecretNames.meaning(of: Self.last(name)) else { return nil }
        // `key` and similar names depend on the appearance of the value, which the text survey judges.
        return meaning.needsKeyShape ? nil : meaning
    }

    private func keeps(_ name: [UInt8]) -> Bool { self.isForm ? self.rules.keeps(form: name) : self.rules.keeps(query: name) }

    private func company(_ known: inout Bool?, _ text: UnsafeRawBufferPointer) -> Bool {
        let has = known ?? OAuthCompany.names.contains { ByteSearch.contains($0, in: text) }
        known = has
        return has
    }

    /// Returns `password` for `user[password]`, and for `password[]`, `password[0]` and `password[first]`, as forms have for repeated
    /// fields.
    private static func last(_ name: [UInt8]) -> ArraySlice<UInt8> {
        var name = name[...]
        while name.last == UInt8(ascii: "]"), let open = name.lastIndex(of: UInt8(ascii: "[")), open > name.startIndex {
            let key = name[(open + 1)..<(name.endIndex - 1)]
            let isOfSeveral = key.allSatisfy { $0 >= 48 && $0 <= 57 } || key.elementsEqual("first".utf8) || key.elementsEqual("second".utf8)
            guard isOfSeveral else { return key }
            name = name[..<open]
        }
        return name
    }
}

/// Finds in a text the parameters next to which `code` is an authorization code (RFC 6749, 4.1).
///
/// Must be asked for ascending offsets. Examines each byte of the text once, however many offsets there are.
struct OAuthCompany {
    static let names: [StaticString] = ["grant_type=", "state=", "redirect_uri=", "client_id=", "code_verifier=", "session_state="]
    /// The same in JSON.
    static let members: [StaticString] = ["\"grant_type\"", "\"redirect_uri\"", "\"code_verifier\"", "\"client_secret\""]

    /// How many bytes before and after a `code` the other parameters of its request are searched for.
    static let reach = 2048

    private let words: [StaticString]
    /// A byte that occurs once in each word.
    private let mark: UInt8
    /// The first word from the last offset on; nil before the first call.
    private var next: Range<Int>?
    /// How many bytes were examined, for tests of the cost.
    private(set) var looked = 0

    private init(_ words: [StaticString], mark: UInt8) {
        self.words = words
        self.mark = mark
    }

    static var inQueries: OAuthCompany { OAuthCompany(Self.names, mark: UInt8(ascii: "=")) }
    static var inJSON: OAuthCompany { OAuthCompany(Self.members, mark: UInt8(ascii: "_")) }

    /// Whether a text, or a decoded form of it, contains a JSON name whose value is a secret only in company, or a name that is such
    /// company.
    static func concerns(_ text: UnsafeRawBufferPointer, depth: Int = 0) -> Bool {
        if self.members.contains(where: { ByteSearch.contains($0, in: text) }) { return true }
        let survey = SurveyText(bytes: text, hasMore: false, isView: depth > 0)
        var quote = ByteScan.index(of: UInt8(ascii: "\""), in: text, from: 0)
        while quote < text.count {
            if SecretNames.meaning(ofMember: text[survey.startOfName(quote)..<quote])?.needsCompany == true { return true }
            quote = ByteScan.index(of: UInt8(ascii: "\""), in: text, from: quote + 1)
        }
        guard depth < EscapeView.depthLimit, let view = EscapeView(text) else { return false }
        return view.bytes.withUnsafeBytes { self.concerns($0, depth: depth + 1) }
    }

    /// Whether a range of the text contains one of the words. The ranges must begin in ascending order.
    mutating func isIn(_ range: Range<Int>, of text: UnsafeRawBufferPointer) -> Bool {
        if self.next.map({ $0.lowerBound < range.lowerBound }) ?? true { self.next = self.first(in: text, from: range.lowerBound) }
        return self.next.map { $0.upperBound <= range.upperBound && !$0.isEmpty } ?? false
    }

    /// An empty range at the end if there is none.
    private mutating func first(in text: UnsafeRawBufferPointer, from start: Int) -> Range<Int> {
        let none = text.count..<text.count
        guard let base = text.baseAddress else { return none }
        var from = start
        while from < text.count {
            guard let found = memchr(base + from, Int32(self.mark), text.count - from) else {
                self.looked += text.count - from
                return none
            }
            let offset = UnsafeRawPointer(found) - base
            self.looked += offset + 1 - from
            from = offset + 1
            for word in self.words {
                let length = word.utf8CodeUnitCount
                let mark = UnsafeBufferPointer(start: word.utf8Start, count: length).firstIndex(of: self.mark) ?? 0
                let lower = offset - mark
                if lower >= start, text.count - lower >= length, memcmp(base + lower, word.utf8Start, length) == 0 {
                    return lower..<lower + length
                }
            }
        }
        return none
    }
}
