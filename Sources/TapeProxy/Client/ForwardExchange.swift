internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// One request passed on to its origin and the answer passed back, octet for octet, with a tap on both.
///
/// `ExchangeState` says what happens when something ends or fails; this obeys. Not Sendable: lives on its event loop.
final class ForwardExchange: ClientExchange, UpstreamOwner {
    enum ResponsePhase { case head, body, done }

    /// A body of up to so many octets is copied behind its head; more is cheaper to write from two places.
    static let joinLimit = 4096

    let client: ClientHandler
    let proxy: ProxyContext
    let request: IncomingRequest
    private let route: UpstreamRoute
    /// Why the connection that was made for this request ahead of it failed.
    private let earlierFailure: Failure?
    var state: ExchangeState
    var tap: Tap?
    var upstream: UpstreamHandler?
    private var requestBody: BodyParser
    private(set) var isRequestRead = false
    private var sendStarted = 0.0
    /// Milliseconds that the request was held before it was known where it goes.
    private var startedAt = 0.0
    var responseParser: HeadParser
    var responsePhase = ResponsePhase.head
    var responseBody = BodyParser(framing: .none, side: .response)
    var responseInput: ByteBuffer?
    var sawResponse = false
    var interimCount = 0
    var heldHead: ByteBuffer?
    var isOver = false
    /// Octets passed to the client, counted once at the end.
    var bytesOut = 0
    private let records: Bool
    /// A chunked answer to an HTTP/1.0 client goes out without its chunk framing (RFC 9112, 6.1).
    var dechunks = false
    /// The answer's end waits for the disk.
    private var isHeld = false
    var tunnel: Tunnel?
    /// What is wrong with the rest of the request.
    private var requestFault: MessageError?
    /// The request has gone to the origin as a whole.
    private(set) var isRequestSent = false
    /// The client was asked for the body before it was known where it goes: it is not asked again.
    let toldToGoOn: Bool
    /// The body, where it was read before.
    private var held: HeldBody?
    private var isTakingHeld = false

    let isIdle = false

    init(
        client: ClientHandler, request: IncomingRequest, route: UpstreamRoute, earlierFailure: Failure? = nil, records: Bool,
        ahead: ReadAhead = ReadAhead()
    ) {
        self.client = client
        self.proxy = client.proxy
        self.request = request
        self.route = route
        self.earlierFailure = earlierFailure
        self.isRequestRead = ahead.isRead || !request.hasBody
        self.held = ahead.body
        self.toldToGoOn = ahead.toldToGoOn
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
    var elapsed: Double { Double((self.proxy.now - self.request.start).nanoseconds) / 1e6 }

    func start() {
        if !self.request.hasBody { self.state.requestRead() }
        self.startedAt = self.elapsed
        if let upstream = self.proxy.pool.take(self.route) {
            self.attach(upstream, mayBeStale: true)
        } else if let earlierFailure {
            self.obey(self.state.upstreamFailed(earlierFailure, sawResponse: false))
        } else {
            self.dial()
        }
    }

    var origin: Origin { self.route.origin }

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
        self.tap?.connected(
            connection, blocked: self.held == nil ? nil : self.startedAt, dns: timing?.dns, connect: timing?.connect, tls: timing?.tls)
        self.sendStarted = self.elapsed
        let head = HopByHop.forwardedRequest(self.request.head, target: self.request.target, framing: self.request.framing)
        upstream.write(ByteBuffer(bytes: head))
        if !self.request.hasBody { self.requestEnded() }
        upstream.flush()
        if self.held != nil { self.sendHeld() } else if !self.isRequestRead { self.client.process() }
    }

    private func refuseLoop() {
        self.tap = nil
        self.isOver = true
        self.answer(.loop(self.origin.authority), client: self.isRequestRead && self.request.persists ? .keep : .linger)
    }

    // MARK: Request

    func requestInput(_ input: inout ByteBuffer) {
        self.send(&input, at: self.elapsed)
    }

    /// Sends what was read before, as fast as the origin takes it.
    private func sendHeld() {
        guard let held, let upstream, !self.isOver, !self.isTakingHeld, upstream.isWritable, !self.pausesForRecorder() else { return }
        self.isTakingHeld = true
        held.next { [weak self] result in
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            switch result {
            case .success(let pieces):
                for var piece in pieces where !self.isOver { self.send(&piece.octets, at: piece.at) }
                self.isTakingHeld = false
                if pieces.isEmpty || self.isRequestSent { self.held = nil } else { self.sendHeld() }
            case .failure(let error):
                let failure = Failure(kind: .cancelled, message: "the request's body cannot be read back: \(error.message)")
                self.obey(self.state.upstreamFailed(failure, sawResponse: self.sawResponse))
            }
        }
    }

    /// - Parameter at: when it came from the client.
    private func send(_ input: inout ByteBuffer, at: Double) {
        guard let upstream, !self.isOver else { return }
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
        self.isRequestSent = true
        self.state.requestRead()
        self.tap?.requestEnded(at: self.elapsed, sendStarted: self.sendStarted)
        self.client.wait(self.proxy.limits.upstreamSilence)
    }

    /// What the body parser saw goes to the tap; blocks of large bodies go straight to the recorder.
    func taped(_ side: Tap.Side, _ event: BodyEvent, in bytes: UnsafeRawBufferPointer, at: Double) {
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
        if self.held != nil { return self.sendHeld() }
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

    func obey(_ action: ExchangeState.Action) {
        defer { if self.isOver { self.held = nil } }
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
    func record(_ outcome: Outcome, then: @escaping () -> Void) {
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
}
