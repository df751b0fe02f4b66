internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// A request whose body decides what answers it: reads it to its end, asks the session, and hands over to whoever answers.
///
/// Keeps the body only where it may have to be forwarded, and never decides on one that was cut. Asks a client that waits for it to send
/// the body, unless the origin answered without. Not Sendable: lives on its event loop.
final class PendingExchange: ClientExchange {
    /// A longer body is looked into on another thread: the event loop has other clients.
    static let inlineSize = 64 << 10

    private let client: ClientHandler
    private let proxy: ProxyContext
    private let request: IncomingRequest
    private let scope: TunnelScope
    private let work: PendingWork
    private var body: BodyParser
    private var ahead = ReadAhead()
    private var size = 0
    private var isAsking = false
    private var isOver = false

    let isIdle = false

    init(client: ClientHandler, request: IncomingRequest, scope: TunnelScope, pending: PendingRequest) {
        self.client = client
        self.proxy = client.proxy
        self.request = request
        self.scope = scope
        self.work = PendingWork(session: client.proxy.session, pending: pending)
        self.body = BodyParser(framing: request.framing.framing, side: .request, limits: client.proxy.messageLimits)
    }

    var isRequestRead: Bool { self.ahead.isRead }

    func start() {
        guard self.request.hasBody else {
            self.ahead.isRead = true
            return self.conclude()
        }
        if self.proxy.session.mayForward { self.ahead.body = HeldBody(loop: self.proxy.loop, disk: self.proxy.disk) }
        // Who sends the body all the same need not be asked (RFC 9110, 10.1.1).
        if self.request.expectsContinue, self.client.input?.readableBytes ?? 0 == 0 { self.ask() }
    }

    // MARK: Expect: 100-continue

    private func ask() {
        self.isAsking = true
        self.client.setReading(false)
        let work = self.work
        self.onThread({ work.decideUnasked() }) { [self] decision in
            self.isAsking = false
            self.client.setReading(true)
            if let decision { return self.follow(decision) }
            self.client.write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
            self.client.flush()
            self.ahead.toldToGoOn = true
            self.client.wait(self.proxy.limits.clientStall)
            self.client.process()
        }
    }

    // MARK: The body

    func requestInput(_ input: inout ByteBuffer) {
        guard !self.isOver, !self.isAsking else { return }
        do throws(MessageError) {
            let progress = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in
                try self.body.consume(bytes) { event in
                    guard case .data(let range) = event else { return }
                    self.size += range.count
                    self.work.push(UnsafeRawBufferPointer(rebasing: bytes[range]))
                }
            }
            let octets = input.readSlice(length: progress.consumed) ?? ByteBuffer()
            self.ahead.body?.append(octets, at: self.elapsed)
            self.client.wait(self.proxy.limits.clientStall)
            if progress.isDone {
                self.ahead.isRead = true
                return self.whenHeld { $0.conclude() }
            }
            guard self.ahead.body?.isFull == true else { return }
            self.client.setReading(false)
            self.whenHeld { $0.client.setReading(true) }
        } catch {
            self.proxy.count { $0.malformed += 1 }
            self.answer(.malformed(error))
        }
    }

    /// Milliseconds since the exchange started.
    private var elapsed: Double { Double((self.proxy.now - self.request.start).nanoseconds) / 1e6 }

    private func whenHeld(_ then: @escaping (PendingExchange) -> Void) {
        guard let body = self.ahead.body else { return then(self) }
        body.whenReady { [weak self] in
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            then(self)
        }
    }

    // MARK: Deciding

    private func conclude() {
        if self.size <= Self.inlineSize, let decision = self.work.decideNow() { return self.follow(decision) }
        let work = self.work
        self.onThread({ work.decide() }) { [self] in self.follow($0) }
    }

    /// Runs on a thread that may wait for the disk; what comes of it counts only while the client is there.
    private func onThread<Value: Sendable>(
        _ deciding: @escaping @Sendable () -> Result<Value, CassetteError>, then: @escaping (Value) -> Void
    ) {
        self.client.wait(self.proxy.limits.upstreamSilence)
        let decided = self.proxy.disk.run(on: self.proxy.loop, deciding)
        decided.assumeIsolated().whenComplete { result in
            guard !self.isOver else { return }
            self.proxy.readClock()
            switch result {
            case .success(.success(let value)): then(value)
            case .success(.failure(let error)): self.unreadable(error)
            case .failure(let error as CassetteError): self.unreadable(error)
            case .failure: self.client.close()
            }
        }
    }

    private func unreadable(_ error: CassetteError) {
        self.proxy.session.couldNotDecide(problem: "\(self.request.head.method) \(self.request.url): \(error.message)")
        self.proxy.count {
            $0.unreadable += 1
            if $0.firstUnreadable == nil { $0.firstUnreadable = error.message }
        }
        self.answer(ProxyAnswer(status: 500, reason: "Cassette Unreadable", error: "cassette", text: error.message))
    }

    private func follow(_ decision: Decision) {
        if case .forward = decision, let problem = self.ahead.body?.problem {
            return self.answer(
                ProxyAnswer(
                    status: 507, reason: "Insufficient Storage", error: "body",
                    text: "the request's body could not be held until it was known where it goes: \(problem.message)"))
        }
        self.become(self.client.exchange(following: decision, on: self.request, in: self.scope, ahead: self.ahead))
    }

    private func answer(_ answer: ProxyAnswer) {
        self.become(LocalExchange(client: self.client, request: self.request, answer: answer, ahead: self.ahead, endsUnread: true))
    }

    private func become(_ exchange: any ClientExchange) {
        guard !self.isOver else { return }
        self.isOver = true
        self.ahead.body = nil
        self.client.setReading(true)
        self.client.wait(self.proxy.limits.clientStall)
        self.client.become(exchange)
        exchange.start()
        self.client.process()
    }

    // MARK: Client events

    func clientReadComplete() {}
    func clientWritabilityChanged(_ isWritable: Bool) {}
    func clientEnded() -> Bool { false }
    func proxyStopped() {}

    func clientLeft(_ reason: String) {
        self.isOver = true
        self.ahead.body = nil
    }

    func deadlinePassed() {
        guard !self.ahead.isRead, !self.isAsking else { return self.client.close() }
        let seconds = self.proxy.limits.clientStall
        self.answer(.requestTimeout("the request's body stopped for \(seconds) s before its end: send it without such a pause."))
    }
}
