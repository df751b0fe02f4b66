internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeHTTP2

/// One HTTP/2 client connection. Each of its streams is a request that an exchange answers (RFC 9113).
///
/// Never stops reading its socket because one stream waits: a stream that is not read uses up its window, and the others continue. After
/// many resets at once it pauses for a millisecond. Replaces the `HTTP1ClientConnection` that found the preface. Not Sendable: lives on its
/// event loop.
final class HTTP2ClientConnection: ChannelInboundHandler, TimedConnection, FlushTarget {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let peer: ClientPeer
    private let codec: HTTP2Connection
    private let begun: NIODeadline
    /// The TLS of the connection; nil if it has none.
    private let tls: TLSHandler?
    private var context: ChannelHandlerContext?
    private var streams: [Int32: HTTP2ClientStream] = [:]
    /// Streams whose answers wait for the client's window.
    private var blocked: [Int32: HTTP2ClientStream] = [:]
    /// The bytes that came with the preface.
    private var first: ByteBuffer?
    /// Streams that ended abnormally since the last received bytes began to be read.
    private var resets = 0
    /// Bytes to read in the next turn, because so many streams were reset in this one that other connections are served first.
    private var waiting = ByteBuffer()
    private var nextTurn: Scheduled<Void>?
    /// The client closed its side after the bytes in `waiting`.
    private var inputHasEnded = false
    private var isWritable = true
    private var willFlush = false
    private var isProcessing = false
    private var isStopping = false
    /// No new requests can come. The connection closes when all open streams have ended.
    private var isEnding = false
    private var isClosed = false
    private var hasRequests = false
    private var ownDeadline: NIODeadline

    /// - Parameters:
    ///   - first: the bytes read so far, including the preface.
    ///   - tls: that of the connection; nil if it has none.
    init(peer: ClientPeer, first: ByteBuffer, tls: TLSHandler?) throws(HTTP2Failure) {
        self.peer = peer
        self.first = first
        self.tls = tls
        self.codec = try HTTP2Connection(.server)
        // A client that speaks HTTP/2 without TLS knows that its origin does too.
        if let tunnel = peer.scope, tunnel.origin.scheme == .http {
            peer.scope = TunnelScope(tunnel, route: tunnel.route.offering(["h2c"]))
        }
        let proxy = peer.session
        self.begun = proxy.now
        self.ownDeadline = proxy.now + .seconds(Int64(proxy.limits.clientIdle))
    }

    private var proxy: ProxyContext { self.peer.session }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.isWritable = context.channel.isWritable
        self.proxy.shared.registry.add(self)
        self.peer.opened(self)
        try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        if let first = self.first.take() { self.read(first) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.proxy.readClock()
        self.read(self.unwrapInboundIn(data))
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.proxy.readClock()
        self.isWritable = context.channel.isWritable
        if self.isWritable { self.flushNow() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        self.proxy.readClock()
        self.inputEnded()
    }

    /// The client sends nothing more but may still read its answers. If it has closed its socket instead, it answers a probe with a reset.
    /// There is no other way to tell the two apart.
    private func inputEnded() {
        self.inputHasEnded = true
        guard self.waiting.readableBytes == 0 else { return }
        guard !self.streams.isEmpty else { return self.close() }
        self.isEnding = true
        for stream in self.streams.values { stream.inputCut() }
        self.codec.probe()
        self.flush()
    }

    func channelInactive(context: ChannelHandlerContext) { self.left("client closed the connection") }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.left("client broke the connection")
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.left("client closed the connection")
        self.context = nil
        self.proxy.shared.registry.remove(self)
        self.peer.closed(self)
    }

    // MARK: Reading

    /// Resets after which other connections are served, once the current piece has been read. A client that abandons a page sends some
    /// dozens.
    private static let resetsInTurn = 16
    /// Size of the first piece that is read. A request that is reset at once takes thirty bytes.
    private static let pieceSize = 2 << 10

    private func read(_ buffer: ByteBuffer) {
        guard !self.isClosed else { return }
        guard self.waiting.readableBytes == 0 else { return _ = self.waiting.writeImmutableBuffer(buffer) }
        var rest = buffer
        var size = Self.pieceSize
        self.resets = 0
        do throws(HTTP2Failure) {
            while !self.isClosed, rest.readableBytes > 0, self.resets < Self.resetsInTurn,
                let piece = rest.readSlice(length: min(size, rest.readableBytes))
            {
                self.handle(try self.codec.receive(piece, elapsed: self.elapsed), piece)
                if self.resets == 0 { size *= 2 }
            }
        } catch {
            rest.clear()
            self.fail(error)
        }
        if rest.readableBytes > 0 { self.readLater(rest) }
        self.flush()
    }

    private func readLater(_ rest: ByteBuffer) {
        guard let context, !self.isClosed else { return }
        self.waiting = rest
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        self.nextTurn = context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { [weak self] in
            guard let self, let context = self.context, !self.isClosed else { return }
            self.proxy.readClock()
            var rest = ByteBuffer()
            swap(&rest, &self.waiting)
            self.read(rest)
            guard self.waiting.readableBytes == 0 else { return }
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
            if self.inputHasEnded { self.inputEnded() }
        }
    }

