internal import CassetteModel
public import TapeBytes

/// A redaction in addition to the default rules: a place, or the matches of a pattern in a place.
public struct RedactionRule: Sendable, Hashable {
    public let place: RedactionPlace
    /// The part of the value that is secret; the whole value if there is no pattern.
    public let pattern: Pattern?
    /// The rule as written.
    public let text: String

    /// `PLACE` or `PLACE=REGEX`.
    public init(_ text: String) throws(SettingSyntaxError) {
        self.text = text
        let words = Self.halves(of: text)
        self.place = try RedactionPlace(words.first.map(String.init) ?? "")
        guard words.count == 2 else {
            if self.place == .path || self.place == .text {
                throw SettingSyntaxError("\"\(text)\" needs a pattern: write one after \"=\", for example \"\(text)=[0-9a-f]{32}\"")
            }
            self.pattern = nil
            return
        }
        if case .cookie = self.place {
            throw SettingSyntaxError(
                "\"\(text.prefix(200))\" has a pattern, but a rule for a cookie takes none: write \"\(words[0])\" to redact the whole value"
            )
        }
        if Self.spellsSecret(words[1].utf8) {
            throw SettingSyntaxError(
                "the rule for \"\(words[0])\" contains the secret itself, and rules are stored in the cassette: put the value into an environment variable and pass --secret-env NAME, or describe it, for example \"\(words[0])=[0-9a-f]{32}\""
            )
        }
        do {
            self.pattern = try Pattern(String(words[1]))
        } catch {
            throw SettingSyntaxError("\"\(text)\" has an invalid pattern after \"=\": \(error)")
        }
    }

    /// The place, and what follows the first equals sign outside of a condition `[name=value]`.
    private static func halves(of text: String) -> [Substring] {
        guard text.hasPrefix("json:") || text.contains("|json:") else {
            return text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        }
        var start = text.startIndex
        while let equals = text[start...].firstIndex(of: "=") {
            guard let open = text[..<equals].lastIndex(of: "["), open >= start, !text[open..<equals].contains("]"),
                text.index(after: open) < equals, let close = text[equals...].firstIndex(of: "]")
            else { return [text[..<equals], text[text.index(after: equals)...]] }
            start = text.index(after: close)
        }
        return [text[...]]
    }

