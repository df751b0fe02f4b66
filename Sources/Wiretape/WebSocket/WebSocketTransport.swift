internal import Foundation
internal import TapeBytes

/// Opens WebSockets (RFC 6455). A `Transport` may conform to it.
///
/// A session opens its sockets with the transport of its requests, if that conforms to this as well. The session handles the cookies,
/// adapters, retries and timeouts of the opening request.
public protocol WebSocketTransport: Sendable {
    /// Asks for a WebSocket, and returns it when the server has accepted.
    ///
    /// Called in a task that is cancelled with the opening request.
    ///
    /// - Parameters:
    ///   - request: a GET with an http or https URL, without the fields of the handshake: a transport adds Upgrade, Connection, and all whose
    ///     names begin with Sec-WebSocket.
    ///   - protocols: the subprotocols to offer, in the order of preference; tokens.
    /// - Throws: `HTTPSession.WebSocket.Refusal` if the server answers with anything but a WebSocket, a `TransportFailure` if no server is
    ///   reached. Of other errors, a `URLError` becomes the network failure that it stands for.
    func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection
}

/// The client's end of an open WebSocket.
///
/// Only one task at a time calls `receive`; any task may call `send` and the others. The connection answers pings itself. Cancelling or
/// closing the connection ends all calls that wait in it.
public protocol WebSocketConnection: Sendable {
    /// The server's answer to the opening request, with the subprotocol that it chose.
    var response: HTTPSession.Response { get }

    /// Returns when there is room for the next message.
    func send(_ message: HTTPSession.WebSocket.Message) async throws

    /// The next message, or the server's close, which is the last event. Unless this is called, only a small buffer is read from the
    /// network.
    func receive() async throws -> HTTPSession.WebSocket.Event

    /// Sends a close frame and ends the connection. Called once.
    func close(_ closing: HTTPSession.WebSocket.Closing) async

    /// Ends the connection without a close frame. May be called at any time, even after its end.
    func cancel()
}

/// A transport that carries the opening request of a WebSocket, and keeps the socket.
///
/// The session's request does the rest: headers, adapters, cookies, retries, timeouts and events.
final class SocketOpening: AsyncTransport {
    private struct State: Sendable {
        var inner: (any Transport)?
        var connection: (any WebSocketConnection)?
        var isOver = false
    }

    private let protocols: [String]
    private let state = Guarded(State())

    init(protocols: [String]) { self.protocols = protocols }

    /// The transport that the session would send the request through. Set before the request starts.
    var inner: (any Transport)? {
        get { self.state.withLock { $0.inner } }
        set { self.state.withLock { $0.inner = newValue } }
    }

    func response(to request: TransportRequest) async throws -> TransportResponse {
        do {
            let connection = try await Self.open(request, protocols: self.protocols, with: self.inner)
            self.keep(connection)
            return TransportResponse(connection.response)
        } catch let refusal as HTTPSession.WebSocket.Refusal {
            return TransportResponse(refusal.response, body: refusal.body)
        }
    }

    /// Opens a socket with a transport that may not support WebSockets.
    static func open(
        _ request: TransportRequest, protocols: [String], with transport: (any Transport)?
    ) async throws -> any WebSocketConnection {
        guard let transport = transport as? any WebSocketTransport else {
            let name = transport.map { "\(type(of: $0))" } ?? "the transport"
            throw TransportFailure(
                .unsupported,
                "\(name) opens no WebSockets, so \"\(LogURL.text(request.url))\" was not asked: replay a cassette, stub it, or use a transport that conforms to WebSocketTransport."
            )
        }
        return try await transport.open(request, protocols: protocols)
    }

    private func keep(_ connection: any WebSocketConnection) {
        let left = self.state.withLock { state -> (any WebSocketConnection)? in
            guard !state.isOver else { return connection }
            // A retry has opened another one.
            defer { state.connection = connection }
            return state.connection
        }
        left?.cancel()
    }

    var isOpen: Bool { self.state.withLock { $0.connection != nil } }

    /// The socket, once. A socket that is opened later is cancelled.
    func take() -> (any WebSocketConnection)? {
        self.state.withLock { state in
            state.isOver = true
            defer { state.connection = nil }
            return state.connection
        }
    }
}

/// The URLs of WebSockets (RFC 6455, 3). In cassettes they have the schemes of their opening requests.
enum WebSocketURL {
    private static let schemes = [(web: "http", socket: "ws"), (web: "https", socket: "wss")]

    /// `wss` as `https` and `ws` as `http`; all others as they are.
    static func web(_ url: URL) -> URL { self.replacing(url) { scheme in self.schemes.first { $0.socket == scheme }?.web } }

    /// `https` as `wss` and `http` as `ws`; all others as they are.
    static func socket(_ url: URL) -> URL { self.replacing(url) { scheme in self.schemes.first { $0.web == scheme }?.socket } }

    private static func replacing(_ url: URL, _ other: (String) -> String?) -> URL {
        guard let scheme = url.scheme, let other = other(scheme.lowercased()) else { return url }
        return URL(string: other + url.absoluteString.dropFirst(scheme.count)) ?? url
    }
}
