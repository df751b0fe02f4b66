internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// One request passed on to its origin and the answer passed back, octet for octet, with a tap on both.
///
/// `ExchangeState` says what happens when something ends or fails; this obeys. Not Sendable: lives on its event loop.
final class ForwardExchange: ClientExchange, UpstreamOwner {
    private enum ResponsePhase { case head, body, done }

    /// A body of up to so many octets is copied behind its head; more is cheaper to write from two places.
    private static let joinLimit = 4096

    private let client: ClientHandler
    private let proxy: ProxyContext
    private let request: IncomingRequest
    private let route: UpstreamRoute
    /// Why the connection that was made for this request ahead of it failed.
    private let earlierFailure: Failure?
    private var state: ExchangeState
    private var tap: Tap?
    private var upstream: UpstreamHandler?
    private var requestBody: BodyParser
    private(set) var isRequestRead = false
    private var sendStarted = 0.0
    private var responseParser: HeadParser
    private var responsePhase = ResponsePhase.head
    private var responseBody = BodyParser(framing: .none, side: .response)
    private var responseInput: ByteBuffer?
    private var sawResponse = false
    private var interimCount = 0
    private var heldHead: ByteBuffer?
    private var isOver = false
    /// Octets passed to the client, counted once at the end.
    private var bytesOut = 0
    private let records: Bool
    /// A chunked answer to an HTTP/1.0 client goes out without its chunk framing (RFC 9112, 6.1).
    private var dechunks = false
    /// The answer's end waits for the disk.
    private var isHeld = false
    private var tunnel: Tunnel?
    /// What is wrong with the rest of the request.
    private var requestFault: MessageError?

    init(client: ClientHandler, request: IncomingRequest, route: UpstreamRoute, earlierFailure: Failure? = nil, records: Bool) {
        self.client = client
        self.proxy = client.proxy
        self.request = request
        self.route = route
        self.earlierFailure = earlierFailure
        self.state = ExchangeState(clientPersists: request.persists && !client.proxy.isStopping, isIdempotent: request.isIdempotent)
        self.requestBody = BodyParser(framing: request.framing.framing, side: .request, limits: client.proxy.messageLimits)
        self.responseParser = HeadParser(limits: client.proxy.messageLimits)
        guard records, let recorder = client.proxy.recorder else {
            self.records = false
            return
        }
        self.records = true
        self.tap = Tap(
            id: recorder.nextID(), started: client.proxy.timestamp(at: request.start),
            request: RecordedRequest(
                method: request.head.method, url: request.url, target: request.target == .asterisk ? "*" : nil,
                version: request.head.version, headers: request.head.fields),
            framing: request.framing.framing)
    }

    /// Milliseconds since the exchange started.
    private var elapsed: Double { Double((self.proxy.now - self.request.start).nanoseconds) / 1e6 }

    func start() {
        if !self.request.hasBody {
            self.isRequestRead = true
            self.state.requestRead()
        }
        if let upstream = self.proxy.pool.take(self.route) {
            self.attach(upstream, mayBeStale: true)
        } else if let earlierFailure {
            self.obey(self.state.upstreamFailed(earlierFailure, sawResponse: false))
        } else {
            self.dial()
        }
    }

    private var origin: Origin { self.route.origin }

    // MARK: Upstream connection

    private func dial() {
        self.client.wait(2 * self.proxy.limits.connect)
        self.proxy.connector.connect(self.route) { [weak self] result in
            self?.proxy.readClock()
            guard let self, !self.isOver else {
                if case .success(let upstream) = result { upstream.close() }
                return
            }
            switch result {
            case .success(let upstream): self.attach(upstream, mayBeStale: false)
            case .failure(.loop): self.refuseLoop()
            case .failure(.failed(let failure)): self.obey(self.state.upstreamFailed(failure, sawResponse: false))
            }
        }
    }

    private func attach(_ upstream: UpstreamHandler, mayBeStale: Bool) {
        self.upstream = upstream
        upstream.take(self)
        self.state.upstreamTaken(isReused: mayBeStale)
        self.client.wait(self.request.hasBody ? self.proxy.limits.clientStall : self.proxy.limits.upstreamSilence)
        let (connection, timing) = upstream.use()
        self.tap?.connected(connection, blocked: nil, dns: timing?.dns, connect: timing?.connect, tls: timing?.tls)
        self.sendStarted = self.elapsed
        let head = HopByHop.forwardedRequest(self.request.head, target: self.request.target, framing: self.request.framing)
        upstream.write(ByteBuffer(bytes: head))
        if self.isRequestRead { self.requestEnded() }
        upstream.flush()
        if !self.isRequestRead { self.client.process() }
    }

