internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeRecorder

/// Forwards one request to its origin and the answer back, and records both.
///
/// Carries out the decisions of `ExchangeState`, which determines what happens when something ends or fails and which side is read.
/// Independent of wire formats: see `ClientStream` and `UpstreamStream`. Not Sendable: lives on its event loop.
final class ForwardExchange: MessageExchange, UpstreamExchange {
    /// Milliseconds after a call's deadline in which its own client and origin may still end it.
    private static let callGrace = 1000.0

    private let client: any ClientStream
    private let proxy: ProxyContext
    private let request: IncomingRequest
    private let route: UpstreamRoute
    /// Why the connection that was opened ahead of this request failed.
    private let earlierFailure: Failure?
    /// The connection that was made for the request; nil to take or make one.
    private var made: MadeConnection?
    private let change: RequestChange?
    private var state: ExchangeState
    private var recording: ExchangeRecording
    private var upstream: (any UpstreamStream)?
    /// The request's body, if it has already been read.
    private var buffered: BufferedRequestBody?
    private var isReadingBuffered = false
    /// The request carries credentials that authenticate its connection.
    private let authenticatesConnection: Bool
    /// Bytes of the request body received so far, without transfer framing.
    private var received = 0
    /// The end of the request has arrived.
    private var isRead = false
    /// The part of the request body that has been sent.
    private var sent = SentBody()
    /// The origin did not process the request whose failure is reported to the client.
    private var isUnprocessed = false
    /// Why the rest of the request is malformed.
    private var requestError: MessageError?
    /// Sent to the client when the exchange is on disk.
    private var withheldHead: (head: ResponseHead, framing: BodyFraming)?
    private var withheldPiece: BodyPiece?
    private var hasBegun = false
    /// The request was given to a connection to its origin, or the session was told that it never reached one.
    private var hasReached = false
    private var journaling: Scheduled<Void>?

    /// A connection to the origin that was taken or made before the exchange began.
    struct MadeConnection {
        var stream: any UpstreamStream
        /// It has served other requests.
        var isReused: Bool
    }

    /// - Parameters:
    ///   - made: the connection to forward to; nil to take or make one.
    ///   - earlierFailure: of the connection that was opened ahead of the request.
    ///   - ahead: the part of the request that has already been read.
    ///   - change: how traffic rules change the request.
    init(
        client: any ClientStream, request: IncomingRequest, route: UpstreamRoute, over made: MadeConnection? = nil,
        earlierFailure: Failure? = nil, records: Bool,
        ahead: ReadAhead = ReadAhead(), change: RequestChange? = nil
    ) {
        let proxy = client.peer.session
        self.change = change
        self.client = client
        self.proxy = proxy
        self.request = request
        self.authenticatesConnection = ConnectionAuthentication.isUsed(by: request.head.fields)
        self.route = Self.route(of: request, self.authenticatesConnection ? route.ofHTTP1 : route, through: proxy.shared.chain)
        self.earlierFailure = earlierFailure
        self.made = made
        self.buffered = ahead.body
        self.recording = ExchangeRecording(request, proxy: proxy, isOn: records)
        if let change { self.recording.modified(change.modification) }
        self.state = ExchangeState(
            ExchangeState.Request(
                isRepeatable: request.isRepeatable, isRead: ahead.isRead || !request.hasBody,
                isBuffered: ahead.body != nil, expectsContinue: request.expectsContinue, sentContinue: ahead.sentContinue),
            limits: ExchangeState.Limits(
                clientStall: Double(proxy.limits.clientStall) * 1000, originSilence: Double(proxy.limits.upstreamSilence) * 1000,
                connect: Double(2 * proxy.limits.connect) * 1000, streamSilence: Double(proxy.limits.tunnelIdle) * 1000,
                // Later than the deadlines that client and origin keep themselves: this one is for peers that keep none.
                call: request.call?.timeout.map { $0 + Self.callGrace }))
        self.state.headCame(request.head.fields)
    }

    private static func route(of request: IncomingRequest, _ route: UpstreamRoute, through chain: UpstreamChain) -> UpstreamRoute {
        var route = WebSocketHandshake.isAsked(by: request.head) ? route.ofHTTP1 : route
        guard !chain.isEmpty, route.origin.scheme == .http, !route.mayBeHTTP2 else { return route }
        // An upstream proxy looks only at the URL. If Host names another host than the tunnel's origin, the URL would lead elsewhere.
        let isElsewhere = request.host.map { Origin(scheme: .http, authority: $0) != route.origin } ?? false
        route.isTunnelled = HopByHop.asksUpgrade(request.head) || (isElsewhere && request.isInTunnel)
        return route
    }

