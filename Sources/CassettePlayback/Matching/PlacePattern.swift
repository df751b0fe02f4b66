public import TapeBytes

/// A place whose value is compared by a pattern: values that match it as a whole count as equal.
public struct PlacePattern: Sendable, Hashable {
    public let place: MatchPlace
    public let pattern: Pattern

    /// `PLACE=REGEX`; the first equals sign divides them.
    public init(_ text: String) throws(MatchRuleError) {
        let shown = PlainText.escape(text.utf8, limit: 80)
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw MatchRuleError(.badPattern, "\"\(shown)\" has no \"=\"; write PLACE=REGEX, as \"query:ts=[0-9]+\"")
        }
        let place = try MatchPlace(String(text[..<equals]))
        switch place {
        case .host, .path, .queryItem, .header, .json, .formField, .part: break
        case .method, .scheme, .port, .query, .body:
            throw MatchRuleError(
                .badPattern,
                "\"\(place)\" takes no pattern; write one for \"path\", \"host\", \"query:NAME\", \"header:NAME\", \"json:/POINTER\", \"form:NAME\" or \"part:NAME\""
            )
        }
        do {
            self.pattern = try Pattern(String(text[text.utf8.index(after: equals)...]))
        } catch {
            throw MatchRuleError(.badPattern, "\"\(shown)\": \(error.message)")
        }
        self.place = place
    }
}
