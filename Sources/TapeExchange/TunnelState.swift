/// Follows one CONNECT tunnel until both directions have ended.
///
/// Knows directions and closings, never bytes: the caller moves the bytes and reports events.
public struct TunnelState: Sendable {
    public enum Side: Sendable { case client, upstream }
    public enum Action: Sendable, Equatable { case closeOutput(Side), closeBoth, wait }

    private var ended: Set<Side> = []

    public init() {}

    /// One side has sent its last byte.
    public mutating func sideEnded(_ side: Side) -> Action {
        guard self.ended.insert(side).inserted else { return .wait }
        return self.ended.count == 2 ? .closeBoth : .closeOutput(side == .client ? .upstream : .client)
    }
}
