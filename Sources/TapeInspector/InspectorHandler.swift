internal import CassetteModel
internal import LocalHTTP
internal import NIOCore
internal import NIOPosix
internal import TapeBytes

/// State shared by an inspector's connections.
///
/// Not Sendable: lives on its event loop.
final class InspectorContext {
    /// How long requests and their answers may take.
    struct Times {
        /// For the first request of a connection that has not presented the token, and for the next one.
        var stranger = TimeAmount.seconds(2)
        /// For a request to arrive completely, from its first byte.
        var request = TimeAmount.seconds(10)
        /// Without a request.
        var idle = TimeAmount.seconds(120)
        /// For a client to read a refusal.
        var linger = TimeAmount.seconds(2)
        /// For producing an answer, or a piece of one.
        var work = TimeAmount.seconds(60)
        /// For a client to take the written part of an answer that is sent in pieces.
        var stall = TimeAmount.seconds(120)
        /// For all pieces of an answer together.
        var stream = TimeAmount.minutes(30)
    }

    /// Connections that have presented the token: enough for a few open pages.
    static let knownLimit = 64

    let gate: LocalGate
    let service: InspectorTabs
    let feed: InspectorFeed
    let threads: NIOThreadPool
    let times: Times
    private var connections: [ObjectIdentifier: InspectorHandler] = [:]
    private var seats = ConnectionSeats<ObjectIdentifier>(knownLimit: InspectorContext.knownLimit)

    init(gate: LocalGate, service: InspectorTabs, feed: InspectorFeed, threads: NIOThreadPool, times: Times = Times()) {
        self.gate = gate
        self.service = service
        self.feed = feed
        self.threads = threads
        self.times = times
    }

    /// Admits a connection. It may replace an older one that has not presented the token.
    func add(_ connection: InspectorHandler) {
        let id = ObjectIdentifier(connection)
        self.connections[id] = connection
        if let oldest = self.seats.arrived(id) { self.connections[oldest]?.close() }
    }

    /// - Returns: whether there is room for one more connection that has presented the token.
    func admit(_ connection: InspectorHandler) -> Bool { self.seats.admitted(ObjectIdentifier(connection)) }

    func remove(_ connection: InspectorHandler) {
        self.connections[ObjectIdentifier(connection)] = nil
        self.seats.left(ObjectIdentifier(connection))
    }

    func close() { for connection in self.connections.values { connection.end() } }
}

