internal import CassetteModel
internal import TapeBytes

/// Derives a recordable request from a stub: keeps the values that the stub requires exactly as conditions, and notes everything else as a
/// loss.
struct StubRequest {
    private let context: ImportContext
    private let stub: SourceValue
    /// True once the stub requires something that no recorded request can contain.
    private(set) var isRefused = false
    /// Whether no request can meet the conditions, so that the tool never uses the stub.
    private(set) var isUnused = false
    /// Whether a condition was left out, so that the exchange answers more requests than the stub.
    private(set) var isBroad = false
    /// Whether a condition was reduced to one value, so that the exchange answers fewer requests than the stub.
    private(set) var isNarrow = false
    /// Whether the stub answers requests with any method.
    private(set) var takesAnyMethod = false
    /// The host of the requests that the stub answers; nil for any.
    var host: String?
    /// What a replay compares.
    private(set) var conditions = StubConditions(exact: [])

    init(_ stub: SourceValue, _ context: ImportContext) {
        self.context = context
        self.stub = stub
    }

    /// A replay compares this place.
    mutating func require(_ place: StubConditions.Place) {
        if !self.conditions.exact.contains(place) { self.conditions.exact.append(place) }
    }

    /// A replay compares the values of this place, of which the request may have others as well.
    mutating func include(_ place: StubConditions.Place) {
        if !self.conditions.includes.contains(place) { self.conditions.includes.append(place) }
    }

    /// A replay compares the values of this place joined by semicolons.
    mutating func join(_ place: StubConditions.Place) {
        if !self.conditions.joined.contains(place) { self.conditions.joined.append(place) }
    }

    /// A condition cannot be compared, and is left out.
    mutating func leaveOut(_ place: SourceValue? = nil) {
        self.context.lose(.matcher, at: place ?? self.stub)
        self.isBroad = true
    }

    /// A condition that others meet as well is replaced by the value that it names.
    mutating func narrow(_ place: SourceValue? = nil) {
        self.context.lose(.narrowed, at: place ?? self.stub)
        self.isNarrow = true
    }

    /// Any method is replaced by GET.
    mutating func narrowMethod() {
        self.narrow()
        self.takesAnyMethod = true
    }

    mutating func refuse() { self.isRefused = true }

    /// No request can meet the conditions.
    mutating func neverUse() { self.isUnused = true }

    /// The value that a matcher requires; nil, and a loss, if it requires a pattern.
    mutating func equal(_ matcher: SourceValue?) -> String? {
        guard let matcher else { return nil }
        if let text = matcher.string { return text }
        if let list = matcher.list {
            guard list.count == 1 else {
                if !list.isEmpty { self.leaveOut() }
                return nil
            }
            return self.equal(list[0])
        }
        if let value = matcher["equalTo"] ?? matcher["exactMatch"], let text = value.string {
            // Other matchers next to it, and options that make it match more than this text.
            let others = matcher.members?.contains { !["equalTo", "exactMatch"].contains($0.name) && $0.value.bool != false } == true
            if others { self.narrow() }
            return text
        }
        if let value = matcher["value"] { return self.equal(value, by: matcher["matcher"]?.string ?? "exact", matcher) }
        // A pattern without special characters.
        if let pattern = matcher["matches"]?.string, Self.isPlain(pattern) { return pattern }
        self.leaveOut()
        return nil
    }

    /// The value of one of Hoverfly's matchers. A matcher for a part of a value, or for a derived value, has no value that could be
    /// recorded.
    private mutating func equal(_ value: SourceValue, by kind: String, _ matcher: SourceValue) -> String? {
        switch kind.lowercased() {
        case "exact", "", "json", "xml":
            if matcher["doMatch"] == nil, let text = value.string { return text }
        case "glob", "regex":
            if matcher["doMatch"] == nil, let pattern = value.string, Self.isPlain(pattern) {
                // A regular expression matches whatever contains it.
                if kind.lowercased() == "regex" { self.narrow() }
                return pattern
            }
            self.leaveOut()
            return nil
        default: break
        }
        self.leaveOut()
        self.isRefused = true
        return nil
    }

    /// The values that a matcher of WireMock requires, of which a request may have others as well; nil, and a loss, if it requires a pattern.
    mutating func included(_ matcher: SourceValue) -> [String]? {
        guard let list = matcher["includes"]?.list, matcher.members?.count == 1 else { return self.equal(matcher).map { [$0] } }
        var values: [String] = []
        for one in list {
            guard let text = self.equal(one) else { return nil }
            values.append(text)
        }
        return values
    }

    /// The values that a matcher requires of a name that can occur more than once; nil, and a loss, if it requires a pattern.
    mutating func equals(_ matcher: SourceValue?) -> [String]? {
        guard let array = Self.only(matcher, "array") else { return self.equal(matcher).map { [$0] } }
        guard let values = array["value"]?.list, values.allSatisfy({ $0.string?.contains(";") == false }), array["doMatch"] == nil
        else {
            self.leaveOut()
            self.isRefused = true
            return nil
        }
        // Options that make it match other values, or another order.
        let isLoose = array["config"]?.members?.contains { $0.value.bool != false } == true
        if isLoose { self.narrow() }
        return values.compactMap(\.string)
    }

