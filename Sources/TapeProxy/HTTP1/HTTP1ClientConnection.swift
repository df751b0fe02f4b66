internal import CassetteModel
internal import NIOCore
internal import Platform
internal import TapeExchange
internal import TapeIsolation
internal import TapeTLS

/// One HTTP/1 client connection: reads requests one after another, has an exchange answer each, and closes as negotiated (RFC 9112, 9).
///
/// It is also the stream of the current request. Does not parse: see `HTTP1RequestReader`. Does not forward, replay or record: see
/// `ExchangeRouter`. Not Sendable: lives on its event loop.
final class HTTP1ClientConnection: ChannelInboundHandler, RemovableChannelHandler, TimedConnection, FlushTarget, InterceptableStream {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case head
        case message(any MessageExchange)
        case tunnel(any TunnelExchange)
        /// The answer has been sent. Further bytes are dropped until the client closes.
        case lingering
        case closed
    }

    /// Whether the exchange wants the request body.
    private enum Delivery {
        /// Not requested yet: bytes are kept, up to the limit for pipelined requests.
        case notAsked
        case flowing
        case paused
    }

    let peer: ClientPeer
    private var context: ChannelHandlerContext?
    private var tls: TLSHandler?
    private var phase = Phase.head
    private var reader: HTTP1RequestReader
    private var delivery = Delivery.notAsked
    private var writer: HTTP1ResponseWriter?
    private var writtenSize = 0
    private var isReading = true
    /// The client sends nothing more.
    private var inputHasEnded = false
    private var willFlush = false
    private var isProcessing = false
    /// Requests that were read since the loop last looked at its other connections.
    private var headsInTurn = 0
    private var awaitsTurn = false
    /// At most this many are read without a pause. Those that a client sends one by one never come to that.
    private static let headsOfTurn = 32
    /// The same while other connections wait for their turns.
    private static let headsBesideTurns = 4
    private var headLimit = HTTP1ClientConnection.headsOfTurn
    private var isOverLimit = false
    /// The end of the connection ends the answer, so closing it early must be a reset.
    private var closeIsEnd = false
    private var ownDeadline: NIODeadline
    /// Whether it has a tunnel with TLS in which no request has been read, and no protocol was agreed on.
    private var isFresh = false
    /// Whether it has a tunnel with TLS in which nothing has been sent, and no protocol was agreed on.
    private var isUnheard = false
    /// The target of the last request.
    private var target: String?
    /// The isolation of a client that connected to another address, and not to the proxy; nil for other clients.
    private let isolation: Isolation?

    /// - Parameters:
    ///   - proxy: the session in which the connection begins.
    ///   - sessionGate: decides which session a request is for.
    ///   - id: number of the connection, unique across all event loops of a server.
    ///   - isolation: of a client that connected to another address, and not to the proxy.
    init(proxy: ProxyContext, sessionGate: SessionGate = .open, id: Int, isolation: Isolation? = nil) {
        self.isolation = isolation
        self.peer = ClientPeer(id: id, session: proxy, sessionGate: sessionGate)
        self.reader = HTTP1RequestReader(limits: proxy.messageLimits)
        self.ownDeadline = proxy.loop.now + .seconds(Int64(proxy.limits.requestHead))
    }

    private var proxy: ProxyContext { self.peer.session }

    /// Cached, because asking the channel takes longer than the rest of a small read.
    private(set) var isWritable = true

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.peer.localAddress = context.channel.localAddress.flatMap { IPAddress($0) }
        self.proxy.shared.registry.add(self)
        self.peer.opened(self)
        self.isOverLimit = self.proxy.shared.isOverLimit
    }

    func channelActive(context: ChannelHandlerContext) {
        self.peer.localAddress = context.channel.localAddress.flatMap { IPAddress($0) }
        self.peer.remoteAddress = context.channel.remoteAddress
        self.peer.proxyAddress = context.channel.localAddress
        guard !self.isOverLimit else { return self.refuseOverLimit(context.channel.localAddress) }
        if let isolation {
            return self.beginIsolated(isolation, context.channel.localAddress)
        }
        if self.proxy.configuration.isTransparent { self.beginIfLedHere(context.channel) }
    }

    /// - Parameter destination: the address that the client connected to.
    private func refuseOverLimit(_ destination: SocketAddress?) {
        let endpoint = destination.flatMap { Endpoint($0) }
        let server = endpoint.map { ListenAddress(host: self.isolation?.host(of: $0.address) ?? $0.host, port: Int($0.port)).description }
        self.peer.noteOwnAnswer(
            to: "a connection to \"\(server ?? self.proxy.address)\"",
            problem: "the proxy has reached its limit of \(self.proxy.limits.connections) connections",
            next: "close some connections, or raise the limit of open files (ulimit -n)")
        self.answerAndClose(.tooManyConnections)
    }

    /// A redirected connection to another server continues as a tunnel to that server.
    private func beginIfLedHere(_ channel: any Channel) {
        guard let destination = Transparent.destination(of: channel), !self.proxy.dialer.isSelf(destination),
            let host = destination.ipAddress, let port = destination.port
        else { return }
        guard let request = self.connect(to: ListenAddress(host: host, port: port)) else { return self.close() }
        let exchange = ExchangeRouter(stream: self).exchange(for: request)
        self.enterPhase(of: exchange)
        exchange.start()
    }

    /// The same for a connection of an isolated program, unless its first bytes are of another protocol.
    private func beginIsolated(_ isolation: Isolation, _ destination: SocketAddress?) {
        guard let link = IsolatedLink(isolation, from: self.peer.remoteAddress, to: destination) else {
            // The client has reset it, and what it had sent is lost.
            let endpoint = destination.flatMap { Endpoint($0) }
            isolation.log.refused(.tcp, host: endpoint.map { isolation.host(of: $0.address) } ?? "", port: endpoint?.port, .reset, by: nil)
            return self.close()
        }
        guard let request = self.connect(to: ListenAddress(host: link.host, port: Int(link.port))) else {
            link.isolation.log.refused(.tcp, host: link.host, port: link.port, .failed, by: nil)
            return self.close()
        }
        let exchange = IsolatedExchange(client: self, request: request, link: link)
        self.enterPhase(of: exchange)
        exchange.start()
    }

    /// The CONNECT that a redirected client would have sent.
    private func connect(to address: ListenAddress) -> IncomingRequest? {
        self.proxy.readClock()
        var fields = HeaderFields()
        fields.append(name: "Host", value: address.description)
        let head = RequestHead(method: "CONNECT", target: address.description, version: .http11, fields: fields)
        return try? IncomingRequest(head, start: self.proxy.now, opening: .transparent)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        self.proxy.readClock()
        switch self.phase {
        case .closed, .lingering:
            return
        case .head, .message, .tunnel:
            self.reader.append(buffer)
            if !self.awaitsTurn {
                self.headsInTurn = 0
                self.headLimit = self.proxy.shared.turns.isIdle ? Self.headsOfTurn : Self.headsBesideTurns
            }
            self.process()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.proxy.readClock()
        self.isWritable = context.channel.isWritable
        switch self.phase {
        case .message(let exchange): exchange.clientWritabilityChanged(self.isWritable)
        case .tunnel(let exchange): exchange.clientWritabilityChanged(self.isWritable)
        // The rest of an answer is still being sent.
        case .lingering: self.wait(self.proxy.limits.clientStall)
        case .head: if self.isWritable { self.process() }
        case .closed: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        self.proxy.readClock()
        self.inputHasEnded = true
        if case .tunnel(let exchange) = self.phase, exchange.clientEnded() { return }
        self.noticeUnused()
        self.close(isByClient: true)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.noticeUnused()
        self.left("client closed the connection", isByClient: true)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.noticeUnused(error as? TLSFailure ?? TLSFailure(cause: .reset, message: "it broke the connection"))
        self.peer.hasBroken = true
        self.left("client broke the connection", isByClient: true)
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.left("client closed the connection")
        self.context = nil
        self.peer.scope?.leftUnused = nil
        self.tls = nil
        self.proxy.shared.registry.remove(self)
        self.peer.closed(self)
    }

    // MARK: Reading

    func setReading(_ reads: Bool) {
        switch self.phase {
        case .message where !self.reader.isRead:
            self.delivery = reads ? .flowing : .paused
            self.setAutoRead(reads)
            if reads { self.process() }
        case .tunnel:
            self.setAutoRead(reads)
            if reads { self.process() }
        case .message, .head, .lingering, .closed:
            break
        }
    }

    /// Resumes reading, or stops it so that the kernel's buffers fill and the client waits.
    private func setAutoRead(_ reads: Bool) {
        guard reads != self.isReading, let context else { return }
        self.isReading = reads
        try? context.channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    /// Processes the input as far as possible.
    private func process() {
        // An exchange that ends while it starts calls this again. The outer call continues.
        guard !self.isProcessing else { return }
        self.isProcessing = true
        defer { self.isProcessing = false }
        while self.step() {}
        // The client may withhold the body until its head is acknowledged (docs/decisions/0083-acknowledged-at-once.md).
        if case .message = self.phase, self.reader.awaitsBody { self.context?.channel.acknowledgeAtOnce() }
        self.reader.compact()
        self.regulate()
    }

    /// - Returns: whether there may be more to process.
    private func step() -> Bool {
        guard self.hasInput else { return false }
        switch self.phase {
        case .lingering, .closed:
            self.reader.dropInput()
            return false
        case .head: return self.readHead()
        case .message(let exchange): return self.readBody(for: exchange)
        case .tunnel(let exchange): return self.pass(to: exchange)
        }
    }

    private func readHead() -> Bool {
        // Reads no further request while the client does not read its answers, so that they do not pile up.
        guard !self.proxy.isRecorderFull, self.isWritable, !self.awaitsTurn else { return false }
        guard self.headsInTurn < self.headLimit else {
            self.awaitTurn()
            return false
        }
        do throws(MessageError) {
            switch try self.reader.readHead() {
            case .head(let head):
                self.headsInTurn += 1
                self.begin(head)
                return true
            case .needsMore(let begins):
                // The time limit of a head starts at its first byte and is not extended by later ones.
                if self.unreadTunnel != nil {
                    self.wait(self.proxy.limits.tunnelSilence)
                } else if begins {
                    self.wait(self.proxy.limits.requestHead)
                }
                return false
            case .http2:
                self.becomeHTTP2()
                return false
            case .socks:
                let exchange = SOCKSExchange(client: self)
                self.enterPhase(of: exchange)
                exchange.start()
                return true
            case .notHTTP:
                // The rest of the body may be on its way. Closing at once could discard the answer (RFC 9112, 9.6).
                self.endOutput()
                return false
            case .otherProtocol:
                self.refuseProtocol()
                return false
            }
        } catch {
            self.refuse(error, target: self.reader.target)
            return false
        }
    }

    /// A client may have sent thousands of requests at once. Other connections are served before the next ones are read.
    private func awaitTurn() {
        self.awaitsTurn = true
        self.proxy.shared.turns.wait { [weak self] in
            guard let self else { return }
            (self.awaitsTurn, self.headsInTurn, self.headLimit) = (false, 0, Self.headsOfTurn)
            self.proxy.readClock()
            self.process()
        }
    }

    /// The client speaks HTTP/2 from here on. Another handler replaces this one and takes over the bytes received so far.
    private func becomeHTTP2() {
        guard let context, let input = self.reader.takeInput() else { return }
        do {
            let connection = try HTTP2ClientConnection(peer: self.peer, first: input, tls: self.tls)
            self.phase = .closed
            try context.pipeline.syncOperations.addHandler(connection, position: .after(self))
            _ = context.pipeline.syncOperations.removeHandler(self)
        } catch {
            self.close()
            self.closeNow()
        }
    }

    private func readBody(for exchange: any MessageExchange) -> Bool {
        guard self.delivery == .flowing else { return false }
        do throws(MessageError) {
            guard let piece = try self.reader.readBody() else { return false }
            exchange.requestBody(piece)
        } catch {
            self.countMalformed(error)
            // A request that the proxy answers itself has been counted.
            if !(exchange is LocalExchange) {
                self.peer.noteMalformed(error, target: self.target, isForwarded: self.proxy.session.mayForward)
            }
            exchange.requestFailed(error)
        }
        return true
    }

    private func pass(to exchange: any TunnelExchange) -> Bool {
        guard exchange.takesBytes, var input = self.reader.takeInput() else { return false }
        let before = input.readableBytes
        exchange.clientBytes(&input)
        switch self.phase {
        case .closed, .lingering: return false
        // Bytes that the exchange left are for its successor.
        case .head, .message:
            self.reader.putBack(input)
            return true
        case .tunnel(let now):
            self.reader.putBack(input)
            return now !== exchange || input.readableBytes < before
        }
    }

    private func regulate() {
        let isFull = self.reader.size >= self.proxy.limits.pipelined
        switch self.phase {
        case .head:
            if self.proxy.isRecorderFull {
                self.setAutoRead(false)
                self.proxy.whenRecorderDrains(self) { [weak self] in self?.process() }
            } else {
                self.setAutoRead(self.isWritable && !self.awaitsTurn)
            }
        case .message:
            // While the exchange takes the body, it controls reading. Before and after that, the buffer may fill.
            if self.reader.isRead || self.delivery == .notAsked { self.setAutoRead(!isFull) }
        case .tunnel(let exchange):
            if !exchange.takesBytes { self.setAutoRead(!isFull) }
        case .lingering, .closed:
            break
        }
    }

    var hasInput: Bool { self.reader.size > 0 }

    // MARK: Requests

    private func begin(_ head: RequestHead) {
        let proxy = self.proxy
        proxy.shared.followWallClock()
        self.target = head.target
        do throws(MessageError) {
            let scope = self.peer.scope
            let head = self.peer.naming(head)
            let request = try IncomingRequest(head, start: proxy.now, scope: scope, address: proxy.address)
            scope?.noteUse(in: proxy.diagnosis)
            (self.isUnheard, self.isFresh) = (false, false)
            self.reader.begin(request, limits: proxy.messageLimits)
            self.delivery = .notAsked
            self.writer = HTTP1ResponseWriter(request)
            self.writtenSize = 0
            let exchange = ExchangeRouter(stream: self).exchange(for: request)
            self.enterPhase(of: exchange)
            // Reading may be off because the recorder was full.
            self.setAutoRead(true)
            exchange.start()
        } catch {
            self.refuse(error, target: head.target)
        }
    }

    private func enterPhase(of exchange: any ClientExchange) {
        switch exchange.kind {
        case .message(let exchange): self.phase = .message(exchange)
        case .tunnel(let exchange): self.phase = .tunnel(exchange)
        }
    }

    func become(_ exchange: any ClientExchange) {
        guard self.exchange != nil else { return }
        self.enterPhase(of: exchange)
    }

    private var exchange: (any ClientExchange)? {
        switch self.phase {
        case .message(let exchange): exchange
        case .tunnel(let exchange): exchange
        case .head, .lingering, .closed: nil
        }
    }

    /// A malformed head: answers with an error and closes. Nothing is forwarded.
    private func refuse(_ error: MessageError, target: String?) {
        self.countMalformed(error)
        self.peer.noteMalformed(error, target: target, isForwarded: false)
        self.answerAndClose(.malformed(error))
    }

    /// The client speaks another protocol than HTTP in its tunnel. An isolated program's connection is listed and reset, as without TLS.
    private func refuseProtocol() {
        guard let origin = self.peer.scope?.origin else { return }
        let error = MessageError(.startLine, status: 400, "the first bytes for \(origin.authority) are not a request; send HTTP")
        guard let tunnel = IsolatedTunnel(self.peer, host: origin.host, port: origin.port) else {
            self.proxy.diagnosis.remark(
                "a client spoke another protocol than HTTP inside TLS to \"\(origin.authority)\": to let it through unread, pass --passthrough \(origin.host)."
            )
            return self.refuse(error, target: nil)
        }
        self.countMalformed(error)
        self.refuse(tunnel, .notHTTP)
    }

    /// Lists the connection of an isolated program, and resets it.
    private func refuse(_ tunnel: IsolatedTunnel, _ reason: IsolationReport.Reason) {
        self.phase = .lingering
        self.setAutoRead(false)
        let box = NIOLoopBound(self, eventLoop: self.proxy.loop)
        tunnel.refuse(reason) { [loopGate = self.proxy.loopGate] in loopGate.execute { box.value.breakOff(isReset: true) } }
    }

    private func countMalformed(_ error: MessageError) {
        self.proxy.count { $0.malformed += 1 }
        self.proxy.log.requestMalformed(connection: self.peer.id, status: error.status)
    }

    private func answerAndClose(_ answer: ProxyAnswer) {
        self.proxy.log.answered(status: answer.status, error: answer.error, connection: self.peer.id)
        self.write(ByteBuffer(bytes: answer.bytes(method: "", persistence: .close)))
        self.endOutput()
    }

    // MARK: Answers

    func send(interim head: ResponseHead) {
        if let buffer = self.writer?.interim(head) { self.write(buffer) }
    }

    func send(_ head: ResponseHead, framing: BodyFraming) {
        self.writer?.begin(head, framing: framing, mayPersist: !self.proxy.isStopping)
        self.closeIsEnd = self.writer?.endsByClose ?? false
    }

    func send(_ piece: BodyPiece) {
        // A write can change the connection's writability, and so call an exchange that uses the writer itself.
        var buffers: [ByteBuffer] = []
        self.writer?.body(piece) { buffers.append($0) }
        for buffer in buffers { self.write(buffer) }
    }

    func send(_ answer: ProxyAnswer, isFinal: Bool) {
        self.proxy.count { $0.answered += 1 }
        self.proxy.log.answered(status: answer.status, error: answer.error, connection: self.peer.id)
        let keeps = self.reader.isRead && !isFinal && !self.proxy.isStopping
        if let buffer = self.writer?.local(answer, keeps: keeps) { self.write(buffer) }
    }

    func send(_ answer: ReadyAnswer) -> Bool {
        guard self.reader.isRead, let buffer = self.writer?.ready(answer, mayPersist: !self.proxy.isStopping) else { return false }
        self.write(buffer)
        return true
    }

    var answerSize: Int { self.writtenSize + (self.writer?.heldSize ?? 0) }

    private func writeHeldHead() {
        if let head = self.writer?.takeHeldHead() { self.write(head) }
    }

    func finish() {
        guard self.exchange != nil else { return }
        self.writeHeldHead()
        self.flush()
        let invitesRepetition = self.reader.awaitsBody && self.writer?.invitesRepetition == true
        let keeps = (self.reader.isRead || invitesRepetition) && self.writer?.persists == true
        self.writer = nil
        guard keeps else { return self.endOutput() }
        self.phase = .head
        self.reader.end(mayBeBody: invitesRepetition)
        guard !self.proxy.isStopping else { return self.endIdle() }
        self.wait(self.proxy.limits.clientIdle)
        self.process()
    }

    func cut() {
        self.writeHeldHead()
        self.closeAfterFlush(isCut: true)
    }

    func breakOff(isReset: Bool) {
        self.closeIsEnd = isReset
        self.cut()
    }

    // MARK: Writing

    func write(_ buffer: ByteBuffer) {
        self.writtenSize += buffer.readableBytes
        self.context?.write(self.wrapOutboundOut(buffer), promise: nil)
    }

    func flush() {
        self.writeHeldHead()
        guard !self.willFlush else { return }
        self.willFlush = true
        self.proxy.flushes.add(self)
    }

    func flushNow() {
        self.willFlush = false
        self.context?.flush()
    }

    // MARK: Tunnels

    func insert(_ handler: TLSHandler) {
        self.tls = handler
        try? self.context?.pipeline.syncOperations.addHandler(handler, position: .before(self))
    }

    func remove(_ handler: TLSHandler) {
        self.tls = nil
        _ = self.context?.pipeline.syncOperations.removeHandler(handler)
    }

    func enter(_ scope: TunnelScope) {
        guard self.exchange != nil else { return }
        self.peer.scope = scope
        self.reader.enterTunnel(agreed: scope.agreed)
        self.writer = nil
        self.phase = .head
        guard !self.proxy.isStopping else { return self.endSoon() }
        self.isUnheard = scope.origin.scheme == .https && scope.agreed == nil
        self.isFresh = self.isUnheard
        if let tunnel = self.silentTunnel {
            tunnel.noteArrival(at: self.proxy.now)
            self.wait(self.proxy.limits.tunnelSilence)
        } else {
            self.isUnheard = false
            self.wait(self.proxy.limits.clientIdle)
        }
        self.process()
    }

    /// The tunnel of an isolated program that has said nothing in its TLS, and may wait for the server to speak; nil for any other. A client
    /// that agreed on HTTP in its handshake speaks it, and one of a server that speaks HTTP may keep the connection for later.
    private var silentTunnel: IsolatedTunnel? {
        guard self.isUnheard, let origin = self.peer.scope?.origin, !IsolationSettings.mayBeSilent.contains(UInt16(clamping: origin.port)),
            let tunnel = IsolatedTunnel(self.peer, host: origin.host, port: origin.port), !tunnel.isOfHTTP
        else { return nil }
        return tunnel
    }

    /// The tunnel of an isolated program that has sent bytes in its TLS which are no request yet; nil for any other.
    private var unreadTunnel: IsolatedTunnel? {
        guard self.isFresh, self.hasInput, !self.reader.beginsRequest, case .head = self.phase, let origin = self.peer.scope?.origin else {
            return nil
        }
        return IsolatedTunnel(self.peer, host: origin.host, port: origin.port)
    }

    /// The client closed on its own. If it has not used its tunnel, it may not trust the certificate.
    private func noticeUnused(_ failure: TLSFailure? = nil) {
        self.unreadTunnel?.refuse(.notHTTP)
        guard case .head = self.phase, !self.reader.isInsideHead, let leftUnused = self.peer.scope?.leftUnused else { return }
        self.peer.scope?.leftUnused = nil
        self.proxy.readClock()
        leftUnused(failure)
    }

    // MARK: Closing

    func closeOutput() {
        self.flushNow()
        self.context?.close(mode: .output, promise: nil)
    }

    func close() { self.close(isByClient: false) }

    private func close(isByClient: Bool) {
        switch self.phase {
        case .closed: return
        // The client's answer is incomplete.
        case .message, .tunnel: self.tls?.cut()
        case .head, .lingering: break
        }
        self.left("client connection closed", isByClient: isByClient)
        self.closeNow()
    }

    private func closeNow() {
        guard let context else { return }
        if self.closeIsEnd { context.channel.resetWhenClosed() }
        context.close(mode: .all, promise: nil)
    }

    func closeAfterFlush(isCut: Bool) {
        guard let context else { return }
        if isCut { self.tls?.cut() }
        self.left("client connection closed")
        self.phase = .lingering
        self.wait(self.proxy.limits.clientStall)
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in self.closeNow() }
    }

    /// - Parameter isByClient: whether the client ended the connection.
    private func left(_ reason: String, isByClient: Bool = false) {
        self.proxy.readClock()
        let exchange = self.exchange
        var isBetweenRequests = false
        switch self.phase {
        case .message(let exchange):
            self.handOver(to: exchange)
            isBetweenRequests = self.reader.isRead
            if isBetweenRequests { self.reader.end(mayBeBody: false) }
        case .head: isBetweenRequests = true
        case .tunnel, .lingering, .closed: break
        }
        self.phase = .closed
        exchange?.clientLeft(reason)
        if isByClient, isBetweenRequests { self.recordUnread(reason) }
        self.reader.dropInput()
    }

    /// Records the requests that the client sent before it left and that were not read yet, because the recorder was full or an earlier
    /// answer was on its way.
    private func recordUnread(_ reason: String) {
        // As many as fit the buffer, which is limited.
        while true {
            guard self.hasInput, case .head(let head)? = try? self.reader.readHead(),
                let request = try? IncomingRequest(
                    self.peer.naming(head), start: self.proxy.now, scope: self.peer.scope, address: self.proxy.address),
                case .message(let exchange) = ExchangeRouter(stream: self).exchange(for: request).kind
            else { return }
            self.reader.begin(request, limits: self.proxy.messageLimits)
            exchange.start()
            self.handOver(to: exchange)
            exchange.clientLeft(reason)
            guard self.reader.isRead else { return }
            self.reader.end(mayBeBody: false)
        }
    }

    /// Gives an exchange the bytes of its request that it has not asked for yet because the client was faster than the origin.
    private func handOver(to exchange: any MessageExchange) {
        // Malformed bytes are not part of the body.
        while let piece = try? self.reader.readBody(), piece.isLast || piece.bytes.readableBytes > 0 { exchange.requestRest(piece) }
    }

    /// Closes between two requests: at once, unless a slow client has yet to take the last answer.
    private func endIdle() {
        let pending = (try? self.context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        if pending > 0 || self.willFlush { self.endOutput() } else { self.close() }
    }

    /// Closes between two requests when the proxy stops. A client that has not used its tunnel yet may already have closed it, together
    /// with the program it belongs to, without the proxy having read that. It gets a moment for this to be noticed.
    private func endSoon() {
        guard self.peer.scope?.leftUnused != nil, let context else { return self.endIdle() }
        context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) { [weak self] in
            guard let self, case .head = self.phase else { return }
            self.endIdle()
        }
    }

    /// Ends this side and drops further bytes for a while. Closing at once would reset the connection and could discard the answer
    /// (RFC 9112, 9.6).
    private func endOutput() {
        guard let context else { return }
        self.phase = .lingering
        self.reader.dropInput()
        self.wait(self.proxy.limits.clientStall)
        self.setAutoRead(true)
        self.flushNow()
        // Completes when the kernel has the answer's last byte. Until then, a slow client has as much time as during an answer.
        context.close(mode: .output).assumeIsolated().whenSuccess { [weak self] in
            self?.closeIsEnd = false
            self?.proxy.readClock()
            self?.wait(self?.proxy.limits.linger ?? 0)
        }
    }

    // MARK: Time

    /// Sets the connection's own deadline to this many seconds from now.
    private func wait(_ seconds: Int) { self.ownDeadline = self.proxy.now + .seconds(Int64(seconds)) }

    var deadline: NIODeadline { self.exchange?.deadline ?? self.ownDeadline }

    func deadlinePassed() {
        switch self.phase {
        case .head:
            if let tunnel = self.unreadTunnel { return self.refuse(tunnel, .notHTTP) }
            guard self.reader.isInsideHead else { return self.endSilent() }
            if self.peer.isIsolated {
                self.peer.noteOwnAnswer(
                    to: "a request to \"\(self.peer.scope?.origin.authority ?? self.proxy.address)\"",
                    problem: "its head did not arrive within \(self.proxy.limits.requestHead) s", next: "send it in one piece")
            }
            self.answerAndClose(
                .requestTimeout("the request's head did not arrive within \(self.proxy.limits.requestHead) s: send it in one piece."))
        case .message(let exchange): exchange.deadlinePassed()
        case .tunnel(let exchange): exchange.deadlinePassed()
        case .lingering, .closed:
            self.close()
            self.closeNow()
        }
    }

    /// Nothing has come for a while.
    private func endSilent() {
        guard let tunnel = self.silentTunnel else {
            guard self.isUnheard else { return self.endIdle() }
            // Others speak HTTP with this server, so that this is a spare connection.
            self.isUnheard = false
            return self.wait(self.proxy.limits.clientIdle)
        }
        // Its program may still be opening others, and begin to use them afterwards.
        let end = tunnel.newestArrival + .seconds(Int64(self.proxy.limits.tunnelSilence))
        guard end <= self.proxy.now else {
            self.ownDeadline = end
            return
        }
        self.refuse(tunnel, .silent)
    }

    func stop() {
        switch self.phase {
        case .head: self.endSoon()
        case .message(let exchange): if exchange.isIdle { self.close() }
        case .tunnel(let exchange): if exchange.isIdle { self.close() }
        case .lingering, .closed: break
        }
    }

    var hasUnread: Bool {
        switch self.phase {
        case .closed, .lingering: return false
        // Bytes and the end wait until it is known who answers.
        case .tunnel(let exchange) where !exchange.takesBytes && exchange.isIdle: return self.hasInput || self.inputHasEnded
        case .head, .message, .tunnel: break
        }
        return self.awaitsTurn || self.isReading && self.context?.channel.hasUnread(sawEnd: self.inputHasEnded) == true
    }

    func abort() {
        self.exchange?.proxyStopped()
        self.close()
        self.closeNow()
    }
}
