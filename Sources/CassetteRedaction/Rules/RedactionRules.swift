public import TapeBytes

/// Which data is removed from messages before they are stored: the default rules, additional rules, and exceptions from both.
///
/// Contains the values of secrets, but never writes them.
public struct RedactionRules: Sendable, Hashable {
    /// Rules in addition to the default ones.
    public private(set) var rules: [RedactionRule] = []
    /// Places and kinds that are kept.
    public private(set) var keep: [RedactionException] = []
    public private(set) var secrets: [SecretValue] = []

    /// The most rules, and the most exceptions, of one cassette. Each costs time for each message.
    public static let limit = 1000

    /// The redaction that applies by default.
    public static let standard = RedactionRules()

    private init() {}

    /// - Parameters:
    ///   - rules: `PLACE` or `PLACE=REGEX`.
    ///   - keep: `PLACE`, a kind of placeholder, `jwt:CLAIM`, `shape:uuid`, `shape:length` or `body:sha256:HEX`.
    ///
    /// Also throws for an exception without effect, that is, for a kind that no secret has. This does not apply to exceptions read from a
    /// cassette, which may be older than the kinds of this version.
    public init(rules: [String], keep: [String] = [], secrets: [SecretValue] = []) throws(SettingSyntaxError) {
        try self.init(reading: rules, keep: keep, secrets: secrets)
        let own = Set(self.rules.map(\.kind))
        for exception in self.keep {
            guard let kind = exception.kind, !Self.kinds.contains(kind), !own.contains(kind), !kind.hasPrefix("env-") else { continue }
            throw SettingSyntaxError(
                "\"\(kind)\" is not a kind of secret: write a kind that placeholders show, for example \"password\", or a place, for example \"json:/user/\(kind)\""
            )
        }
    }

    /// The kinds of placeholders of the default rules.
    static let kinds: Set<String> = Set(
        SecretNames.names.map(\.kind) + SecretNames.headers.map(\.kind) + SecretShape.all.map(\.kind)
            + ["cookie", "userinfo", "jwt", "aws-secret", "private-key", UUIDPlaceholder.kind, "s"])

    private init(reading rules: [String], keep: [String], secrets: [SecretValue]) throws(SettingSyntaxError) {
        guard rules.count <= Self.limit, keep.count <= Self.limit else {
            throw SettingSyntaxError("there are more than \(Self.limit) redaction rules: combine some with patterns")
        }
        for text in rules { self.rules.append(try RedactionRule(text)) }
        for text in keep { self.keep.append(try RedactionException(text)) }
        for secret in secrets where secret.bytes.count < NeedleIndex.lengthLimit {
            throw SettingSyntaxError(
                "the value of \"\(secret.name)\" has \(secret.bytes.count) bytes, fewer than the \(NeedleIndex.lengthLimit) that can be searched for: remove it from --secret-env, and pass its place with --redact, for example \"header:x-pin\""
            )
        }
        self.secrets = secrets
    }

    /// These rules combined with others, such as the cassette's and those of the command line.
    public func adding(_ other: RedactionRules) -> RedactionRules {
        var sum = self
        sum.rules += other.rules.filter { !self.rules.contains($0) }
        sum.keep += other.keep.filter { !self.keep.contains($0) }
        sum.secrets += other.secrets.filter { !self.secrets.contains($0) }
        return sum
    }

    /// Whether there is nothing to write into a cassette's head.
    public var isStandard: Bool { self.rules.isEmpty && self.keep.isEmpty }
}

extension RedactionRules {
    func keeps(kind: String) -> Bool { !self.keep.isEmpty && self.keep.contains { $0.kind == kind } }

    /// The properties of secrets that placeholders keep.
    var keptShape: KeptShape {
        guard !self.keep.isEmpty else { return KeptShape() }
        return KeptShape(
            claims: Set(self.keep.compactMap(\.claim)), keepsUUIDs: self.keep.contains { $0.shape == .uuid },
            keepsLengths: self.keep.contains { $0.shape == .length })
    }

    /// Whether an exception lists a body by its digest.
    var hasKeptBodies: Bool { !self.keep.isEmpty && self.keep.contains { $0.body != nil } }

