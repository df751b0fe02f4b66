internal import CassetteModel
public import TapeBytes

/// Match rules as people write them: in a cassette's head, a configuration file or options.
///
/// Checks only that JSON has the right members; `MatchRules` checks the rest.
public struct MatchRuleTexts: Sendable, Hashable {
    /// Names of rules; nil keeps the previous ones.
    public var match: [String]?
    public var ignore: [String]
    public var patterns: [String]
    /// `PLACE=/REGEX/TEXT/`.
    public var replace: [String]
    /// Places of arrays whose order is not compared.
    public var sort: [String]
    /// Places of values that may be missing.
    public var optional: [String]

    public init(
        match: [String]? = nil, ignore: [String] = [], patterns: [String] = [], replace: [String] = [], sort: [String] = [],
        optional: [String] = []
    ) {
        self.match = match
        self.ignore = ignore
        self.patterns = patterns
        self.replace = replace
        self.sort = sort
        self.optional = optional
    }

    /// How many rules there are.
    public var count: Int { (self.match?.count ?? 0) + self.lists.reduce(0) { $0 + $1.texts.count } }

    /// Whether there are no rules.
    public var isEmpty: Bool { self.match == nil && self.lists.allSatisfy(\.texts.isEmpty) }

    /// The lists that add up, by their names in a head.
    private var lists: [(name: StaticString, texts: [String])] {
        [
            ("ignore", self.ignore), ("patterns", self.patterns), ("replace", self.replace), ("sort", self.sort),
            ("optional", self.optional),
        ]
    }

    /// The names of all lists, in the order of a head.
    public static let names = ["match", "ignore", "patterns", "replace", "sort", "optional"]

    /// These rules combined with others: `match` replaces, the rest adds.
    public func adding(_ other: MatchRuleTexts) -> MatchRuleTexts {
        MatchRuleTexts(
            match: other.match ?? self.match, ignore: self.ignore + other.ignore, patterns: self.patterns + other.patterns,
            replace: self.replace + other.replace, sort: self.sort + other.sort, optional: self.optional + other.optional)
    }

    /// `{ "match": […], "ignore": […], "patterns": […], "replace": […], "sort": […], "optional": […] }` with any of the members.
    public init(_ json: JSONValue) throws(MatchRuleError) {
        self.init()
        let known = "\"match\", \"ignore\", \"patterns\", \"replace\", \"sort\" or \"optional\""
        guard json.kind == .object else { throw Self.error(json, "expected an object with \(known)") }
        var seen: Set<String> = []
        for member in json.members {
            let name = member.name.string ?? ""
            let shown = PlainText.escape(name.utf8, limit: 40)
            guard seen.insert(name).inserted else { throw Self.error(member.name, "\"\(shown)\" appears twice; write it once") }
            switch name {
            case "match": self.match = try Self.strings(member.value, name)
            case "ignore": self.ignore = try Self.strings(member.value, name)
            case "patterns": self.patterns = try Self.strings(member.value, name)
            case "replace": self.replace = try Self.strings(member.value, name)
            case "sort": self.sort = try Self.strings(member.value, name)
            case "optional": self.optional = try Self.strings(member.value, name)
            default: throw Self.error(member.name, "\"\(shown)\" is not known; write \(known)")
            }
        }
    }

    private static func strings(_ value: JSONValue, _ name: String) throws(MatchRuleError) -> [String] {
        guard value.kind == .array else { throw Self.error(value, "\"\(name)\" is not an array; write [\"…\"]") }
        var strings: [String] = []
        for element in value.elements {
            guard let string = element.string else {
                throw Self.error(element, "\"\(name)\" has an element that is not a string; write \"…\"")
            }
            strings.append(string)
        }
        return strings
    }

    private static func error(_ value: JSONValue, _ problem: String) -> MatchRuleError {
        MatchRuleError(.badJSON, "match rules, line \(value.line): \(problem)")
    }

    /// The rules as a member of a cassette's head, each rule once; nil if there are none.
    public var headMember: UnknownMember? {
        guard !self.isEmpty else { return nil }
        var writer = JSONWriter()
        self.once.write(into: &writer)
        return UnknownMember(name: RecordedCassette.matchMember, json: writer.bytes)
    }

    /// Each rule once.
    public var once: MatchRuleTexts {
        MatchRuleTexts(
            match: self.match, ignore: Self.once(self.ignore), patterns: Self.once(self.patterns), replace: Self.once(self.replace),
            sort: Self.once(self.sort), optional: Self.once(self.optional))
    }

    private static func once(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }

    /// The members that are not empty, on one line.
    public func write(into writer: inout JSONWriter) {
        writer.beginObject(.inline)
        for (name, strings) in [("match", self.match ?? [])] + self.lists {
            guard !strings.isEmpty else { continue }
            writer.member(name)
            writer.beginArray(.inline)
            for string in strings {
                writer.element()
                writer.string(string)
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
