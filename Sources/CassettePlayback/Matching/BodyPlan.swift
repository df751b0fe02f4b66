/// How bodies are compared, made of the rules once.
final class BodyPlan: Sendable {
    /// Nil where bodies are not compared.
    let match: BodyMatch?
    let isGraphQL: Bool
    let ordersParts: Bool
    let pointers: PointerSet
    let ignoredFields: Set<[UInt8]>
    let fieldPatterns: [String: [NumberedPattern]]
    let ignoredParts: Set<[UInt8]>
    let partPatterns: [String: [NumberedPattern]]
    /// Query items of a GraphQL request that are left out.
    let ignoredItems: Set<String>
    /// Whether values are kept whole, so that marks in recorded ones can be compared with them.
    let keepsWholeValues: Bool

    init(
        rules: [MatchRule], ordersParts: Bool, ignored: [MatchPlace], patterns: [PlacePattern], keepsWholeValues: Bool = false
    ) {
        let match = rules.compactMap { if case .body(let match) = $0 { match } else { nil } }.first
        self.isGraphQL = rules.contains(.graphQL)
        self.match = match ?? (self.isGraphQL ? .byKind : nil)
        self.ordersParts = ordersParts
        self.ignoredFields = Set(ignored.compactMap { if case .formField(let name) = $0 { Array(name.utf8) } else { nil } })
        self.ignoredItems = Set(ignored.compactMap { if case .queryItem(let name) = $0 { name } else { nil } })
        self.keepsWholeValues = keepsWholeValues
        self.ignoredParts = Set(ignored.compactMap { if case .part(let name) = $0 { Array(name.utf8) } else { nil } })
        var fieldPatterns: [String: [NumberedPattern]] = [:]
        var partPatterns: [String: [NumberedPattern]] = [:]
        for (number, pattern) in NumberedPattern.all(patterns) {
            switch pattern.place {
            case .formField(let name): fieldPatterns[name, default: []].append(number)
            case .part(let name): partPatterns[name, default: []].append(number)
            case .method, .scheme, .host, .port, .path, .query, .queryItem, .header, .body, .json: continue
            }
        }
        self.fieldPatterns = fieldPatterns
        self.partPatterns = partPatterns
        self.pointers = PointerSet(ignored: ignored, patterns: patterns)
    }

    /// An empty collector that keeps as much as it takes.
    var collector: FacetCollector { FacetCollector(keepsWholeValues: self.keepsWholeValues) }

    /// Octets that are kept of a value.
    var valueLimit: Int { self.keepsWholeValues ? BodyFacets.memoryLimit : BodyFacets.valueLimit }
}
