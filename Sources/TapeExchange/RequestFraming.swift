/// The framing of a request and what it obliges a forwarder to.
public struct RequestFraming: Sendable, Hashable {
    public var framing: BodyFraming
    /// Content-Length must not be forwarded.
    public var dropsLength: Bool
    /// The client's connection must close after the answer.
    public var closesAfter: Bool

    public init(framing: BodyFraming, dropsLength: Bool = false, closesAfter: Bool = false) {
        self.framing = framing
        self.dropsLength = dropsLength
        self.closesAfter = closesAfter
    }
}
