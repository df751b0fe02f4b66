internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeHTTP2

/// A connection to an origin that speaks HTTP/2, shared by all exchanges of its route (RFC 9113).
///
/// Requests beyond the origin's limit of streams wait in nghttp2, in order. Never stops reading because one stream waits. Not Sendable:
/// lives on its event loop.
final class HTTP2UpstreamConnection: UpstreamConnectionOwner, FlushTarget {
    let connection: UpstreamConnection
    private let codec: HTTP2Connection
    private let flushes: FlushQueue
    private let clock: EventClock
    private let begun: NIODeadline
    /// Called when the origin wants HTTP/1.1 for requests that it got here (RFC 9113, 7: HTTP_1_1_REQUIRED).
    private let requireHTTP1: () -> Void
    private var streams: [Int32: HTTP2UpstreamStream] = [:]
    /// Streams whose requests wait for the origin's window.
    private var blocked: [Int32: HTTP2UpstreamStream] = [:]
    /// Streams that belong to an exchange but are not open yet.
    private var unopened = 0
    /// Called once it is known whether the origin speaks HTTP/2, with nil if it does.
    private var greeted: ((Failure?) -> Void)?
    private var greetingTimer: Scheduled<Void>?
    /// Streams whose reading resumes.
    private var resumed: [HTTP2UpstreamStream] = []
    private var isEnding = false
    private var hasSaidGoodbye = false
    private var willFlush = false
    private var isPumping = false
    /// The time since which no exchange has used the connection; nil while one does.
    private(set) var idleSince: NIODeadline?

    init(
        _ connection: UpstreamConnection, flushes: FlushQueue, clock: EventClock,
        settings: HTTP2Connection.Settings = HTTP2Connection.Settings(), requireHTTP1: @escaping () -> Void = {}
    ) throws(HTTP2Failure) {
        self.connection = connection
        self.codec = try HTTP2Connection(.client, settings: settings)
        self.flushes = flushes
        self.clock = clock
        self.begun = clock.now
        self.requireHTTP1 = requireHTTP1
        self.idleSince = clock.now
        connection.take(self)
        self.flush()
    }

    var route: UpstreamRoute { self.connection.route }

    /// New requests may be sent.
    var isUsable: Bool { self.connection.isOpen && !self.isEnding }

