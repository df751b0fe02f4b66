internal import NIOCore

/// A host's name on its way to addresses.
struct NameLookup {
    struct Answer: Sendable {
        var addresses: [SocketAddress]
        /// How long it took.
        var milliseconds: Double
    }

    let answer: EventLoopFuture<Answer>
}