    /// - Parameter digest: the SHA-256 of a body as it came off the wire.
    func keeps(body digest: [UInt8]) -> Bool { self.keep.contains { $0.body == digest } }

    func keeps(header name: [UInt8]) -> Bool {
        !self.keep.isEmpty && self.keep.contains { $0.place.map { Self.names($0, header: name) } ?? false }
    }

    func keeps(query name: [UInt8]) -> Bool { !self.keep.isEmpty && self.keep.contains { $0.place == .query(Self.text(name)) } }
    func keeps(form name: [UInt8]) -> Bool { !self.keep.isEmpty && self.keep.contains { $0.place == .form(Self.text(name)) } }
    func keeps(cookie name: [UInt8]) -> Bool { !self.keep.isEmpty && self.keep.contains { $0.place == .cookie(Self.text(name)) } }
    func keeps(part name: String) -> Bool { !self.keep.isEmpty && self.keep.contains { $0.place == .part(name) } }

    /// The kind of placeholder if a rule covers the whole value.
    func kind(header name: [UInt8]) -> String? { self.kind { Self.names($0, header: name) } }
    func kind(query name: [UInt8]) -> String? { self.kind { $0 == .query(Self.text(name)) } }
    func kind(form name: [UInt8]) -> String? { self.kind { $0 == .form(Self.text(name)) } }
    func kind(cookie name: [UInt8]) -> String? { self.kind { $0 == .cookie(Self.text(name)) } }
    func kind(part name: String) -> String? { self.kind { $0 == .part(name) } }

    private func kind(where isMeant: (RedactionPlace) -> Bool) -> String? {
        guard !self.rules.isEmpty else { return nil }
        return self.rules.first { $0.pattern == nil && isMeant($0.place) }?.kind
    }

    private static func text(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self) }

    private static func names(_ place: RedactionPlace, header name: [UInt8]) -> Bool {
        guard case .header(let own) = place else { return false }
        return own == self.text(name).lowercased()
    }

    /// Whether rules or exceptions refer to JSON by pointers.
    var hasJSONPlaces: Bool {
        self.rules.contains { $0.isJSON } || self.keep.contains { $0.place?.isJSON ?? false }
    }

    /// Whether there are places in the content of parts or fields.
    var hasInnerPlaces: Bool {
        guard !self.rules.isEmpty || !self.keep.isEmpty else { return false }
        return (self.rules.map(\.place) + self.keep.compactMap(\.place)).contains {
            if case .within = $0 { true } else { false }
        }
    }

    /// These rules together with those for the content of a part or field. Nil if there are none of the latter.
    func inside(_ container: RedactionPlace) -> RedactionRules? {
        guard self.hasInnerPlaces else { return nil }
        let rules = self.rules.compactMap { $0.inside(container) }
        let keep = self.keep.compactMap { $0.inside(container) }
        guard !rules.isEmpty || !keep.isEmpty else { return nil }
        var inner = self
        inner.rules += rules
        inner.keep += keep
        return inner
    }

    /// Whether rules or exceptions refer to XML elements or attributes.
    var hasXMLPlaces: Bool {
        (self.rules.map(\.place) + self.keep.compactMap(\.place)).contains { if case .xml = $0 { true } else { false } }
    }

    /// Whether rules or exceptions refer to fields of forms.
    var hasFormPlaces: Bool {
        (self.rules.map(\.place) + self.keep.compactMap(\.place)).contains { place in
            switch place {
            case .form, .within(.form, _): true
            case _: false
            }
        }
    }

    /// Whether rules or exceptions refer to fields of gRPC messages.
    var hasMessagePlaces: Bool {
        (self.rules.map(\.place) + self.keep.compactMap(\.place)).contains { if case .grpc = $0 { true } else { false } }
    }

    /// Whether there are patterns for arbitrary text.
    var hasTextPatterns: Bool { self.rules.contains { $0.place == .text } }

    /// The matches of the patterns for arbitrary text.
    func patterns(in text: UnsafeRawBufferPointer) -> [Finding] {
        guard !self.rules.isEmpty else { return [] }
        return self.rules.filter { $0.place == .text }.flatMap { $0.findings(in: text) }
    }
}

