internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A WebSocket on the network, by a task of `URLSession`, which answers pings and reads at most one message ahead.
final class LiveSocket: WebSocketConnection {
    /// The longest message that is received, in bytes. The default of URLSession is 1 MiB.
    static let messageLimit = 16 << 20

    private struct State: Sendable {
        var opener: CheckedContinuation<Void, any Error>?
        /// The response that opened it, or why it was not opened; nil before.
        var opening: Result<HTTPSession.Response, any Error>?
        var closing: HTTPSession.WebSocket.Closing?
    }

    private let task: URLSessionWebSocketTask
    private let request: TransportRequest
    /// Retained so that its session lives as long as the socket.
    private let transport: LiveTransport
    private let state = Guarded(State())

    init(_ task: URLSessionWebSocketTask, request: TransportRequest, transport: LiveTransport) {
        self.task = task
        self.request = request
        self.transport = transport
        task.maximumMessageSize = Self.messageLimit
    }

    var number: Int { self.task.taskIdentifier }

    var response: HTTPSession.Response {
        if case .success(let response) = self.state.withLock({ $0.opening }) { return response }
        return HTTPSession.Response(url: self.request.url, status: 101)
    }

    /// Returns when the server has accepted.
    func open() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { opener in
                let known = self.state.withLock { state in
                    if state.opening == nil { state.opener = opener }
                    return state.opening
                }
                if let known { opener.resume(with: known.map { _ in }) } else { self.task.resume() }
            }
        } onCancel: {
            self.task.cancel()
        }
    }

    func send(_ message: HTTPSession.WebSocket.Message) async throws {
        switch message {
        case .text(let text): try await self.task.send(.string(text))
        case .data(let data): try await self.task.send(.data(data))
        }
    }

    func receive() async throws -> HTTPSession.WebSocket.Event {
        do {
            switch try await self.task.receive() {
            case .string(let text): return .message(.text(text))
            case .data(let data): return .message(.data(data))
            @unknown default:
                throw TransportFailure(.unsupported, "URLSession has received a message of an unknown kind: update Wiretape")
            }
        } catch {
            if let closing = self.state.withLock({ $0.closing }) { return .closed(closing) }
            guard self.task.closeCode != .invalid else { throw error }
            return .closed(Self.closing(self.task.closeCode, self.task.closeReason))
        }
    }

    func close(_ closing: HTTPSession.WebSocket.Closing) async {
        // URLSession's codes are those of RFC 6455. An application's codes are sent unchanged if URLSession's type can hold them.
        let code = closing.code.flatMap { URLSessionWebSocketTask.CloseCode(rawValue: $0.rawValue) } ?? .normalClosure
        self.task.cancel(with: code, reason: Data(closing.reason.utf8))
    }

    func cancel() { self.task.cancel() }

    // MARK: Events of URLSession, on its delegate queue

    func opened(_ chosen: String?) {
        var response = HTTPSession.Response(url: self.request.url, status: 101, reason: "Switching Protocols")
        if let head = self.task.response as? HTTPURLResponse { response.headers = ReceivedHeaders.list(head.allHeaderFields) }
        if let chosen, !chosen.isEmpty { response.headers.update(name: "Sec-WebSocket-Protocol", value: chosen) }
        self.decided(.success(response))
    }

    func closed(_ code: URLSessionWebSocketTask.CloseCode, _ reason: Data?) {
        self.state.withLock { $0.closing = Self.closing(code, reason) }
    }

    /// The task has ended.
    func ended(_ error: (any Error)?) {
        if let head = self.task.response as? HTTPURLResponse, head.statusCode != 101 {
            let headers = ReceivedHeaders.list(head.allHeaderFields)
            let response = HTTPSession.Response(url: self.request.url, status: head.statusCode, headers: headers)
            return self.decided(.failure(HTTPSession.WebSocket.Refusal(response)))
        }
        self.decided(.failure(TransportFailure(error ?? URLError(.networkConnectionLost), of: self.request, isAnswered: false)))
    }

    /// Only the first call counts.
    private func decided(_ opening: Result<HTTPSession.Response, any Error>) {
        let opener = self.state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.opening == nil else { return nil }
            state.opening = opening
            defer { state.opener = nil }
            return state.opener
        }
        opener?.resume(with: opening.map { _ in })
    }

    private static func closing(_ code: URLSessionWebSocketTask.CloseCode, _ reason: Data?) -> HTTPSession.WebSocket.Closing {
        HTTPSession.WebSocket.Closing(
            code: HTTPSession.WebSocket.CloseCode(rawValue: code.rawValue), reason: reason.map { String(decoding: $0, as: UTF8.self) } ?? ""
        )
    }
}
