public import TapeBytes

/// A place whose value is compared by a pattern. All values that the pattern matches as a whole are equal.
public struct PlacePattern: Sendable, Hashable {
    public let place: MatchPlace
    public let pattern: Pattern

    /// `PLACE=REGEX`; the first equals sign outside of brackets separates them.
    public init(_ text: String) throws(MatchRuleError) {
        let shown = PlainText.escape(text.utf8, limit: 80)
        guard let equals = MatchPlace.end(inRule: text) else {
            throw MatchRuleError(.badPattern, "\"\(shown)\" has no \"=\"; write PLACE=REGEX, for example \"query:ts=[0-9]+\"")
        }
        let place = try MatchPlace(reaching: String(text[..<equals]))
        if case .within = place, case .header = place.innermost {
            throw MatchRuleError(.badPattern, "\"\(place)\" takes no pattern; ignore it, or write one for a value in the body")
        }
        switch place.innermost {
        case .host, .path, .queryItem, .header, .json, .xml, .grpc, .formField, .part, .partFilename, .within: break
        case .method, .scheme, .port, .query, .body:
            throw MatchRuleError(
                .badPattern,
                "\"\(place)\" takes no pattern; write one for \"path\", \"host\", \"query:NAME\", \"header:NAME\", \"json:/POINTER\", \"xml:/a/b\", \"grpc:/FIELD\", \"form:NAME\", \"part:NAME\" or \"filename:NAME\""
            )
        }
        do {
            self.pattern = try Pattern(String(text[text.utf8.index(after: equals)...]))
        } catch {
            throw MatchRuleError(.badPattern, "\"\(shown)\": \(error.message)", cause: error)
        }
        self.place = place
    }

    init(place: MatchPlace, pattern: Pattern) {
        self.place = place
        self.pattern = pattern
    }
}

/// A pattern with its index among the rules; the index represents all values that match.
struct NumberedPattern: Sendable {
    let number: Int
    let pattern: Pattern

    static func all(_ patterns: [PlacePattern]) -> [(NumberedPattern, PlacePattern)] {
        patterns.enumerated().map { (NumberedPattern(number: $0.offset + 1, pattern: $0.element.pattern), $0.element) }
    }

    /// Replaces a matching value in comparisons. Its spelling differs from placeholders and marks.
    var substitute: [UInt8] { Array("{{=\(self.number)}}".utf8) }

    /// The replacement by the first pattern that matches the whole value; nil if none does.
    static func substitute(for value: UnsafeRawBufferPointer, among patterns: [NumberedPattern]) -> [UInt8]? {
        patterns.first { $0.pattern.matches(value) }?.substitute
    }
}
