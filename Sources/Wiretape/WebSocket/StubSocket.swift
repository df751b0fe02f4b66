internal import CassettePlayback
public import Foundation
internal import TapeBytes

extension StubTransport {
    /// The server's end of a stubbed WebSocket.
    ///
    ///     let transport = StubTransport { _ in
    ///         .webSocket { socket in
    ///             while let message = try await socket.receive() { try await socket.send("echo: \(message.text ?? "")") }
    ///         }
    ///     }
    public struct Socket: Sendable {
        /// The opening request, with an `https` URL for a `wss` one.
        public let request: TransportRequest
        /// The subprotocols that the client offers.
        public let protocols: [String]
        fileprivate let toClient: SocketPipe
        fileprivate let fromClient: SocketPipe

        /// Sends a text message. Waits while 16 messages are waiting for the client.
        public func send(_ text: String) async throws { try await self.send(.text(text)) }

        /// Sends a binary message. Waits while 16 messages are waiting for the client.
        public func send(_ data: Data) async throws { try await self.send(.data(data)) }

        public func send(_ message: HTTPSession.WebSocket.Message) async throws { try await self.toClient.push(message) }

        /// The client's next message; nil once it has closed the socket.
        ///
        /// - Throws: a `TransportFailure` of the kind `cancelled` if the client has cancelled the socket.
        public func receive() async throws -> HTTPSession.WebSocket.Message? {
            switch try await self.fromClient.next() {
            case .message(let message): message
            case .closed: nil
            }
        }

        /// Closes the socket after the messages already sent. Without this call, the socket is closed with the code 1000 when the stub's
        /// closure returns.
        public func close(code: HTTPSession.WebSocket.CloseCode = .normal, reason: String = "") {
            self.toClient.end(.closed(HTTPSession.WebSocket.Closing(code: code, reason: HTTPSession.WebSocket.Closing.cut(reason))))
        }
    }
}

extension StubTransport.Rule {
    /// Answers the opening requests of a URL with a WebSocket. The closure is its server's end.
    ///
    ///     settings.stubs = [
    ///         .webSocket("wss://example.test/prices") { socket in try await socket.send("31.4") }
    ///     ]
    ///
    /// - Parameters:
    ///   - url: without a fragment; nil for all.
    ///   - chosen: the subprotocol that the server chooses.
    ///   - serve: see `StubResponse.webSocket`.
    public static func webSocket(
        _ url: String? = nil, protocol chosen: String? = nil, serve: @escaping @Sendable (StubTransport.Socket) async throws -> Void
    ) -> Self {
        let wanted = url.map { text in URL(string: text).map { WebSocketURL.web($0).absoluteString } ?? text }
        return Self(
            { request in wanted.map { $0 == RequestDecider.url(of: request) } ?? true },
            respond: { _ in .webSocket(protocol: chosen, serve: serve) })
    }
}

extension StubResponse {
    /// A WebSocket. The closure is its server's end.
    ///
    /// - Parameters:
    ///   - chosen: the subprotocol that the server chooses.
    ///   - serve: runs in a task of its own, which is cancelled when the client cancels the socket. The socket is closed when the closure
    ///     returns. If the closure throws, the socket fails. The client sees a thrown `TransportFailure` as it is.
    public static func webSocket(
        protocol chosen: String? = nil, serve: @escaping @Sendable (StubTransport.Socket) async throws -> Void
    ) -> Self {
        let problem = "the stub answers with a WebSocket, which this request does not ask for: open it with HTTPSession.webSocket(_:)."
        var response = Self(
            status: nil, ending: .failure(TransportFailure(.unserved(UnservedAnswer(index: nil, problem: problem)), problem)))
        response.socket = StubSocketServer(chosen: chosen, serve: serve)
        return response
    }

    func open(
        _ request: TransportRequest, protocols: [String], clock: any Clock<Duration>
    ) async throws -> any WebSocketConnection {
        if self.delay > .zero { try await ElapsedClock(clock).sleep(for: self.delay) }
        if let socket { return StubConnection(socket, request, protocols, headers: self.headers) }
        guard let status = self.status else {
            switch self.ending {
            case .failure(let failure): throw failure
            case .end, .hang: return try await Self.never()
            }
        }
        let head = HTTPSession.Response(url: request.url, status: status, reason: self.reason, headers: self.headers, source: .stub)
        throw HTTPSession.WebSocket.Refusal(head, body: self.chunks.reduce(into: Data()) { $0 += $1.data })
    }

    /// Waits until the task is cancelled.
    private static func never() async throws -> any WebSocketConnection {
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
}

/// The server's end of a stubbed WebSocket before it is opened.
struct StubSocketServer: Sendable {
    let chosen: String?
    let serve: @Sendable (StubTransport.Socket) async throws -> Void
}

/// The client's end of a stubbed WebSocket.
private final class StubConnection: WebSocketConnection {
    let response: HTTPSession.Response
    private let toClient = SocketPipe()
    private let fromClient = SocketPipe()
    private let server: Task<Void, Never>

