internal import TapeBytes

/// Whether a value should not be shown where cassettes are compared: by the name it has, or by its own shape.
///
/// For showing only: what it does not know may be shown, and is in the cassette all the same.
public enum SecretShapes {
    /// Parts of names, in lower case without `-` and `_`.
    private static let words = [
        "authorization", "cookie", "token", "secret", "passw", "apikey", "credential", "signature", "privatekey", "accesskey", "session",
        "assertion", "jwt",
    ]

    /// Prefixes of the keys of large services (each documents its own), JWTs, private keys, and user information in URLs.
    private static let shapes = try? Pattern(
        #"eyJ[\w-]{8,}\.|\b(AKIA|ASIA)[A-Z0-9]{12}|\bgh[opsur]_\w{16}|github_pat_|\bxox[a-z]-|\bAIza[\w-]{20}|\bya29\.|\b[sr]k_(live|test)_|"#
            + #"whsec_|-----BEGIN [A-Z ]*PRIVATE|://[^/?#@\s]*@|(?:Bearer|Basic) +[^{\s]"#)

    public static func isSecretName(_ name: String) -> Bool {
        let plain = name.lowercased().filter { $0 != "-" && $0 != "_" }
        return self.words.contains { plain.contains($0) }
    }

    public static func looksSecret(_ value: String) -> Bool {
        // Without the pattern nothing could be told apart.
        guard let shapes = self.shapes else { return true }
        return Array(value.utf8).withUnsafeBytes { shapes.firstRange(in: $0) } != nil
    }

    /// A URL as it can be shown: without user information, and without the values of query items that are secret by name or shape.
    public static func shownURL(_ url: String) -> String {
        // Scalars: to Swift a question mark and an accent behind it are one character.
        var shown = url.unicodeScalars
        if let scheme = url.firstRange(of: "://") {
            let authority = shown[scheme.upperBound...].prefix { !"/?#".unicodeScalars.contains($0) }
            if let at = authority.lastIndex(of: "@") {
                shown.replaceSubrange(authority.startIndex..<at, with: FieldChange.hidden.unicodeScalars)
            }
        }
        guard let mark = shown.firstIndex(of: "?") else { return String(shown) }
        let items = shown[shown.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "=") else { return String(item) }
            let isSecret = self.isSecretName(String(item[..<equals])) || self.looksSecret(String(item[equals...]))
            return isSecret ? String(item[...equals]) + FieldChange.hidden : String(item)
        }
        return String(shown[...mark]) + items.joined(separator: "&")
    }
}
