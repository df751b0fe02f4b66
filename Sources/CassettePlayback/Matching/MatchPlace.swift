public import TapeBytes

/// A place in a request that a rule refers to.
public indirect enum MatchPlace: Sendable, Hashable, CustomStringConvertible {
    case method
    case scheme
    case host
    case port
    case path
    /// The whole query.
    case query
    /// All query items with a decoded name. The empty name also covers items without `=`, as in `?1732720000000`.
    case queryItem(String)
    /// The name is in lower case.
    case header(String)
    case body
    case json(PlacePointer)
    /// XML elements by their local names, whatever their namespaces. The last segment may be an attribute as `@name`, or `text()`.
    case xml(PlacePointer)
    /// A field of gRPC messages, by the numbers or names of the fields on the path to it.
    case grpc(PlacePointer)
    /// All fields of a form with a decoded name. The empty name also covers fields without `=`.
    case formField(String)
    /// All parts of a multipart body with a name.
    case part(String)
    /// A place in the content of a part or form field: `part:meta|json:/id`.
    case within(MatchPlace, MatchPlace)
    /// The filename of all parts of a multipart body with a name (RFC 7578, 4.2). It may change with each request.
    case partFilename(String)

    static let grammar =
        "\"header:NAME\", \"query:NAME\", \"json:/POINTER\", \"xml:/a/b\", \"xml:/a/@c\", \"grpc:/FIELD/FIELD\", \"form:NAME\", \"part:NAME\", \"part:NAME|json:/POINTER\", \"filename:NAME\", \"method\", \"scheme\", \"host\", \"port\", \"path\", \"query\" or \"body\""

    /// `query:ts`, `json:/items/*/id`, `path` and so on: a place that has one value, or one for each element or member.
    ///
    /// Refuses fields without a name and paths that reach further, which only rules of comparison take (`init(reaching:)`).
    public init(_ text: String) throws(MatchRuleError) {
        let place = try MatchPlace(reaching: text)
        guard place != .formField("") else { throw Self.nameless("form") }
        guard place.isPlain else {
            throw MatchRuleError(
                .unknownPlace,
                "\"\(PlainText.escape(text.utf8, limit: 80))\" reaches any number of values; here, write a place without \"**\", conditions, names by expression and strings"
            )
        }
        self = place
    }

    /// Also `json:/**/id`, `json:/tools[name=search]/x`, `json:/**/~^x-`, `json:/call/arguments|json:/query`, `form:user[*]`.
    public init(reaching text: String) throws(MatchRuleError) {
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
        if kind == "xml" {
            self = .xml(try PlacePointer(elements: argument))
            return
        }
        if kind == "grpc" {
            self = .grpc(try PlacePointer(fields: argument))
            return
        }
        if kind == "form" || kind == "part", let bar = Self.bar(in: argument) {
            let rest = String(argument[argument.index(after: bar)...])
            let name = String(argument[..<bar])
            let isDecoded = rest.hasPrefix("base64") || rest.hasPrefix("jwt:")
            guard !isDecoded || kind == "form" else {
                throw MatchRuleError(
                    .unknownPlace,
                    "\"\(PlainText.escape(text.utf8, limit: 80))\" decodes a part, but only strings of JSON and form fields are decoded; name the part alone"
                )
            }
            let inner = isDecoded ? MatchPlace.json(try PlacePointer("|" + rest)) : try MatchPlace(reaching: rest)
            self = .within(kind == "form" ? .formField(name) : .part(name), inner)
            return
        }
        guard ["header", "query", "form", "part", "filename"].contains(kind) else { throw Self.unknown(text) }
        guard !argument.isEmpty || kind == "query" || kind == "form" else {
            throw Self.nameless(kind)
        }
        switch kind {
        case "header": self = .header(try Self.fieldName(argument))
        case "query": self = .queryItem(argument)
        case "form": self = .formField(argument)
        case "part": self = .part(argument)
        default: self = .partFilename(argument)
        }
    }

    /// Whether its path is a pointer in which a segment may be `*`.
    var isPlain: Bool {
        switch self {
        case .json(let pointer), .xml(let pointer), .grpc(let pointer): pointer.path.isPlain
        case .within(let container, let inner): container.isPlain && inner.isPlain
        case .method, .scheme, .host, .port, .path, .query, .queryItem, .header, .body, .formField, .part, .partFilename: true
        }
    }

    /// Where the place of a rule `PLACE=REST` ends. An equals sign in the brackets of a path belongs to the place.
    static func end(inRule text: String) -> String.Index? {
        guard let first = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let isPath = text[..<first].hasPrefix("json:") || text[..<first].contains("|json:")
        guard isPath, let open = text[..<first].lastIndex(of: "["), !text[open..<first].contains("]"), text.index(after: open) < first,
            let close = text[first...].firstIndex(of: "]"),
            let next = self.end(inRule: "json:" + text[text.index(after: close)...])
        else { return first }
        // The same text with five other characters before what follows the bracket.
        let rest = "json:" + text[text.index(after: close)...]
        return text.utf8.index(text.index(after: close), offsetBy: rest.utf8.distance(from: rest.startIndex, to: next) - 5)
    }

    /// Kinds of places in the content of a part or field.
    private static let innerKinds = ["json:", "xml:", "grpc:", "header:", "query:", "form:", "part:", "filename:", "base64", "jwt:"]

    /// The bar after a name, which is followed by another place. Any other bar belongs to the name.
    private static func bar(in argument: String) -> String.Index? {
        argument.indices.dropFirst().first { index in
            argument[index] == "|" && self.innerKinds.contains { argument[argument.index(after: index)...].hasPrefix($0) }
        }
    }

    /// The place within the content of a container; nil if it is not in that container.
    func inside(_ container: MatchPlace?) -> MatchPlace? {
        guard let container, case .within(container, let inner) = self else { return nil }
        return inner
    }

    /// The place itself, without the parts and fields that contain it.
    var innermost: MatchPlace {
        var place = self
        while case .within(_, let inner) = place { place = inner }
        return place
    }

    private static let plain: [String: MatchPlace] = [
        "method": .method, "scheme": .scheme, "host": .host, "port": .port, "path": .path, "query": .query, "body": .body,
    ]

    /// Whether the text begins as that of a place does, so that what follows is wrong.
    package static func isKnown(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return Self.plain[text] != nil }
        return ["json", "xml", "grpc", "header", "query", "form", "part", "filename"].contains(String(text[..<colon]))
    }

    private static func nameless(_ kind: String) -> MatchRuleError {
        MatchRuleError(.unknownPlace, "\"\(kind):\" lacks a name; write \"\(kind):NAME\"")
    }

    private static func unknown(_ text: String) -> MatchRuleError {
        MatchRuleError(.unknownPlace, "\"\(PlainText.escape(text.utf8, limit: 80))\" is not a place in a request; write \(Self.grammar)")
    }

    /// A field's name in lower case (RFC 9110, 5.6.2: visible ASCII without delimiters).
    static func fieldName(_ text: String) throws(MatchRuleError) -> String {
        let isToken = text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
        guard isToken, !text.isEmpty else {
            throw MatchRuleError(
                .unknownPlace,
                "\"\(PlainText.escape(text.utf8, limit: 80))\" cannot be the name of a header field; write it without a colon or spaces")
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
        case .xml(let pointer): "xml:\(pointer)"
        case .grpc(let pointer): "grpc:\(pointer)"
        case .formField(let name): "form:\(name)"
        case .part(let name): "part:\(name)"
        case .within(let container, .json(let pointer)) where pointer.path.beginsInString: "\(container)\(pointer)"
        case .within(let container, let inner): "\(container)|\(inner)"
        case .partFilename(let name): "filename:\(name)"
        }
    }
}

