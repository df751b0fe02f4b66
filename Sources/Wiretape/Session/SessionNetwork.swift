internal import Foundation
internal import TapeBytes

/// The network transports of a session that was given no transport.
///
/// Made at the first use, so that a replay makes no `URLSession`.
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

    /// For recordings: without a cache, whose answers would not come from the origin.
    var recorded: LiveTransport {
        guard let serverTrust else { return .shared }
        return self.made.withLock { made in
            let transport = made.recorded ?? LiveTransport(serverTrust: serverTrust)
            made.recorded = transport
            return transport
        }
    }

    /// For requests that are not recorded: with the shared cache if there is a `cachedResponseHandler`.
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

/// The transport of requests with neither a transport nor a cassette: the network, unless the environment forbids it.
enum FallbackTransport {
    /// The variable that forbids it, such as in tests on a service without a reliable network.
    static let variable = "WIRETAPE_OFFLINE"

    private static let isOffline = Self.isOffline(ProcessInfo.processInfo.environment)

    static func isOffline(_ environment: [String: String]) -> Bool { EnvironmentSwitch.isOn(environment[self.variable]) }

    static func transport(around network: @autoclosure () -> LiveTransport, isOffline: Bool = Self.isOffline) -> any Transport {
        isOffline ? OfflineTransport() : network()
    }
}

/// Reads environment variables that are on or off.
package enum EnvironmentSwitch {
    /// Off if missing, empty, "0", "false" or "no". CI services set "true" or "1".
    package static func isOn(_ value: String?) -> Bool { !["", "0", "false", "no"].contains((value ?? "").lowercased()) }
}
