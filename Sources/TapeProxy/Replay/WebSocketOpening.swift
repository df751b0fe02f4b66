internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeExchange

/// Answers a WebSocket request from the cassette with the recorded handshake. The accept value is computed, and the extensions and the
/// subprotocol are those of the recording that this client offers. A `WebSocketReplay` follows.
///
/// Not Sendable: lives on its event loop.
final class WebSocketOpening: MessageExchange {
    private let client: any ClientStream
    private let proxy: ProxyContext
    private let router: ExchangeRouter
    private let request: IncomingRequest
    private let scope: TunnelScope
    private let pending: PendingRequest
    private var isOver = false
    /// Set while the answer waits for its time; nil if nothing delays it.
    private var pace: ReplayPace?
    private(set) var deadline: NIODeadline

    init(router: ExchangeRouter, request: IncomingRequest, scope: TunnelScope, pending: PendingRequest) {
        self.router = router
        self.client = router.stream
        self.proxy = router.stream.peer.session
        self.request = request
        self.scope = scope
        self.pending = pending
        self.deadline = self.proxy.now + .seconds(Int64(self.proxy.limits.upstreamSilence))
    }

    func start() {
        let (session, pending, latency) = (self.proxy.session, self.pending, self.proxy.configuration.latency)
        // An invalid list of subprotocols is refused below.
        let protocols = (try? WebSocketRequest(self.request.head))?.protocols ?? []
        let opening = self.proxy.disk.run(on: self.proxy.loop) { () -> Result<PendingConversation?, CassetteError> in
            do throws(CassetteError) {
                return .success(try session.webSocket(pending, latency: latency, protocols: protocols))
            } catch {
                return .failure(error)
            }
        }
        opening.assumeIsolated().whenComplete { [self] result in
            guard !self.isOver else { return }
            self.proxy.readClock()
            switch result {
            case .success(.success(let conversation?)): self.open(conversation)
            case .success(.success(nil)):
                self.become(PendingExchange(router: self.router, request: self.request, scope: self.scope, pending: self.pending))
            case .success(.failure(let error)): self.unreadable(error)
            case .failure(let error as CassetteError): self.unreadable(error)
            case .failure: self.client.close()
            }
        }
    }

    private func open(_ conversation: PendingConversation) {
        guard let recorded = self.proxy.session.opening(of: conversation) else { return self.missed(conversation) }
        let asked: WebSocketRequest
        do {
            asked = try WebSocketRequest(self.router.change?.handshake ?? self.request.head)
        } catch {
            return self.answer(
                ProxyAnswer(
                    status: error.status, reason: error.status == 426 ? "Upgrade Required" : "Bad Request", error: "websocket",
                    fields: error.names13 ? [("Sec-WebSocket-Version", "13")] : [],
                    text: "\(error.message): correct the client's handshake (RFC 6455, 4.2.1)."))
        }
        let times = RecordedTimes(head: recorded.opened, end: recorded.opened)
        guard let schedule = ReplaySchedule(self.proxy.configuration.latency, times: times, arrival: nil) else {
            return self.open(conversation, recorded, asked)
        }
        let pace = ReplayPace(schedule, start: schedule.isFromStart ? self.request.start : self.proxy.now, proxy: self.proxy)
        self.pace = pace
        pace.wait(until: pace.head) { [weak self] in
            guard let self, !self.isOver else { return }
            self.open(conversation, recorded, asked)
        }
    }

    private func open(_ conversation: PendingConversation, _ recorded: WebSocketSpeech, _ asked: WebSocketRequest) {
        let (fields, agreement) = WebSocketHandshake.replayed((recorded.request, recorded.answer.headers), to: asked)
        // Over HTTP/2, the recorded answer was 200 (RFC 8441, 5).
        let reason = recorded.answer.status == 101 ? recorded.answer.reason : Array("Switching Protocols".utf8)
        let head = ResponseHead(version: .http11, status: 101, reason: reason, fields: fields)
        if self.request.head.connectProtocol == nil {
            self.client.send(interim: head)
        } else {
            self.client.send(WebSocketHandshake.extendedAnswer(head), framing: .untilClose)
        }
        self.isOver = true
        let replay = WebSocketReplay(
            self.client, request: self.request, origin: self.scope.origin, pending: self.pending, conversation: conversation,
            agreement: agreement)
        self.client.become(replay)
        replay.start()
    }

    /// Every matching recorded conversation has been used.
    private func missed(_ conversation: PendingConversation) {
        let session = self.proxy.session
        let missing = self.proxy.disk.run(on: self.proxy.loop) { session.missed(conversation, message: nil) }
        missing.assumeIsolated().whenComplete { [self] result in
            guard !self.isOver else { return }
            self.proxy.readClock()
            switch result {
            case .success(let decision): self.become(self.router.exchange(following: decision, on: self.request, in: self.scope))
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

    private func answer(_ answer: ProxyAnswer) {
        self.isOver = true
        self.client.send(answer.visible(to: self.request.head.fields), isFinal: false)
        self.client.finish()
    }

    private func become(_ exchange: any ClientExchange) {
        self.isOver = true
        self.client.become(exchange)
        exchange.start()
    }

    // MARK: The client

    func requestBody(_ piece: BodyPiece) {}
    func requestFailed(_ error: MessageError) { if !self.isOver { self.answer(.malformed(error)) } }
    func clientLeft(_ reason: String) {
        self.pace?.stop()
        self.isOver = true
    }

    func deadlinePassed() {
        // The replay is waiting, not the client.
        if self.pace?.isWaiting == true { self.deadline = self.proxy.stallDeadline } else { self.client.close() }
    }
}
