internal import TapeBytes

/// Routes whose origins were found to take nothing of what the route offers, and what they are offered in its place: what their clients speak
/// is then translated (docs/decisions/0047-origins-of-one-version.md).
///
/// Shared by the event loops of a session, so that an origin is found out once.
final class RouteSubstitutes: Sendable {
    /// Routes at once: more than a session has origins.
    private static let limit = 4096

    private let substitutes = Guarded<[UpstreamRoute: UpstreamRoute]>([:])

    /// - Returns: the route by which the origin is reached now.
    func route(for route: UpstreamRoute) -> UpstreamRoute { self.substitutes.withLock { $0.isEmpty ? route : $0[route] ?? route } }

    /// From now on the origin is offered all that it may speak.
    ///
    /// - Returns: by which route; nil if the route offers that already.
    func offering(moreThan route: UpstreamRoute) -> UpstreamRoute? {
        let protocols = route.origin.scheme == .https ? ["h2", "http/1.1"] : ["h2c"]
        guard route.protocols != protocols else { return nil }
        let other = UpstreamRoute(route.origin, serverName: route.serverName, protocols: protocols, hops: route.hops)
        self.substitutes.withLock { substitutes in
            if substitutes.count >= Self.limit { substitutes.removeAll() }
            substitutes[route] = other
        }
        return other
    }
}