    /// Calls back when the origin's settings have arrived (RFC 9113, 3.4), or when it has sent anything else, timed out or closed.
    func greet(within seconds: Int, on loop: any EventLoop, then: @escaping (Failure?) -> Void) {
        self.greeted = then
        self.greetingTimer = loop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) { [weak self] in
            guard let self else { return }
            self.connection.close()
            self.greeting(
                failed: Failure(kind: .timeout, message: "\"\(self.connection.origin.authority)\" sent nothing for \(seconds) s."))
        }
    }

    private func greeting(failed failure: Failure?) {
        self.greetingTimer?.cancel()
        self.greetingTimer = nil
        self.greeted.take()?(failure)
    }

    // MARK: Streams

    func makeStream() -> HTTP2UpstreamStream {
        self.unopened += 1
        self.idleSince = nil
        return HTTP2UpstreamStream(self)
    }

    /// Sends a request; nil if nothing more can be sent.
    func open(_ stream: HTTP2UpstreamStream, _ fields: HTTP2Fields, hasBody: Bool) -> Int32? {
        guard self.isUsable, let id = try? self.codec.request(fields, hasBody: hasBody) else { return nil }
        self.unopened -= 1
        self.streams[id] = stream
        self.connection.willSend()
        if !self.codec.takesRequests { self.retire() }
        return id
    }

    /// The stream numbers are used up. The next request is sent on another connection (RFC 9113, 5.1.1).
    private func retire() {
        self.isEnding = true
        self.sayGoodbye()
    }

    private func sayGoodbye() {
        guard !self.hasSaidGoodbye else { return }
        self.hasSaidGoodbye = true
        self.codec.goAway()
    }

    /// A stream is given up before it was opened.
    func forget() {
        self.unopened -= 1
        self.noticeIdle()
    }

    func send(_ id: Int32, _ bytes: ByteBuffer) { self.codec.send(id, bytes) }

    func end(_ id: Int32, trailers: HTTP2Fields?) { self.codec.end(id, trailers: trailers) }

    /// A new request would have to wait for another to end.
    var isFull: Bool { self.streams.count >= self.codec.peerConcurrentStreams }

    /// Whether the request head has been sent.
    func wasSent(_ id: Int32) -> Bool { self.codec.wasSent(id) }

    func pending(_ id: Int32) -> Int { self.codec.pending(id) }

    /// - Parameter window: how many bytes may arrive from now on before they are taken; nil leaves the window unchanged.
    func credit(_ id: Int32, _ count: Int, window: Int?) {
        self.codec.credit(id, count)
        if let window { self.codec.growWindow(id, to: window) }
        self.flush()
    }

    /// The stream is told when it can be written to again.
    func isBlocked(_ stream: HTTP2UpstreamStream, _ id: Int32) { self.blocked[id] = stream }

    /// The exchange is over or abandoned, so the origin need not continue.
    func reset(_ id: Int32, code: HTTP2ErrorCode) {
        self.codec.reset(id, code: code)
        self.flush()
    }

    /// Delivers the bytes that a stream has kept, at the end of this turn of the event loop.
    func deliverLater(_ stream: HTTP2UpstreamStream) {
        self.resumed.append(stream)
        self.flush()
    }

    private func noticeIdle() {
        guard self.streams.isEmpty, self.unopened == 0 else { return }
        self.idleSince = self.clock.now
        guard self.isEnding else { return }
        self.sayGoodbye()
        if let bytes = try? self.codec.takeOutput().bytes, self.connection.isOpen { self.connection.write(bytes) }
        self.connection.closeAfterFlush(isCut: false)
    }

    /// Takes no new requests. Closes when the open ones have ended.
    func endSoon() {
        self.isEnding = true
        self.noticeIdle()
    }

    // MARK: Reading

    func upstreamRead(_ buffer: ByteBuffer) {
        do throws(HTTP2Failure) {
            let elapsed = Double((self.clock.now - self.begun).nanoseconds) / 1e9
            self.handle(try self.codec.receive(buffer, elapsed: elapsed), buffer)
        } catch {
            self.failAll(
                Failure(kind: .malformed, message: "\"\(self.connection.origin.authority)\" violated HTTP/2: \(error.message)."))
            self.flushNow()
            return self.connection.closeAfterFlush(isCut: false)
        }
        self.flush()
    }

    private func handle(_ events: [HTTP2Event], _ buffer: ByteBuffer = ByteBuffer()) {
        guard !events.isEmpty else { return }
        var touched: [HTTP2UpstreamStream] = []
        touched.reserveCapacity(min(events.count, self.streams.count + 1))
        for event in events {
            var stream: HTTP2UpstreamStream?
            switch event {
            case .headers(let id, let section, let ends):
                stream = self.streams[id]
                stream?.receive(section, endsStream: ends)
            case .data(let id, let range):
                stream = self.streams[id]
                let slice = buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count)
                if let stream, let slice { stream.receive(slice) } else { self.codec.credit(id, range.count) }
            case .ended(let id):
                stream = self.streams[id]
                stream?.inputEnded()
            case .closed(let id, let code):
                if !self.blocked.isEmpty { self.blocked[id] = nil }
                guard let closed = self.streams.removeValue(forKey: id) else { continue }
                closed.deliver()
                if code == .http11Required { self.requireHTTP1() }
                closed.closed(code)
                self.noticeIdle()
            case .goAway(_, let code):
                if code == .http11Required { self.requireHTTP1() }
                self.isEnding = true
                self.noticeIdle()
            // A request is never cut so.
            case .broken: continue
            case .settings: self.greeting(failed: nil)
            case .answered: break
            }
            if let stream, touched.last !== stream { touched.append(stream) }
        }
        for stream in touched { stream.deliver() }
    }

    func upstreamReadComplete() {}

    func upstreamWritabilityChanged(_ isWritable: Bool) {
        if isWritable { self.flushNow() }
    }

    // MARK: Writing

    /// Sends what the streams have written, at the end of this turn of the event loop.
    func flush() {
        guard !self.willFlush else { return }
        self.willFlush = true
        self.flushes.add(self)
    }

    func flushNow() {
        self.willFlush = false
        let resumed = self.resumed
        self.resumed = []
        for stream in resumed { stream.deliver() }
        guard !self.isPumping, self.connection.isOpen else { return }
        self.isPumping = true
        defer { self.isPumping = false }
        var hasWritten = false
        while self.connection.isWritable || hasWritten {
            // A flush may make room at once, but the notification arrives while this loop runs and is ignored. So check again.
            guard self.connection.isWritable else {
                hasWritten = false
                self.connection.flushNow()
                continue
            }
            guard let (bytes, events) = try? self.codec.takeOutput() else { return self.connection.close() }
            if bytes.readableBytes > 0 {
                hasWritten = true
                self.connection.write(bytes)
            }
            self.handle(events)
            for (id, stream) in self.blocked where stream.isWritableAgain() { self.blocked[id] = nil }
            if bytes.readableBytes == 0 { break }
        }
        if hasWritten { self.connection.flushNow() }
        if self.codec.isOver { self.codecEnded() }
    }

    /// The origin violated the protocol and was sent GOAWAY, after which nghttp2 reads nothing more (RFC 9113, 5.4.1). Or all streams have
    /// ended after a GOAWAY.
    private func codecEnded() {
        self.failAll(Failure(kind: .malformed, message: "\"\(self.connection.origin.authority)\" violated HTTP/2."))
        self.connection.closeAfterFlush(isCut: false)
    }

    // MARK: Ends

    func upstreamEnded() {
        self.failAll(
            Failure(
                kind: .reset, message: "\"\(self.connection.origin.authority)\" closed the connection without an answer.", isClose: true),
            begun: Failure(
                kind: .truncated, message: "\"\(self.connection.origin.authority)\" closed the connection before the end of its answer."))
        self.connection.close()
    }

    func upstreamFailed(_ failure: Failure) {
        self.failAll(failure)
        self.connection.close()
    }

    /// - Parameter begun: the failure of streams whose answer has begun.
    private func failAll(_ failure: Failure, begun: Failure? = nil) {
        self.isEnding = true
        self.greeting(failed: failure)
        let streams = self.streams
        self.streams = [:]
        self.blocked = [:]
        for (id, stream) in streams {
            stream.deliver()
            stream.fail(failure, begun: begun ?? failure, isUnprocessed: !self.codec.wasSent(id))
        }
    }
}
