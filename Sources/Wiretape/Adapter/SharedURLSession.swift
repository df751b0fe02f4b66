#if !canImport(FoundationNetworking)
internal import Foundation
internal import TapeBytes

/// Intercepts the requests of `URLSession.shared` while tests use cassettes, so that none escapes its test unnoticed.
///
/// For Apple's platforms, where that session asks classes registered with `URLProtocol`. Sessions with their own configuration are not
/// changed. The test that a request belongs to is not known here, so the request is refused, and it fails all running tests unless they
/// allow escapes. Not compiled on Apple's platforms yet.
enum SharedURLSession {
    private struct State: Sendable {
        /// Tests that use a cassette.
        var uses = 0
        var session: AdaptedSession?
        var type: LoadingProtocol.Type?
    }

    private static let state = Guarded(State())

    static func testBegins() {
        self.state.withLock { state in
            state.uses += 1
            guard state.uses == 1 else { return }
            // Created once, because classes are never freed.
            let session = state.session ?? AdaptedSession(SharedURLSessionTransport(), isInPlace: false, configuration: .ephemeral)
            let type = state.type ?? SessionProtocols.shared.add(session)
            (state.session, state.type) = (session, type)
            _ = URLProtocol.registerClass(type)
        }
    }

    static func testEnds() {
        self.state.withLock { state in
            state.uses -= 1
            if state.uses == 0, let type = state.type { URLProtocol.unregisterClass(type) }
        }
    }
}

/// Refuses requests that escape a test; otherwise asks the network, as `URLSession.shared` would.
private struct SharedURLSessionTransport: Transport {
    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let scopes = CassetteScopes.shared
        guard scopes.refuses else { return LiveTransport.shared.start(request, receive: receive) }
        return EscapedTransport(scopes: scopes, reason: .unknown).start(request, receive: receive)
    }
}
#endif