    /// Milliseconds since the exchange began.
    private var elapsed: Double { Double((self.proxy.now - self.request.start).nanoseconds) / 1e6 }

    private var authority: String { self.route.origin.authority }

    // MARK: The upstream connection

    func start() {
        self.proxy.log.forward(
            self.recording.id, connection: self.client.peer.id, method: self.request.head.method, origin: self.route.origin)
        let client = self.client.peer.id
        if let made = self.made.take() {
            self.attach(made.stream, isReused: made.isReused)
        } else if let upstream = self.proxy.pool.take(self.route, client: client, isRepeatable: self.request.isRepeatable) {
            self.attach(upstream, isReused: true)
        } else if let earlierFailure {
            self.perform(self.state.upstreamFailed(earlierFailure))
        } else {
            self.dial()
        }
    }

    private func dial() {
        self.state.dialing(at: self.elapsed)
        self.proxy.dialing.open(self.route, lookup: nil) { [weak self] result in
            guard let self, !self.state.isOver else {
                if case .success(let upstream) = result { upstream.cancel() }
                return
            }
            switch result {
            case .success(let upstream): self.attach(upstream, isReused: false)
            case .failure(.loop): self.refuseLoop()
            case .failure(.stopped):
                self.proxyStopped()
                self.client.close()
            case .failure(.failed(let failure)): self.perform(self.state.upstreamFailed(failure))
            }
        }
    }

    private func refuseLoop() {
        self.noteUnreached()
        self.recording.discard()
        self.state.ended()
        let change = self.change?.modification
        self.answer(.loop(self.authority, rules: change?.forwardedTo == nil ? [] : change?.rules ?? []))
    }

    /// Tells the session that the request was not forwarded after all, if no connection to its origin was made.
    private func noteUnreached() {
        guard !self.hasReached else { return }
        self.hasReached = true
        self.proxy.session.didNotReachOrigin()
    }

    private func attach(_ connected: any UpstreamStream, isReused: Bool) {
        let upstream = self.change?.applied(to: connected, in: self.proxy) ?? connected
        self.hasReached = true
        let blocked = self.buffered == nil ? nil : self.elapsed
        self.upstream = upstream
        if self.authenticatesConnection { upstream.bind(to: self.client.peer.id) }
        upstream.take(self)
        self.state.upstreamTaken(isReused: isReused, at: self.elapsed)
        let (info, timing) = upstream.use()
        self.recording.connected(info, timing, blocked: blocked)
        if let head = MaxForwards.counted(self.request.head) {
            upstream.send(head, target: self.request.target, framing: self.request.framing)
        } else {
            upstream.send(self.request.head, target: self.request.target, framing: self.request.framing)
        }
        if let stream = upstream.number { self.recording.opened(stream: stream) }
        for piece in self.sent.pieces { upstream.send(piece) }
        if !self.request.hasBody || self.sent.pieces.last?.isLast == true { self.requestSent() }
        upstream.flush()
        if self.request.hasBody {
            self.pauseWhileRecorderIsFull()
            self.regulate()
        }
    }

    // MARK: The request

    func requestBody(_ piece: BodyPiece) {
        if piece.isLast { self.state.requestRead() }
        self.send(piece, at: self.elapsed)
        self.upstream?.flush()
        self.pauseWhileRecorderIsFull()
        self.regulate()
    }

    func requestRest(_ piece: BodyPiece) {
        guard !self.state.isOver, self.buffered == nil else { return }
        self.received += piece.payloadSize
        self.isRead = self.isRead || piece.isLast
        self.recording.body(.request, piece, at: self.elapsed)
        if piece.isLast { self.recording.requestEnded() }
    }

    private func send(_ piece: BodyPiece, at: Double) {
        guard let upstream, !self.state.isOver else { return }
        self.received += piece.payloadSize
        self.isRead = self.isRead || piece.isLast
        self.recording.body(.request, piece, at: at)
        upstream.send(piece)
        self.state.requestBodySent(at: self.elapsed, isKept: self.sent.keep(piece))
        if piece.isLast { self.requestSent() }
    }

    private func requestSent() {
        self.recording.requestEnded()
        self.perform(self.state.requestSent(at: self.elapsed))
    }

