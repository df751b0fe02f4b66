/// Where and why a text is not JSON.
public struct JSONSyntaxError: Error, Hashable, Sendable {
    /// What was expected, in plain words, lower case.
    public var reason: String
    /// Octets from the start of the text.
    public var offset: Int
    /// Counts from 1.
    public var line: Int

    public init(reason: String, offset: Int, line: Int) {
        self.reason = reason
        self.offset = offset
        self.line = line
    }
}
