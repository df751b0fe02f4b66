internal import NIOCore
internal import TapeCore
internal import TapeExchange
internal import TapeTLS

/// One client connection: reads request heads, starts an exchange for each, one after the other, and closes as agreed.
///
/// Does not forward, replay or record: see `ForwardExchange`, `LocalExchange` and `Tunnel`. Not Sendable: lives on its event
/// loop.
final class ClientHandler: ChannelInboundHandler, TimedConnection, FlushTarget {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Phase {
        case head
        case exchange(any ClientExchange)
        /// The answer is out; what still comes is dropped until the client closes.
        case lingering
        case closed
    }

    /// Counts up from 1 over all event loops of a server.
    let id: Int
    /// The session that the connection is with.
    private(set) var proxy: ProxyContext
    private var entrance: Entrance
    /// The tunnel that the requests come through; nil where the client sends them to a proxy.
    var scope: TunnelScope?
    var tls: TLSHandler?
    var phase = Phase.head
    var parser: HeadParser
    var input: ByteBuffer?
    var context: ChannelHandlerContext?
    var isReading = true
    var willFlush = false
    var isProcessing = false
    private var isOverLimit = false
    var isInsideHead = false
    /// The client reads our close as the end of the answer's body (RFC 9112, 6.3): a close that is not the end has to be a reset.
    var closeIsEnd = false
    var deadline: NIODeadline

    /// - Parameters:
    ///   - proxy: the session to begin with.
    ///   - entrance: says which session a request is for.
    init(proxy: ProxyContext, entrance: Entrance = .open, id: Int = 0) {
        self.id = id
        self.proxy = proxy
        self.entrance = entrance
        self.parser = HeadParser(limits: proxy.messageLimits)
        self.deadline = proxy.loop.now + .seconds(Int64(proxy.limits.requestHead))
    }

    /// Kept here, since asking the channel takes longer than all else of a small read.
    private(set) var isWritable = true

    /// Moves the deadline to so many seconds from now.
    func wait(_ seconds: Int) {
        self.deadline = self.proxy.now + .seconds(Int64(seconds))
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.proxy.shared.registry.add(self)
        self.proxy.add(self)
        self.isOverLimit = self.proxy.shared.isOverLimit
    }

    func channelActive(context: ChannelHandlerContext) {
        guard self.isOverLimit else { return }
        self.answerAndClose(.tooManyConnections, method: "")
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        self.proxy.readClock()
        switch self.phase {
        case .closed, .lingering:
            return
        case .head, .exchange:
            if self.input == nil || self.input?.readableBytes == 0 {
                self.input = buffer
            } else {
                self.input?.writeImmutableBuffer(buffer)
            }
            self.process()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .exchange(let exchange) = self.phase { exchange.clientReadComplete() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.proxy.readClock()
        self.isWritable = context.channel.isWritable
        switch self.phase {
        case .exchange(let exchange): exchange.clientWritabilityChanged(self.isWritable)
        // The rest of an answer is on its way.
        case .lingering: self.wait(self.proxy.limits.clientStall)
        case .head: if self.isWritable { self.process() }
        case .closed: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        if case .exchange(let exchange) = self.phase, exchange.clientEnded() { return }
        self.noticeUnused()
        self.close()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.noticeUnused()
        self.left("client closed the connection")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.noticeUnused(error as? TLSFailure ?? TLSFailure(cause: .reset, message: "it broke the connection"))
        self.left("client broke the connection")
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.left("client closed the connection")
        self.context = nil
        self.scope?.leftUnused = nil
        self.tls = nil
        self.proxy.shared.registry.remove(self)
        self.proxy.remove(self)
    }

    // MARK: Exchanges

    func begin(_ head: RequestHead) {
        do throws(MessageError) {
            let request = try IncomingRequest(head, start: self.proxy.now, scope: self.scope, address: self.proxy.address)
            self.scope?.leftUnused = nil
            let exchange = self.exchange(for: request)
            self.phase = .exchange(exchange)
            self.wait(self.proxy.limits.clientStall)
            // It may have been off while the recorder was busy; from here on the exchange regulates it.
            self.setReading(true)
            exchange.start()
        } catch {
            self.refuse(error, method: head.method)
        }
    }

    /// Goes to the session that a request outside of a tunnel is for; inside of one all are for the session of its CONNECT.
    ///
    /// - Returns: the refusal of a request whose credentials do not let it in.
    func enterSession(_ request: IncomingRequest) -> ProxyAnswer? {
        guard let session = self.entrance.session(for: request.proxyAuthorization, at: self.proxy) else {
            return request.reverse == nil
                ? self.entrance.refusal(of: request.proxyAuthorization) : ReverseGate.unauthorized(at: self.proxy.address)
        }
        guard session !== self.proxy else { return nil }
        self.proxy.remove(self)
        self.proxy = session
        session.add(self)
        return nil
    }

    /// Says who may ask for URLs in the path.
    var reverseGate: ReverseGate {
        ReverseGate(
            address: self.context?.channel.localAddress.flatMap { IPAddress($0) }, isAuthorized: self.entrance.isGuarded)
    }

    /// The running exchange goes on as another: a tunnel.
    func become(_ exchange: any ClientExchange) {
        guard case .exchange = self.phase else { return }
        self.phase = .exchange(exchange)
    }

    /// The exchange is over and its answer written.
    func exchangeEnded(_ after: ExchangeState.After) {
        guard case .exchange = self.phase else { return }
        self.flush()
        switch after {
        case .keep:
            self.phase = .head
            guard !self.proxy.isStopping else { return self.endIdle() }
            self.wait(self.proxy.limits.clientIdle)
            self.process()
        case .linger:
            self.endOutput()
        case .close:
            self.closeAfterFlush()
        }
    }

    /// A head that is not HTTP: 400 and a closed connection; nothing goes anywhere.
    func refuse(_ error: MessageError, method: String = "") {
        self.proxy.count { $0.malformed += 1 }
        self.answerAndClose(.malformed(error), method: method)
    }

    private func answerAndClose(_ answer: ProxyAnswer, method: String) {
        self.write(ByteBuffer(bytes: answer.bytes(method: method, persistence: .close)))
        self.endOutput()
    }

    /// Ends our side and drops what still comes, for a while: closing at once would reset the connection and could take the answer
    /// with it (RFC 9112, 9.6).
    func endOutput() {
        guard let context else { return }
        self.phase = .lingering
        self.input = nil
        self.wait(self.proxy.limits.clientStall)
        self.setReading(true)
        self.flushNow()
        // Comes back when the answer's last octet is with the kernel; until then a slow client is given the time of an answer.
        context.close(mode: .output).assumeIsolated().whenSuccess { [weak self] in
            self?.closeIsEnd = false
            self?.proxy.readClock()
            self?.wait(self?.proxy.limits.linger ?? 0)
        }
    }

    // MARK: Time

    func deadlinePassed() {
        switch self.phase {
        case .head:
            guard self.isInsideHead else { return self.endIdle() }
            self.answerAndClose(
                .requestTimeout("the request's head did not come within \(self.proxy.limits.requestHead) s: send it in one piece."),
                method: "")
        case .exchange(let exchange):
            exchange.deadlinePassed()
        case .lingering, .closed:
            self.close()
            self.closeNow()
        }
    }

    func stop() {
        switch self.phase {
        case .head: self.endSoon()
        case .exchange(let exchange): if exchange.isIdle { self.close() }
        case .lingering, .closed: break
        }
    }

    func abort() {
        if case .exchange(let exchange) = self.phase { exchange.proxyStopped() }
        self.close()
        self.closeNow()
    }
}
