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
    /// How the bodies were understood (`BodyFacets.Kind`).
    case bodyKind(here: String, recorded: String)
    /// A JSON value at a pointer, as JSON; nil where there is none.
    case json(pointer: String, here: String?, recorded: String?)
    /// A field of a form; nil where it is not there.
    case formField(name: String, here: String?, recorded: String?)
    /// A part of a multipart body.
    case part(name: String, PartDifference)
    /// One of the bodies lacks its closing delimiter.
    case closingDelimiter(isHere: Bool)
    /// Text, by the first line that differs, from 1.
    case text(line: Int, here: String, recorded: String)
    /// Octets.
    case octets(OctetDifference)
    /// A query item of a GraphQL request.
    case graphQLItem(name: String, here: String?, recorded: String?)
    /// The bodies differ in more than was kept of them.
    case bodyRemainder
    /// What a rule of the program says.
    case custom(name: String, reason: String)
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
        case .bodyKind(let here, let recorded): "body is \(Self.kind(here)), recorded is \(Self.kind(recorded))"
        case .json(let pointer, let here, let recorded):
            Self.pair(pointer.isEmpty ? "JSON" : "JSON \"\(pointer)\"", here, recorded, isQuoted: false)
        case .formField(let name, let here, let recorded): Self.pair("form field \"\(name)\"", here, recorded)
        case .part(let name, let difference): "part \"\(name)\" \(difference)"
        case .closingDelimiter(let isHere): isHere ? "the recorded body has no closing delimiter" : "body has no closing delimiter"
        case .text(let line, let here, let recorded): "text line \(line) is \"\(here)\", recorded is \"\(recorded)\""
        case .octets(let difference): "body \(difference)"
        case .graphQLItem(let name, let here, let recorded): Self.pair("query item \"\(name)\"", here, recorded)
        case .bodyRemainder: "bodies differ behind what is kept of them"
        case .custom(let name, let reason): "rule \"\(name)\": \(reason)"
        case .remainder: "they differ past the first \(RequestParts.byteLimit) octets"
        }
    }

    private static func pair(_ thing: String, _ here: String?, _ recorded: String?, isQuoted: Bool = true) -> String {
        func quoted(_ value: String) -> String { isQuoted ? "\"\(value)\"" : value }
        switch (here, recorded) {
        case (let here?, let recorded?): return "\(thing) is \(quoted(here)), recorded is \(quoted(recorded))"
        case (let here?, nil): return "\(thing), which is \(quoted(here)), was not recorded"
        case (nil, let recorded?): return "\(thing), recorded as \(quoted(recorded)), is missing"
        case (nil, nil): return "\(thing) differs"
        }
    }

    private static func kind(_ kind: String) -> String { kind == "none" ? "empty" : kind }

    private static func port(_ port: String) -> String { port.isEmpty ? "the default" : port }
}
