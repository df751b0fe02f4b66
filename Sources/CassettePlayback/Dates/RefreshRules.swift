internal import TapeBytes

/// Which dates of a recorded answer are moved to the day of its replay.
///
/// Those of header fields always are; in a JSON body those that a pointer names.
public struct RefreshRules: Sendable, Hashable {
    /// As many as a rule of matching has, by far more than an API has dates.
    static let limit = 64

    public let pointers: [PlacePointer]

    /// Header fields alone.
    public static let standard = RefreshRules(pointers: [])

    private init(pointers: [PlacePointer]) { self.pointers = pointers }

    /// Takes `json:/created_at`, `json:/items/*/expires`.
    public init(_ rules: [String]) throws(MatchRuleError) {
        guard rules.count <= Self.limit else {
            throw MatchRuleError(
                .unknownPlace, "\(rules.count) dates to refresh are named, of at most \(Self.limit); use \"*\" in pointers")
        }
        var pointers: [PlacePointer] = []
        for rule in rules {
            guard case .json(let pointer)? = try? MatchPlace(rule) else {
                throw MatchRuleError(
                    .unknownPlace,
                    "\"\(PlainText.escape(rule.utf8, limit: 80))\" names no date of an answer; write \"json:/POINTER\", as header fields are refreshed anyway"
                )
            }
            pointers.append(pointer)
        }
        self.pointers = pointers
    }
}
