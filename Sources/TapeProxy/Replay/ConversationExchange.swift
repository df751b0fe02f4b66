internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeExchange

/// Answers, message by message, a request from the cassette whose client may wait for parts of the answer before it has sent everything.
///
/// Chooses the recorded conversation by the client's messages as they arrive, then sends what its script says is due. Never reads a message
/// before the previous one has been compared. Never dials. Not Sendable: lives on its event loop.
final class ConversationExchange: MessageExchange {
    /// What is known when the request head has arrived.
    enum Subject {
        case pending(PendingRequest)
        /// The exchange that answers. Bodies are not compared.
        case chosen(Int)
    }

    private enum Phase {
        case opening
        case choosing(PendingConversation)
        /// The answer is being loaded.
        case loading(ConversationPlay)
        case playing(ConversationPlay)
        case over
    }

    /// A longer message is compared on another thread, because the event loop also serves other clients.
    private static let inlineSize = 64 << 10
    /// How long to wait for a message that decides between conversations before assuming that the client waits for the answer's head.
    private static let patience = TimeAmount.milliseconds(500)

    private let client: any ClientStream
    private let proxy: ProxyContext
    private let router: ExchangeRouter
    private let request: IncomingRequest
    private let scope: TunnelScope
    private let subject: Subject
    private let reader: Reader
    private var phase = Phase.opening
    /// Bytes from the client that nothing has looked at yet: at most one window, because the client is not read meanwhile.
    private var input = ByteBuffer()
    private var isRead: Bool
    private var endWasTaken = false
    /// The disk or another thread is working on the last message.
    private var isBusy = false
    private var lastMessage: BodyFacets?
    /// The part of the request read so far, in case it is forwarded; nil if it cannot be forwarded or part of an answer was sent.
    private var ahead: BufferedRequestBody?
    private var waitsForMessage: Scheduled<Void>?
    private var hasWaited = false
    private var answer: RecordedAnswer?
    private var sender: ConversationSender?
    private var isSending = false
    private var isPumping = false
    private var hasBegun = false
    /// The status that ends the call once the current message has been sent.
    private var verdict: GRPCStatus?
    private var dueTimer: Scheduled<Void>?
    private var callTimer: Scheduled<Void>?
    private var abandonment: String?
    private(set) var deadline: NIODeadline

    init(router: ExchangeRouter, request: IncomingRequest, scope: TunnelScope, subject: Subject) {
        self.router = router
        self.client = router.stream
        self.proxy = router.stream.peer.session
        self.request = request
        self.scope = scope
        self.subject = subject
        self.isRead = !request.hasBody
        self.deadline = self.proxy.now + .seconds(Int64(self.proxy.limits.upstreamSilence))
        switch subject {
        case .pending(let pending): self.reader = Reader(pending.messages())
        case .chosen: self.reader = Reader(.uncompared)
        }
    }

    func start() {
        if let timeout = self.request.call?.timeout { self.setDeadline(timeout) }
        let (session, latency) = (self.proxy.session, self.proxy.configuration.latency)
        switch self.subject {
        case .pending(let pending):
            self.onThread({ () throws(CassetteError) in try session.conversation(pending, latency: latency) }) { [self] conversation in
                guard let conversation else {
                    return self.become(PendingExchange(router: self.router, request: self.request, scope: self.scope, pending: pending))
                }
                if session.mayForward {
                    let body = BufferedRequestBody(
                        framing: self.request.framing, loop: self.proxy.loop, disk: self.proxy.disk, limits: self.proxy.messageLimits)
                    body.isPartial = true
                    self.ahead = body
                }
                self.phase = .choosing(conversation)
                self.settle()
                self.proceed()
            }
        case .chosen(let index):
            self.onThread({ () throws(CassetteError) in try session.conversation(at: index, latency: latency) }) { [self] play in
                guard let play else {
                    return self.become(self.router.exchange(following: .replay(index: index), on: self.request, in: self.scope))
                }
                self.begin(play)
            }
        }
    }

    // MARK: The client's messages

