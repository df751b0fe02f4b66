internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// How a client connection is written to, and how it ends: in order, or cut.
extension ClientHandler {
    func write(_ buffer: ByteBuffer) {
        self.context?.write(self.wrapOutboundOut(buffer), promise: nil)
    }

    /// Sends what was written, at the end of this turn.
    func flush() {
        guard !self.willFlush else { return }
        self.willFlush = true
        self.proxy.flushes.add(self)
    }

    func flushNow() {
        self.willFlush = false
        self.context?.flush()
    }

    func closeOutput() {
        self.flushNow()
        self.context?.close(mode: .output, promise: nil)
    }

    /// Closes between two requests: at once, unless a slow client has not taken the last answer yet.
    func endIdle() {
        let pending = (try? self.context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        if pending > 0 || self.willFlush { self.endOutput() } else { self.close() }
    }

    /// The same when the proxy stops. Who has not used a tunnel yet may have left it already, unread, as the program that the proxy ran for.
    func endSoon() {
        guard self.scope?.leftUnused != nil, let context else { return self.endIdle() }
        context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) { [weak self] in
            guard let self, case .head = self.phase else { return }
            self.endIdle()
        }
    }

    func close() {
        switch self.phase {
        case .closed: return
        // Whatever the client has of an answer is not all of it.
        case .exchange: self.tls?.cut()
        case .head, .lingering: break
        }
        self.left("client connection closed")
        self.closeNow()
    }

    /// The answer that begins has no end but our close.
    func answerEndsByClose() { self.closeIsEnd = true }

    func closeNow() {
        guard let context else { return }
        if self.closeIsEnd {
            _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        }
        context.close(mode: .all, promise: nil)
    }

    /// Closes once what was written is out.
    ///
    /// - Parameter isCut: whether it is without the end that a whole answer would have.
    func closeAfterFlush(isCut: Bool = true) {
        guard let context else { return }
        if isCut { self.tls?.cut() }
        self.left("client connection closed")
        self.phase = .lingering
        self.wait(self.proxy.limits.clientStall)
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in self.closeNow() }
    }

    func left(_ reason: String) {
        self.proxy.readClock()
        let before = self.phase
        self.phase = .closed
        self.input = nil
        if case .exchange(let exchange) = before { exchange.clientLeft(reason) }
    }
}