    /// Whether a pattern has only literal characters and is long enough to be searched for.
    private static func spellsSecret(_ pattern: Substring.UTF8View) -> Bool {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in pattern {
            if isEscaped {
                guard !FormSpelling.isAlphanumeric(byte) else { return false }
                bytes.append(byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                guard !Array(".[](){}*+?|^$".utf8).contains(byte) else { return false }
                bytes.append(byte)
            }
        }
        return bytes.count >= NeedleIndex.lengthLimit && !SecretReach.isCommon(bytes)
    }

    private init(_ place: RedactionPlace, of rule: RedactionRule) {
        (self.place, self.pattern, self.text) = (place, rule.pattern, rule.text)
    }

    /// The rule for the content of a part or field; nil if it applies to something else.
    func inside(_ container: RedactionPlace) -> RedactionRule? {
        self.place.inside(container).map { RedactionRule($0, of: self) }
    }

    /// The kind of its placeholders, which is the name of the place.
    var kind: String { Self.kind(self.place) }

    private static func kind(_ place: RedactionPlace) -> String {
        switch place {
        case .within(_, let inner): self.kind(inner)
        case .header(let name), .query(let name), .form(let name), .part(let name): Placeholder.kind(name)
        case .cookie: "cookie"
        case .json(let segments): Placeholder.kind(segments.last { $0 != "*" && !$0.allSatisfy(\.isNumber) } ?? "json")
        case .jsonPath(let path):
            Placeholder.kind(
                path.segments.compactMap { if case .name(let name) = $0 { String(decoding: name, as: UTF8.self) } else { nil } }
                    .last { !$0.allSatisfy(\.isNumber) } ?? "json")
        case .xml(let segments): Placeholder.kind(Self.lastName(segments))
        case .grpc(let segments): Placeholder.kind(segments.last { $0 != "*" && !$0.allSatisfy(\.isNumber) } ?? "grpc")
        case .path: "path"
        case .text: "text"
        }
    }

    /// The name of the last element or attribute, without its index.
    private static func lastName(_ segments: [String]) -> String {
        let name = segments.last { $0 != "*" && $0 != "@*" && !$0.hasPrefix("text()") } ?? "xml"
        return String(name.drop { $0 == "@" }.prefix { $0 != "[" })
    }

    var isJSON: Bool { self.place.isJSON }

    /// The matches of the rule in the value of its place.
    func findings(in value: UnsafeRawBufferPointer, spelling: Finding.Spelling = .plain) -> [Finding] {
        guard let pattern = self.pattern else { return [] }
        var findings: [Finding] = []
        var placeholders: EditList?
        var position = 0
        while position <= value.count, let range = pattern.firstRange(in: value, from: position) {
            position = max(range.upperBound, range.lowerBound + 1)
            guard !range.isEmpty else { continue }
            let text = UnsafeRawBufferPointer(rebasing: value[range])
            // A pattern may be so broad that it matches a placeholder itself.
            let known = placeholders ?? Placeholder.all(in: value)
            placeholders = known
            guard !known.touches(range), let secret = spelling.decode(text) else { continue }
            findings.append(Finding(kind: self.kind, range: range, secret: secret, spelling: spelling, isRuled: true))
        }
        return findings
    }
}

/// A place in a message that a rule refers to.
public indirect enum RedactionPlace: Sendable, Hashable {
    /// A header or trailer field, in lower case.
    case header(String)
    /// An item of a URL's query, by its decoded name.
    case query(String)
    /// A cookie in `Cookie` and `Set-Cookie`, by its name.
    case cookie(String)
    /// A value in JSON, by the segments of its pointer (RFC 6901); `*` matches any member or element.
    case json([String])
    /// Values in JSON at a path that reaches further: `json:/**/token`, `json:/users[role=admin]/pin`, `json:/**/~^x-`.
    case jsonPath(PlacePath)
    /// The characters of an XML element with everything in it, or an attribute, by the local names on the path: `a`, `b[2]`, `*` for any
    /// element, and last `@name`, `@*` or `text()`.
    case xml([String])
    /// A field in gRPC messages, by the numbers or names of the enclosing fields and its own; `*` matches any field.
    case grpc([String])
    /// A field of a form, by its decoded name.
    case form(String)
    /// A part of multipart/form-data, by its name.
    case part(String)
    /// A place in the content of a part or form field: `part:meta|json:/id`.
    case within(RedactionPlace, RedactionPlace)
    /// The path of a URL.
    case path
    /// Any text, for patterns.
    case text

    var isJSON: Bool {
        switch self {
        case .json, .jsonPath: true
        case .header, .query, .cookie, .xml, .grpc, .form, .part, .within, .path, .text: false
        }
    }

    /// Whether it is known only once a content has been read as what it is.
    var isInContent: Bool {
        switch self {
        case .json, .jsonPath, .xml, .form, .within: true
        case .header, .query, .cookie, .grpc, .part, .path, .text: false
        }
    }

    /// The longest name. Names of fields and members are far shorter.
    private static let nameLimit = 1024

    public init(_ text: String) throws(SettingSyntaxError) {
        if text == "path" {
            self = .path
            return
        }
        if text == "text" {
            self = .text
            return
        }
        let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, words[1].utf8.count <= Self.nameLimit else { throw Self.unknown(text) }
        let name = String(words[1])
        switch words[0] {
        case "json": self = try Self.json(name, of: text)
        case "xml": self = .xml(try Self.elements(name, of: text))
        case "grpc": self = .grpc(try Self.fields(name, of: text))
        case _ where name.isEmpty:
            throw SettingSyntaxError("\"\(text)\" lacks a name: write one after the colon, for example \"header:x-api-key\"")
        case "header":
            guard name.utf8.allSatisfy(Self.mayStandInToken) else {
                let cookie = name.lowercased().hasPrefix("set-cookie:") || name.lowercased().hasPrefix("cookie:")
                let last = name.split(separator: ":").last.map(String.init) ?? ""
                throw SettingSyntaxError(
                    "\"\(text.prefix(200))\" names no header field: \(cookie ? "for a cookie write \"cookie:\(last)\"" : "a field's name has no such characters")"
                )
            }
            guard !name.contains("*") else { throw Self.pattern(text, of: "field", example: "header:x-api-key") }
            self = .header(name.lowercased())
        case "cookie":
            guard name.utf8.allSatisfy(Self.mayStandInToken) else {
                throw SettingSyntaxError(
                    "\"\(text.prefix(200))\" is not the name of a cookie: write only its name, for example \"cookie:lang\"")
            }
            guard !name.contains("*") else { throw Self.pattern(text, of: "cookie", example: "cookie:lang") }
            self = .cookie(name)
        case "query", "form", "part":
            guard name != "*" else {
                let thing = words[0] == "query" ? "item" : words[0] == "form" ? "form field" : "part"
                throw Self.pattern(text, of: thing, example: "\(words[0]):lang")
            }
            self = try Self.named(String(words[0]), name, of: text)
        default: throw Self.unknown(text)
        }
    }

