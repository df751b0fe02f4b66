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
    let route: UpstreamRoute
    /// Why the connection that was made for this request ahead of it failed.
    private let earlierFailure: Failure?
    var state: ExchangeState
    var tap: Tap?
    var upstream: UpstreamHandler?
    var requestBody: BodyParser
    var isRequestRead = false
    var sendStarted = 0.0
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
    let records: Bool
    /// A chunked answer to an HTTP/1.0 client goes out without its chunk framing (RFC 9112, 6.1).
    var dechunks = false
    /// The answer's end waits for the disk.
    var isHeld = false
    var tunnel: Tunnel?
    /// What is wrong with the rest of the request.
    var requestFault: MessageError?
    /// The request has gone to the origin as a whole.
    var isRequestSent = false
    /// The client was asked for the body before it was known where it goes: it is not asked again.
    let toldToGoOn: Bool
    /// The body, where it was read before.
    var held: HeldBody?
    var isTakingHeld = false

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

    func dial() {
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

    func refuseLoop() {
        self.tap = nil
        self.isOver = true
        self.answer(.loop(self.origin.authority), client: self.isRequestRead && self.request.persists ? .keep : .linger)
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

    func regulateClient() {
        if self.held != nil { return self.sendHeld() }
        guard !self.isOver, !self.isRequestRead else { return }
        let mayRead = self.upstream?.isWritable == true && !self.pausesForRecorder()
        self.client.setReading(mayRead)
    }

    func regulateUpstream() {
        guard !self.isOver else { return }
        if !self.client.isWritable { self.client.wait(self.proxy.limits.clientStall) }
        self.upstream?.setReading(self.client.isWritable && !self.pausesForRecorder())
    }

    func pausesForRecorder() -> Bool {
        guard self.proxy.isRecorderFull, self.records else { return false }
        self.proxy.whenRecorderDrains(self) { [weak self] in
            self?.regulateClient()
            self?.regulateUpstream()
        }
        return true
    }
}
