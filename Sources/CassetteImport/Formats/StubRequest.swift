internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Derives a recordable request from a stub: keeps the values that the stub requires exactly, and notes patterns as losses.
struct StubRequest {
    private let context: ImportContext
    private let stub: SourceValue
    /// True once the stub requires something that no recorded request can contain.
    private(set) var isRefused = false

    init(_ stub: SourceValue, _ context: ImportContext) {
        self.context = context
        self.stub = stub
    }

    /// The value that a matcher requires; nil, and a loss, if it requires a pattern.
    mutating func equal(_ matcher: SourceValue?) -> String? {
        guard let matcher else { return nil }
        if let text = matcher.string { return text }
        if let list = matcher.list {
            guard list.count == 1 else {
                if !list.isEmpty { self.context.lose(.matcher, at: self.stub) }
                return nil
            }
            return self.equal(list[0])
        }
        if let value = matcher["equalTo"] ?? matcher["exactMatch"], let text = value.string {
            // Other matchers next to it, and options that make it match more than this text.
            let others = matcher.members?.contains { !["equalTo", "exactMatch"].contains($0.name) && $0.value.bool != false } == true
            if others { self.context.lose(.matcher, at: self.stub) }
            return text
        }
        if let value = matcher["value"] { return self.equal(value, by: matcher["matcher"]?.string ?? "exact", matcher) }
        // A pattern without special characters.
        if let pattern = matcher["matches"]?.string, Self.isPlain(pattern) { return pattern }
        self.context.lose(.matcher, at: self.stub)
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
                if kind.lowercased() == "regex" { self.context.lose(.matcher, at: self.stub) }
                return pattern
            }
            self.context.lose(.matcher, at: self.stub)
            return nil
        default: break
        }
        self.context.lose(.matcher, at: self.stub)
        self.isRefused = true
        return nil
    }

    /// The values that a matcher requires of a name that can occur more than once; nil, and a loss, if it requires a pattern.
    mutating func equals(_ matcher: SourceValue?) -> [String]? {
        guard let array = Self.only(matcher, "array") else { return self.equal(matcher).map { [$0] } }
        guard let values = array["value"]?.list, values.allSatisfy({ $0.string != nil }), array["doMatch"] == nil else {
            self.context.lose(.matcher, at: self.stub)
            self.isRefused = true
            return nil
        }
        // Options that make it match other values, or another order.
        let isLoose = array["config"]?.members?.contains { $0.value.bool != false } == true
        if isLoose { self.context.lose(.matcher, at: self.stub) }
        return values.compactMap(\.string)
    }

    /// The fields of a form; nil, and a loss, if the matcher requires a pattern.
    mutating func fields(of form: SourceValue) -> [(name: String, value: String)]? {
        guard let members = form["value"]?.members, form["doMatch"] == nil else {
            self.context.lose(.matcher, at: self.stub)
            self.isRefused = true
            return nil
        }
        // The form may have further fields.
        self.context.lose(.matcher, at: self.stub)
        var fields: [(name: String, value: String)] = []
        for member in members {
            guard let values = self.equals(member.value) else { return nil }
            fields += values.map { (member.name, $0) }
        }
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

    mutating func refuse() { self.isRefused = true }

    /// The only text that a regular expression matches; nil if it matches others. Dots and question marks count as literal, because most
    /// people who write URLs mean them literally.
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
                guard character == "." || character == "?" || Self.isPlain(String(character)) else { return nil }
                text.append(character)
            }
        }
        return isEscaped ? nil : text
    }

    static func isPlain(_ pattern: String) -> Bool { !pattern.contains { "\\^$.|?*+()[]{}".contains($0) } }

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
}

/// A way in which clients encode a decoded query value. A stub matches all of them; a recorded request matches only its own.
struct QuerySpelling {
    /// The characters that stay as they are, in addition to unreserved ones (RFC 3986, 2.3).
    private let plain: Set<UInt8>
    private let space: String

    private init(_ plain: String, space: String = "%20") {
        self.plain = Set(plain.utf8)
        self.space = space
    }

    /// What a query may contain (RFC 3986, 3.4), without the characters that separate items or stand for a space.
    private static let allowed = "/:@?,;!'()*$"

    /// Of the URL libraries and form encoders that are in use.
    private static let all: [QuerySpelling] = [
        // Most libraries, and most encoders of forms, such as those of Python, Go, PHP and Dart.
        QuerySpelling(""), QuerySpelling("", space: "+"),
        // Those that escape nothing that a query may contain, such as URLComponents, with and without the semicolon.
        QuerySpelling(Self.allowed), QuerySpelling(Self.allowed, space: "+"), QuerySpelling("/:@?,!'()*$"),
        // encodeURIComponent, OkHttp, and quote of Python.
        QuerySpelling("!'()*"), QuerySpelling("*"), QuerySpelling("/"),
        // URLSearchParams, URLEncoder of Java and URI.encode_www_form of Ruby; HttpUtility of .NET; Perl; quote_plus of Python with a slash.
        QuerySpelling("*", space: "+"), QuerySpelling("!()*", space: "+"), QuerySpelling("!'()*", space: "+"),
        QuerySpelling("/", space: "+"),
        // The URL of browsers and Node for a query that is already in one text (WHATWG URL, "query percent-encode set").
        QuerySpelling("/:@?,;!()*$[]{}|^`\\="), QuerySpelling("/:@?,;!'()*$[]{}|^`\\="),
    ]

    /// `?name=value&…`; empty if there are no pairs.
    func query(_ pairs: [(name: String, value: String)], after path: String) -> String {
        var text = ""
        for pair in pairs {
            text += text.isEmpty && !path.contains("?") ? "?" : "&"
            // In a name, `=` would end it.
            text += "\(self.text(pair.name, isName: true))=\(self.text(pair.value))"
        }
        return text
    }

    private func text(_ text: String, isName: Bool = false) -> String {
        var spelled = ""
        for byte in text.utf8 {
            if byte == 32 {
                spelled += self.space
            } else if self.plain.contains(byte), !isName || byte != UInt8(ascii: "=") {
                spelled.unicodeScalars.append(UnicodeScalar(byte))
            } else if byte < 128 {
                spelled += StubRequest.encoded(String(UnicodeScalar(byte)))
            } else {
                spelled += "%\(String(byte, radix: 16, uppercase: true))"
            }
        }
        return spelled
    }

    typealias Pairs = [(name: String, value: String)]

    /// The exchange with each encoding of each of its queries, without duplicate URLs.
    static func all(
        of exchange: ImportedExchange, queries: [Pairs], _ url: (QuerySpelling, Pairs) -> String?
    ) -> [ImportedExchange] {
        var urls: [String] = []
        for query in queries {
            for spelling in self.all { if let url = url(spelling, query), !urls.contains(url) { urls.append(url) } }
        }
        return urls.map { url in
            var exchange = exchange
            exchange.request.url = url
            return exchange
        }
    }
}