    private var elapsed: Double { Double((self.proxy.now - self.begun).nanoseconds) / 1e9 }

    private func handle(_ events: [HTTP2Event], _ buffer: ByteBuffer = ByteBuffer()) {
        guard !events.isEmpty else { return }
        var touched: [HTTP2ClientStream] = []
        touched.reserveCapacity(min(events.count, self.streams.count + 1))
        // All of them, since one origin breaks several streams at once.
        for case .broken(let id) in events { self.streams[id]?.hasReachedBreak = true }
        for event in events {
            guard !self.isClosed else { return }
            switch event {
            case .headers(let id, let section, let ends):
                if let stream = self.streams[id] {
                    stream.receive(trailers: section)
                    if ends { stream.inputEnded() }
                    if touched.last !== stream { touched.append(stream) }
                } else {
                    self.begin(id, section, endsStream: ends)
                }
            case .data(let id, let range):
                guard let stream = self.streams[id] else {
                    self.codec.credit(id, range.count)
                    continue
                }
                let slice = buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count)
                if let slice { stream.receive(slice) }
                if touched.last !== stream { touched.append(stream) }
            case .ended(let id):
                guard let stream = self.streams[id] else { continue }
                stream.inputEnded()
                if touched.last !== stream { touched.append(stream) }
            case .answered(let id):
                // The answer is complete, so the rest of its request is not wanted (RFC 9113, 8.1). For a tunnel, only one direction has
                // ended.
                if self.streams[id]?.isTunnel != true, !self.codec.peerHasEnded(id) { self.codec.reset(id, code: .noError) }
            case .closed(let id, let code):
                let stream = self.streams.removeValue(forKey: id)
                // If the origin of a tunnel ended first, the tunnel's last bytes arrive with the end of the stream.
                if code == .noError { stream?.deliver() }
                stream?.closed(code)
                if code != .noError { self.resets += 1 }
                if !self.blocked.isEmpty { self.blocked[id] = nil }
                if self.streams.isEmpty { self.becameIdle() }
            case .broken(let id): self.broke(id)
            case .goAway, .settings: break
            }
        }
        for stream in touched { stream.deliver() }
    }

    private func begin(_ id: Int32, _ section: HTTP2FieldSection, endsStream: Bool) {
        let proxy = self.proxy
        guard !self.isStopping else { return self.codec.reset(id, code: .refusedStream) }
        // The last available number. The client has to open another connection (RFC 9113, 5.1.1).
        if id == .max {
            self.isEnding = true
            self.codec.goAway()
        }
        proxy.shared.followWallClock()
        do throws(MessageError) {
            // Outside tunnels, the URL is in the path and the scheme says nothing: haproxy sends "https" to every server.
            if let scheme = self.peer.scope?.origin.scheme, let named = section.scheme, named != scheme.rawValue {
                throw MessageError(.target, status: 400, "request has a :scheme other than its connection; send \"\(scheme.rawValue)\"")
            }
            let head = try RequestHead(section)
            self.hasRequests = true
            let request = try IncomingRequest(
                self.peer.naming(head), start: proxy.now, scope: self.peer.scope, address: proxy.address,
                endsWithHead: endsStream)
            let stream = HTTP2ClientStream(id, codec: self.codec, connection: self, request: request)
            self.streams[id] = stream
            stream.opened()
            if endsStream { stream.inputEnded() }
            self.peer.scope?.noteUse(in: proxy.diagnosis)
            stream.begin(ExchangeRouter(stream: stream).exchange(for: request))
        } catch {
            proxy.count { $0.malformed += 1 }
            proxy.log.requestMalformed(connection: self.peer.id, status: error.status)
            self.peer.noteMalformed(error, target: section.authority, isForwarded: false)
            self.refuse(id, error)
        }
    }

    /// Answers a head that is too large (RFC 6585, 5). Any other error resets the stream (RFC 9113, 8.1.1).
    private func refuse(_ id: Int32, _ error: MessageError) {
        guard error.status == 431 else { return self.codec.reset(id, code: .protocolError) }
        let answer = ProxyAnswer.malformed(error)
        self.codec.respond(id, HTTP2Fields(answer.head), hasBody: true)
        self.codec.send(id, ByteBuffer(bytes: answer.body))
        self.codec.end(id)
    }

    // MARK: Writing

    /// Sends what the streams have written, at the end of this turn of the event loop.
    func flush() {
        guard !self.willFlush, !self.isClosed else { return }
        self.willFlush = true
        self.proxy.flushes.add(self)
    }

    func flushNow() {
        self.willFlush = false
        guard let context, !self.isClosed else { return }
        self.pump(context)
        let isDone = (self.isStopping || self.isEnding) && self.streams.isEmpty && self.waiting.readableBytes == 0
        if self.codec.isOver || isDone { self.closeAfterFlush() }
    }

    /// The stream is told when it can be written to again.
    func isBlocked(_ stream: HTTP2ClientStream, _ id: Int32) { self.blocked[id] = stream }

    private func pump(_ context: ChannelHandlerContext) {
        // Streams that become writable write at once, which calls this again.
        guard !self.isProcessing else { return }
        self.isProcessing = true
        defer { self.isProcessing = false }
        var hasWritten = false
        while !self.isClosed, self.isWritable || hasWritten {
            // A flush may make room at once, but the notification arrives while this loop runs and is ignored. So check again.
            guard self.isWritable else {
                hasWritten = false
                context.flush()
                continue
            }
            do throws(HTTP2Failure) {
                let (bytes, events) = try self.codec.takeOutput()
                if bytes.readableBytes > 0 {
                    hasWritten = true
                    context.write(self.wrapOutboundOut(bytes), promise: nil)
                }
                self.handle(events)
                for (id, stream) in self.blocked where stream.isWritableAgain() { self.blocked[id] = nil }
                if bytes.readableBytes == 0 { break }
            } catch {
                return self.close()
            }
        }
        if hasWritten { context.flush() }
        for stream in self.blocked.values { stream.stalled() }
    }

    // MARK: Closing

    /// The peer violated the protocol. It is told so, and the connection ends.
    private func fail(_ failure: HTTP2Failure) {
        self.proxy.log.multiplexedFailed(connection: self.peer.id, reason: failure.message)
        // An isolated program that speaks another protocol, whatever it agreed on.
        if !self.hasRequests, let origin = self.peer.scope?.origin {
            IsolatedTunnel(self.peer, host: origin.host, port: origin.port)?.refuse(.notHTTP)
        }
        guard let context else { return }
        self.pump(context)
        self.closeAfterFlush()
    }

    private func closeAfterFlush() {
        guard let context, !self.isClosed else { return }
        self.left("client connection closed")
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { [weak self] _ in
            self?.context?.close(mode: .all, promise: nil)
        }
    }

    /// An answer ends because the connection of its origin broke. If this is so for all streams, the client's connection breaks as well, as
    /// it would without a proxy: gRPC, for one, calls an error of a stream INTERNAL and does not try again. Other streams must not suffer.
    private func broke(_ id: Int32) {
        guard let context, !self.isClosed, let stream = self.streams[id], let how = stream.brokenBy else { return }
        // What is left of another answer is sent before the connection may break.
        guard self.streams.values.allSatisfy(\.hasReachedBreak) else {
            self.codec.reset(id, code: .internalError)
            return self.flush()
        }
        self.tls?.cut()
        // A reset would drop bytes that are still on their way.
        if how == .reset, stream.answerSize == 0 { context.channel.resetWhenClosed() }
        self.closeAfterFlush()
    }

    private func close() {
        guard !self.isClosed else { return }
        self.left("client connection closed")
        self.context?.close(mode: .all, promise: nil)
    }

    private func left(_ reason: String) {
        guard !self.isClosed else { return }
        self.isClosed = true
        self.nextTurn?.cancel()
        // Dropped, as if it had not been read from the socket.
        self.waiting.clear()
        self.proxy.readClock()
        let streams = self.streams.values
        self.streams = [:]
        self.blocked = [:]
        for stream in streams { stream.connectionLeft(reason) }
    }

    private func becameIdle() {
        self.ownDeadline = self.proxy.now + .seconds(Int64(self.proxy.limits.clientIdle))
        if self.isStopping || self.isEnding { self.flush() }
    }

    // MARK: Time

    var deadline: NIODeadline { self.streams.values.map(\.deadline).min() ?? self.ownDeadline }

    func deadlinePassed() {
        self.proxy.readClock()
        guard let context else { return }
        guard !self.isClosed else { return context.close(mode: .all, promise: nil) }
        guard !self.streams.isEmpty else {
            self.codec.goAway()
            self.pump(context)
            return self.closeAfterFlush()
        }
        let late = self.streams.values.filter { $0.deadline <= self.proxy.now }
        // A client that does not read cannot receive resets either.
        guard self.isWritable || !late.contains(where: \.hasStalled) else { return self.close() }
        for stream in late { stream.deadlinePassed() }
        self.flush()
    }

    func stop() {
        guard !self.isStopping else { return }
        self.isStopping = true
        self.codec.goAway()
        for stream in self.streams.values where stream.isIdle { stream.close() }
        self.flushNow()
    }

    var hasUnread: Bool {
        !self.isClosed && (self.waiting.readableBytes > 0 || self.context?.channel.hasUnread(sawEnd: self.inputHasEnded) == true)
    }

    func abort() {
        for stream in self.streams.values { stream.proxyStopped() }
        // Send what the streams wrote last.
        if let context, !self.isClosed { self.pump(context) }
        self.close()
        self.context?.close(mode: .all, promise: nil)
    }
}
