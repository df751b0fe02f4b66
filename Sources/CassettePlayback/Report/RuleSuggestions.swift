internal import CassetteModel
internal import TapeBytes

/// Suggests rules from two recordings of the same run: for each place that differs, the narrowest rule under which the two are equal.
///
/// Changes nothing. A place that differs in a way that no narrow rule covers is left to people.
package struct RuleSuggestions {
    /// From narrow to wide.
    package enum Kind: String, Sendable { case pattern, replace, sort, optional, ignore }

    package struct Suggestion: Sendable {
        package var kind: Kind
        /// In the grammar of the option of the same name.
        package var text: String
        package var evidence: [Evidence]
        /// The recorded requests that differ now and would be equal, in lists of indexes: the rule may be too wide.
        package var merged: [[Int]] = []

        package var texts: MatchRuleTexts {
            switch self.kind {
            case .pattern: MatchRuleTexts(patterns: [self.text])
            case .replace: MatchRuleTexts(replace: [self.text])
            case .sort: MatchRuleTexts(sort: [self.text])
            case .optional: MatchRuleTexts(optional: [self.text])
            case .ignore: MatchRuleTexts(ignore: [self.text])
            }
        }
    }

    /// What differs in one pair of exchanges, in order of request start from 0.
    package struct Evidence: Sendable {
        package var old: Int
        package var new: Int
        /// As it is shown in a miss; `new` is the request that was not recorded.
        package var text: String
    }

    /// A value of at most this many bytes may be ignored as a whole. A longer one is a prompt or a document.
    private static let ignoredSize = 256
    /// Of one value, at most this many words are replaced.
    private static let wordLimit = 4

    package private(set) var suggestions: [Suggestion] = []
    /// Differences without a rule.
    package private(set) var unexplained: [Evidence] = []
    /// How many pairs are equal without and with the suggestions.
    package private(set) var equal = (before: 0, after: 0)

    private let old: RecordedCassette
    private let new: RecordedCassette
    private var rules: MatchRules

    /// - Parameter pairs: the exchanges of both that belong together.
    package init(old: RecordedCassette, new: RecordedCassette, pairs: [(old: Int, new: Int)]) throws {
        self.old = old
        self.new = new
        self.rules = try old.matchRules().keepingWholeValues()
        let own = self.rules
        try self.sort(pairs)
        try self.sortPermuted(pairs)
        var found: [String: [Difference]] = [:]
        var order: [String] = []
        for pair in pairs {
            let differences = try self.differences(pair)
            for difference in differences {
                let general = difference.place.flatMap { IgnorablePlace.ofAnyElement([$0]).first } ?? ""
                guard !general.isEmpty || difference.isPath else {
                    self.unexplained.append(difference.evidence)
                    continue
                }
                if found[general] == nil { order.append(general) }
                found[general, default: []].append(difference)
            }
        }
        for general in order { self.suggest(found[general] ?? [], general) }
        self.rules = own
        self.equal.before = try pairs.count { try self.differences($0).isEmpty }
        try self.findMerged()
        let all = self.suggestions.reduce(MatchRuleTexts()) { $0.adding($1.texts) }
        let with = RuleSuggestions(old, new, try self.rules.adding(all).keepingWholeValues())
        self.equal.after = try pairs.count { try with.differences($0).isEmpty }
    }

    /// How often arrays that differ only in their order are looked for: sorting inner ones may show that outer ones do.
    private static let roundLimit = 4

    /// Sorts arrays first, so that their elements are not compared by position.
    private mutating func sort(_ pairs: [(old: Int, new: Int)]) throws {
        for _ in 0..<Self.roundLimit {
            var found: [String: [Evidence]] = [:]
            for pair in pairs {
                for difference in try self.differences(pair) where Self.isOrder(difference.shown) {
                    guard let place = difference.place, let general = IgnorablePlace.ofAnyElement([place]).first else { continue }
                    found[general, default: []].append(difference.evidence)
                }
            }
            guard !found.isEmpty else { return }
            let places = found.keys.sorted()
            self.suggestions += places.map { Suggestion(kind: .sort, text: $0, evidence: found[$0] ?? []) }
            self.rules = try self.rules.adding(MatchRuleTexts(sort: places)).keepingWholeValues()
        }
    }

    /// Sorts arrays whose elements come in another order and differ elsewhere, too, as by new ids: some members have the same values on both
    /// sides, but in other elements. The values that are new get patterns at the same time, so that the elements are found.
    private mutating func sortPermuted(_ pairs: [(old: Int, new: Int)]) throws {
        for _ in 0..<Self.roundLimit {
            var arrays: [String: [Evidence]] = [:]
            var others: [String: (values: [[UInt8]], evidence: [Evidence])] = [:]
            var count = 0
            for pair in pairs {
                let differences = try self.differences(pair)
                count += differences.count
                let permuted = Permutation.all(
                    in: differences.map { Permutation.Value(place: $0.place, new: $0.values.new, old: $0.values.old) })
                for difference in differences {
                    guard let place = difference.place, let array = permuted.first(where: { $0.contains(place) }) else { continue }
                    if array.isPermuted(place) {
                        arrays[IgnorablePlace.ofAnyElement([array.place]).first ?? array.place, default: []].append(difference.evidence)
                    } else if let new = difference.values.new, let old = difference.values.old,
                        let general = IgnorablePlace.ofAnyElement([place]).first
                    {
                        others[general, default: ([], [])].values += [new, old]
                        others[general]?.evidence.append(difference.evidence)
                    }
                }
            }
            guard !arrays.isEmpty else { return }
            var found = arrays.keys.sorted().map { Suggestion(kind: .sort, text: $0, evidence: arrays[$0] ?? []) }
            for (place, other) in others.sorted(by: { $0.key < $1.key }) where !place.contains("=") {
                guard let form = PatternSuggestion.form(of: other.values, mayHaveAffixes: true) else { continue }
                found.append(Suggestion(kind: .pattern, text: "\(place)=\(form)", evidence: other.evidence))
            }
            let texts = found.reduce(MatchRuleTexts()) { $0.adding($1.texts) }
            let with = RuleSuggestions(self.old, self.new, try self.rules.adding(texts).keepingWholeValues())
            let rest = try pairs.reduce(0) { try $0 + with.differences($1).count }
            guard rest < count else { return }
            self.suggestions += found
            self.rules = with.rules
        }
    }

    private init(_ old: RecordedCassette, _ new: RecordedCassette, _ rules: MatchRules) {
        (self.old, self.new, self.rules) = (old, new, rules)
    }

    // MARK: Differences

    private struct Difference {
        var shown: RequestDifference
        /// In the grammar of `--ignore`; nil if no rule can name it.
        var place: String?
        /// The whole values; nil on the side that has none, and if the value is not a scalar.
        var values: (new: [UInt8]?, old: [UInt8]?)
        var evidence: Evidence

        var isPath: Bool { if case .path = self.shown { true } else { false } }
    }

    private func differences(_ pair: (old: Int, new: Int)) throws -> [Difference] {
        func request(_ cassette: RecordedCassette, _ index: Int) throws -> ComparedRequest {
            try cassette.comparedRequest(at: index, rules: self.rules, detail: .contents, redaction: nil) { PortableSHA256() }
        }
        let (recorded, live) = (try request(self.old, pair.old), try request(self.new, pair.new))
        func head(_ request: ComparedRequest) -> [UInt8] {
            self.rules.withHeadKey(
                method: request.method, url: request.url, headers: self.rules.looksAtHeaders ? request.headers : nil
            ) { Array($0) }
        }
        let (here, there) = (head(live), head(recorded))
        var all: [RequestDifference] = []
        if here != there {
            all = RequestComparison(here.withUnsafeBytes { RequestParts($0) }, there.withUnsafeBytes { RequestParts($0) }).differences
        }
        if !recorded.facets.fits(live: live.facets) { all += live.facets.differences(fromRecorded: recorded.facets) }
        return all.map { difference in
            let shown = ShownSecrets.hidden(in: difference)
            return Difference(
                shown: difference, place: difference.ignorablePlace,
                values: Self.values(difference, live.facets, recorded.facets),
                evidence: Evidence(old: pair.old, new: pair.new, text: shown.description))
        }
    }

    /// The values at the place of a difference, whole if they were kept.
    private static func values(
        _ difference: RequestDifference, _ live: BodyFacets, _ recorded: BodyFacets, within: String = ""
    ) -> (new: [UInt8]?, old: [UInt8]?) {
        func value(_ facets: BodyFacets, _ place: BodyFacet.Place, _ name: String) -> [UInt8]? {
            let label = within.isEmpty ? "" : within + "|"
            let found = facets.facets.filter {
                $0.place == place && $0.name.elementsEqual(name.utf8) && $0.within.elementsEqual(label.utf8)
            }
            // Of several with one name, it is not known which one differs.
            guard let facet = found.first, found.count == 1 else { return nil }
            return facet.size == facet.value.count && !facet.isContainer ? facet.value : nil
        }
        /// The values as shown, if nothing of them was escaped or left out.
        func shown(_ here: String?, _ there: String?) -> (new: [UInt8]?, old: [UInt8]?) {
            func whole(_ text: String?) -> [UInt8]? {
                text.flatMap { $0.contains("…") || $0.contains("\\") ? nil : Array(PatternSuggestion.unquoted($0).utf8) }
            }
            return (whole(here), whole(there))
        }
        switch difference {
        case .parted(_, let inner): return self.values(inner, live, recorded, within: within)
        case .within(let container, let inner): return self.values(inner, live, recorded, within: container)
        case .json(let pointer, let here, let there):
            // In a sorted array, which element belongs to which is not known.
            guard !pointer.contains("/*") else { return (nil, nil) }
            return (here.flatMap { _ in value(live, .json, pointer) }, there.flatMap { _ in value(recorded, .json, pointer) })
        case .formField(let name, let here, let there):
            return (here.flatMap { _ in value(live, .formField, name) }, there.flatMap { _ in value(recorded, .formField, name) })
        case .queryItemChanged(let here, let there):
            func decoded(_ item: String) -> [UInt8] {
                let bytes = Array(item.utf8)
                return FormFacets.decoded(bytes.firstIndex(of: UInt8(ascii: "=")).map { Array(bytes[($0 + 1)...]) } ?? bytes)
            }
            return (decoded(here), decoded(there))
        case .xml(let path, .some(let here), .some(let there)):
            guard let new = value(live, .xml, path), let old = value(recorded, .xml, path) else { return shown(here, there) }
            return (new, old)
        case .grpc(_, _, .some(let here), .some(let there)):
            // Other kinds of fields are shown in words of their own.
            func isValue(_ text: String) -> Bool { text.hasPrefix("\"") || Int(text) != nil }
            guard isValue(here), isValue(there) else { return (nil, nil) }
            return shown(here, there)
        // Their values are shown without quotation marks, so any that are there belong to them.
        case .header(_, .some(let here), .some(let there)), .part(_, .filename(.some(let here), .some(let there))),
            .part(_, .text(let here, let there)):
            guard !here.hasPrefix("\""), !there.hasPrefix("\"") else { return (nil, nil) }
            return shown(here, there)
        default: return (nil, nil)
        }
    }

    // MARK: Rules

    private mutating func suggest(_ differences: [Difference], _ general: String) {
        let evidence = differences.map(\.evidence)
        func suggest(_ kind: Kind, _ text: String) {
            guard !self.suggestions.contains(where: { $0.kind == kind && $0.text == text }) else { return }
            self.suggestions.append(Suggestion(kind: kind, text: text, evidence: evidence))
        }
        guard let first = differences.first else { return }
        if first.isPath {
            let patterns = differences.map { difference -> String? in
                if case .path(let here, let recorded, _) = difference.shown { PatternSuggestion.randomPath(here, recorded) } else { nil }
            }
            for (pattern, difference) in zip(patterns, differences) {
                guard let pattern else {
                    self.unexplained.append(difference.evidence)
                    continue
                }
                suggest(.pattern, pattern)
            }
            return
        }
        let places = Set(differences.compactMap(\.place))
        let place = places.count > 1 ? general : first.place ?? general
        if differences.allSatisfy({ Self.isOrder($0.shown) }) { return suggest(.sort, place) }
        if differences.allSatisfy({ Self.isOneSided($0.shown) }), (try? MatchRules.optional(place)) != nil {
            return suggest(.optional, place)
        }
        let values = differences.compactMap { difference in
            difference.values.new.flatMap { new in difference.values.old.map { (new: new, old: $0) } }
        }
        guard values.count == differences.count else {
            let isElement = differences.contains { if case .element = $0.shown { true } else { false } }
            guard !isElement, !differences.contains(where: { Self.isOneSided($0.shown) }), place != IgnorablePlace.body else {
                self.unexplained += evidence
                return
            }
            return suggest(.ignore, place)
        }
        if !place.contains("="), let form = PatternSuggestion.form(of: values.flatMap { [$0.new, $0.old] }, mayHaveAffixes: true) {
            return suggest(.pattern, "\(place)=\(form)")
        }
        if let inner = NestedValues.patterns(for: values, at: place) {
            for text in inner { suggest(.pattern, text) }
            return
        }
        if let words = WordReplacement.rules(for: values, at: place, limit: Self.wordLimit) {
            for text in words { suggest(.replace, text) }
            return
        }
        guard values.allSatisfy({ max($0.new.count, $0.old.count) <= Self.ignoredSize && !Self.isText($0.new) && !Self.isText($0.old) })
        else {
            self.unexplained += evidence
            return
        }
        suggest(.ignore, place)
    }

    /// Whether a value is of several words: a prompt, a query, a sentence. Another text is another request.
    private static func isText(_ value: [UInt8]) -> Bool {
        value.split { $0 == 32 || $0 == 9 || $0 == 10 }.count { $0.contains { (97...122).contains($0 | 0x20) || $0 >= 128 } } > 1
    }

    private static func isOrder(_ difference: RequestDifference) -> Bool {
        switch difference {
        case .order: true
        case .within(_, let inner): self.isOrder(inner)
        default: false
        }
    }

    private static func isOneSided(_ difference: RequestDifference) -> Bool {
        switch difference {
        case .json(_, nil, .some), .json(_, .some, nil), .formField(_, nil, .some), .formField(_, .some, nil): true
        case .within(_, let inner): self.isOneSided(inner)
        default: false
        }
    }

    private mutating func findMerged() throws {
        for index in self.suggestions.indices {
            let with = try self.rules.adding(self.suggestions[index].texts)
            self.suggestions[index].merged = RuleTrial.merged(in: self.old, from: self.rules, to: with)
        }
    }
}