    /// Sends the buffered body as fast as the origin takes it.
    private func sendBuffered() {
        guard let buffered, !self.isReadingBuffered else { return }
        self.isReadingBuffered = true
        buffered.next { [weak self] result in
            guard let self, !self.state.isOver else { return }
            self.proxy.readClock()
            self.isReadingBuffered = false
            switch result {
            case .success(let pieces):
                for piece in pieces where !self.state.isOver { self.send(piece.body, at: piece.at) }
                self.upstream?.flush()
                if pieces.isEmpty || pieces.last?.body.isLast == true {
                    self.buffered = nil
                    self.state.bufferSent()
                }
                self.pauseWhileRecorderIsFull()
                self.regulate()
            case .failure(let error):
                let failure = Failure(kind: .cancelled, message: "the request's body cannot be read back: \(error.message)")
                self.perform(self.state.upstreamFailed(failure))
            }
        }
    }

    func requestFailed(_ error: MessageError) {
        self.requestError = error
        self.perform(self.state.requestMalformed(error.message))
    }

    // MARK: The answer

    func originInterim(_ head: ResponseHead) {
        self.state.originSent(at: self.elapsed)
        self.recording.interim(head)
        if self.state.interim(head.status) { self.client.send(interim: head) }
    }

    func originHead(_ head: ResponseHead, framing: BodyFraming) {
        // Applies even if the client sent no such credentials: it may have authenticated in another way.
        if ConnectionAuthentication.isUsed(by: head.fields, status: head.status) { self.upstream?.bind(to: self.client.peer.id) }
        self.state.originSent(at: self.elapsed)
        self.sent.drop()
        self.state.responseBegan()
        self.state.headCame(head.fields)
        self.recording.responseBegan(head, framing: framing)
        if self.recording.waitsForDisk { self.withheldHead = (head, framing) } else { self.begin(head, framing) }
    }

    private func begin(_ head: ResponseHead, _ framing: BodyFraming) {
        self.hasBegun = true
        self.client.send(head, framing: framing)
    }

    func originBody(_ piece: BodyPiece) {
        self.state.originSent(at: self.elapsed)
        self.recording.body(.response, piece)
        guard !piece.isLast || !self.recording.waitsForDisk else {
            self.withheldPiece = piece
            return
        }
        self.sendWithheld()
        self.client.send(piece)
    }

    private func sendWithheld() {
        if let (head, framing) = self.withheldHead.take() { self.begin(head, framing) }
        if let piece = self.withheldPiece.take() { self.client.send(piece) }
    }

    func originEnded(readsOn: Bool) {
        self.recording.responseEnded()
        // The status ends a gRPC call. Its client sends nothing more once it has the status, and may wait for it.
        self.perform(self.state.responseEnded(readsOn: readsOn && self.request.call == nil, at: self.elapsed))
    }

    func originReadComplete() {
        guard !self.state.isOver else { return }
        if self.withheldPiece == nil, !self.state.responseIsWhole { self.sendWithheld() }
        self.keepStream()
        self.client.flush()
        self.pauseWhileRecorderIsFull()
        self.regulate()
    }

