public import TapeBytes

/// What an exchange that was made from another tool's stub compares of a request, in addition to its method, scheme, host, port and path.
///
/// Values are those of the recorded request. A place that is not listed may be anything, and a listed one that the recorded request does not
/// have must be absent.
public struct StubConditions: Sendable, Hashable {
    /// A part of a request.
    public enum Place: Sendable, Hashable {
        /// All items of the query, by their decoded names and values, in any order.
        case query
        /// The body by its kind.
        case body
        /// The values of the items with a name, which is decoded.
        case queryItem(String)
        /// All values of a field. In lower case.
        case header(String)
        /// The values of the cookies with a name.
        case cookie(String)

        /// Parses `query`, `body`, `query:NAME`, `header:NAME` or `cookie:NAME`; nil for anything else.
        public init?(_ text: String) {
            switch text {
            case "query": self = .query
            case "body": self = .body
            default:
                let kind = text.prefix { $0 != ":" }
                let name = String(text.dropFirst(kind.count + 1))
                guard !name.isEmpty, kind.count < text.count else { return nil }
                switch kind {
                case "query": self = .queryItem(name)
                case "header": self = .header(name.lowercased())
                case "cookie": self = .cookie(name)
                default: return nil
                }
            }
        }

        public var text: String {
            switch self {
            case .query: "query"
            case .body: "body"
            case .queryItem(let name): "query:\(name)"
            case .header(let name): "header:\(name)"
            case .cookie(let name): "cookie:\(name)"
            }
        }
    }

    /// In the order in which they are written.
    public var exact: [Place]
    /// Members that this version does not know.
    public var unknown: [UnknownMember] = []

    public init(exact: [Place]) { self.exact = exact }
}