    private static func pattern(_ text: String, of thing: String, example: String) -> SettingSyntaxError {
        SettingSyntaxError(
            "\"\(text.prefix(200))\" names no \(thing), since a \"*\" stands for nothing else there: name each \(thing), for example \"\(example)\""
        )
    }

    /// An item of a query, a field of a form, a part, or a place in one of them.
    private static func named(_ word: String, _ name: String, of text: String) throws(SettingSyntaxError) -> RedactionPlace {
        guard !name.contains("[*]") else {
            throw SettingSyntaxError("\"\(text.prefix(200))\" names every item of a list, which redaction cannot: name each of them")
        }
        if let bar = self.foreignBar(in: name), self.bar(in: name).map({ bar < $0 }) ?? true {
            throw SettingSyntaxError(
                "\"\(text.prefix(200))\" leads to \"\(name[name.index(after: bar)...].prefix(200))\", which redaction does not read there: write \"json:/POINTER\", \"xml:/a/b\", \"form:NAME\" or \"part:NAME\" after the bar, or name the whole \(word == "part" ? "part" : "field")"
            )
        }
        switch word {
        case "query": return .query(name)
        case "form" where self.bar(in: name) != nil, "part" where self.bar(in: name) != nil:
            let bar = self.bar(in: name) ?? name.startIndex
            let inner = try RedactionPlace(String(name[name.index(after: bar)...]))
            let outer = String(name[..<bar])
            return .within(word == "form" ? .form(outer) : .part(outer), inner)
        case "form": return .form(name)
        default: return .part(name)
        }
    }

    /// The kinds of places that are supported in the content of a part or field.
    private static let innerKinds = ["json:", "xml:", "form:", "part:"]

    /// The bar after a name, which is followed by another place. Any other bar belongs to the name.
    private static func bar(in name: String) -> String.Index? {
        name.indices.dropFirst().first { index in
            name[index] == "|"
                && self.innerKinds.contains { name[name.index(after: index)...].hasPrefix($0) }
        }
    }

    /// A bar before a place that rules for matching have, and redaction has not.
    private static func foreignBar(in name: String) -> String.Index? {
        name.indices.dropFirst().first { index in
            let rest = name[name.index(after: index)...]
            return name[index] == "|"
                && (["header:", "query:", "cookie:", "grpc:", "base64|"].contains { rest.hasPrefix($0) }
                    || ["path", "base64", "text", "body"].contains { rest == $0 })
        }
    }

