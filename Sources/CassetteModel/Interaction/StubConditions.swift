public import TapeBytes

/// What an exchange that was made from another tool's stub compares of a request, in addition to its method, scheme, host, port and path.
///
/// Values are those of the recorded request. A place that is not listed may be anything, and a listed one that the recorded request does not
/// have must be absent.
public struct StubConditions: Sendable, Hashable {
    /// As what a body is compared, whatever its type.
    public enum BodyKind: String, Sendable, Hashable, CaseIterable {
        case json, xml
        /// By its characters.
        case text
        case bytes
    }

    /// A part of a request.
    public enum Place: Sendable, Hashable {
        /// The path and the query as they are written, with the order of items and the spelling of escapes.
        case url
        /// The path as it is written.
        case path
        /// All items of the query, by their decoded names and values, in any order.
        case query
        /// The body by its kind.
        case body
        case bodyAs(BodyKind)
        /// The values of the items with a name, which is decoded.
        case queryItem(String)
        /// All values of a field. In lower case.
        case header(String)
        /// The values of the cookies with a name.
        case cookie(String)

        /// Parses `url`, `path`, `query`, `body`, `body:KIND`, `query:NAME`, `header:NAME` or `cookie:NAME`; nil for anything else.
        public init?(_ text: String) {
            switch text {
            case "url": self = .url
            case "path": self = .path
            case "query": self = .query
            case "body": self = .body
            default:
                let kind = text.prefix { $0 != ":" }
                let name = String(text.dropFirst(kind.count + 1))
                guard !name.isEmpty, kind.count < text.count else { return nil }
                switch kind {
                case "body":
                    guard let body = BodyKind(rawValue: name) else { return nil }
                    self = .bodyAs(body)
                case "query": self = .queryItem(name)
                case "header": self = .header(name.lowercased())
                case "cookie": self = .cookie(name)
                default: return nil
                }
            }
        }

        public var text: String {
            switch self {
            case .url: "url"
            case .path: "path"
            case .query: "query"
            case .body: "body"
            case .bodyAs(let kind): "body:\(kind.rawValue)"
            case .queryItem(let name): "query:\(name)"
            case .header(let name): "header:\(name)"
            case .cookie(let name): "cookie:\(name)"
            }
        }

        /// Whether it is an item, a field or a cookie, of which a request may have several.
        public var isNamed: Bool {
            switch self {
            case .queryItem, .header, .cookie: true
            case .url, .path, .query, .body, .bodyAs: false
            }
        }
    }

    /// Places whose values must be those of the recorded request. In the order in which they are written, like the other lists.
    public var exact: [Place]
    /// Named places that must have each value of the recorded request, and may have others.
    public var includes: [Place] = []
    /// Named places whose values, joined by semicolons, must be those of the recorded request. The names of items are compared in any letter
    /// case.
    public var joined: [Place] = []
    /// Named places that may have one value at most, because several would decide between stubs that are not compared completely.
    public var single: [Place] = []
    /// Members that this version does not know.
    public var unknown: [UnknownMember] = []

    public init(exact: [Place]) { self.exact = exact }
}
