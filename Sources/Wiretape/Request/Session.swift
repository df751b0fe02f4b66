internal import Foundation

/// Makes requests and sends them through one transport.
///
/// A request that is on its way comes to its end whether the session is kept or not. Sessions share nothing but what their configurations
/// share.
public final class Session: Sendable {
    /// With the default configuration, for programs with no wishes of their own.
    public static let `default` = Session()

    let core: SessionCore

    /// - Parameter transport: carries all requests, whose certificates are then its own affair: `configuration.serverTrust` and
    ///   `cachedResponseHandler` have no part in it. Nil takes that of `Cassette.current`, which is looked up when a request is made, and
    ///   where there is none the network, unless `WIRETAPE_OFFLINE` is set.
    public init(configuration: Configuration = Configuration(), transport: (any Transport)? = nil) {
        self.core = SessionCore(configuration, transport: transport)
    }

    /// All requests go through that cassette.
    public init(cassette: Cassette, configuration: Configuration = Configuration()) {
        self.core = SessionCore(configuration, cassette: cassette)
    }

    public var configuration: Configuration { self.core.configuration }

    // MARK: All requests

    /// Calls a closure with the requests that have started and are not over, in the order in which they started.
    public func withAllRequests(_ body: ([Request]) throws -> Void) rethrows { try body(self.core.activeRequests) }

    /// Cancels the requests that have started and are not over.
    public func cancelAllRequests() { self.core.cancelAll(.cancelled) }

    /// Returns when no request is on its way, as before a cassette is closed. Requests that start meanwhile are waited for too.
    public func waitUntilIdle() async { await self.core.waitUntilIdle() }
}
