internal import TapeBytes
internal import TapeExchange

/// The ports that this process listens on, which no event loop of it dials.
final class OwnPorts: Sendable {
    private let rules = Guarded<[Int: LoopRule]>([:])

    /// Dialing such a port would be a loop, under every spelling of the address.
    func add(_ rule: LoopRule) { self.rules.withLock { $0[rule.port] = rule } }

    /// The port is free for an origin again.
    func remove(_ port: Int) { self.rules.withLock { $0[port] = nil } }

    /// Nil if it is not one of our ports.
    func rule(for port: Int) -> LoopRule? { self.rules.withLock { $0[port] } }
}
