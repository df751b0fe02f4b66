internal import TapeBytes

/// How a session without a transport of its own goes to the network.
///
/// Made at the first use: a replay has no `URLSession`.
final class SessionNetwork: Sendable {
    private struct Made {
        var recorded: LiveTransport?
        var cached: LiveTransport?
    }

    private let serverTrust: ServerTrustManager?
    private let cachedResponseHandler: (any CachedResponseHandler)?
    private let made = Guarded(Made())

    init(_ configuration: Session.Configuration) {
        self.serverTrust = configuration.serverTrust
        self.cachedResponseHandler = configuration.cachedResponseHandler
    }

    /// For what is recorded: a cache would answer what no origin has said.
    var recorded: LiveTransport {
        guard let serverTrust else { return .shared }
        return self.made.withLock { made in
            let transport = made.recorded ?? LiveTransport(serverTrust: serverTrust)
            made.recorded = transport
            return transport
        }
    }

    /// For what is not, with the shared cache where somebody is asked about it.
    var unrecorded: LiveTransport {
        guard let cachedResponseHandler else { return self.recorded }
        return self.made.withLock { made in
            let transport =
                made.cached
                ?? LiveTransport(
                    configuration: .default, serverTrust: self.serverTrust, cachedResponseHandler: cachedResponseHandler)
            made.cached = transport
            return transport
        }
    }
}
