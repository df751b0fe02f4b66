internal import LocalHTTP
internal import NIOCore
internal import NIOPosix

/// What the connections of an inspector share.
///
/// Not Sendable: lives on its event loop.
final class InspectorContext {
    /// A browser opens six to a server, and a few pages may be open.
    static let connectionLimit = 64

    let gate: LocalGate
    let service: InspectorService
    let feed: InspectorFeed
    let threads: NIOThreadPool
    private var connections: [ObjectIdentifier: InspectorHandler] = [:]

    init(gate: LocalGate, service: InspectorService, feed: InspectorFeed, threads: NIOThreadPool) {
        self.gate = gate
        self.service = service
        self.feed = feed
        self.threads = threads
    }

    var isFull: Bool { self.connections.count > Self.connectionLimit }

    func add(_ connection: InspectorHandler) { self.connections[ObjectIdentifier(connection)] = connection }
    func remove(_ connection: InspectorHandler) { self.connections[ObjectIdentifier(connection)] = nil }
    func close() { for connection in self.connections.values { connection.end() } }
}

/// One connection of a page: requests one after the other, each with a whole answer, one in pieces, or the events of the feed.
///
/// Not Sendable: lives on its event loop.
final class InspectorHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case reading, answering
        case streaming(Piecewise)
        case following(listener: Int)
        /// The answer is out, and nothing more is read.
        case lingering
    }

    /// Seconds for a request to be whole, from its first byte.
    private static let requestTime: Int64 = 10
    /// Seconds without a request.
    private static let idleTime: Int64 = 120
    /// Seconds that a client has to read a refusal.
    private static let lingerTime: Int64 = 2
    /// Bytes of a body: an edited exchange.
    private static let bodyLimit = 16 << 20

    private let inspector: InspectorContext
    private var reader: LocalRequestReader
    private var phase = Phase.reading
    private var keepsAlive = true
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    /// Input that came while an answer was being made.
    private var waiting = ByteBuffer()
    /// The number of the last tick that was written.
    private var seenTick = 0

    init(inspector: InspectorContext) {
        self.inspector = inspector
        self.reader = LocalRequestReader(gate: inspector.gate, bodyLimit: Self.bodyLimit)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.inspector.add(self)
        self.setDeadline(Self.requestTime)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.deadline?.cancel()
        if case .following(let listener) = self.phase { self.inspector.feed.forget(listener) }
        self.phase = .lingering
        self.context = nil
        self.inspector.remove(self)
    }

    func channelActive(context: ChannelHandlerContext) {
        if self.inspector.isFull { self.send(Self.tooManyConnections) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        guard case .reading = self.phase else {
            // A request that comes before the answer to the one before; a client that sends without end is cut off.
            self.waiting.writeBuffer(&bytes)
            if self.waiting.readableBytes > Self.bodyLimit { self.close() }
            return
        }
        if self.reader.isIdle { self.setDeadline(Self.requestTime) }
        self.take(self.reader.read(bytes.readableBytesView))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        switch self.phase {
        case .reading, .lingering, .following: self.close()
        case .answering, .streaming: self.keepsAlive = false
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { self.goOn() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.close() }

    func close() { self.context?.close(promise: nil) }

    /// Closes, after the answer that is being made: it may be what the server waited for.
    func end() {
        switch self.phase {
        case .answering: self.keepsAlive = false
        case .following:
            // Of a body that is cut off, a browser throws away what its page has not read yet.
            self.write(LocalStream.end(.chunked))
            self.close()
        case .reading, .streaming, .lingering: self.close()
        }
    }

    // MARK: Requests

    private func take(_ outcome: LocalRequestReader.Outcome) {
        switch outcome {
        case .needsMore(let saysContinue):
            if saysContinue { self.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        case .refused(let answer):
            self.keepsAlive = false
            self.send(answer)
        case .request(let request):
            self.keepsAlive = request.keepsAlive
            self.phase = .answering
            self.deadline?.cancel()
            self.answer(request)
        }
    }

    private func answer(_ request: LocalRequest) {
        if PageFiles.contains(request.path) {
            guard request.method == "GET" || request.method == "HEAD" else { return self.send(Self.notAllowed) }
            return self.send(PageFiles.answer(request.path) ?? Self.notAllowed)
        }
        if request.path == "/api/live" {
            guard request.method == "GET" else { return self.send(Self.notAllowed) }
            return self.follow()
        }
        guard let loop = self.context?.eventLoop else { return }
        let service = self.inspector.service
        let answering = self.inspector.threads.runIfActive(eventLoop: loop) { Handed(service.answer(request)) }
        answering.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let answer):
                switch answer.value {
                case .whole(let answer): self.send(answer)
                case .stream(let stream): self.begin(stream)
                }
            case .failure: self.close()
            }
        }
    }

    // MARK: Answers

    private func send(_ answer: LocalAnswer) {
        var answer = answer
        answer.fields += PageFiles.protection
        self.write(answer.bytes(isHead: self.reader.isHead, keepsAlive: self.keepsAlive))
        self.answered()
    }

    private func begin(_ stream: LocalStream) {
        var head = stream.head
        head.fields += PageFiles.protection
        self.write(head.head(stream.framing, keepsAlive: self.keepsAlive))
        guard !self.reader.isHead else { return self.answered() }
        self.phase = .streaming(Piecewise(stream))
        self.goOn()
    }

    /// Goes on with an answer in pieces if the client has taken what was written.
    private func goOn() {
        switch self.phase {
        case .streaming(let pieces): self.next(pieces)
        case .following: self.writeTick()
        case .reading, .answering, .lingering: break
        }
    }

    private func next(_ pieces: Piecewise) {
        guard !pieces.isBusy, let context = self.context, context.channel.isWritable else { return }
        pieces.isBusy = true
        let handed = Handed(pieces.stream)
        let making = self.inspector.threads.runIfActive(eventLoop: context.eventLoop) { try handed.value.next() }
        making.assumeIsolated().whenComplete { result in
            pieces.isBusy = false
            guard case .streaming(let current) = self.phase, current === pieces else { return }
            switch result {
            case .success(let piece?):
                self.write(LocalStream.wire(piece, pieces.stream.framing))
                self.next(pieces)
            case .success(nil):
                self.write(LocalStream.end(pieces.stream.framing))
                self.answered()
            // A body that ends before its length or its last chunk is cut, to every client.
            case .failure: self.close()
            }
        }
    }

    /// Goes on with the next request, or closes: our side first, or the client could lose the answer (RFC 9112, 9.6).
    private func answered() {
        guard let context = self.context else { return }
        guard self.keepsAlive else {
            self.phase = .lingering
            self.setDeadline(Self.lingerTime)
            return context.close(mode: .output, promise: nil)
        }
        self.phase = .reading
        self.setDeadline(Self.idleTime)
        let bytes = self.waiting.readBytes(length: self.waiting.readableBytes) ?? []
        self.waiting.clear()
        self.take(self.reader.next(bytes))
    }

    // MARK: Events

    /// Sends the feed's ticks as they come, the latest alone if the client is slow.
    private func follow() {
        guard let context = self.context else { return }
        var head = LocalAnswer(status: 200, reason: "OK", type: "text/event-stream", body: [])
        head.fields += PageFiles.protection
        self.keepsAlive = false
        self.write(head.head(.chunked, keepsAlive: false))
        let loop = context.eventLoop
        let bound = NIOLoopBound(self, eventLoop: loop)
        let listener = self.inspector.feed.listen { loop.execute { bound.value.writeTick() } }
        self.phase = .following(listener: listener)
        self.writeTick()
    }

    private func writeTick() {
        guard case .following = self.phase, let context = self.context, context.channel.isWritable else { return }
        let (number, tick) = self.inspector.feed.latest
        guard number != self.seenTick else { return }
        self.seenTick = number
        self.write(LocalStream.wire(Array("data: ".utf8) + tick + Array("\n\n".utf8), .chunked))
    }

    // MARK: Bytes and time

    private func write(_ bytes: [UInt8]) {
        guard let context = self.context, !bytes.isEmpty else { return }
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    private func setDeadline(_ seconds: Int64) {
        self.deadline?.cancel()
        self.deadline = self.context?.eventLoop.assumeIsolated().scheduleTask(in: .seconds(seconds)) { [weak self] in self?.deadlinePassed()
        }
    }

    private func deadlinePassed() {
        guard case .reading = self.phase, !self.reader.isIdle else { return self.close() }
        self.keepsAlive = false
        self.send(.tooSlow)
    }

    private static let tooManyConnections = LocalAnswer(
        status: 503, reason: "Service Unavailable", code: "connections",
        message: "the inspector has reached its connection limit: close some pages.")

    private static let notAllowed = LocalAnswer(
        status: 405, reason: "Method Not Allowed", fields: ["Allow: GET"], code: "method",
        message: "that method is not allowed for this path: use GET.")
}

/// An answer in pieces that is being written.
private final class Piecewise {
    let stream: LocalStream
    /// Whether a thread makes a piece.
    var isBusy = false

    init(_ stream: LocalStream) { self.stream = stream }
}

/// Hands a value from one thread to another.
///
/// SAFETY: the side that hands a value over does not use it until it comes back; an answer's pieces are made one after the other.
private struct Handed<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