    func requestBody(_ piece: BodyPiece) {
        var payload = piece.payload
        if self.input.readableBytes == 0 { self.input = payload } else { self.input.writeBuffer(&payload) }
        if piece.isLast { self.isRead = true }
        if let ahead {
            if piece.isLast { ahead.isPartial = false }
            ahead.append(piece, at: Double((self.proxy.now - self.request.start).nanoseconds) / 1e6)
            if ahead.isFull {
                self.isBusy = true
                self.client.setReading(false)
                return ahead.whenReady { [weak self] in
                    guard let self, !self.isOver else { return }
                    self.isBusy = false
                    self.proceed()
                }
            }
        }
        self.proceed()
    }

    private var isOver: Bool { if case .over = self.phase { true } else { false } }

    /// Takes the messages that have arrived, one after another, and then the client's end. Sends what is due.
    private func proceed() {
        self.extendDeadline()
        while self.takesMessages, self.input.readableBytes > 0 {
            let (count, isComplete) = self.input.withUnsafeReadableBytes { self.reader.messages.take($0) }
            self.input.moveReaderIndex(forwardBy: count)
            if isComplete { self.compare() }
        }
        if self.takesMessages, self.isRead, !self.endWasTaken { self.takeEnd() }
        guard !self.isOver else { return }
        self.client.setReading(self.takesMessages && !self.isRead)
        self.pump()
    }

    private var takesMessages: Bool {
        guard !self.isBusy, self.verdict == nil else { return false }
        switch self.phase {
        case .choosing, .playing: return true
        case .opening, .loading, .over: return false
        }
    }

    private func compare() {
        guard self.reader.messages.size > Self.inlineSize else { return self.messageCame(self.reader.messages.finish()) }
        let reader = self.reader
        self.onThread({ () throws(CassetteError) in reader.messages.finish() }) { [self] message in
            self.messageCame(message)
            self.proceed()
        }
    }

    private func messageCame(_ message: BodyFacets) {
        self.lastMessage = message
        switch self.phase {
        case .choosing(var conversation):
            // Moved out, so that its storage is not copied.
            self.phase = .opening
            conversation.messageCame(message)
            self.phase = .choosing(conversation)
            self.settle()
        case .playing(var play):
            self.phase = .opening
            let recorded = play.came + play.unsent
            let receipt = play.messageCame(message)
            self.phase = .playing(play)
            switch receipt {
            case .matched, .unknown: break
            case .differs(let number): self.wentElsewhere(play, at: number)
            case .surplus: self.wentElsewhere(play, at: recorded)
            }
        case .opening, .loading, .over: break
        }
    }

    private func takeEnd() {
        self.endWasTaken = true
        // A truncated message never matches a complete one.
        if self.reader.messages.isWithin { self.messageCame(self.reader.messages.finish()) }
        guard self.takesMessages else { return }
        switch self.phase {
        case .choosing(var conversation):
            conversation.clientEnded()
            self.phase = .choosing(conversation)
            self.settle()
        case .playing(var play):
            let isAsRecorded = play.clientEnded()
            self.phase = .playing(play)
            if !isAsRecorded { self.wentElsewhere(play, at: nil) }
        case .opening, .loading, .over: break
        }
    }

    // MARK: Choosing

