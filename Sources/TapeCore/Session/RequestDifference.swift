/// One thing in which a request differs from a recorded one. Strings are plain text: escaped and short.
public enum RequestDifference: Sendable, Hashable, CustomStringConvertible {
    case method(here: String, recorded: String)
    case scheme(here: String, recorded: String)
    /// Not spelled out: it may hold a password.
    case userInformation
    case host(here: String, recorded: String)
    /// Empty where it is the scheme's default.
    case port(here: String, recorded: String)
    /// `edits` counts the segments to add, remove or change.
    case path(here: String, recorded: String, edits: Int)
    /// The request has a query item that the recorded one has not.
    case queryItemAdded(String)
    /// The recorded request has a query item that this one has not.
    case queryItemRemoved(String)
    case queryItemChanged(here: String, recorded: String)
    /// The same query items in another order.
    case queryOrder
    /// A header field that rules compare; nil where one side has none.
    case header(name: String, here: String?, recorded: String?)
    /// Something behind the octets that are compared.
    case remainder

    public var description: String {
        switch self {
        case .method(let here, let recorded): "method is \"\(here)\", recorded is \"\(recorded)\""
        case .scheme(let here, let recorded): "scheme is \"\(here)\", recorded is \"\(recorded)\""
        case .userInformation: "user information differs"
        case .host(let here, let recorded): "host is \"\(here)\", recorded is \"\(recorded)\""
        case .port(let here, let recorded): "port is \(Self.port(here)), recorded is \(Self.port(recorded))"
        case .path(let here, let recorded, let edits):
            "path is \"\(here)\", recorded is \"\(recorded)\" (\(edits) \(edits == 1 ? "segment differs" : "segments differ"))"
        case .queryItemAdded(let item): "query item \"\(item)\" was not recorded"
        case .queryItemRemoved(let item): "recorded query item \"\(item)\" is missing"
        case .queryItemChanged(let here, let recorded): "query item is \"\(here)\", recorded is \"\(recorded)\""
        case .queryOrder: "query items are in another order"
        case .header(let name, let here?, let recorded?): "header \"\(name)\" is \"\(here)\", recorded is \"\(recorded)\""
        case .header(let name, let here?, nil): "header \"\(name)\" is \"\(here)\", and was not recorded"
        case .header(let name, nil, let recorded): "recorded header \"\(name): \(recorded ?? "")\" is missing"
        case .remainder: "they differ past the first \(RequestParts.byteLimit) octets"
        }
    }

    private static func port(_ port: String) -> String { port.isEmpty ? "the default" : port }
}