/// Suggests patterns for values in strings that contain JSON, such as the arguments of a tool call.
enum NestedValues {
    /// `PLACE|json:/POINTER=REGEX` for each value that differs; nil if the strings are not JSON objects with the same members, or a value that
    /// differs has no form of its own.
    static func patterns(for values: [(new: [UInt8], old: [UInt8])], at place: String) -> [String]? {
        guard !place.contains("="), place.hasPrefix("json:") else { return nil }
        var found: [String: [[UInt8]]] = [:]
        for pair in values {
            guard let (new, old) = self.scalars(pair.new).flatMap({ new in self.scalars(pair.old).map { (new, $0) } }),
                Set(new.keys) == Set(old.keys)
            else { return nil }
            for (pointer, value) in new where value != old[pointer] {
                found[pointer, default: []] += [value, old[pointer] ?? []]
            }
        }
        let rules = found.keys.sorted().map { pointer -> String? in
            guard !pointer.contains("="), let form = PatternSuggestion.form(of: found[pointer] ?? [], mayHaveAffixes: true) else {
                return nil
            }
            return "\(place)|json:\(pointer)=\(form)"
        }
        return rules.isEmpty || rules.contains(nil) ? nil : rules.compactMap { $0 }
    }

    /// The strings and numbers of an object in a text, by their pointers. Nil if there is none, or it contains arrays, whose elements a pointer
    /// finds by their position only.
    private static func scalars(_ text: [UInt8]) -> [String: [UInt8]]? {
        guard text.first == UInt8(ascii: "{"), let document = try? JSONDocument(text) else { return nil }
        var found: [String: [UInt8]] = [:]
        func collect(_ value: JSONValue, _ pointer: String) -> Bool {
            switch value.kind {
            case .object:
                return value.members.allSatisfy { member in
                    // Names that a place would read in another way.
                    guard let name = member.name.string, name.utf8.allSatisfy({ $0 > 0x20 && !"~*[|".utf8.contains($0) }) else {
                        return false
                    }
                    return collect(member.value, "\(pointer)/\(name.replacing("/", with: "~1"))")
                }
            case .array: return false
            default:
                found[pointer] = value.utf8 ?? Array(value.raw)
                return true
            }
        }
        return collect(document.root, "") ? found : nil
    }
}

