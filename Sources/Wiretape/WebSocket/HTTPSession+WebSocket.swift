internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension HTTPSession {
    /// Opens a WebSocket.
    ///
    ///     let socket = try await session.webSocket("wss://example.test/prices", protocols: ["prices.v2"])
    ///
    /// The opening is a request of the session: a GET with the session's headers and cookies. Adapters change it, retriers send it again,
    /// timeouts limit it, and the cassette answers it. There, a `wss` URL becomes an `https` one, and `ws` becomes `http`.
    ///
    /// - Parameters:
    ///   - url: a `wss` or `ws` URL; a path is appended to the configuration's `baseURL`.
    ///   - protocols: subprotocols to offer, in the order of preference; see `WebSocket.negotiatedProtocol`.
    /// - Throws: with the code `validation` for an answer that does not open a WebSocket, such as one with the status 401, and
    ///   `unsupported` where the network cannot open any.
    public func webSocket(
        _ url: any URLConvertible, protocols: [String] = [], headers: Headers? = nil, interceptor: (any RequestInterceptor)? = nil
    ) async throws(WiretapeError) -> WebSocket {
        try await self.open(.plain(url, .get, headers, nil), protocols, interceptor)
    }

    /// Opens a WebSocket with a `URLRequest` or a router.
    public func webSocket(
        _ request: any URLRequestConvertible, protocols: [String] = [], interceptor: (any RequestInterceptor)? = nil
    ) async throws(WiretapeError) -> WebSocket {
        try await self.open(.converted(request, spoolFolder: nil), protocols, interceptor)
    }

    private func open(
        _ source: RequestSource, _ protocols: [String], _ interceptor: (any RequestInterceptor)?
    ) async throws(WiretapeError) -> WebSocket {
        let opening = SocketOpening(protocols: protocols)
        let request = DataRequest(
            core: self.core, source: source.opening(protocols), interceptor: interceptor, sink: .memory, carrier: opening)
        request.validate { request, response, body in
            guard !opening.isOpen else { return }
            throw ValidationError(
                .unacceptableStatus, status: response.status, body,
                "\(request?.url.map { "\"\(LogURL.text(WebSocketURL.socket($0)))\"" } ?? "the server") answered with the status \(response.status) instead of a WebSocket: look at the body, the headers that were sent and the URL"
            )
        }
        // Start it even in a session whose requests wait for `resume`, since nobody else has this request.
        request.resume()
        let outcome = await withTaskCancellationHandler {
            await request.outcome()
        } onCancel: {
            request.cancel()
        }
        let connection = opening.take()
        if let error = outcome.error {
            connection?.cancel()
            throw error
        }
        guard let connection, let sent = request.sentRequest else {
            throw WiretapeError(.unsupported, "the transport ended without a WebSocket: return one from open(_:protocols:)")
        }
        return WebSocket(connection, request: sent)
    }
}

extension RequestSource {
    /// The opening request of a WebSocket.
    fileprivate func opening(_ protocols: [String]) -> RequestSource {
        RequestSource(isBlocking: self.isBlocking) { base in
            var draft = try self.make(base)
            let url = draft.request.url
            draft.request.url = WebSocketURL.web(url)
            guard draft.request.method == "GET", !draft.request.body.isPresent else {
                throw WiretapeError(
                    .invalidRequest, "\"\(LogURL.text(url))\" is opened by GET without a body (RFC 6455, 4.1): leave method and body out")
            }
            for (index, name) in protocols.enumerated() {
                guard !name.isEmpty, name.utf8.allSatisfy(HTTPSession.Headers.isTokenCharacter), !protocols[..<index].contains(name) else {
                    throw WiretapeError(
                        .invalidRequest,
                        "\"\(name)\" cannot be a subprotocol of \"\(LogURL.text(url))\": use letters, digits and dashes, and each once")
                }
            }
            return draft
        }
    }
}
