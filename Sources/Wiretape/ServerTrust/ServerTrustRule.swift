public import Foundation
public import TapeTrust

/// Decides before a request goes out whether its host's policy is left to the platform, evaluated in the challenge, or refused.
///
/// Reads no certificate. Never ignores a policy: if it cannot be carried out, nothing is sent.
public struct ServerTrustRule: Sendable {
    /// What URLSession asks its delegate about certificates.
    public enum Platform: Sendable, Hashable, CaseIterable {
        /// Apple platforms: a challenge for each connection's certificates.
        case challenging
        /// Linux: no challenge; URLSession evaluates with the system's authorities.
        case silent

        public static var current: Platform {
            #if canImport(FoundationNetworking)
            .silent
            #else
            .challenging
            #endif
        }
    }

    /// How requests get to the host.
    public enum Route: Sendable, Hashable, CaseIterable {
        /// To the host, or through a proxy that only forwards bytes: the certificates are the host's own.
        case direct
        /// Through a proxy that intercepts TLS, such as Wiretape's, and has the same policies: the certificates seen here are the proxy's.
        case interceptingProxy
    }

    public enum Decision: Sendable {
        /// The platform's own evaluation counts, or there is no TLS.
        case leaveToPlatform
        /// In the challenge, by `ServerTrust`.
        case evaluate(ServerTrust)
        case refuse(ServerTrustError)
    }

    public var platform: Platform
    public var route: Route

    public init(platform: Platform = .current, route: Route = .direct) {
        self.platform = platform
        self.route = route
    }

    /// - Parameter manager: nil if there are no policies.
    public func decide(_ url: URL, by manager: ServerTrustManager?) -> Decision {
        guard let manager, url.scheme?.lowercased() == "https", let host = CookieRule.host(of: url) else { return .leaveToPlatform }
        guard let trust = manager.trust(forHost: host, port: url.port ?? 443) else {
            return manager.allHostsMustBeEvaluated ? .refuse(Self.noPolicy(host)) : .leaveToPlatform
        }
        switch (trust, self.route, self.platform) {
        case (.defaultEvaluation(validatesHost: true), _, _): return .leaveToPlatform
        case (_, .interceptingProxy, _): return .leaveToPlatform
        case (_, .direct, .challenging): return .evaluate(trust)
        case (_, .direct, .silent): return .refuse(Self.unsupported(trust, host: host))
        }
    }

    static func noPolicy(_ host: String) -> ServerTrustError {
        ServerTrustError(
            .noPolicy,
            "no policy of the ServerTrustManager is for \"\(host)\": add one, \"*\" for all other hosts, or let allHostsMustBeEvaluated be false"
        )
    }

    private static func unsupported(_ trust: ServerTrust, host: String) -> ServerTrustError {
        let (wanted, option): (String, String)
        switch trust {
        case .defaultEvaluation: (wanted, option) = ("any name in its certificate will do", "--insecure-upstream \(host)")
        case .pinnedCertificates: (wanted, option) = ("its certificates are pinned", "--pin \(host)=CERTIFICATES.pem")
        case .pinnedPublicKeys(let keys, _, _):
            let pin = keys.lazy.compactMap { PublicKeyPin(digest: $0) }.first?.description ?? "sha256/DIGEST"
            (wanted, option) = ("its keys are pinned", "--pin \(host)=\(pin)")
        case .disabled: (wanted, option) = ("its certificates are not looked at", "--insecure-upstream \(host)")
        case .custom:
            return ServerTrustError(
                .unsupported,
                "the policy for \"\(host)\" is a function, and URLSession on Linux shows nobody a server's certificates: go through a TapeProxy server with that function in its TLSSettings.trust, by LiveTransport(serverTrust:route: .interceptingProxy)"
            )
        }
        return ServerTrustError(
            .unsupported,
            "the policy for \"\(host)\" is that \(wanted), and URLSession on Linux shows nobody a server's certificates: go through \"wiretape record \(option)\", with --upstream-ca FILE for an authority of your own, by LiveTransport(serverTrust:route: .interceptingProxy)"
        )
    }
}
