/// What of a request's head goes into its key, made of the rules once.
final class HeadPlan: Sendable {
    enum Query: Sendable { case none, unordered, ordered }

    let method: Bool
    let scheme: Bool
    let host: Bool
    let port: Bool
    let path: Bool
    let query: Query
    /// Names of query items that are left out, decoded.
    let ignoredItems: Set<[UInt8]>
    let itemPatterns: [String: [NumberedPattern]]
    let hostPatterns: [NumberedPattern]
    let pathPatterns: [NumberedPattern]
    /// Names in order, in lower case.
    let headers: [String]
    let headerPatterns: [String: [NumberedPattern]]

    /// Query items that a GraphQL request has in place of a body (GraphQL over HTTP, "GET").
    static let graphQLItems = ["query", "variables", "operationName", "extensions"]

    init(rules: [MatchRule], ignored: [MatchPlace], patterns: [PlacePattern]) {
        self.method = rules.contains(.method)
        self.scheme = rules.contains(.scheme)
        self.host = rules.contains(.host)
        self.port = rules.contains(.port)
        self.path = rules.contains(.path)
        self.query = rules.contains(.query(ordered: true)) ? .ordered : rules.contains(.query(ordered: false)) ? .unordered : .none
        self.headers = rules.compactMap { if case .header(let name) = $0 { name } else { nil } }.sorted()
        var items = Set(ignored.compactMap { if case .queryItem(let name) = $0 { Array(name.utf8) } else { nil } })
        if rules.contains(.graphQL) { items.formUnion(Self.graphQLItems.map { Array($0.utf8) }) }
        self.ignoredItems = items
        var itemPatterns: [String: [NumberedPattern]] = [:]
        var headerPatterns: [String: [NumberedPattern]] = [:]
        var hostPatterns: [NumberedPattern] = []
        var pathPatterns: [NumberedPattern] = []
        for (number, pattern) in NumberedPattern.all(patterns) {
            switch pattern.place {
            case .queryItem(let name): itemPatterns[name, default: []].append(number)
            case .header(let name): headerPatterns[name, default: []].append(number)
            case .host: hostPatterns.append(number)
            case .path: pathPatterns.append(number)
            case .method, .scheme, .port, .query, .body, .json, .formField, .part: continue
            }
        }
        self.itemPatterns = itemPatterns
        self.headerPatterns = headerPatterns
        self.hostPatterns = hostPatterns
        self.pathPatterns = pathPatterns
    }

    /// Whether the key is the method and the normalised URL with its query sorted, and nothing else.
    var isStandard: Bool {
        guard self.method, self.scheme, self.host, self.port, self.path, case .unordered = self.query else { return false }
        return self.ignoredItems.isEmpty && self.itemPatterns.isEmpty && self.hostPatterns.isEmpty && self.pathPatterns.isEmpty
            && self.headers.isEmpty
    }
}