    /// The fields of a form; nil, and a loss, if the matcher requires a pattern.
    mutating func fields(of form: SourceValue) -> [(name: String, value: String)]? {
        guard let members = form["value"]?.members, form["doMatch"] == nil else {
            self.leaveOut()
            self.isRefused = true
            return nil
        }
        var fields: [(name: String, value: String)] = []
        for member in members {
            guard let values = self.equals(member.value) else { return nil }
            fields += values.map { (member.name, $0) }
        }
        // The form may have further fields.
        self.narrow()
        return fields
    }

    /// The matcher of a kind of Hoverfly, if it is the only one.
    static func only(_ matcher: SourceValue?, _ kind: String) -> SourceValue? {
        let one = matcher?.list.map { $0.count == 1 ? $0[0] : nil } ?? matcher
        return one?["matcher"]?.string?.lowercased() == kind ? one : nil
    }

    /// Like `equal`, for a value without which there is no request.
    mutating func needed(_ matcher: SourceValue?) -> String? {
        let value = self.equal(matcher)
        if let matcher, value == nil, matcher.list?.isEmpty != true { self.isRefused = true }
        return value.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// How the values of a field are compared.
    enum Comparison {
        /// Exactly these, or none.
        case exact
        /// These, and perhaps others.
        case includes
        /// Joined by semicolons.
        case joined
    }

    /// Requires the values of a field, or that it is absent if there are none.
    mutating func require(
        field name: String, _ values: [String], _ comparison: Comparison, in fields: inout FieldBuilder, at place: SourceValue
    ) {
        for value in values { fields.append(name, Array(value.utf8), at: place) }
        // Fields of the connection are not compared, and an invalid one is left out.
        guard !ConnectionFields.names.contains(name.lowercased()), FieldBuilder.isToken(name),
            values.allSatisfy({ value in !value.utf8.contains { $0 < 32 && $0 != 9 || $0 == 127 } })
        else { return self.leaveOut(place) }
        let field = StubConditions.Place.header(name.lowercased())
        switch comparison {
        case .exact: self.require(field)
        case .includes: self.include(field)
        case .joined: self.join(field)
        }
    }

    // MARK: URLs

    /// The base URL with the scheme and port that a stub requires. A port of the base belongs to its own scheme.
    static func base(_ base: String, scheme: String?, port: Int?) -> String {
        guard scheme != nil || port != nil, let mark = base.firstRange(of: "://") else { return base }
        let rest = base[mark.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let own = String(base[..<mark.lowerBound])
        let colon = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":")
        let host = colon.map { authority[..<$0] } ?? authority
        let ownPort = scheme == nil || scheme == own ? colon.map { String(authority[$0...]) } : nil
        return "\(scheme ?? own)://\(host)\(port.map { ":\($0)" } ?? ownPort ?? "")\(rest.dropFirst(authority.count))"
    }

    /// The scheme that a stub requires, or else that of the base.
    func scheme(_ scheme: String?) -> String {
        if let scheme { return scheme.lowercased() }
        self.context.lose(.scheme, at: self.stub)
        return self.context.options.base.firstRange(of: "://").map { String(self.context.options.base[..<$0.lowerBound]) } ?? "http"
    }

    /// `?name=value&…`; empty if there are no pairs. A replay compares decoded values, so this spelling is one of many.
    static func query(_ pairs: [(name: String, value: String)], after path: String) -> String {
        var text = ""
        for pair in pairs {
            text += text.isEmpty && !path.contains("?") ? "?" : "&"
            text += "\(self.encoded(pair.name))=\(self.encoded(pair.value))"
        }
        return text
    }

    /// The text that a regular expression matches; nil if it matches other texts as well. Dots count as literal, because most people who write
    /// URLs mean them literally.
    static func literal(_ pattern: String) -> String? {
        var text = ""
        var isEscaped = false
        for character in pattern {
            if isEscaped {
                // `\d` and similar escapes are classes.
                guard !character.isLetter, !character.isNumber else { return nil }
                text.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                guard character == "." || Self.isPlain(String(character)) else { return nil }
                text.append(character)
            }
        }
        return isEscaped ? nil : text
    }

    /// Whether a text can be the path of a request, or its path and query, as it is.
    static func isTarget(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "#") }
    }

    static func isPlain(_ pattern: String) -> Bool { !pattern.contains { "\\^$.|?*+()[]{}".contains($0) } }

    /// Percent-encodes all but unreserved characters (RFC 3986, 2.3).
    static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            default: encoded += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
            }
        }
        return encoded
    }

    /// The text without percent-encoding.
    static func decoded(path: some StringProtocol) -> String { self.decoded(String(path).replacing("+", with: "%2B")[...]) }

    /// The text without percent-encoding, and with blanks in place of `+`.
    static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let decoded = Hex.decode(Array(rest.prefix(2))) {
                bytes += decoded
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 32 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func form(_ fields: [(name: String, value: String)]) -> ImportedBody {
        let text = fields.map { "\(self.encoded($0.name))=\(self.encoded($0.value))" }.joined(separator: "&")
        return ImportedBody(Array(text.utf8), .decoded)
    }
}