/// A secret whose value is known before the run, such as that of an environment variable.
///
/// Never written anywhere.
public struct SecretValue: Sendable, Hashable {
    /// The placeholder's kind is `env-` followed by this name.
    public var name: String
    public var bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// Something that is kept although the rules would redact it: a place, all secrets of a kind, a claim of JSON Web Tokens, a property of
/// secrets, or a whole body.
public struct RedactionException: Sendable, Hashable {
    /// Nil unless the exception is for a place.
    public let place: RedactionPlace?
    public let kind: String?
    /// A claim of JSON Web Tokens that is kept in their placeholders; nil for other exceptions.
    let claim: String?
    /// The property of secrets that placeholders keep; nil for other exceptions.
    let shape: Shape?
    /// The SHA-256 of a body, as it came off the wire, that is not redacted; nil for other exceptions.
    let body: [UInt8]?
    /// The exception as written.
    public let text: String

    enum Shape: String, Sendable { case uuid, length }

    private init(
        _ text: String, place: RedactionPlace? = nil, kind: String? = nil, claim: String? = nil, shape: Shape? = nil, body: [UInt8]? = nil
    ) {
        (self.text, self.place, self.kind, self.claim, self.shape, self.body) = (text, place, kind, claim, shape, body)
    }

    /// The exception for the content of a part or field; nil if it applies to something else.
    func inside(_ container: RedactionPlace) -> RedactionException? {
        self.place?.inside(container).map { RedactionException(self.text, place: $0) }
    }

    /// The exception that leaves a body unredacted.
    ///
    /// - Parameter digest: the body's SHA-256.
    public static func keeping(body digest: [UInt8]) -> RedactionException {
        RedactionException("\(Self.bodyPrefix)\(Hex.encode(digest))", body: digest)
    }

    private static let bodyPrefix = "body:sha256:"

    /// - Parameter text: `PLACE`, a kind, `jwt:CLAIM`, `shape:uuid`, `shape:length` or `body:sha256:HEX`.
    public init(_ text: String) throws(SettingSyntaxError) {
        if text.hasPrefix("jwt:") {
            let claim = String(text.dropFirst("jwt:".count))
            guard !claim.isEmpty else {
                throw SettingSyntaxError("\"\(text)\" names no claim: write, for example, \"jwt:scope\"")
            }
            self.init(text, claim: claim)
        } else if text.hasPrefix("shape:") {
            guard let shape = Shape(rawValue: String(text.dropFirst("shape:".count))) else {
                throw SettingSyntaxError("\"\(text)\" is not a shape that can be kept: write \"shape:uuid\" or \"shape:length\"")
            }
            self.init(text, shape: shape)
        } else if text.hasPrefix("body:") {
            guard text.hasPrefix(Self.bodyPrefix), let digest = Hex.decode(text.dropFirst(Self.bodyPrefix.count).utf8), digest.count == 32
            else {
                throw SettingSyntaxError(
                    "\"\(text.prefix(200))\" does not name a body: write \"body:sha256:\" and the 64 hexadecimal digits of its SHA-256")
            }
            self.init(text, body: digest)
        } else if text.contains(":") || text == "path" || text == "text" {
            let place = try RedactionPlace(text)
            if place == .path || place == .text {
                throw SettingSyntaxError(
                    "\"\(text)\" cannot be excluded as a whole: write a kind, for example \"jwt\", or a place, for example \"header:x-api-key\""
                )
            }
            if case .header(let name) = place, ["cookie", "set-cookie", "set-cookie2"].contains(name) {
                // The same values are in both fields, so that those of one cannot be kept.
                throw SettingSyntaxError(
                    "\"\(text.prefix(200))\" keeps nothing, since the values of cookies are in two fields: name each cookie, for example \"cookie:lang\""
                )
            }
            self.init(text, place: place)
        } else {
            guard !text.isEmpty, text.utf8.allSatisfy(Placeholder.mayStandInKind) else {
                throw SettingSyntaxError("\"\(text)\" is neither a place nor a kind: write \"header:x-api-key\", or \"jwt\"")
            }
            self.init(text, kind: text)
        }
    }
}

extension RedactionRules {
    /// Rules as written in a cassette's head or a configuration: `{"rules": ["json:/user/name"], "keep": ["jwt"]}`.
    public init(_ value: JSONValue) throws(SettingSyntaxError) {
        guard value.kind == .object else {
            throw SettingSyntaxError("\"redaction\" is not an object: write {\"rules\": [...], \"keep\": [...]}")
        }
        try self.init(reading: try Self.texts(value["rules"], of: "rules"), keep: try Self.texts(value["keep"], of: "keep"), secrets: [])
    }

