internal import TapeBytes

/// A place in a request that a rule speaks of.
public enum MatchPlace: Sendable, Hashable, CustomStringConvertible {
    case method
    case scheme
    case host
    case port
    case path
    /// The whole query.
    case query
    /// All query items of a name, decoded.
    case queryItem(String)
    /// By its name in lower case.
    case header(String)
    case body
    case json(PlacePointer)
    /// All fields of a form with a name.
    case formField(String)
    /// All parts of a multipart body with a name.
    case part(String)

    static let grammar =
        "\"header:NAME\", \"query:NAME\", \"json:/POINTER\", \"form:NAME\", \"part:NAME\", \"method\", \"scheme\", \"host\", \"port\", \"path\", \"query\" or \"body\""

    /// `query:ts`, `json:/items/*/id`, `path` and so on.
    public init(_ text: String) throws(MatchRuleError) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            guard let place = Self.plain[text] else { throw Self.unknown(text) }
            self = place
            return
        }
        let argument = String(text[text.utf8.index(after: colon)...])
        let kind = String(text[..<colon])
        if kind == "json" {
            self = .json(try PlacePointer(argument))
            return
        }
        guard ["header", "query", "form", "part"].contains(kind) else { throw Self.unknown(text) }
        guard !argument.isEmpty else {
            throw MatchRuleError(.unknownPlace, "\"\(kind):\" lacks a name; write \"\(kind):NAME\"")
        }
        switch kind {
        case "header": self = .header(try Self.fieldName(argument))
        case "query": self = .queryItem(argument)
        case "form": self = .formField(argument)
        default: self = .part(argument)
        }
    }

    private static let plain: [String: MatchPlace] = [
        "method": .method, "scheme": .scheme, "host": .host, "port": .port, "path": .path, "query": .query, "body": .body,
    ]

    private static func unknown(_ text: String) -> MatchRuleError {
        MatchRuleError(.unknownPlace, "\"\(PlainText.escape(text.utf8, limit: 80))\" is no place in a request; write \(Self.grammar)")
    }

    /// A field's name in lower case (RFC 9110, 5.6.2: visible ASCII without delimiters).
    static func fieldName(_ text: String) throws(MatchRuleError) -> String {
        let isToken = text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
        guard isToken, !text.isEmpty else {
            throw MatchRuleError(
                .unknownPlace,
                "\"\(PlainText.escape(text.utf8, limit: 80))\" cannot be the name of a header field; write it without colon and spaces")
        }
        return text.lowercased()
    }

    public var description: String {
        switch self {
        case .method: "method"
        case .scheme: "scheme"
        case .host: "host"
        case .port: "port"
        case .path: "path"
        case .query: "query"
        case .body: "body"
        case .queryItem(let name): "query:\(name)"
        case .header(let name): "header:\(name)"
        case .json(let pointer): "json:\(pointer)"
        case .formField(let name): "form:\(name)"
        case .part(let name): "part:\(name)"
        }
    }
}
