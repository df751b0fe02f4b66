/// The address of a behaviour: an origin of its own, or a port where nobody listens.
package final class BehaviourOrigin: Sendable {
    package let url: String
    private let origin: LoopbackOrigin?

    package init(_ behaviour: Behaviour) throws {
        guard let steps = behaviour.steps else {
            (self.origin, self.url) = (nil, "http://127.0.0.1:1")
            return
        }
        let origin = try LoopbackOrigin { _ in steps }
        (self.origin, self.url) = (origin, origin.url)
    }

    package var requests: [LoopbackOrigin.Request] { self.origin?.requests ?? [] }

    /// Accepts no more connections.
    package func stop() { self.origin?.stop() }
}
