internal import CassetteModel
internal import Foundation
internal import TapeBytes
internal import TapeExchange

/// The bytes to and from one peer.
package protocol ByteStream: Sendable {
    /// The next bytes; nil at their end. Called by one task at a time.
    func read() async throws -> [UInt8]?
    /// Returns when there is room for more.
    func write(_ bytes: [UInt8]) async throws
    /// Ends both directions. What was written before is still sent.
    func close() async
    /// Ends the connection abruptly; waiting calls fail. May be called at any time.
    func cancel()
}

/// A client's WebSocket over a stream of bytes (RFC 6455), for networks other than URLSession's.
///
/// Offers permessage-deflate (RFC 7692) for the server's messages, and sends its own messages uncompressed. Reads nothing unless `receive`
/// is called, so that a server that sends faster than its client reads has to wait.
package actor WireSocket: WebSocketConnection {
    /// The longest message that is received, in bytes, as with URLSession.
    private static let messageLimit = LiveSocket.messageLimit
    /// How many bytes of a refusal's body are kept.
    private static let refusalLimit = 1 << 20

    package nonisolated let response: HTTPSession.Response
    private let stream: any ByteStream
    private var reader: WebSocketReader
    private var writer = WebSocketWriter(.client)
    private var events: [HTTPSession.WebSocket.Event] = []
    /// The blocks of a message that is longer than one block.
    private var begun: [UInt8] = []
    /// Replies to send before anything else is received.
    private var replies: [UInt8] = []
    private var failure: TransportFailure?
    /// A close was sent: nothing follows it (RFC 6455, 5.5.1).
    private var isClosed = false

    /// - Parameter bytes: the bytes received after the head of the response.
    private init(_ response: HTTPSession.Response, _ agreement: WebSocketAgreement, over stream: any ByteStream, bytes: [UInt8]) {
        self.response = response
        self.stream = stream
        self.reader = WebSocketReader(.server, stand: .client, agreement: agreement)
        self.pending = bytes
    }

    /// Received bytes that were not parsed yet.
    private var pending: [UInt8]

    // MARK: Opening

    /// Opens a WebSocket on a stream that was connected for it, and closes the stream if the server refuses.
    package static func open(
        _ request: TransportRequest, protocols: [String], over stream: any ByteStream
    ) async throws -> WireSocket {
        try await withTaskCancellationHandler {
            do {
                return try await self.opened(request, protocols, stream)
            } catch {
                stream.cancel()
                throw error
            }
        } onCancel: {
            stream.cancel()
        }
    }

    private static func opened(
        _ request: TransportRequest, _ protocols: [String], _ stream: any ByteStream
    ) async throws -> WireSocket {
        var generator = SystemRandomNumberGenerator()
        let key = WebSocketHandshake.key(using: &generator)
        let fields = self.fields(of: request, key: key, protocols)
        var question = Array("GET \(self.target(of: request.url)) HTTP/1.1\r\n".utf8)
        for index in 0..<fields.count { question += fields.line(at: index) + [13, 10] }
        try await stream.write(question + [13, 10])
        let (head, rest) = try await self.head(stream, of: request)
        let response = HTTPSession.Response(
            url: request.url, status: head.status, reason: String(decoding: head.reason, as: UTF8.self),
            headers: HTTPSession.Headers(head.fields))
        guard head.status == 101 else {
            throw HTTPSession.WebSocket.Refusal(response, body: Data(await self.body(of: response, rest, stream)))
        }
        let agreement = WebSocketAgreement(offer: fields, answer: head.fields)
        if let problem = self.problem(head, key: key, protocols, agreement) { throw self.malformed(problem, request) }
        return WireSocket(response, agreement, over: stream, bytes: rest)
    }

    private static func fields(of request: TransportRequest, key: String, _ protocols: [String]) -> HeaderFields {
        var fields = HeaderFields()
        if !request.headers.contains(name: "Host") {
            fields.append(name: "Host", value: "\(request.url.host ?? "")\(request.url.port.map { ":\($0)" } ?? "")")
        }
        for header in request.headers where !self.ownFields.contains(header.name.lowercased()) {
            fields.append(name: header.name, value: header.value)
        }
        fields.append(name: "Upgrade", value: "websocket")
        fields.append(name: "Connection", value: "Upgrade")
        fields.append(name: "Sec-WebSocket-Key", value: key)
        fields.append(name: "Sec-WebSocket-Version", value: "13")
        fields.append(name: "Sec-WebSocket-Extensions", value: "permessage-deflate")
        if !protocols.isEmpty { fields.append(name: "Sec-WebSocket-Protocol", value: protocols.joined(separator: ", ")) }
        return fields
    }

    private static let ownFields: Set<String> = [
        "upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions", "sec-websocket-protocol",
    ]

    /// In origin form (RFC 9112, 3.2.1).
    private static func target(of url: URL) -> String {
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let path = components?.percentEncodedPath ?? ""
        return (path.isEmpty ? "/" : path) + (components?.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    /// The final response's head, and the bytes after it.
    private static func head(
        _ stream: any ByteStream, of request: TransportRequest
    ) async throws -> (head: ResponseHead, rest: [UInt8]) {
        var parser = HeadParser()
        var bytes: [UInt8] = []
        while let piece = try await stream.read() {
            bytes += piece
            while let parsed = try self.parse(bytes, &parser, request) {
                bytes.removeFirst(parsed.consumed)
                // Interim responses are ignored.
                if parsed.head.status >= 200 || parsed.head.status == 101 { return (parsed.head, bytes) }
            }
        }
        throw TransportFailure(
            .network(.reset),
            "GET to \"\(request.url.host ?? "")\" failed: the connection was closed before a response came; send it again")
    }

    private static func parse(
        _ bytes: [UInt8], _ parser: inout HeadParser, _ request: TransportRequest
    ) throws(TransportFailure) -> Parsed<ResponseHead>? {
        do {
            return try bytes.withUnsafeBytes { try parser.parseResponse($0) }
        } catch {
            throw self.malformed("the response is not valid HTTP: \((error as? MessageError)?.message ?? "\(error)")", request)
        }
    }

    /// The body of a refusal that has a length; other bodies are left out.
    private static func body(of response: HTTPSession.Response, _ rest: [UInt8], _ stream: any ByteStream) async -> [UInt8] {
        guard let size = response.bodySize, size <= Self.refusalLimit else { return [] }
        var body = rest
        while body.count < Int(size), let piece = try? await stream.read() { body += piece }
        return Array(body.prefix(Int(size)))
    }

    /// Why an answer with the status 101 opens no WebSocket (RFC 6455, 4.1); nil if it does.
    private static func problem(
        _ head: ResponseHead, key: String, _ protocols: [String], _ agreement: WebSocketAgreement
    ) -> String? {
        guard WebSocketHandshake.isOpened(by: head) else { return "the response does not upgrade to a WebSocket" }
        guard head.fields.values("sec-websocket-accept") == [WebSocketHandshake.accept(for: key)] else {
            return "the response has not the Sec-WebSocket-Accept of this request"
        }
        if let name = agreement.unknown.first { return "the server uses the extension \"\(name)\", which was not offered" }
        let chosen = head.fields.values("sec-websocket-protocol")
        guard chosen.count <= 1, chosen.allSatisfy(protocols.contains) else {
            return "the server has chosen the subprotocol \"\(chosen.joined(separator: ", "))\", which was not offered"
        }
        return nil
    }

    private static func malformed(_ problem: String, _ request: TransportRequest) -> TransportFailure {
        TransportFailure(.network(.malformed), "the WebSocket to \"\(request.url.host ?? "")\" failed: \(problem)")
    }

    // MARK: Messages

    package func send(_ message: HTTPSession.WebSocket.Message) async throws {
        guard !self.isClosed else {
            throw TransportFailure(.network(.reset), "the WebSocket was closed, so the message was not sent: open another one")
        }
        var bytes: [UInt8] = []
        message.data.withUnsafeBytes { self.writer.message(message.text != nil, $0, to: &bytes) }
        try await self.stream.write(bytes)
    }

    package func receive() async throws -> HTTPSession.WebSocket.Event {
        while true {
            if !self.replies.isEmpty {
                let replies = self.replies
                self.replies = []
                try? await self.stream.write(replies)
            }
            if !self.events.isEmpty {
                let event = self.events.removeFirst()
                if case .closed = event { await self.stream.close() }
                return event
            }
            if let failure {
                await self.stream.close()
                throw failure
            }
            if !self.pending.isEmpty {
                let bytes = self.pending
                self.pending = []
                self.take(bytes)
            } else if let bytes = try await self.stream.read() {
                self.take(bytes)
            } else {
                throw TransportFailure(
                    .network(.truncated), "the server has closed the connection of the WebSocket without a close frame; open another one")
            }
        }
    }

    private func take(_ bytes: [UInt8]) {
        var found: [WebSocketEvent] = []
        bytes.withUnsafeBytes { self.reader.read($0) { found.append($0) } }
        for event in found where self.failure == nil {
            switch event {
            case .block(let bytes, _):
                self.begun += bytes
                if self.begun.count > Self.messageLimit { self.failTooLong() }
            case .message(let message): self.take(message)
            case .failed(let problem): self.fail("the server breaks the rules of WebSockets: \(problem.message)", .protocolError)
            }
        }
    }

    private func take(_ message: TapedMessage) {
        switch message.kind {
        case .text, .binary:
            let bytes = self.begun + message.bytes
            self.begun = []
            guard bytes.count <= Self.messageLimit else { return self.failTooLong() }
            guard message.isComplete else {
                return self.fail("a message of the WebSocket cannot be read: \(message.note ?? "it was cut")", .protocolError)
            }
            guard message.kind == .text else { return self.events.append(.message(.data(Data(bytes)))) }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                return self.fail("a text message of the WebSocket is not UTF-8 (RFC 6455, 8.1)", .invalidText)
            }
            self.events.append(.message(.text(text)))
        case .ping:
            if !self.isClosed { self.writer.control(false, message.bytes, to: &self.replies) }
        case .pong: break
        case .close:
            let close = WebSocketClose(payload: message.bytes)
            if !self.isClosed {
                self.isClosed = true
                self.writer.close(payload: Array(message.bytes.prefix(2)), to: &self.replies)
            }
            self.events.append(
                .closed(
                    HTTPSession.WebSocket.Closing(
                        code: close.code.flatMap { HTTPSession.WebSocket.CloseCode(rawValue: $0) },
                        reason: String(decoding: close.reason, as: UTF8.self))))
        }
    }

    private func failTooLong() {
        self.fail("a message of the WebSocket has more than \(Self.messageLimit >> 20) MiB, the most that is received", .messageTooBig)
    }

    /// Messages that came before can still be received.
    private func fail(_ problem: String, _ code: HTTPSession.WebSocket.CloseCode) {
        self.failure = TransportFailure(.network(.malformed), problem)
        guard !self.isClosed else { return }
        self.isClosed = true
        self.writer.close(code.rawValue, to: &self.replies)
    }

    // MARK: Ending

    package func close(_ closing: HTTPSession.WebSocket.Closing) async {
        if !self.isClosed {
            self.isClosed = true
            var bytes: [UInt8] = []
            self.writer.close(closing.code?.rawValue, reason: closing.reason, to: &bytes)
            try? await self.stream.write(bytes)
        }
        await self.stream.close()
    }

    package nonisolated func cancel() { self.stream.cancel() }
}
