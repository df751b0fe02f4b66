/// A rule of redaction that cannot be read.
public struct RedactionRuleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which rule, what is wrong, and what to write instead.
    public var message: String

    public init(_ message: String) {
        self.message = message
    }

    public var description: String { self.message }
}