    /// The place within the content of a part or field; nil if it is not in that container.
    func inside(_ container: RedactionPlace) -> RedactionPlace? {
        guard case .within(container, let inner) = self else { return nil }
        return inner
    }

    /// RFC 9110, 5.6.2.
    private static func mayStandInToken(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func unknown(_ text: String) -> SettingSyntaxError {
        SettingSyntaxError(
            "\"\(text.prefix(200))\" is not a place in a message: write \"header:NAME\", \"cookie:NAME\", \"query:NAME\", \"json:/POINTER\", \"xml:/a/b\", \"xml:/a/@c\", \"grpc:/FIELD/FIELD\", \"form:NAME\", \"part:NAME\", \"part:NAME|json:/POINTER\", \"path\" or \"text\""
        )
    }

    /// Element names after slashes, without their prefixes.
    private static func elements(_ path: String, of text: String) throws(SettingSyntaxError) -> [String] {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard names.count > 1, names[0].isEmpty, !names.dropFirst().contains(where: { $0.isEmpty || $0 == "@" }) else {
            throw SettingSyntaxError(
                "\"\(text)\" names no element: write names after slashes, for example \"xml:/user/token\" or \"xml:/user/@token\"")
        }
        return names.dropFirst().map { name in
            guard let colon = name.lastIndex(of: ":") else { return name }
            return (name.hasPrefix("@") ? "@" : "") + name[name.index(after: colon)...]
        }
    }

    /// Like JSON pointers, but with at least one field.
    private static func fields(_ path: String, of text: String) throws(SettingSyntaxError) -> [String] {
        guard path.hasPrefix("/"), path.utf8.count > 1 else {
            throw SettingSyntaxError(
                "\"\(text)\" names no field: write numbers or names after slashes, for example \"grpc:/1/2\" or \"grpc:/user/token\"")
        }
        return try self.pointer(path, of: text)
    }

    /// A JSON Pointer, or a path that reaches further. Strings are not read: their secrets are found by their own names.
    private static func json(_ name: String, of text: String) throws(SettingSyntaxError) -> RedactionPlace {
        guard let path = try? PlacePath(name), !path.isPlain else { return .json(try self.pointer(name, of: text)) }
        let goesIntoString = path.segments.contains { if case .content = $0 { true } else { false } }
        guard !goesIntoString else {
            throw SettingSyntaxError(
                "\"\(text.prefix(200))\" goes into a string, which redaction does not: name the whole string, or add a pattern for a part of it"
            )
        }
        return .jsonPath(path)
    }

    /// RFC 6901, 3 and 4.
    private static func pointer(_ pointer: String, of text: String) throws(SettingSyntaxError) -> [String] {
        guard pointer.isEmpty || pointer.hasPrefix("/") else {
            throw SettingSyntaxError("\"\(text)\" is not a JSON pointer: begin it with a slash, for example \"json:/user/token\"")
        }
        var segments: [String] = []
        for segment in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            var bytes: [UInt8] = []
            var isEscaped = false
            for byte in segment.utf8 {
                if isEscaped {
                    guard byte == UInt8(ascii: "0") || byte == UInt8(ascii: "1") else { break }
                    bytes.append(byte == UInt8(ascii: "0") ? UInt8(ascii: "~") : UInt8(ascii: "/"))
                    isEscaped = false
                } else if byte == UInt8(ascii: "~") {
                    isEscaped = true
                } else {
                    bytes.append(byte)
                }
            }
            guard !isEscaped else {
                throw SettingSyntaxError(
                    "\"\(text)\" has a \"~\" without 0 or 1 after it: write \"~0\" for it, and \"~1\" for a slash in a name")
            }
            segments.append(String(decoding: bytes, as: UTF8.self))
        }
        return segments
    }
}