    private static func texts(_ value: JSONValue?, of name: String) throws(SettingSyntaxError) -> [String] {
        guard let value, value.kind != .null else { return [] }
        guard value.kind == .array else {
            throw SettingSyntaxError("\"\(name)\" of \"redaction\" is not a list: write [\"header:x-api-key\"]")
        }
        var texts: [String] = []
        for element in value.elements {
            guard let text = element.string else {
                throw SettingSyntaxError("\"\(name)\" of \"redaction\" has an element that is not a string: write [\"header:x-api-key\"]")
            }
            texts.append(text)
        }
        return texts
    }

    /// Writes the object, without any secrets that are known by value.
    public func write(into writer: inout JSONWriter) {
        writer.beginObject(.inline)
        for (name, texts) in [("rules", self.rules.map(\.text)), ("keep", self.keep.map(\.text))] where !texts.isEmpty {
            writer.member(named: name)
            writer.beginArray(.inline)
            for text in texts {
                writer.element()
                writer.string(text)
            }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension RedactionRules {
    /// The matches of the patterns for a place in its value.
    ///
    /// - Parameter start: the value's offset in the text that the resulting offsets refer to.
    func findings(
        at place: RedactionPlace, in value: UnsafeRawBufferPointer, from start: Int, spelling: Finding.Spelling = .plain
    ) -> [Finding] {
        guard !self.rules.isEmpty else { return [] }
        return self.rules.filter { $0.place == place }.flatMap { rule in
            rule.findings(in: value, spelling: spelling).map { finding in
                var finding = finding
                finding.range = finding.range.lowerBound + start..<finding.range.upperBound + start
                return finding
            }
        }
    }

    /// The matches of patterns for query items.
    func findings(inQueryOf url: UnsafeRawBufferPointer, range: Range<Int>) -> [Finding] {
        self.items(url, range) { name in .query(String(decoding: Finding.Spelling.query.decode(name) ?? [], as: UTF8.self)) }
    }

    /// The matches of patterns for form fields.
    func findings(inForm text: UnsafeRawBufferPointer) -> [Finding] {
        self.items(text, 0..<text.count) { name in .form(String(decoding: Finding.Spelling.form.decode(name) ?? [], as: UTF8.self)) }
    }

    private func items(
        _ text: UnsafeRawBufferPointer, _ range: Range<Int>, _ place: (UnsafeRawBufferPointer) -> RedactionPlace
    ) -> [Finding] {
        guard self.rules.contains(where: { $0.pattern != nil }) else { return [] }
        var findings: [Finding] = []
        let separator = QuerySurvey.separator(UnsafeRawBufferPointer(rebasing: text[range]))
        var start = range.lowerBound
        while start < range.upperBound {
            let end = ByteScan.index(of: separator, in: UnsafeRawBufferPointer(rebasing: text[..<range.upperBound]), from: start)
            let equals = ByteScan.index(of: UInt8(ascii: "="), in: UnsafeRawBufferPointer(rebasing: text[..<end]), from: start)
            let name = UnsafeRawBufferPointer(rebasing: text[start..<equals])
            let value = min(equals + 1, end)..<end
            findings += self.findings(
                at: place(name), in: UnsafeRawBufferPointer(rebasing: text[value]), from: value.lowerBound, spelling: .query)
            start = end + 1
        }
        return findings
    }
}
