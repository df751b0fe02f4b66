internal import TapeBytes

/// Credentials without what is new in each request, such as nonces, dates and signatures, so that they tell users apart.
enum LastingCredentials {
    /// The parameters that name a user or a client, by their schemes in lower case.
    private static let names: [String: Set<String>] = [
        "digest": ["username", "username*", "realm"],  // RFC 7616, 3.4
        "hawk": ["id", "app", "dlg"],
        "mac": ["id"],
        "oauth": ["realm", "oauth_consumer_key", "oauth_token"],  // RFC 5849, 3.5.1
        "signature": ["keyid"],
        "mutual": ["user", "sid"],  // RFC 8120, 4.3
        "vapid": ["k"],  // RFC 8292, 3
        "usernametoken": ["username"],
        "eg1-hmac-sha256": ["client_token", "access_token"],
        "aws4-hmac-sha256": ["credential"], "aws4-ecdsa-p256-sha256": ["credential"],
        "goog4-hmac-sha256": ["credential"], "goog4-rsa-sha256": ["credential"],
        "hmac-sha256": ["credential"], "tc3-hmac-sha256": ["credential"], "acs3-hmac-sha256": ["credential"],
    ]
    /// Parameters whose values begin with the key's name, before a slash; a date and a region follow.
    private static let scoped = "credential"

    /// - Parameter credentials: the value of `Authorization` (RFC 9110, 11.4).
    /// - Returns: nil if the scheme is not one of these, or no parameter names anybody, as in `OAuth TOKEN`.
    static func bytes(of credentials: [UInt8]) -> [UInt8]? {
        let end = credentials.firstIndex(of: UInt8(ascii: " ")) ?? credentials.endIndex
        guard end <= 32 else { return nil }
        let scheme = String(decoding: credentials[..<end], as: UTF8.self).lowercased()
        guard let names = self.names[scheme] else { return nil }
        var kept: [String] = []
        for (name, value) in self.parameters(credentials[end...]) where names.contains(name) {
            let value = name == self.scoped ? value.prefix { $0 != UInt8(ascii: "/") } : value
            kept.append("\(name)=\(String(decoding: value, as: UTF8.self))")
        }
        guard !kept.isEmpty else { return nil }
        return Array(([scheme] + kept.sorted()).joined(separator: " ").utf8)
    }

    /// The parameters in any spelling: quoted or not, separated by commas, semicolons, ampersands or spaces. Names are in lower case.
    private static func parameters(_ text: ArraySlice<UInt8>) -> [(name: String, value: ArraySlice<UInt8>)] {
        let separators: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: " "), UInt8(ascii: "\t")]
        var found: [(name: String, value: ArraySlice<UInt8>)] = []
        var index = text.startIndex
        while index < text.endIndex {
            let nameEnd = text[index...].firstIndex { $0 == UInt8(ascii: "=") || separators.contains($0) } ?? text.endIndex
            let name = String(decoding: text[index..<nameEnd], as: UTF8.self).lowercased()
            guard nameEnd < text.endIndex, text[nameEnd] == UInt8(ascii: "=") else {
                index = min(nameEnd + 1, text.endIndex)
                continue
            }
            var end: Int
            var value: ArraySlice<UInt8>
            if nameEnd + 1 < text.endIndex, text[nameEnd + 1] == UInt8(ascii: "\"") {
                end = nameEnd + 2
                while end < text.endIndex, text[end] != UInt8(ascii: "\"") { end += text[end] == UInt8(ascii: "\\") ? 2 : 1 }
                end = min(end, text.endIndex)
                value = text[min(nameEnd + 2, end)..<end]
                end = min(end + 1, text.endIndex)
            } else {
                end = text[(nameEnd + 1)...].firstIndex(where: separators.contains) ?? text.endIndex
                value = text[(nameEnd + 1)..<end]
            }
            found.append((name, value))
            index = end
        }
        return found
    }
}