    init(_ server: StubSocketServer, _ request: TransportRequest, _ protocols: [String], headers: HTTPSession.Headers) {
        var fields = headers
        fields.update(name: "Upgrade", value: "websocket")
        fields.update(name: "Connection", value: "Upgrade")
        if let chosen = server.chosen { fields.update(name: "Sec-WebSocket-Protocol", value: chosen) }
        self.response = HTTPSession.Response(
            url: request.url, status: 101, reason: "Switching Protocols", headers: fields, source: .stub)
        let (toClient, fromClient) = (self.toClient, self.fromClient)
        let socket = StubTransport.Socket(request: request, protocols: protocols, toClient: toClient, fromClient: fromClient)
        self.server = Task {
            do {
                try await server.serve(socket)
                let closing = HTTPSession.WebSocket.Closing(code: .normal)
                toClient.end(.closed(closing))
                // Nobody is left to receive.
                fromClient.end(.closed(closing), drops: true)
            } catch {
                let failure =
                    error as? TransportFailure
                    ?? TransportFailure(
                        .network(.truncated), "the stub's closure has broken the WebSocket \"\(LogURL.text(request.url))\" off: \(error)",
                        cause: error)
                toClient.end(.failed(failure))
                fromClient.end(.failed(failure), drops: true)
            }
        }
    }

    func send(_ message: HTTPSession.WebSocket.Message) async throws { try await self.fromClient.push(message) }

    func receive() async throws -> HTTPSession.WebSocket.Event { try await self.toClient.next() }

    func close(_ closing: HTTPSession.WebSocket.Closing) async {
        self.fromClient.end(.closed(closing))
        self.toClient.end(.closed(closing), drops: true)
    }

    func cancel() {
        self.fromClient.end(.failed(.cancelled()), drops: true)
        self.toClient.end(.failed(.cancelled()), drops: true)
        self.server.cancel()
    }
}

/// Passes messages from one task to another, in order. A task that sends waits while the pipe holds as many messages as the limit.
final class SocketPipe: Sendable {
    enum End: Sendable {
        case closed(HTTPSession.WebSocket.Closing)
        case failed(TransportFailure)
    }

    private typealias Event = HTTPSession.WebSocket.Event

    private struct State {
        var messages: [HTTPSession.WebSocket.Message] = []
        var end: End?
        var reader: CheckedContinuation<Event, any Error>?
        var writers: [CheckedContinuation<Void, Never>] = []
    }

    static let limit = 16

    private let state = Guarded(State())

    /// Tasks that wait for room.
    var writerCount: Int { self.state.withLock { $0.writers.count } }

    /// - Throws: `TransportFailure` if the pipe has ended.
    func push(_ message: HTTPSession.WebSocket.Message) async throws {
        enum Next { case done, wait, hand(CheckedContinuation<Event, any Error>), ended(End) }
        while true {
            let next = self.state.withLock { state -> Next in
                if let end = state.end { return .ended(end) }
                if let reader = state.reader {
                    state.reader = nil
                    return .hand(reader)
                }
                guard state.messages.count < Self.limit else { return .wait }
                state.messages.append(message)
                return .done
            }
            switch next {
            case .done: return
            case .hand(let reader): return reader.resume(returning: .message(message))
            case .ended(.failed(let failure)): throw failure
            case .ended(.closed): throw TransportFailure(.network(.reset), "the other side has closed the WebSocket, so nothing was sent")
            case .wait: await self.waitForRoom()
            }
        }
    }

    private func waitForRoom() async {
        await withCheckedContinuation { writer in
            let waits = self.state.withLock { state in
                guard state.end == nil, state.messages.count >= Self.limit else { return false }
                state.writers.append(writer)
                return true
            }
            if !waits { writer.resume() }
        }
    }

    /// Called by one task at a time.
    func next() async throws -> HTTPSession.WebSocket.Event {
        try await withCheckedThrowingContinuation { reader in
            let (result, writers) = self.state.withLock { state -> (Result<Event, any Error>?, [CheckedContinuation<Void, Never>]) in
                if !state.messages.isEmpty {
                    let message = state.messages.removeFirst()
                    defer { state.writers = [] }
                    return (.success(.message(message)), state.writers)
                }
                if let end = state.end { return (Self.result(end), []) }
                state.reader = reader
                return (nil, [])
            }
            for writer in writers { writer.resume() }
            if let result { reader.resume(with: result) }
        }
    }

    /// Only the first end counts.
    ///
    /// - Parameter drops: whether messages still in the pipe are dropped.
    func end(_ end: End, drops: Bool = false) {
        let (reader, writers, last) = self.state.withLock { state in
            if drops { state.messages = [] }
            let last = state.end ?? end
            state.end = last
            defer { (state.reader, state.writers) = (nil, []) }
            return (state.reader, state.writers, last)
        }
        for writer in writers { writer.resume() }
        reader?.resume(with: Self.result(last))
    }

    private static func result(_ end: End) -> Result<Event, any Error> {
        switch end {
        case .closed(let closing): .success(.closed(closing))
        case .failed(let failure): .failure(failure)
        }
    }
}