/// Suggests replacements for the words of texts that differ, if these have a form of their own: dates, times, numbers and identifiers.
enum WordReplacement {
    /// How much of the text before a word makes the expression specific, in bytes.
    private static let contextSize = 16

    /// `PLACE=/REGEX/TEXT/` for each word; nil if the texts differ in anything else, or in too many words.
    static func rules(for values: [(new: [UInt8], old: [UInt8])], at place: String, limit: Int) -> [String]? {
        guard !place.contains("=") else { return nil }
        var values = values
        var rules: [String] = []
        while let pair = values.first(where: { $0.new != $0.old }) {
            guard rules.count < limit, let text = self.rule(for: pair, at: place), !rules.contains(text),
                let replacement = try? PlaceReplacement(text)
            else { return nil }
            rules.append(text)
            func rewritten(_ value: [UInt8]) -> [UInt8] { value.withUnsafeBytes { replacement.applied(to: $0) } ?? value }
            let next = (new: rewritten(pair.new), old: rewritten(pair.old))
            guard next != pair else { return nil }
            values = values.map { (rewritten($0.new), rewritten($0.old)) }
        }
        return rules.isEmpty ? nil : rules
    }

    private static func rule(for pair: (new: [UInt8], old: [UInt8]), at place: String) -> String? {
        let same = zip(pair.new, pair.old).prefix { $0 == $1 }.count
        var start = same
        while start > 0, self.isOfWord(pair.new[start - 1]) { start -= 1 }
        func word(_ text: [UInt8]) -> [UInt8] { self.trimmed(Array(text[min(start, text.count)...].prefix(while: self.isOfWord))) }
        let (new, old) = (word(pair.new), word(pair.old))
        guard let form = PatternSuggestion.form(of: [new, old]) else { return nil }
        let before = pair.new[..<start].suffix(self.contextSize).reversed().prefix { $0 >= 32 && $0 < 127 }.reversed()
        let context = before.flatMap { byte -> [UInt8] in
            FormSpellingByte.isAlphanumeric(byte) || byte == 32 ? [byte] : [UInt8(ascii: "\\"), byte]
        }
        let isSpecific = before.contains(where: FormSpellingByte.isAlphanumeric)
        // A number alone would match every number of the text.
        guard isSpecific || form.count > "[0-9]+".utf8.count else { return nil }
        let text = String(decoding: context, as: UTF8.self)
        let delimited = "\(isSpecific ? "(\(text))" : "")(?:\(form))"
        guard !delimited.contains("#") else { return nil }
        return "\(place)=#\(delimited)#\(isSpecific ? "$1" : "")…#"
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        FormSpellingByte.isAlphanumeric(byte) || "_-:.+".utf8.contains(byte)
    }

    /// Without the punctuation that ends a sentence.
    private static func trimmed(_ word: [UInt8]) -> [UInt8] {
        var word = word
        while let last = word.last, ".:-+".utf8.contains(last) { word.removeLast() }
        return word
    }
}

/// ASCII letters and digits.
private enum FormSpellingByte {
    static func isAlphanumeric(_ byte: UInt8) -> Bool { (48...57).contains(byte) || (97...122).contains(byte | 0x20) }
}
