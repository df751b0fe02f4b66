internal import NIOConcurrencyHelpers
internal import TapeExchange

/// The ports that this process listens on, which no event loop of it dials.
final class OwnPorts: Sendable {
    private let rules = NIOLockedValueBox<[Int: LoopRule]>([:])

    /// What would go there is a loop, under every spelling of the address.
    func add(_ rule: LoopRule) { self.rules.withLockedValue { $0[rule.port] = rule } }

    /// The port may become an origin's.
    func remove(_ port: Int) { self.rules.withLockedValue { $0[port] = nil } }

    /// Nil if the port is none of ours.
    func rule(for port: Int) -> LoopRule? { self.rules.withLockedValue { $0[port] } }
}
