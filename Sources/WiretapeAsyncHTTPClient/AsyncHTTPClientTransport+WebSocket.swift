#if AsyncHTTPClient
public import Wiretape

extension AsyncHTTPClientTransport: WebSocketTransport {
    /// Opens a WebSocket on a connection of its own, with the roots, pins and identity of the configuration.
    ///
    /// - Throws: `TransportFailure` of the kind `unsupported` if this transport has a client of the caller's, whose settings cannot be read.
    public func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        guard let connections = self.connections else {
            throw TransportFailure(
                .unsupported,
                "the settings of an HTTPClient are not known here, so no WebSocket was opened: make the transport with AsyncHTTPClientTransport(configuration:)"
            )
        }
        do {
            return try await WireSocket.open(request, protocols: protocols, over: connections.connect(request))
        } catch let refusal as HTTPSession.WebSocket.Refusal {
            throw refusal
        } catch {
            throw NetworkError.failure(error, of: request, isAnswered: false)
        }
    }
}
#endif
