internal import CassetteModel
internal import TapeExchange
internal import TapeTLS

/// What the requests inside a tunnel that we opened ourselves are for: they name no origin, the tunnel did.
///
/// A class, so that a request carries one reference.
final class TunnelScope {
    /// Where requests go, whatever their Host fields say.
    let route: UpstreamRoute
    /// The first connection to the origin failed while the client's handshake waited: the first request gets to know.
    var failure: Failure?
    /// Called where the client leaves before it has sent anything, with what its TLS said at last; nil from its first request on.
    var leftUnused: ((TLSFailure?) -> Void)?

    init(route: UpstreamRoute, failure: Failure? = nil) {
        self.route = route
        self.failure = failure
    }

    var origin: Origin { self.route.origin }

    var isMagic: Bool { MagicHost.isNamed(self.origin.host) }
}