    private func settle() {
        guard case .choosing(let conversation) = self.phase else { return }
        self.waitsForMessage?.cancel()
        self.waitsForMessage = nil
        switch self.proxy.session.settle(conversation, isPatient: !self.hasWaited) {
        case .wait: break
        case .hesitate:
            self.waitsForMessage = self.proxy.loop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
                guard let self else { return }
                self.proxy.readClock()
                self.hasWaited = true
                self.settle()
            }
        case .play(let play): self.begin(play)
        case .nothing:
            let (session, message) = (self.proxy.session, self.lastMessage)
            self.onThread({ () throws(CassetteError) in session.missed(conversation, message: message) }) { self.follow($0) }
        case .decided(let decision): self.follow(decision)
        }
    }

    private func follow(_ decision: Decision) {
        var ahead = ReadAhead()
        ahead.isRead = self.isRead
        ahead.body = self.ahead
        if case .forward = decision, let problem = self.ahead?.problem {
            return self.become(
                LocalExchange(
                    client: self.client, request: self.request,
                    answer: ProxyAnswer(
                        status: 507, reason: "Insufficient Storage", error: "body",
                        text: "the request's body could not be buffered before it was forwarded: \(problem.message)"), endsUnread: true))
        }
        self.become(self.router.exchange(following: decision, on: self.request, in: self.scope, ahead: ahead))
    }

    /// The client sent something that the recorded client did not.
    ///
    /// - Parameter at: the index of the recorded message that was due; nil if the client ended early.
    private func wentElsewhere(_ play: ConversationPlay, at: Int?) {
        guard case .pending(let pending) = self.subject else { return }
        self.dueTimer?.cancel()
        let (session, message) = (self.proxy.session, self.lastMessage)
        guard self.hasBegun else {
            self.proxy.count { $0.replayed -= 1 }
            return self.onThread({ () throws(CassetteError) in session.left(play, of: pending, at: at, message: message) }) {
                self.follow($0)
            }
        }
        self.onThread({ () throws(CassetteError) in session.refuse(play, of: pending, at: at, message: message) }) { [self] report in
            self.proxy.count {
                $0.replayed -= 1
                $0.misses += 1
            }
            self.proxy.log.refuse(connection: self.client.peer.id, method: self.request.head.method, origin: self.scope.origin)
            self.proxy.configuration.watch?(.missed(method: self.request.head.method, url: self.request.url))
            self.end(with: .miss(report.description))
        }
    }

    // MARK: The answer

    private func begin(_ play: ConversationPlay) {
        self.proxy.count { $0.replayed += 1 }
        self.proxy.log.replay(
            play.index, connection: self.client.peer.id, method: self.request.head.method, origin: self.scope.origin)
        self.phase = .loading(play)
        self.proxy.library?.answer(play.index) { [self] result in
            // The counts must not depend on whether the client leaves or the replay stops before the disk has answered.
            if let abandonment {
                let outcome = (try? result.get())?.outcome ?? self.proxy.library?.outcome(play.index)
                return self.abandoned(play, abandonment, outcome: outcome)
            }
            guard !self.isOver else { return }
            self.proxy.readClock()
            switch result {
            case .success(let answer):
                self.answer = answer
                self.sender = ConversationSender(answer, client: self.client, library: self.proxy.library)
                self.phase = .playing(play)
                if self.endWasTaken { self.replayEnd() }
                self.proceed()
            case .failure(let error):
                self.countUnreadable(play, error.message)
                self.finish(ProxyAnswer(status: 500, reason: "Cassette Unreadable", error: "cassette", text: error.message))
            }
        }
    }

    /// Tells the play about the client's end if that arrived before the answer was loaded.
    private func replayEnd() {
        guard case .playing(var play) = self.phase else { return }
        _ = play.clientEnded()
        self.phase = .playing(play)
    }

    /// Milliseconds since the request head arrived.
    private var elapsed: Double { Double((self.proxy.now - self.request.start).nanoseconds) / 1e6 }

    /// Carries out the script until it has to wait.
    private func pump() {
        // If a message can be written at once, the sender calls back from within this loop.
        guard !self.isPumping else { return }
        self.isPumping = true
        defer { self.isPumping = false }
        while !self.isSending, !self.isBusy, self.dueTimer == nil, case .playing(var play) = self.phase, let answer, let sender {
            if let verdict { return self.send(verdict) }
            let action = play.next(at: self.elapsed)
            self.phase = .playing(play)
            switch action {
            case .sendHead:
                guard let head = answer.head else { return self.finish(Self.failure(answer.outcome)) }
                self.hasBegun = true
                self.ahead = nil
                self.client.send(head, framing: answer.framing)
            case .send:
                self.isSending = true
                sender.sendMessage { [weak self] in self?.sent(problem: $0) }
            case .end: return self.sendEnd(answer)
            case .cut:
                let broken = RecordedBreak(answer.outcome, choice: self.proxy.configuration.originErrors)
                guard self.hasBegun else { return self.fail(as: answer.outcome, broken) }
                self.isSending = true
                return sender.sendRest { [weak self] _ in
                    guard let self, !self.isOver else { return }
                    self.close { client in if let broken { broken.happens(to: client) } else { client.cut() } }
                }
            case .wait(let due):
                self.client.flush()
                return self.wait(until: due)
            case .hold:
                self.client.flush()
                // The recorded client waited until its deadline. Without latency, that wait is not repeated.
                if answer.clientWaited, self.proxy.configuration.latency == .none { self.deadlineExceeded() }
                return
            case .listen: return self.client.flush()
            }
        }
    }

    private func wait(until due: Double) {
        // Rounded up, so that the timer never fires before the time.
        let left = max(0, ((due - self.elapsed) * 1e6).rounded(.up))
        self.dueTimer = self.proxy.loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(left))) { [weak self] in
            guard let self, !self.isOver else { return }
            self.dueTimer = nil
            self.proxy.readClock()
            self.extendDeadline()
            self.pump()
        }
    }

    private func sent(problem: String?) {
        guard !self.isOver else { return }
        self.isSending = false
        if let problem { return self.damaged(problem) }
        self.proxy.readClock()
        self.pump()
    }

    private func damaged(_ problem: String) {
        guard case .playing(let play) = self.phase else { return }
        self.countUnreadable(play, "\(self.request.head.method) \(self.request.url): \(problem)")
        self.close { $0.cut() }
    }

    private func sendEnd(_ answer: RecordedAnswer) {
        guard self.hasBegun, answer.framing != .none else { return self.close { $0.finish() } }
        self.isSending = true
        self.sender?.sendRest { [weak self] problem in
            guard let self, !self.isOver else { return }
            if let problem { return self.damaged(problem) }
            self.client.send(
                BodyPiece(bytes: ByteBuffer(), events: answer.trailers.map { [.trailers($0)] }, isLast: true))
            self.close { $0.finish() }
        }
    }

    // MARK: Ends

    /// Ends the call with a status of the proxy's own: at once, or after the message that is being sent.
    private func end(with status: GRPCStatus) {
        guard !self.isOver else { return }
        self.verdict = status
        self.dueTimer?.cancel()
        self.dueTimer = nil
        if !self.isSending { self.send(status) }
    }

    private func send(_ status: GRPCStatus) {
        self.client.send(BodyPiece(bytes: ByteBuffer(), events: [.trailers(status.trailers)], isLast: true))
        self.close { $0.finish() }
    }

    /// Fails before its answer, as the recorded exchange did.
    private func fail(as outcome: Outcome, _ broken: RecordedBreak?) {
        if case .failed(let failure) = outcome, failure.kind == .unprocessed, self.client.refuse() { return self.close { _ in } }
        if case .failed = outcome, let broken { return self.close { broken.happens(to: $0) } }
        self.finish(Self.failure(outcome))
    }

    private static func failure(_ outcome: Outcome) -> ProxyAnswer {
        switch outcome {
        case .failed(let failure): .failure(failure)
        case .cut(let cut):
            .failure(Failure(kind: .cancelled, message: "the recorded exchange ended before its answer: \(cut.reason)."))
        case .complete: .failure(Failure(kind: .truncated, message: "the recorded exchange has no response: add one to the cassette."))
        }
    }

    /// Answers in place of the recording, of which nothing was sent.
    private func finish(_ answer: ProxyAnswer) {
        guard !self.isOver else { return }
        self.client.send(answer.visible(to: self.request.head.fields), isFinal: false)
        self.close { $0.finish() }
    }

    private func close(_ how: (any ClientStream) -> Void) {
        self.stop()
        let size = self.client.answerSize
        self.proxy.count { $0.bytes += size }
        how(self.client)
    }

    private func stop() {
        self.phase = .over
        for timer in [self.waitsForMessage, self.dueTimer, self.callTimer] { timer?.cancel() }
        self.sender?.stop()
        self.ahead = nil
        self.input = ByteBuffer()
    }

    private func become(_ exchange: any ClientExchange) {
        guard !self.isOver else { return }
        self.stop()
        self.client.become(exchange)
        exchange.start()
    }

    private func countUnreadable(_ play: ConversationPlay, _ problem: String) {
        self.proxy.session.couldNotServe(play.index, problem: problem)
        self.proxy.count {
            $0.unreadable += 1
            if $0.firstUnreadable == nil { $0.firstUnreadable = problem }
        }
    }

    /// Works on a thread that may block on the disk. The request is not read meanwhile, and the result is used only if the client is still
    /// connected.
    private func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () throws(CassetteError) -> Value, then: @escaping (Value) -> Void
    ) {
        self.isBusy = true
        let working = self.proxy.disk.run(on: self.proxy.loop) { () -> Result<Value, CassetteError> in
            do throws(CassetteError) { return .success(try work()) } catch { return .failure(error) }
        }
        working.assumeIsolated().whenComplete { [self] result in
            guard !self.isOver else { return }
            self.isBusy = false
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
        let answer = ProxyAnswer(status: 500, reason: "Cassette Unreadable", error: "cassette", text: error.message)
        if self.hasBegun { self.close { $0.cut() } } else { self.finish(answer) }
    }

    // MARK: Time

    private func extendDeadline() {
        // A conversation may be idle for as long as a tunnel, but a client that is being sent to must keep reading.
        let seconds = self.isSending && !self.client.isWritable ? self.proxy.limits.clientStall : self.proxy.limits.tunnelIdle
        self.deadline = self.proxy.now + .seconds(Int64(seconds))
    }

    func deadlinePassed() {
        if self.dueTimer != nil { return self.extendDeadline() }
        self.client.close()
    }

    private func setDeadline(_ timeout: Double) {
        let left = self.request.start + .nanoseconds(Int64(timeout * 1e6)) - self.proxy.now
        self.callTimer = self.proxy.loop.assumeIsolated().scheduleTask(in: left) { [weak self] in
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            self.deadlineExceeded()
        }
    }

    private func deadlineExceeded() {
        guard !self.isOver else { return }
        var text = "the deadline of the call passed before its end"
        if case .playing(let play) = self.phase {
            if play.unsent > 0, self.dueTimer == nil {
                text += ": the replay waited for message \(play.came + 1) of the client, as the recorded server did"
            }
            self.proxy.session.clientLeft(play)
        }
        if self.hasBegun { self.end(with: .deadline(text)) } else { self.finish(.deadline(text)) }
    }

    // MARK: The client

    func requestFailed(_ error: MessageError) {
        if self.hasBegun { self.close { $0.cut() } } else { self.finish(.malformed(error)) }
    }

    func clientWritabilityChanged(_ isWritable: Bool) {
        self.extendDeadline()
        if isWritable { self.sender?.proceed() }
    }

    func clientLeft(_ reason: String) {
        let phase = self.phase
        self.stop()
        let size = self.client.answerSize
        self.proxy.count { $0.bytes += size }
        switch phase {
        case .loading: self.abandonment = reason
        case .playing(let play):
            if self.hasBegun {
                self.proxy.session.clientLeft(play)
            } else {
                self.abandoned(play, reason, outcome: self.answer?.outcome)
            }
        case .opening:
            guard case .chosen(let index) = self.subject else { return }
            self.proxy.session.giveBack(index, problem: "the client left before the answer was read (\(reason))")
        case .choosing, .over: break
        }
    }

    /// The client left before the answer began. Unless the recorded client left too, the exchange becomes available for another request.
    private func abandoned(_ play: ConversationPlay, _ reason: String, outcome: Outcome?) {
        if case .cut(let cut)? = outcome, cut.by == .client { return }
        self.proxy.session.giveBack(play.index, problem: "the client left before the answer began (\(reason))")
    }

    /// The messages of the request, handed from the event loop to a thread that may block on the disk.
    ///
    /// SAFETY: the event loop does not use it while a thread has it, so no two threads ever use it at once.
    private final class Reader: @unchecked Sendable {
        let messages: MessageReader

        init(_ messages: MessageReader) { self.messages = messages }
    }
}
