/// Why a text is not a valid value of a setting: a host pattern, a public key pin, a latency, a redaction rule, a filter.
public struct SettingSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with which text, and what to write instead. No period at the end.
    public var message: String

    public init(_ message: String) {
        self.message = message
    }

    public var description: String { self.message }
}
