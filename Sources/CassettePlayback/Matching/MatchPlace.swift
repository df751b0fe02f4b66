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
    /// All fields of a form with a name.
    case formField(String)
    /// All parts of a multipart body with a name.
    case part(String)
    /// A place in the content of a part or form field: `part:meta|json:/id`.
    case within(MatchPlace, MatchPlace)
    /// The filename of all parts of a multipart body with a name (RFC 7578, 4.2). It may change with each request.
    case partFilename(String)

    static let grammar =
        "\"header:NAME\", \"query:NAME\", \"json:/POINTER\", \"xml:/a/b\", \"xml:/a/@c\", \"grpc:/FIELD/FIELD\", \"form:NAME\", \"part:NAME\", \"part:NAME|json:/POINTER\", \"filename:NAME\", \"method\", \"scheme\", \"host\", \"port\", \"path\", \"query\" or \"body\""

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
        if kind == "xml" {
            self = .xml(try PlacePointer(elements: argument))
            return
        }
        if kind == "grpc" {
            self = .grpc(try PlacePointer(fields: argument))
            return
        }
        if kind == "form" || kind == "part", let bar = Self.bar(in: argument) {
            let inner = try MatchPlace(String(argument[argument.index(after: bar)...]))
            let name = String(argument[..<bar])
            self = .within(kind == "form" ? .formField(name) : .part(name), inner)
            return
        }
        guard ["header", "query", "form", "part", "filename"].contains(kind) else { throw Self.unknown(text) }
        guard !argument.isEmpty || kind == "query" else {
            throw MatchRuleError(.unknownPlace, "\"\(kind):\" lacks a name; write \"\(kind):NAME\"")
        }
        switch kind {
        case "header": self = .header(try Self.fieldName(argument))
        case "query": self = .queryItem(argument)
        case "form": self = .formField(argument)
        case "part": self = .part(argument)
        default: self = .partFilename(argument)
        }
    }

    /// Kinds of places in the content of a part or field.
    private static let innerKinds = ["json:", "xml:", "grpc:", "header:", "form:", "part:", "filename:"]

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
        case .within(let container, let inner): "\(container)|\(inner)"
        case .partFilename(let name): "filename:\(name)"
        }
    }
}

/// A JSON Pointer (RFC 6901) of a rule; a segment `*` matches any member or element.
public struct PlacePointer: Sendable, Hashable, CustomStringConvertible {
    public enum Segment: Sendable, Hashable {
        /// A member's name, or an element's index in decimal digits.
        case name([UInt8])
        case any
    }

    /// Deeper values are rejected as JSON (`JSONDocument.depthLimit`).
    private static let segmentLimit = JSONTokenizer.depthLimit

    /// Empty if it refers to the whole value.
    public let segments: [Segment]

    public init(_ text: String) throws(MatchRuleError) {
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else {
            throw Self.error(text, "does not begin with a slash; write \"json:/\(PlainText.escape(text.utf8, limit: 60))\"")
        }
        var segments: [Segment] = []
        for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            guard segments.count < Self.segmentLimit else {
                throw Self.error(
                    text, "has more than \(Self.segmentLimit) segments, but JSON that is nested so deeply is not read; remove some")
            }
            guard !part.elementsEqual([UInt8(ascii: "*")]) else {
                segments.append(.any)
                continue
            }
            guard let name = Self.unescaped(Array(part)) else {
                throw Self.error(
                    text, "has a \"~\" without 0 or 1 after it (RFC 6901, 3); write \"~0\" for a tilde and \"~1\" for a slash")
            }
            segments.append(.name(name))
        }
        self.segments = segments
    }

    /// Fields of gRPC messages: `/1/2`, `/1:pet/2:name`, `/pet/name`. If a number has a name, the number is used.
    init(fields text: String) throws(MatchRuleError) {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count > 1 else {
            throw MatchRuleError(
                .unknownPlace,
                "\"grpc:\(PlainText.escape(text.utf8, limit: 60))\" names no field; write its numbers or names, as \"grpc:/1/2\" or \"grpc:/pet/name\""
            )
        }
        let pointer = try PlacePointer(text)
        self.segments = pointer.segments.map { segment in
            guard case .name(let name) = segment else { return segment }
            let digits = name.prefix { $0 >= 48 && $0 <= 57 }
            return !digits.isEmpty && digits.count < name.count && name[digits.endIndex] == UInt8(ascii: ":")
                ? .name(Array(digits)) : segment
        }
    }

    /// XML elements: `/Envelope/Body/*/id`, `/soap:Envelope/Header`, `/list/item[2]/@id`. Prefixes are ignored.
    init(elements text: String) throws(MatchRuleError) {
        let names = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard names.count > 1, names[0].isEmpty, !names.dropFirst().contains(where: { $0.isEmpty || $0.elementsEqual("@".utf8) }),
            !text.utf8.contains(UInt8(ascii: "~")), names.count <= Self.segmentLimit + 1
        else {
            throw MatchRuleError(
                .unknownPlace,
                "\"xml:\(PlainText.escape(text.utf8, limit: 60))\" names no element; write \"xml:/a/b\" for elements b in a, or \"xml:/a/@c\" for an attribute"
            )
        }
        self.segments = names.dropFirst().map { name in
            guard !name.elementsEqual("*".utf8) else { return .any }
            let isAttribute = name.first == UInt8(ascii: "@")
            let local =
                name.lastIndex(of: UInt8(ascii: ":")).map { name[name.index(after: $0)...] } ?? (isAttribute ? name.dropFirst() : name)
            return .name((isAttribute ? [UInt8(ascii: "@")] : []) + Array(local))
        }
    }

    private static func error(_ text: String, _ problem: String) -> MatchRuleError {
        MatchRuleError(.unknownPlace, "the JSON pointer \"\(PlainText.escape(text.utf8, limit: 80))\" \(problem)")
    }

    private static func unescaped(_ part: [UInt8]) -> [UInt8]? {
        guard part.contains(UInt8(ascii: "~")) else { return part }
        var name: [UInt8] = []
        var rest = part[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "~") else {
                name.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "0"): name.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): name.append(UInt8(ascii: "/"))
            case _: return nil
            }
        }
        return name
    }

    public var description: String {
        var text: [UInt8] = []
        for segment in self.segments {
            switch segment {
            case .any: text += [UInt8(ascii: "/"), UInt8(ascii: "*")]
            case .name(let name): Self.append(name, to: &text)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends a slash and an escaped name (RFC 6901, 3).
    static func append(_ name: some Sequence<UInt8>, to pointer: inout [UInt8]) {
        pointer.append(UInt8(ascii: "/"))
        for byte in name {
            switch byte {
            case UInt8(ascii: "~"): pointer += [UInt8(ascii: "~"), UInt8(ascii: "0")]
            case UInt8(ascii: "/"): pointer += [UInt8(ascii: "~"), UInt8(ascii: "1")]
            default: pointer.append(byte)
            }
        }
    }
}
