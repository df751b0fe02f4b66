/// A redacted secret that is still in a file.
public struct Leak: Sendable, Hashable, CustomStringConvertible {
    public enum Spelling: String, Sendable, Hashable, CaseIterable {
        case plain, percent, json, html, base64, hex, utf16, compressed
    }

    /// What should have stood there.
    public var placeholder: Placeholder
    /// Octets in front of it in the file, or in the decoded body for `compressed`.
    public var offset: Int
    public var spelling: Spelling

    public var description: String { "\(self.placeholder) at offset \(self.offset) (\(self.spelling.rawValue))" }
}
