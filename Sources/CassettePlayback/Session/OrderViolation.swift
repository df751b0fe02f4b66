/// A request that came before or after its turn.
public struct OrderViolation: Sendable, Hashable, CustomStringConvertible {
    /// The exchange that would answer it or has answered it, in order of request start from 0.
    public var index: Int
    /// Its method and URL as plain text.
    public var request: String
    /// With strict order, the exchange that was due; else the later one that has answered before.
    public var other: Int
    public var otherRequest: String
    /// Whether the request was refused: so it is with strict order.
    public var isRefused: Bool

    public init(index: Int, request: String, other: Int, otherRequest: String, isRefused: Bool) {
        self.index = index
        self.request = request
        self.other = other
        self.otherRequest = otherRequest
        self.isRefused = isRefused
    }

    /// One line.
    public var description: String {
        let other = "exchange \(self.other + 1), \"\(self.otherRequest)\""
        return self.isRefused
            ? "exchange \(self.index + 1), \"\(self.request)\", was asked for where \(other), was due"
            : "exchange \(self.index + 1), \"\(self.request)\", answered after \(other)"
    }
}