/// One connection of a page. Its requests are answered in turn: with a complete answer, one in pieces, or the events of the feed.
///
/// Not Sendable: lives on its event loop.
final class InspectorHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case reading
        case answering(WorkCancellation)
        case streaming(Piecewise)
        case following(listener: Int)
        /// The answer has been sent, and nothing more is read.
        case lingering
    }

    /// The most bytes of a request body: an edited exchange.
    private static let bodyLimit = 16 << 20

    private let inspector: InspectorContext
    private var reader: LocalRequestReader
    private var phase = Phase.reading
    /// Whether the client has presented the token, or has fetched something with a ticket.
    private var isKnown = false
    private var keepsAlive = true
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    /// Input that arrived while an answer was being made.
    private var waiting = ByteBuffer()
    /// The number of the last tick that was sent.
    private var seenTick = 0

    init(inspector: InspectorContext) {
        self.inspector = inspector
        self.reader = LocalRequestReader(gate: inspector.gate, bodyLimit: Self.bodyLimit, takesBytes: true)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.inspector.add(self)
        self.setDeadline(self.inspector.times.stranger)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.deadline?.cancel()
        self.cancelWork()
        if case .following(let listener) = self.phase { self.inspector.feed.forget(listener) }
        self.phase = .lingering
        self.context = nil
        self.inspector.remove(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        guard case .reading = self.phase else {
            // A request that arrives before the previous one is answered. A client that sends endlessly is disconnected.
            self.waiting.writeBuffer(&bytes)
            if self.waiting.readableBytes > Self.bodyLimit { self.close() }
            return
        }
        if self.isKnown, self.reader.isIdle { self.setDeadline(self.inspector.times.request) }
        self.take(self.reader.read(bytes.readableBytesView))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        // When a browser leaves a page, it closes its connections, which looks the same as closing one side. Waiting for the answer would
        // continue work that nobody needs.
        self.close()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { self.goOn() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.close() }

    func close() { self.context?.close(promise: nil) }

    /// Closes after the answer in progress, which may be what the server was waiting for.
    func end() {
        switch self.phase {
        case .answering(let work):
            self.keepsAlive = false
            work.cancel()
        case .following:
            // If a body is cut off, a browser discards what its page has not read yet.
            self.write(LocalStream.end(.chunked))
            self.close()
        case .reading, .streaming, .lingering: self.close()
        }
    }

    // MARK: Requests

    private func take(_ outcome: LocalRequestReader.Outcome) {
        if self.reader.hasShownToken, !self.isKnown {
            guard self.becomeKnown() else { return }
            self.setDeadline(self.inspector.times.request)
        }
        switch outcome {
        case .needsMore(let saysContinue):
            if saysContinue { self.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        case .refused(let answer):
            self.keepsAlive = false
            self.send(answer)
        case .request(let request):
            self.keepsAlive = request.keepsAlive
            let work = WorkCancellation()
            self.phase = .answering(work)
            self.setDeadline(self.inspector.times.work)
            self.answer(request, work)
        }
    }

    /// - Returns: false if there are too many connections, which has then been reported to the client.
    private func becomeKnown() -> Bool {
        self.isKnown = self.inspector.admit(self)
        if !self.isKnown {
            self.keepsAlive = false
            self.send(Self.tooManyConnections)
        }
        return self.isKnown
    }

    private func answer(_ request: LocalRequest, _ work: WorkCancellation) {
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
        let answering = self.inspector.threads.runIfActive(eventLoop: loop) { Handed(work.run { service.answer(request) }) }
        answering.assumeIsolated().whenComplete { result in
            guard case .answering(let current) = self.phase, current === work else { return }
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
        guard self.isKnown || self.becomeKnown() else { return }
        var head = stream.head
        head.fields += PageFiles.protection
        self.write(head.head(stream.framing, keepsAlive: self.keepsAlive))
        guard !self.reader.isHead else { return self.answered() }
        let end = self.context.map { $0.eventLoop.now + self.inspector.times.stream } ?? .distantFuture
        self.phase = .streaming(Piecewise(stream, end: end))
        self.goOn()
    }

    /// Continues an answer in pieces if the client has taken the written part.
    private func goOn() {
        switch self.phase {
        case .streaming(let pieces): self.next(pieces)
        case .following: self.writeTick()
        case .reading, .answering, .lingering: break
        }
    }

    private func next(_ pieces: Piecewise) {
        guard !pieces.isBusy, let context = self.context else { return }
        guard context.channel.isWritable else { return self.setDeadline(self.inspector.times.stall, before: pieces.end) }
        pieces.isBusy = true
        self.setDeadline(self.inspector.times.work, before: pieces.end)
        let handed = Handed(pieces.stream)
        let work = pieces.work
        let making = self.inspector.threads.runIfActive(eventLoop: context.eventLoop) {
            try work.run {
                try CassetteError.checkCancellation()
                return try handed.value.next()
            }
        }
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
            // A body that ends before its length or its last chunk is recognised as truncated by every client.
            case .failure: self.close()
            }
        }
    }

    /// Continues with the next request, or closes. This side closes first, or the client could lose the answer (RFC 9112, 9.6).
    private func answered() {
        guard let context = self.context else { return }
        guard self.keepsAlive else {
            self.phase = .lingering
            self.setDeadline(self.inspector.times.linger)
            return context.close(mode: .output, promise: nil)
        }
        self.phase = .reading
        self.setDeadline(self.isKnown ? self.inspector.times.idle : self.inspector.times.stranger)
        let bytes = self.waiting.readBytes(length: self.waiting.readableBytes) ?? []
        self.waiting.clear()
        self.take(self.reader.next(bytes))
    }

    // MARK: Events

    /// Sends the feed's ticks as they occur. A slow client gets only the latest.
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
        self.deadline?.cancel()
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

    /// - Parameter end: the latest possible deadline.
    private func setDeadline(_ time: TimeAmount, before end: NIODeadline = .distantFuture) {
        self.deadline?.cancel()
        guard let loop = self.context?.eventLoop else { return }
        self.deadline = loop.assumeIsolated().scheduleTask(deadline: min(loop.now + time, end)) { [weak self] in self?.deadlinePassed() }
    }

    private func deadlinePassed() {
        switch self.phase {
        case .reading where !self.reader.isIdle:
            self.keepsAlive = false
            self.send(.tooSlow)
        case .answering(let work):
            work.cancel()
            self.keepsAlive = false
            self.send(Self.tookTooLong)
        // The client sees that the body is truncated, and so knows that there is more.
        case .reading, .streaming, .following, .lingering: self.close()
        }
    }

    /// Cancels the current work, because the client has left or the server is stopping.
    private func cancelWork() {
        switch self.phase {
        case .answering(let work): work.cancel()
        case .streaming(let pieces): pieces.work.cancel()
        case .reading, .following, .lingering: break
        }
    }

    private static let tookTooLong = LocalAnswer(
        status: 503, reason: "Service Unavailable", code: "timeout",
        message: "the answer took too long and was cancelled: choose fewer exchanges, or use the command line.")

    private static let tooManyConnections = LocalAnswer(
        status: 503, reason: "Service Unavailable", code: "connections",
        message: "the inspector has reached its connection limit: close some pages.")

    private static let notAllowed = LocalAnswer(
        status: 405, reason: "Method Not Allowed", fields: ["Allow: GET"], code: "method",
        message: "that method is not allowed for this path: use GET.")
}

/// An answer in pieces that is being sent.
private final class Piecewise {
    let stream: LocalStream
    let work = WorkCancellation()
    /// When the whole answer is cut off.
    let end: NIODeadline
    /// Whether a thread is making a piece.
    var isBusy = false

    init(_ stream: LocalStream, end: NIODeadline) {
        self.stream = stream
        self.end = end
    }
}

/// Hands a value from one thread to another.
///
/// SAFETY: the side that hands a value over does not use it until it is handed back. The pieces of an answer are made one after another.
private struct Handed<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
