/// What stays where the rules would redact it: a place, or all secrets of a kind.
public struct RedactionException: Sendable, Hashable {
    /// Nil for a kind.
    public let place: RedactionPlace?
    public let kind: String?
    /// As it was written.
    public let text: String

    public init(_ text: String) throws(RedactionRuleError) {
        self.text = text
        if text.contains(":") || text == "path" || text == "text" {
            let place = try RedactionPlace(text)
            if place == .path || place == .text {
                throw RedactionRuleError(
                    "\"\(text)\" cannot be kept as a whole: name a kind, as \"jwt\", or a place, as \"header:x-api-key\"")
            }
            self.place = place
            self.kind = nil
        } else {
            guard !text.isEmpty, text.utf8.allSatisfy(Placeholder.mayStandInKind) else {
                throw RedactionRuleError("\"\(text)\" is neither a place nor a kind: write \"header:x-api-key\", or \"jwt\"")
            }
            self.place = nil
            self.kind = text
        }
    }
}
