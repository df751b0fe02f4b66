public import Foundation
internal import TapeBytes

extension HTTPSession {
    /// An open WebSocket (RFC 6455).
    ///
    ///     let socket = try await session.webSocket("wss://example.test/prices")
    ///     try await socket.send(#"{"op": "subscribe"}"#)
    ///     for try await message in socket.messages {
    ///         print(message.text ?? "\(message.data.count) bytes")
    ///     }
    ///     print(socket.closeCode ?? "none", socket.closeReason)
    ///
    /// Any task may send, but only one at a time may receive. Cancelling a task that sends or receives ends the socket, and so does
    /// releasing the socket. The session's timeouts apply only to the opening: an open socket may be silent for any time.
    public final class WebSocket: Sendable {
        /// The server's answer to the opening request.
        public let response: Response
        private let connection: any WebSocketConnection
        private let request: TransportRequest
        private let state = Guarded(State())

        private struct State: Sendable {
            var isReceiving = false
            /// From the side that closed first.
            var closing: Closing?
            var failure: WiretapeError?
            /// Why a message was not sent. Messages and a close that the server sent before it left can still be received.
            var sendFailure: WiretapeError?
        }

        init(_ connection: any WebSocketConnection, request: TransportRequest) {
            self.connection = connection
            self.response = connection.response
            self.request = request
        }

        deinit { self.connection.cancel() }

        /// The subprotocol that the server has chosen from the offered ones; nil if it chose none.
        public var negotiatedProtocol: String? { self.response.headers.value(for: "Sec-WebSocket-Protocol") }

        /// The code with which the socket was closed, from the side that closed it first; nil before, and if no code was given.
        public var closeCode: CloseCode? { self.state.withLock { $0.closing?.code } }

        /// Why the socket was closed; empty before, and if no reason was given.
        public var closeReason: String { self.state.withLock { $0.closing?.reason ?? "" } }

        /// Whether one side has closed the socket, or the connection has ended without a close.
        public var isClosed: Bool { self.state.withLock { $0.closing != nil || $0.failure != nil || $0.sendFailure != nil } }

        // MARK: Sending

        /// Sends a text message. Returns when there is room for the next one.
        public func send(_ text: String) async throws(WiretapeError) { try await self.send(.text(text)) }

        /// Sends a binary message. Returns when there is room for the next one.
        public func send(_ data: Data) async throws(WiretapeError) { try await self.send(.data(data)) }

        /// - Throws: with the code `webSocket` after the socket was closed, or the error that ended the socket.
        public func send(_ message: Message) async throws(WiretapeError) {
            let (failure, isClosed) = self.state.withLock { ($0.failure ?? ($0.closing == nil ? $0.sendFailure : nil), $0.closing != nil) }
            if let failure { throw failure }
            guard !isClosed else {
                throw WiretapeError(.webSocket, "\(self.name) is closed, so nothing was sent: open another one")
            }
            do {
                try await withTaskCancellationHandler {
                    try await self.connection.send(message)
                } onCancel: {
                    self.cancel()
                }
            } catch {
                throw self.unsent(by: error)
            }
        }

        private func unsent(by error: any Error) -> WiretapeError {
            let error = WiretapeError(TransportFailure(error, of: self.request, isAnswered: true))
            return self.state.withLock { state in
                if let failure = state.failure { return failure }
                state.sendFailure = state.sendFailure ?? error
                return error
            }
        }

        // MARK: Receiving

        /// The server's messages, until the socket is closed. Each is read when it is asked for, and goes to one reader: the next loop
        /// continues where the last one stopped.
        public var messages: Messages { Messages(socket: self) }

        /// The server's next message; nil once the socket is closed.
        ///
        /// - Throws: with the code `webSocket` if another task is receiving, or the error that ended the socket.
        public func receive() async throws(WiretapeError) -> Message? {
            enum Turn { case receive, over, busy, broken(WiretapeError) }
            let turn = self.state.withLock { state -> Turn in
                if let failure = state.failure { return .broken(failure) }
                if state.closing != nil { return .over }
                if state.isReceiving { return .busy }
                state.isReceiving = true
                return .receive
            }
            switch turn {
            case .broken(let failure): throw failure
            case .over: return nil
            case .busy:
                throw WiretapeError(.webSocket, "two tasks receive from \(self.name) at once: receive in one, and pass the messages on")
            case .receive: break
            }
            defer { self.state.withLock { $0.isReceiving = false } }
            do {
                let event = try await withTaskCancellationHandler {
                    try await self.connection.receive()
                } onCancel: {
                    self.cancel()
                }
                switch event {
                case .message(let message): return message
                case .closed(let closing):
                    self.state.withLock { $0.closing = $0.closing ?? closing }
                    return nil
                }
            } catch {
                // Closing the socket on this side ends a waiting `receive`.
                if self.state.withLock({ $0.closing != nil && $0.failure == nil }) { return nil }
                throw self.broken(by: error)
            }
        }

