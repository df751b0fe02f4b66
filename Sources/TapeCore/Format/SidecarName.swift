/// What the name of a sidecar says about its content: `pets.bodies/<SHA-256 in hex>.jpg`.
public enum SidecarName {
    /// The 64 lower-case hex digits a file's name begins with, where it does.
    public static func digest(in path: String) -> String? {
        let name = path.utf8.suffix(
            from: path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.utf8.startIndex)
        let digest = name.prefix(64)
        guard self.isDigest(digest), name.count == 64 || name.dropFirst(64).first == UInt8(ascii: ".") else { return nil }
        return String(decoding: digest, as: UTF8.self)
    }

    /// Whether the text is a SHA-256 as the format spells it.
    static func isDigest(_ text: some Collection<UInt8>) -> Bool {
        text.count == 64 && text.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