    /// An event or message stream that has not ended yet may run for a long time, so its journal is scheduled.
    private func keepStream() {
        guard self.journaling == nil, let delay = self.recording.journalDelay, !self.state.responseIsWhole else { return }
        self.journaling = self.proxy.loop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
            guard let self, !self.state.isOver else { return }
            self.proxy.readClock()
            self.recording.openJournal()
        }
    }

    func originFailed(_ failure: Failure, isUnprocessed: Bool) {
        self.upstream = nil
        self.isUnprocessed = isUnprocessed
        self.perform(self.state.upstreamFailed(failure, isUnprocessed: isUnprocessed))
    }

    /// The origin changes protocols: both connections become a tunnel (RFC 9110, 7.8).
    func originSwitched(_ head: ResponseHead, to connection: UpstreamConnection, rest: ByteBuffer) {
        self.upstream = nil
        let isWebSocket = WebSocketHandshake.isAsked(by: self.request.head) && WebSocketHandshake.isOpened(by: head)
        if !isWebSocket, self.refuseOtherProtocol(head, connection) { return }
        self.state.ended()
        self.recording.responseBegan(head, framing: .none)
        self.recording.responseEnded()
        if self.request.head.connectProtocol == nil {
            self.client.send(interim: head)
        } else {
            self.client.send(WebSocketHandshake.extendedAnswer(head), framing: .untilClose)
        }
        if isWebSocket, let webSocket = self.recording.webSocket(offer: self.request.head.fields, answer: head.fields) {
            self.proxy.count { $0.exchanges += 1 }
            let tunnel = Tunnel(client: self.client, upstream: connection, proxy: self.proxy, watcher: webSocket) { [self] counts in
                webSocket.ended(counts)
                self.proxy.log.exchangeEnded(
                    webSocket.id, connection: self.client.peer.id, outcome: webSocket.outcome, milliseconds: self.elapsed)
                self.countBytes()
            }
            self.client.become(tunnel)
            return tunnel.start(with: rest)
        }
        let tunnel = Tunnel(client: self.client, upstream: connection, proxy: self.proxy) { [self] counts in
            self.recording.tunnelled(counts)
            self.record(.complete) { _ in self.countBytes() }
        }
        self.client.become(tunnel)
        tunnel.start(with: rest)
    }

    /// What an isolated program would say in another protocol than HTTP and WebSocket is refused and listed. In another recording, a line
    /// says that it is not recorded.
    ///
    /// - Returns: false if the connections become a tunnel.
    private func refuseOtherProtocol(_ head: ResponseHead, _ connection: UpstreamConnection) -> Bool {
        guard !self.route.isInside else { return false }
        let origin = self.route.origin
        guard let tunnel = IsolatedTunnel(self.client.peer, host: origin.host, port: origin.port) else {
            if self.recording.isOn {
                self.proxy.diagnosis.remark(
                    "the origin of \"\(self.request.url)\" switched protocols: what passed after that is not recorded, and a replay does not answer the request."
                )
            }
            return false
        }
        connection.close()
        self.state.ended()
        self.recording.responseBegan(head, framing: .none)
        let cut = Cut(by: .recorder, reason: "the origin switched to a protocol that is not HTTP, which an isolated program may not speak")
        let client = NIOLoopBound(self.client, eventLoop: self.proxy.loop)
        self.record(.cut(cut)) { [loopGate = self.proxy.loopGate] _ in
            self.countBytes()
            tunnel.refuse(.notHTTP) { loopGate.execute { client.value.breakOff(isReset: true) } }
        }
        return true
    }

    // MARK: Ends

    private func perform(_ action: ExchangeState.Action) {
        switch action {
        case .wait, .ignore:
            return
        case .redial:
            self.upstream?.cancel()
            self.upstream = nil
            // The rest of the body waits for the new connection.
            if self.request.hasBody, self.buffered == nil { self.client.setReading(false) }
            return self.dial()
        case .finish:
            self.upstream.take()?.release(by: self.client.peer.id)
            self.record(.complete) { problem in self.end(problem) }
        case .answer(var failure):
            self.noteUnreached()
            self.cancelUpstream()
            if self.isUnprocessed { failure.kind = .unprocessed }
            let breaks = self.proxy.configuration.originErrors == .break && failure.isBreak && self.requestError == nil
            if breaks { failure.answered = .break }
            self.record(.failed(failure)) { problem in
                if let problem { return self.answer(.unrecorded(problem)) }
                if let error = self.requestError { return self.answer(.malformed(error)) }
                if breaks { return self.client.breakOff(as: failure.code, isReset: failure.isReset) }
                if failure.kind != .unprocessed || !self.client.refuse() { self.answer(.failure(failure)) }
            }
        case .cut(var cut):
            self.noteUnreached()
            self.cancelUpstream()
            if self.proxy.configuration.originErrors != .break { (cut.kind, cut.code) = (nil, nil) }
            self.record(.cut(cut)) { [cut] _ in
                self.sendWithheld()
                self.countBytes()
                if cut.isBreak { self.client.breakOff(as: cut.code, isReset: cut.isReset) } else { self.client.cut() }
            }
        case .cancel(let cut):
            self.noteUnreached()
            self.upstream.take()?.cancel()
            self.record(.cut(cut)) { _ in self.countBytes() }
        }
        self.buffered = nil
    }

    private func cancelUpstream() {
        let upstream = self.upstream.take()
        // The origin gets everything before malformed bytes, whether it came with them or before them.
        if self.requestError == nil { upstream?.cancel() } else { upstream?.cancelAfterFlush() }
    }

    /// - Parameter problem: why the answer must not be delivered as complete; nil if it may be.
    private func end(_ problem: RecorderProblem?) {
        guard let problem else {
            self.sendWithheld()
            self.countBytes()
            return self.client.finish()
        }
        // An answer that is not in the cassette must not look complete.
        self.withheldPiece = nil
        if self.hasBegun { self.client.cut() } else { self.answer(.unrecorded(problem)) }
    }

    /// Records the exchange, then calls back: at once or, with full durability, when the exchange is on disk.
    ///
    /// - Parameter then: called with the problem that kept the exchange off the disk, if the proxy refuses what it cannot record.
    private func record(_ outcome: Outcome, then: @escaping (RecorderProblem?) -> Void) {
        self.journaling?.cancel()
        if self.recording.isOn { self.proxy.count { $0.exchanges += 1 } }
        self.proxy.log.exchangeEnded(self.recording.id, connection: self.client.peer.id, outcome: outcome, milliseconds: self.elapsed)
        let isLater = self.recording.end(outcome) { [proxy] result in
            guard case .failure(let problem) = result, problem.stopsWriting, proxy.configuration.diskFullPolicy == .refuse else {
                return then(nil)
            }
            then(problem)
        }
        if !isLater { then(nil) }
    }

    private func countBytes() {
        let size = self.client.answerSize
        self.proxy.count { $0.bytes += size }
    }

    private func answer(_ answer: ProxyAnswer) {
        self.client.send(answer.visible(to: self.request.head.fields), isFinal: false)
        self.client.finish()
    }

    // MARK: The client

    func clientWritabilityChanged(_ isWritable: Bool) {
        self.state.clientWritabilityChanged(isWritable, at: self.elapsed)
        self.regulate()
    }

    func clientStalled() { self.upstream?.shrinkReads() }

    func clientLeft(_ reason: String) { self.perform(self.state.clientLeft(reason + self.shortfall)) }

    /// How much of the request body is missing, for messages to people; empty if nothing is.
    private var shortfall: String {
        guard self.request.hasBody, !self.isRead, self.buffered == nil else { return "" }
        let came = self.received == 1 ? "1 byte came" : "\(self.received) bytes came"
        if case .length(let length) = self.request.framing { return ": its request announced \(length) bytes, \(self.received) came" }
        return ": \(came) of its request, without its end"
    }

    func proxyStopped() { self.perform(self.state.recorderStopped("the proxy was stopped before the exchange had ended")) }

    // MARK: Time

    var deadline: NIODeadline {
        let due = [self.state.clientDeadline, self.state.originDeadline].compactMap { $0 }.min()
        return due.map { self.request.start + .nanoseconds(Int64($0 * 1e6)) } ?? .distantFuture
    }

    func deadlinePassed() {
        let action = self.state.deadlinePassed(origin: self.authority, at: self.elapsed)
        self.perform(action)
        if case .cancel = action { self.client.close() }
    }

    // MARK: Back-pressure

    func originWritabilityChanged(_ isWritable: Bool) {
        self.state.originWritabilityChanged(isWritable, at: self.elapsed)
        self.regulate()
    }

    private func regulate() {
        guard !self.state.isOver else { return }
        self.upstream?.setReading(self.state.readsOrigin)
        guard self.request.hasBody else { return }
        if self.buffered != nil {
            if self.state.takesRequest { self.sendBuffered() }
        } else if self.upstream != nil {
            self.client.setReading(self.state.readsClient)
        }
    }

    /// Neither side is read while the recorder's queue is full.
    private func pauseWhileRecorderIsFull() {
        guard self.recording.isOn, self.proxy.isRecorderFull, !self.state.isOver else { return }
        self.state.recorderChanged(isFull: true, at: self.elapsed)
        self.proxy.whenRecorderDrains(self) { [weak self] in
            guard let self else { return }
            self.state.recorderChanged(isFull: false, at: self.elapsed)
            self.regulate()
        }
    }
}

/// The beginning of a request body, held until the answer begins, so that a request refused by the origin can be sent again.
private struct SentBody {
    /// A refused stream cannot have taken more than HTTP/2's windows allow. Most origins have smaller windows than this.
    private static let limit = 256 << 10

    /// In the order in which they were sent; empty once a piece could not be kept.
    private(set) var pieces: [BodyPiece] = []
    private var size = 0
    private var isDropped = false

    /// - Returns: whether all pieces so far are held.
    mutating func keep(_ piece: BodyPiece) -> Bool {
        guard !self.isDropped else { return false }
        self.size += piece.bytes.readableBytes
        guard self.size <= Self.limit else {
            self.drop()
            return false
        }
        self.pieces.append(piece)
        return true
    }

    mutating func drop() {
        self.pieces = []
        self.isDropped = true
    }
}