/// The path of a rule: a JSON Pointer (RFC 6901) in which a segment `*` matches any member or element, or a `PlacePath` that reaches further.
public struct PlacePointer: Sendable, Hashable, CustomStringConvertible {
    public enum Segment: Sendable, Hashable {
        /// A member's name, or an element's index in decimal digits.
        case name([UInt8])
        case any
    }

    public let path: PlacePath

    /// The segments of a plain pointer, empty if it refers to the whole value. `MatchPlace.init(_:)` returns only such pointers; of any
    /// other path, the segments that reach further are missing.
    public var segments: [Segment] {
        self.path.segments.compactMap { segment in
            switch segment {
            case .name(let name): .name(name)
            case .any: .any
            case .deep, .member, .element, .content: nil
            }
        }
    }

    public init(_ text: String) throws(MatchRuleError) {
        do {
            self.path = try PlacePath(text)
        } catch {
            throw MatchRuleError(.unknownPlace, "the JSON pointer \"\(PlainText.escape(text.utf8, limit: 80))\" \(error.message)")
        }
    }

    /// Fields of gRPC messages: `/1/2`, `/1:pet/2:name`, `/pet/name`. If a number has a name, the number is used.
    init(fields text: String) throws(MatchRuleError) {
        let shown = PlainText.escape(text.utf8, limit: 60)
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count > 1 else {
            throw MatchRuleError(
                .unknownPlace,
                "\"grpc:\(shown)\" names no field; write its numbers or names, as \"grpc:/1/2\" or \"grpc:/pet/name\"")
        }
        var segments: [PlacePath.Segment] = []
        for segment in try PlacePointer(text).path.segments {
            switch segment {
            case .name(let name):
                let digits = name.prefix { $0 >= 48 && $0 <= 57 }
                let isNumbered = !digits.isEmpty && digits.count < name.count && name[digits.endIndex] == UInt8(ascii: ":")
                segments.append(isNumbered ? .name(Array(digits)) : segment)
            case .any, .deep: segments.append(segment)
            case .member, .element, .content:
                throw MatchRuleError(
                    .unknownPlace,
                    "\"grpc:\(shown)\" has a condition, an expression or a bar, which only places in JSON have; write numbers or names of fields"
                )
            }
        }
        self.path = PlacePath(segments)
    }

