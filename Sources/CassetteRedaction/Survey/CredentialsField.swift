internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Finds the secret parts in the value of Authorization or a similar field (RFC 9110, 11.6.2), by its scheme.
struct CredentialsField {
    /// The values to be replaced.
    private(set) var findings: [Finding] = []

    private let text: UnsafeRawBufferPointer
    private let kind: String

    /// Parameters that describe the method and are not sensitive (RFC 7616, 3.4; RFC 5849, 3.5.1; RFC 9421).
    private static let open: Set<String> = [
        "realm", "uri", "algorithm", "qop", "nc", "charset", "userhash", "username", "opaque", "nonce", "signedheaders", "headers",
        "created", "expires", "oauth_version", "oauth_signature_method", "oauth_timestamp", "oauth_nonce", "version", "keyid", "scope",
        "error", "error_description", "domain", "stale",
    ]

    /// Parameters of the server's proof (RFC 7616, 3.5; RFC 7804, 5) from which a password can be guessed, or that identify a client. The
    /// next nonce is not secret.
    private static let proving: Set<String> = ["rspauth", "cnonce", "data", "sid"]

    /// The secrets in the value of Authentication-Info or Proxy-Authentication-Info.
    static func findings(inInfo text: UnsafeRawBufferPointer, _ range: Range<Int>) -> [Finding] {
        var field = Self(text, kind: "authorization")
        field.parameters(range) { Self.proving.contains($0) }
        return field.findings
    }

    private init(_ text: UnsafeRawBufferPointer, kind: String) {
        self.text = text
        self.kind = kind
    }

    /// - Parameter range: the range of the value in the text.
    init(_ text: UnsafeRawBufferPointer, _ range: Range<Int>, kind: String) {
        self.text = text
        self.kind = kind
        guard let space = range.first(where: { text[$0] == 32 }) else {
            self.add(range)
            return
        }
        let scheme = String(decoding: text[range.lowerBound..<space], as: UTF8.self).lowercased()
        let rest = (range[space...].first { text[$0] != 32 } ?? range.upperBound)..<range.upperBound
        if scheme == "basic" {
            self.add(rest, password: Self.password(Array(text[rest])))
        } else if scheme.hasPrefix("aws4-") || Self.hasParameters(UnsafeRawBufferPointer(rebasing: text[rest])) {
            self.parameters(rest) { !Self.open.contains($0) }
        } else {
            self.add(rest)
        }
    }

    /// The credentials in a value that consists of a scheme and one word, under any field's name. A challenge has parameters
    /// instead (RFC 9110, 11.6.1).
    static func finding(inOtherField text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Finding? {
        guard let space = range.prefix(8).first(where: { text[$0] == 32 }), let start = range[space...].first(where: { text[$0] != 32 })
        else { return nil }
        let word = start..<range.upperBound
        let value = UnsafeRawBufferPointer(rebasing: text[word])
        guard !value.contains(where: { $0 <= 32 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: ",") }), !Placeholder.isAll(value) else {
            return nil
        }
        switch String(decoding: text[range.lowerBound..<space], as: UTF8.self).lowercased() {
        case "bearer":
            guard NamedValue.looksLikeToken(value) || NamedValue.looksLikeKey(value) else { return nil }
            return Finding(kind: "authorization", range: word, secret: Array(value), spelling: .plain)
        case "basic": return self.basic(text, word)
        case "token", "apikey", "bot", "jwt", "ssws", "dpop":
            guard NamedValue.looksLikeKey(value) else { return nil }
            return Finding(kind: "authorization", range: word, secret: Array(value), spelling: .plain)
        default: return nil
        }
    }

    /// The user and password after `Basic` (RFC 7617, 2); nil if the word is something else.
    static func basic(_ text: UnsafeRawBufferPointer, _ word: Range<Int>) -> Finding? {
        let token = Array(text[word])
        guard word.count >= 8, word.count <= NamedValue.limit, let content = Self.content(token), content.count >= 5,
            let colon = content.firstIndex(of: UInt8(ascii: ":")), colon + 1 < content.count || colon >= 8,
            content.withUnsafeBytes({ ReadableText.isReadable($0) && !Placeholder.isAll($0) })
        else { return nil }
        var finding = Finding(kind: "authorization", range: word, secret: token, spelling: .plain)
        finding.password = Self.password(token)
        return finding
    }

    private static func content(_ token: [UInt8]) -> [UInt8]? {
        Base64.decode(
            token.last == UInt8(ascii: "=") ? token : token + Array(repeating: UInt8(ascii: "="), count: (4 - token.count % 4) % 4))
    }

    private mutating func add(_ range: Range<Int>, isSure: Bool = true, password: [UInt8]? = nil) {
        let value = UnsafeRawBufferPointer(rebasing: self.text[range])
        guard !value.isEmpty, !Placeholder.isAll(value) else { return }
        var finding = Finding(kind: self.kind, range: range, secret: Array(value), spelling: .plain, isSure: isSure)
        finding.password = password
        self.findings.append(finding)
    }

    private static func password(_ token: [UInt8]) -> [UInt8]? {
        guard let decoded = Self.content(token), let colon = decoded.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let password = Array(decoded[(colon + 1)...])
        return password.isEmpty || Placeholder.isAll(password) ? nil : password
    }

    /// Whether the text starts with `name=value` or `name="value"`, and is not base64 with padding.
    private static func hasParameters(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")), equals > 0, equals + 1 < text.count else { return false }
        return text[equals + 1] == UInt8(ascii: "\"") || (text[equals + 1] != UInt8(ascii: "=") && text.contains(UInt8(ascii: ",")))
    }

    /// - Parameter isSecret: whether the value of a parameter of this name is removed.
    private mutating func parameters(_ range: Range<Int>, isSecret: (String) -> Bool) {
        var start = range.lowerBound
        while start < range.upperBound {
            while start < range.upperBound, self.text[start] == 32 || self.text[start] == UInt8(ascii: ",") { start += 1 }
            var equals = start
            while equals < range.upperBound, self.text[equals] != UInt8(ascii: "="), self.text[equals] != UInt8(ascii: ",") { equals += 1 }
            let isQuoted = equals + 1 < range.upperBound && self.text[equals + 1] == UInt8(ascii: "\"")
            let valueStart = min(equals + (isQuoted ? 2 : 1), range.upperBound)
            var end = valueStart
            while end < range.upperBound, self.text[end] != (isQuoted ? UInt8(ascii: "\"") : UInt8(ascii: ",")) { end += 1 }
            let name = String(decoding: self.text[start..<equals], as: UTF8.self).lowercased()
            if name == "credential" {
                // The key's id, followed by the scope, which is not secret.
                let slash = (valueStart..<end).first { self.text[$0] == UInt8(ascii: "/") } ?? end
                self.add(valueStart..<slash)
            } else if isSecret(name) {
                self.add(valueStart..<end, isSure: false)
            }
            start = end + 1
        }
    }
}
