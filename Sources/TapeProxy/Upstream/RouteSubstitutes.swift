internal import TapeBytes

/// Replacements for routes whose origins speak none of the protocols that the route offers, or want HTTP/1.1 for a request that they got
/// in HTTP/2. Messages are then translated to the version that the client speaks (docs/decisions/0047-origins-of-one-version.md).
///
/// Shared by the event loops of a session, so that this is discovered only once for each origin.
final class RouteSubstitutes: Sendable {
    /// The most routes at once; a session has fewer origins.
    private static let limit = 4096

    private let substitutes = Guarded<[UpstreamRoute: UpstreamRoute]>([:])

    /// - Returns: the route on which the origin is reached now.
    func route(for route: UpstreamRoute) -> UpstreamRoute { self.substitutes.withLock { $0.isEmpty ? route : $0[route] ?? route } }

    /// From now on, offers the origin every protocol that it may speak.
    ///
    /// - Returns: the new route; nil if the old one already offers everything.
    func offering(moreThan route: UpstreamRoute) -> UpstreamRoute? {
        let protocols = route.origin.scheme == .https ? ["h2", "http/1.1"] : ["h2c"]
        guard route.protocols != protocols else { return nil }
        let other = route.offering(protocols)
        self.substitute(other, for: route)
        return other
    }

    /// From now on, offers only HTTP/1.1 to the origin of a route, whichever route led to it.
    func requireHTTP1(for route: UpstreamRoute) {
        self.substitutes.withLock { substitutes in
            for (asked, other) in substitutes where other == route { substitutes[asked] = route.ofHTTP1 }
        }
        self.substitute(route.ofHTTP1, for: route)
    }

    private func substitute(_ other: UpstreamRoute, for route: UpstreamRoute) {
        self.substitutes.withLock { substitutes in
            if substitutes.count >= Self.limit { substitutes.removeAll() }
            substitutes[route] = other
        }
    }
}