    /// XML elements: `/Envelope/Body/*/id`, `/soap:Envelope/Header`, `/list/item[2]/@id`, `/**/id`. Prefixes are ignored.
    init(elements text: String) throws(MatchRuleError) {
        let names = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isEndless = zip(names, names.dropFirst()).contains { $0.elementsEqual("**".utf8) && $1.elementsEqual("**".utf8) }
        guard names.count > 1, names[0].isEmpty, !names.dropFirst().contains(where: { $0.isEmpty || $0.elementsEqual("@".utf8) }),
            !text.utf8.contains(UInt8(ascii: "~")), names.count <= PlacePath.segmentLimit + 1, !isEndless,
            names.last?.elementsEqual("**".utf8) == false
        else {
            throw MatchRuleError(
                .unknownPlace,
                "\"xml:\(PlainText.escape(text.utf8, limit: 60))\" names no element; write \"xml:/a/b\" for elements b in a, or \"xml:/a/@c\" for an attribute"
            )
        }
        self.path = PlacePath(
            names.dropFirst().map { name in
                if name.elementsEqual("*".utf8) { return .any }
                if name.elementsEqual("**".utf8) { return .deep }
                let isAttribute = name.first == UInt8(ascii: "@")
                let local =
                    name.lastIndex(of: UInt8(ascii: ":")).map { name[name.index(after: $0)...] } ?? (isAttribute ? name.dropFirst() : name)
                return .name((isAttribute ? [UInt8(ascii: "@")] : []) + Array(local))
            })
    }

    public var description: String { self.path.description }
}
