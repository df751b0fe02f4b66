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
            self.parameters(rest)
        } else {
            self.add(rest)
        }
    }

    private mutating func add(_ range: Range<Int>, isSure: Bool = true, password: [UInt8]? = nil) {
        let value = UnsafeRawBufferPointer(rebasing: self.text[range])
        guard !value.isEmpty, !Placeholder.isAll(value) else { return }
        var finding = Finding(kind: self.kind, range: range, secret: Array(value), spelling: .plain, isSure: isSure)
        finding.password = password
        self.findings.append(finding)
    }

    private static func password(_ token: [UInt8]) -> [UInt8]? {
        let padded = token + Array(repeating: UInt8(ascii: "="), count: (4 - token.count % 4) % 4)
        guard let decoded = Base64.decode(padded), let colon = decoded.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let password = Array(decoded[(colon + 1)...])
        return password.isEmpty || Placeholder.isAll(password) ? nil : password
    }

    /// Whether the text starts with `name=value` or `name="value"`, and is not base64 with padding.
    private static func hasParameters(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")), equals > 0, equals + 1 < text.count else { return false }
        return text[equals + 1] == UInt8(ascii: "\"") || (text[equals + 1] != UInt8(ascii: "=") && text.contains(UInt8(ascii: ",")))
    }

    private mutating func parameters(_ range: Range<Int>) {
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
            } else if !Self.open.contains(name) {
                self.add(valueStart..<end, isSure: false)
            }
            start = end + 1
        }
    }
}
