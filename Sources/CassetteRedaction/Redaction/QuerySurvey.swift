internal import TapeBytes

/// Finds secrets among `name=value` items by their decoded names: those of forms and of URLs' queries.
struct QuerySurvey {
    private let rules: RedactionRules
    private let isForm: Bool

    init(rules: RedactionRules, isForm: Bool) {
        self.rules = rules
        self.isForm = isForm
    }

    /// - Parameter range: of the items in the text.
    /// - Returns: what is found, and the values that a rule keeps.
    func findings(in text: UnsafeRawBufferPointer, range: Range<Int>) -> (findings: [Finding], kept: [Range<Int>]) {
        var findings: [Finding] = []
        var kept: [Range<Int>] = []
        var start = range.lowerBound
        var hasCompany: Bool?
        while start < range.upperBound {
            let slice = UnsafeRawBufferPointer(rebasing: text[..<range.upperBound])
            let end = ByteScan.index(of: UInt8(ascii: "&"), in: slice, from: start)
            let equals = ByteScan.index(of: UInt8(ascii: "="), in: UnsafeRawBufferPointer(rebasing: text[..<end]), from: start)
            let value = min(equals + 1, end)..<end
            let spelling: Finding.Spelling = self.isForm ? .form : .query
            if equals - start <= Self.nameLimit, let name = spelling.decode(UnsafeRawBufferPointer(rebasing: text[start..<equals])) {
                let text = UnsafeRawBufferPointer(rebasing: text[value])
                if self.keeps(name) {
                    kept.append(value)
                } else if !value.isEmpty, value.count <= TextSurvey.valueLimit, !Placeholder.isWhole(text),
                    let secret = spelling.decode(text)
                {
                    if let meaning = self.meaning(name),
                        !meaning.needsCompany || self.company(&hasCompany, UnsafeRawBufferPointer(rebasing: slice[range]))
                    {
                        findings.append(
                            Finding(kind: meaning.kind, range: value, secret: secret, spelling: spelling, isSure: meaning.isSure))
                    }
                }
            }
            start = end + 1
        }
        return (findings, kept)
    }

    /// Names longer than that are no names.
    private static let nameLimit = 1024

    private func meaning(_ name: [UInt8]) -> SecretNames.Meaning? {
        if let kind = self.isForm ? self.rules.kind(form: name) : self.rules.kind(query: name) {
            return SecretNames.Meaning(kind: kind)
        }
        guard let meaning = SecretNames.meaning(of: Self.last(name)) else { return nil }
        // `key` and its like count by the looks of their values, which the survey of the text judges.
        return meaning.needsKeyShape ? nil : meaning
    }

    private func keeps(_ name: [UInt8]) -> Bool { self.isForm ? self.rules.keeps(form: name) : self.rules.keeps(query: name) }

    private func company(_ known: inout Bool?, _ text: UnsafeRawBufferPointer) -> Bool {
        let has = known ?? OAuthCompany.names.contains { ByteSearch.contains($0, in: text) }
        known = has
        return has
    }

    /// `password` of `user[password]`
    private static func last(_ name: [UInt8]) -> ArraySlice<UInt8> {
        guard name.last == UInt8(ascii: "]"), let open = name.lastIndex(of: UInt8(ascii: "[")) else { return name[...] }
        return name[(open + 1)..<(name.count - 1)]
    }
}