    private func refuseLoop() {
        self.tap = nil
        self.isOver = true
        self.answer(.loop(self.origin.authority), client: self.isRequestRead && self.request.persists ? .keep : .linger)
    }

    // MARK: Request

    func requestInput(_ input: inout ByteBuffer) {
        guard let upstream, !self.isOver else { return }
        let at = self.elapsed
        do throws(MessageError) {
            let progress = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in
                try self.requestBody.consume(bytes) { self.taped(.request, $0, in: bytes, at: at) }
            }
            if let octets = input.readSlice(length: progress.consumed), octets.readableBytes > 0 {
                upstream.write(octets)
                self.state.requestBodySent()
                self.client.wait(self.proxy.limits.clientStall)
            }
            if progress.isDone {
                self.isRequestRead = true
                self.requestEnded()
            }
            upstream.flush()
            self.regulateClient()
        } catch {
            self.requestFault = error
            self.proxy.count { $0.malformed += 1 }
            self.obey(self.state.requestMalformed(error.message))
        }
    }

    private func requestEnded() {
        self.state.requestRead()
        self.tap?.requestEnded(at: self.elapsed, sendStarted: self.sendStarted)
        self.client.wait(self.proxy.limits.upstreamSilence)
    }

    /// What the body parser saw goes to the tap; blocks of large bodies go straight to the recorder.
    private func taped(_ side: Tap.Side, _ event: BodyEvent, in bytes: UnsafeRawBufferPointer, at: Double) {
        guard self.records else { return }
        switch event {
        case .data(let range):
            if let block = self.tap?.data(side, UnsafeRawBufferPointer(rebasing: bytes[range]), at: at), let id = self.tap?.id {
                self.proxy.record(.block(exchange: id, side: side, bytes: block))
            }
        case .chunk(let size, let line): self.tap?.chunk(side, size: size, line: line, at: at)
        case .lastChunk(let line): self.tap?.lastChunk(side, line: line)
        case .trailers(let fields): self.tap?.trailers(side, fields)
        }
    }

    // MARK: Response

    func upstreamRead(_ buffer: ByteBuffer) {
        self.proxy.readClock()
        guard !self.isOver else { return }
        self.sawResponse = true
        self.client.wait(self.proxy.limits.upstreamSilence)
        var input = buffer
        if self.responseInput != nil {
            var whole = self.responseInput.take() ?? ByteBuffer()
            whole.writeImmutableBuffer(buffer)
            input = whole
        }
        do throws(MessageError) {
            while !self.isOver, input.readableBytes > 0, try self.responseStep(&input) {}
        } catch {
            let failure = Failure(kind: .malformed, message: "\"\(self.origin.authority)\" sent what is not HTTP: \(error.message)")
            self.obey(self.state.upstreamFailed(failure, sawResponse: true))
        }
        if !self.isOver, input.readableBytes > 0 { self.responseInput = input }
    }

    private func responseStep(_ input: inout ByteBuffer) throws(MessageError) -> Bool {
        switch self.responsePhase {
        case .head:
            let parsed = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in
                try self.responseParser.parseResponse(bytes)
            }
            guard let parsed else { return false }
            input.moveReaderIndex(forwardBy: parsed.consumed)
            if parsed.head.status == 101 {
                try self.switchProtocols(parsed.head, rest: &input)
                return false
            }
            if parsed.head.status < 200 {
                try self.interim(parsed.head)
            } else {
                try self.begin(parsed.head, hasMore: input.readableBytes > 0)
            }
            return true
        case .body:
            let at = self.elapsed
            let dechunks = self.dechunks
            var payload = ByteBuffer()
            let progress = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in
                try self.responseBody.consume(bytes) { event in
                    self.taped(.response, event, in: bytes, at: at)
                    if dechunks, case .data(let range) = event { payload.writeBytes(bytes[range]) }
                }
            }
            if let octets = input.readSlice(length: progress.consumed) {
                self.bytesOut += octets.readableBytes
                self.write(dechunks ? payload : octets)
            }
            if progress.isDone { self.responseEnded(rest: input) }
            return !progress.isDone
        case .done:
            return false
        }
    }

    private func interim(_ head: ResponseHead) throws(MessageError) {
        self.interimCount += 1
        guard self.interimCount <= self.proxy.messageLimits.interimResponses else {
            throw MessageError(.tooManyFields, status: 502, "more than \(self.proxy.messageLimits.interimResponses) interim responses")
        }
        self.tap?.interim(InterimResponse(head, at: self.elapsed))
        // RFC 9110, 15.2: an HTTP/1.0 client does not know them.
        guard HopByHop.passesInterim(to: self.request.head.version) else { return }
        self.client.write(self.head(head))
    }

    private func head(_ head: ResponseHead) -> ByteBuffer {
        ByteBuffer(bytes: HopByHop.forwardedResponse(head, clientConnection: .keepAlive, clientVersion: self.request.head.version))
    }

    private func begin(_ head: ResponseHead, hasMore: Bool) throws(MessageError) {
        let framing = try BodyFraming.ofResponse(head, requestMethod: self.request.head.method)
        self.dechunks = HopByHop.needsDechunking(framing, clientVersion: self.request.head.version)
        let clientPersists = framing != .untilClose && !self.dechunks && !self.proxy.isStopping
        self.state.responseBegan(upstreamPersists: Persistence.staysOpen(after: head, framing: framing), clientPersists: clientPersists)
        self.tap?.responseBegan(
            RecordedResponse(head), framing: framing,
            at: self.elapsed)
        if framing == .untilClose || self.dechunks { self.client.answerEndsByClose() }
        let keeps = clientPersists && self.request.persists && self.isRequestRead
        let bytes = HopByHop.forwardedResponse(
            head, clientConnection: keeps ? .keepAlive : .close, clientVersion: self.request.head.version, removesChunking: self.dechunks)
        self.bytesOut += bytes.count
        // Written with the first of the body, or when the read is through: one write for a small answer.
        self.heldHead = ByteBuffer(bytes: bytes)
        self.responseBody = BodyParser(framing: framing, side: .response, limits: self.proxy.messageLimits)
        self.responsePhase = .body
        if framing == .none || framing == .length(0) { self.responseEnded(rest: nil) }
    }

    /// The held head and octets behind it in one buffer where they are few, since each buffer has its price in every layer below.
    private func write(_ octets: ByteBuffer) {
        if var head = self.heldHead.take() {
            if octets.readableBytes <= Self.joinLimit {
                head.writeImmutableBuffer(octets)
                return self.client.write(head)
            }
            self.client.write(head)
        }
        self.client.write(octets)
    }

    private func writeHeldHead() {
        if let head = self.heldHead.take() { self.client.write(head) }
    }

    private func responseEnded(rest: ByteBuffer?) {
        self.writeHeldHead()
        self.responsePhase = .done
        self.tap?.responseEnded()
        // Octets behind the answer answer nothing: the connection is not used again (RFC 9112, 9.2).
        if let rest, rest.readableBytes > 0 { self.state.responseBegan(upstreamPersists: false) }
        self.obey(self.state.responseEnded())
    }

    // MARK: Upstream events

    func upstreamReadComplete() {
        guard !self.isHeld else { return }
        self.writeHeldHead()
        self.client.flush()
        self.regulateUpstream()
    }

    func upstreamEnded() {
        self.proxy.readClock()
        guard !self.isOver else { return }
        if self.responsePhase == .body, self.responseBody.sourceEnded() == .complete {
            self.responseEnded(rest: nil)
            return
        }
        let failure =
            self.sawResponse
            ? Failure(kind: .truncated, message: "\"\(self.origin.authority)\" closed the connection inside its answer.")
            : Failure(kind: .reset, message: "\"\(self.origin.authority)\" closed the connection without an answer.")
        self.obey(self.state.upstreamFailed(failure, sawResponse: self.sawResponse))
    }

    func upstreamFailed(_ failure: Failure) {
        self.proxy.readClock()
        self.obey(self.state.upstreamFailed(failure, sawResponse: self.sawResponse))
    }

    func upstreamWritabilityChanged(_ isWritable: Bool) {
        self.regulateClient()
    }

    // MARK: Client events

    func clientReadComplete() {}

    func clientWritabilityChanged(_ isWritable: Bool) {
        self.client.wait(self.proxy.limits.clientStall)
        self.regulateUpstream()
    }

    func clientEnded() -> Bool { false }

    func proxyStopped() {
        self.obey(self.state.recorderStopped("the proxy was stopped before the exchange had ended"))
    }

    func clientLeft(_ reason: String) {
        self.obey(self.state.clientLeft(reason))
    }

    func deadlinePassed() {
        if !self.isRequestRead, self.upstream?.isWritable == true, self.responsePhase == .head {
            self.obey(self.state.clientLeft("client sent nothing for \(self.proxy.limits.clientStall) s"))
            self.client.close()
        } else if !self.client.isWritable {
            self.obey(self.state.clientLeft("client read nothing for \(self.proxy.limits.clientStall) s"))
            self.client.close()
        } else {
            let failure = Failure(
                kind: .timeout, message: "\"\(self.origin.authority)\" sent nothing for \(self.proxy.limits.upstreamSilence) s.")
            self.obey(self.state.upstreamFailed(failure, sawResponse: self.sawResponse))
        }
    }

    // MARK: Back-pressure

    private func regulateClient() {
        guard !self.isOver, !self.isRequestRead else { return }
        let mayRead = self.upstream?.isWritable == true && !self.pausesForRecorder()
        self.client.setReading(mayRead)
    }

    private func regulateUpstream() {
        guard !self.isOver else { return }
        if !self.client.isWritable { self.client.wait(self.proxy.limits.clientStall) }
        self.upstream?.setReading(self.client.isWritable && !self.pausesForRecorder())
    }

    private func pausesForRecorder() -> Bool {
        guard self.proxy.isRecorderFull, self.records else { return false }
        self.proxy.whenRecorderDrains(self) { [weak self] in
            self?.regulateClient()
            self?.regulateUpstream()
        }
        return true
    }

    // MARK: Endings

    private func obey(_ action: ExchangeState.Action) {
        switch action {
        case .wait, .ignore:
            break
        case .finish(let client, let upstream):
            self.isOver = true
            self.release(upstream)
            self.record(.complete) { self.client.exchangeEnded(client) }
        case .answer(let failure, let client):
            self.isOver = true
            self.release(.close)
            self.record(.failed(failure)) { self.answer(self.requestFault.map { .malformed($0) } ?? .failure(failure), client: client) }
        case .cut(let cut):
            self.isOver = true
            self.writeHeldHead()
            self.release(.close)
            self.record(.cut(cut)) { self.client.closeAfterFlush() }
        case .cancel(let cut):
            self.isOver = true
            self.release(.close)
            self.record(.cut(cut)) {}
        case .redial:
            self.release(.close)
            self.responseInput = nil
            self.sawResponse = false
            self.dial()
        }
    }

    private func release(_ after: ExchangeState.After) {
        guard let upstream else { return }
        self.upstream = nil
        if after == .keep { self.proxy.pool.put(upstream, now: self.proxy.now) } else { upstream.close() }
    }

    /// Hands the exchange to the recorder; `then` runs at once, or when it is on the disk where that was asked for.
    private func record(_ outcome: Outcome, then: @escaping () -> Void) {
        self.proxy.count {
            $0.bytes += self.bytesOut
            if self.records { $0.exchanges += 1 }
        }
        guard let exchange = self.tap?.ended(outcome, at: self.elapsed) else { return then() }
        self.tap = nil
        guard self.proxy.configuration.durability == .full else {
            self.proxy.record(.exchange(exchange, stored: nil))
            return then()
        }
        self.isHeld = true
        let door = self.proxy.door
        let resume = NIOLoopBound(then, eventLoop: self.proxy.loop)
        self.proxy.record(.exchange(exchange, stored: { door.execute { resume.value() } }))
    }

    private func answer(_ answer: ProxyAnswer, client after: ExchangeState.After) {
        let option = self.request.connectionOption(keeps: after == .keep)
        self.client.write(ByteBuffer(bytes: answer.bytes(method: self.request.head.method, persistence: option)))
        self.client.exchangeEnded(after)
    }

    // MARK: Upgrade

    /// The origin changes protocols: both connections become a tunnel (RFC 9110, 7.8).
    private func switchProtocols(_ head: ResponseHead, rest: inout ByteBuffer) throws(MessageError) {
        guard HopByHop.asksUpgrade(self.request.head), self.isRequestRead, let upstream else {
            throw MessageError(.startLine, status: 502, "101 (Switching Protocols) without a request for it")
        }
        self.isOver = true
        self.tap?.responseBegan(
            RecordedResponse(head), framing: .none,
            at: self.elapsed)
        self.tap?.responseEnded()
        self.client.write(self.head(head))
        let tunnel = Tunnel(client: self.client, upstream: upstream) { [self] counts in
            self.tap?.tunnelled(counts)
            self.record(.complete) {}
        }
        self.tunnel = tunnel
        self.client.become(tunnel)
        tunnel.start()
        if rest.readableBytes > 0 { tunnel.upstreamRead(rest) }
        tunnel.upstreamReadComplete()
        rest.moveReaderIndex(to: rest.writerIndex)
        // What the client sent behind its request has waited for the tunnel.
        self.client.process()
    }
}
