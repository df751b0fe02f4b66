/// A text that names no host and no hosts.
public struct HostPatternError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with which text, and what to write instead.
    public var message: String

    public init(_ message: String) { self.message = message }

    public var description: String { self.message }
}