        // MARK: Ending

        /// Closes the socket. Messages that the server sends from then on are dropped. Does nothing after the end.
        ///
        /// - Parameter reason: at most 123 bytes are sent (RFC 6455, 5.5); the rest is cut off.
        public func close(code: CloseCode = .normal, reason: String = "") async {
            let closing = Closing(code: code, reason: Closing.cut(reason))
            let isFirst = self.state.withLock { state in
                guard state.closing == nil, state.failure == nil else { return false }
                state.closing = closing
                return true
            }
            if isFirst { await self.connection.close(closing) }
        }

        /// Ends the socket without a close frame: waiting calls fail with the code `cancelled`. Does nothing after the end.
        public func cancel() {
            let isFirst = self.state.withLock { state in
                guard state.closing == nil, state.failure == nil else { return false }
                state.failure = WiretapeError(TransportFailure.cancelled("\(self.name) was cancelled"))
                return true
            }
            if isFirst { self.connection.cancel() }
        }

        /// The first error counts.
        private func broken(by error: any Error) -> WiretapeError {
            let error = WiretapeError(TransportFailure(error, of: self.request, isAnswered: true))
            return self.state.withLock { state in
                let failure = state.failure ?? error
                state.failure = failure
                return failure
            }
        }

        private var name: String { "the WebSocket \"\(LogURL.text(WebSocketURL.socket(self.request.url)))\"" }
    }
}

extension HTTPSession.WebSocket {
    /// A whole message of either side.
    public enum Message: Sendable, Hashable {
        case text(String)
        case data(Data)

        /// Nil for a binary message.
        public var text: String? { if case .text(let text) = self { text } else { nil } }

        /// The bytes of either kind.
        public var data: Data {
            switch self {
            case .text(let text): Data(text.utf8)
            case .data(let data): data
            }
        }
    }

    /// An event from the server.
    public enum Event: Sendable, Hashable {
        case message(Message)
        /// The last event.
        case closed(Closing)
    }

    /// The messages of a server.
    public struct Messages: AsyncSequence, Sendable {
        public typealias Element = Message

        fileprivate let socket: HTTPSession.WebSocket

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(socket: self.socket) }

        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            fileprivate let socket: HTTPSession.WebSocket

            /// - Throws: a `WiretapeError`, as `receive` does.
            public func next() async throws -> Message? { try await self.socket.receive() }
        }
    }

    /// How a side closes a socket (RFC 6455, 5.5.1).
    public struct Closing: Sendable, Hashable {
        /// Nil if the close frame has no code.
        public var code: CloseCode?
        public var reason: String

        public init(code: CloseCode? = nil, reason: String = "") {
            self.code = code
            self.reason = reason
        }

        /// The longest beginning that fits into a close frame, in whole characters.
        static func cut(_ reason: String) -> String {
            var (size, end) = (0, reason.startIndex)
            for index in reason.indices {
                size += String(reason[index]).utf8.count
                guard size <= Self.reasonLimit else { return String(reason[..<end]) }
                end = reason.index(after: index)
            }
            return reason
        }

        /// In bytes: a control frame has 125 (RFC 6455, 5.5), of which two are the code.
        private static let reasonLimit = 123
    }

    /// Why a socket is closed (RFC 6455, 7.4).
    public struct CloseCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: Int

        /// Nil for numbers that no close frame has (RFC 6455, 7.4): below 1000, above 4999, and 1004, 1005, 1006 and 1015.
        public init?(rawValue: Int) {
            guard (1000...4999).contains(rawValue), ![1004, 1005, 1006, 1015].contains(rawValue) else { return nil }
            self.rawValue = rawValue
        }

        private init(_ rawValue: Int) { self.rawValue = rawValue }

        public static let normal = Self(1000)
        public static let goingAway = Self(1001)
        public static let protocolError = Self(1002)
        public static let unsupportedData = Self(1003)
        public static let invalidText = Self(1007)
        public static let policyViolation = Self(1008)
        public static let messageTooBig = Self(1009)
        public static let missingExtension = Self(1010)
        public static let serverError = Self(1011)

        public var description: String { String(self.rawValue) }
    }

    /// A server's answer that does not open a WebSocket, such as one with the status 401.
    public struct Refusal: Error, Sendable {
        public var response: HTTPSession.Response
        public var body: Data

        public init(_ response: HTTPSession.Response, body: Data = Data()) {
            self.response = response
            self.body = body
        }
    }
}
