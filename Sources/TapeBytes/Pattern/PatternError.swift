/// Why a text is no pattern, and where in it.
public struct PatternError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Octets of UTF-8 from the start of the pattern to what is wrong.
    public let offset: Int
    /// What is wrong with which pattern, where, and what to write instead.
    public let message: String

    public var description: String { self.message }
}
