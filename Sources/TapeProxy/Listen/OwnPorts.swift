internal import TapeBytes
internal import TapeExchange

/// The ports on which this process listens. None of its event loops dials them.
final class OwnPorts: Sendable {
    private let rules = Guarded<[Int: LoopRule]>([:])

    /// Adds a port. Dialing it would be a loop, however the address is written.
    func add(_ rule: LoopRule) { self.rules.withLock { $0[rule.port] = rule } }

    /// The port may be used by an origin again.
    func remove(_ port: Int) { self.rules.withLock { $0[port] = nil } }

    /// nil if this is not one of the process's ports.
    func rule(for port: Int) -> LoopRule? { self.rules.withLock { $0[port] } }
}
