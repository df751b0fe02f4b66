internal import TapeBytes

/// One difference between two exchanges.
public struct FieldChange: Sendable, Hashable {
    /// The place in the grammar of match rules, after the message: `request query:ts`, `response header:etag`, `response json:/items/0`.
    public var place: String
    /// The value before; nil if there was none.
    public var old: String?
    public var new: String?
    public var drift: Drift

    /// - Parameters:
    ///   - isSecret: whether the values must not be shown; then they are not stored.
    ///   - drift: nil to tell it by which of the values is there.
    public init(_ place: String, _ old: String?, _ new: String?, isSecret: Bool = false, drift: Drift? = nil) {
        self.place = place
        self.drift = drift ?? (new == nil ? .removed : old == nil ? .added : .value)
        self.old = old.map { Self.shown($0, isSecret) }
        self.new = new.map { Self.shown($0, isSecret) }
    }

    /// Replaces a value that must not be shown.
    public static let hidden = "(hidden)"
    /// The most characters of a value: enough for a line on a terminal.
    private static let limit = 120

    private static func shown(_ value: String, _ isSecret: Bool) -> String {
        if isSecret || SecretShapes.looksSecret(value) { return self.hidden }
        let scalars = value.unicodeScalars
        return scalars.count <= self.limit ? value : String(String.UnicodeScalarView(scalars.prefix(self.limit - 1))) + "…"
    }
}

/// Decides whether a value is hidden when cassettes are compared, by its name or by its own shape.
///
/// Only for display: a secret that is not recognised may be shown, but it is in the cassette anyway.
public enum SecretShapes {
    /// Parts of names, in lower case without `-` and `_`.
    private static let words = [
        "authorization", "cookie", "token", "secret", "passw", "apikey", "credential", "signature", "privatekey", "accesskey", "session",
        "assertion", "jwt",
    ]

    /// Prefixes of the keys of large services (as each documents them), JWTs, private keys, and user information in URLs.
    private static let shapes = try? Pattern(
        #"eyJ[\w-]{8,}\.|\b(AKIA|ASIA)[A-Z0-9]{12}|\bgh[opsur]_\w{16}|github_pat_|\bxox[a-z]-|\bAIza[\w-]{20}|\bya29\.|\b[sr]k_(live|test)_|"#
            + #"whsec_|-----BEGIN [A-Z ]*PRIVATE|://[^/?#@\s]*@|(?:Bearer|Basic) +[^{\s]"#)

    public static func isSecretName(_ name: String) -> Bool {
        let plain = name.lowercased().filter { $0 != "-" && $0 != "_" }
        return self.words.contains { plain.contains($0) }
    }

    public static func looksSecret(_ value: String) -> Bool {
        // Without the pattern, nothing can be ruled out.
        guard let shapes = self.shapes else { return true }
        return Array(value.utf8).withUnsafeBytes { shapes.firstRange(in: $0) } != nil
    }

    /// A URL for display: without user information, and without the values of query items that are secret by name or shape.
    public static func shownURL(_ url: String) -> String {
        // Uses scalars, because in Swift a question mark and a combining accent form one character.
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
