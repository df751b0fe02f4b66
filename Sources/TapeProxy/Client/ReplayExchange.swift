internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// A request answered from the cassette: the recorded interim responses, head, body and trailers, or the recorded failure.
///
/// Waits for the request's end, as the origin most likely did, and cuts where the origin cut. Dials nothing. Not Sendable: lives on
/// its event loop.
final class ReplayExchange: ClientExchange {
    private let client: ClientHandler
    private let proxy: ProxyContext
    private let request: IncomingRequest
    private let index: Int
    private var body: BodyParser
    private(set) var isRequestRead = false
    private var answer: RecordedAnswer?
    private var isAnswering = false
    /// The recorded 100 or one in its place has gone out, ahead of the request's body.
    private var hasToldToGoOn = false
    private var isOver = false
    /// The answer's head has gone out, or what stands for it.
    private var hasBegun = false
    private var sender: ReplayBodySender?
    /// Nil where the answer goes out as fast as it can.
    private var pace: ReplayPace?

    let isIdle = false

    init(client: ClientHandler, request: IncomingRequest, index: Int, ahead: ReadAhead = ReadAhead()) {
        self.client = client
        self.proxy = client.proxy
        self.request = request
        self.index = index
        self.body = BodyParser(framing: request.framing.framing, side: .request)
        self.isRequestRead = ahead.isRead || !request.hasBody
        self.hasToldToGoOn = ahead.toldToGoOn
    }

    func start() {
        if self.isRequestRead, self.keepsPlainly, self.proxy.configuration.latency == .none, let wire = self.proxy.library?.wire(self.index)
        {
            return self.send(wire)
        }
        self.proxy.library?.answer(self.index) { [weak self] result in
            guard let self, !self.isOver else { return }
            switch result {
            case .success(let answer): self.found(answer)
            case .failure(let error):
                self.countUnreadable(error.message)
                self.finish(ProxyAnswer(status: 500, reason: "Cassette Unreadable", error: "cassette", text: error.message))
            }
        }
    }

    private func found(_ answer: RecordedAnswer) {
        self.answer = answer
        if self.request.expectsContinue, !self.isRequestRead, !self.hasToldToGoOn, let first = answer.interim.first, first.status == 100 {
            self.send(first)
            self.client.flush()
            self.hasToldToGoOn = true
        }
        self.proceed()
    }

    func requestInput(_ input: inout ByteBuffer) {
        guard !self.isOver else { return }
        do throws(MessageError) {
            let progress = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in try self.body.consume(bytes) { _ in }
            }
            input.moveReaderIndex(forwardBy: progress.consumed)
            self.client.wait(self.proxy.limits.clientStall)
            guard progress.isDone else { return }
            self.isRequestRead = true
            self.proceed()
        } catch {
            self.finish(.malformed(error))
        }
    }

    // MARK: Answering

    private func proceed() {
        guard let answer, !self.isOver, !self.isAnswering else { return }
        let wasToldToGoOn = answer.interim.first?.status == 100
        // The origin answered without asking for the body: so does the replay (RFC 9110, 10.1.1).
        guard self.isRequestRead || (self.request.expectsContinue && !wasToldToGoOn) else { return }
        self.isAnswering = true
        if let schedule = ReplaySchedule(self.proxy.configuration.latency, times: answer.times, arrival: answer.arrival) {
            let start = schedule.isFromStart ? self.request.start : self.proxy.now
            self.pace = ReplayPace(schedule, start: start, proxy: self.proxy)
        }
        self.send(answer, from: 0)
    }

    /// Sends the interim responses from this one on, and then the final one, each when it is due.
    private func send(_ answer: RecordedAnswer, from first: Int) {
        for position in first..<max(first, answer.interim.count) {
            let interim = answer.interim[position]
            if position == 0, interim.status == 100, self.hasToldToGoOn { continue }
            let isLater = self.waits(until: self.pace?.interim(at: interim.at)) { $0.send(answer, from: position) }
            if isLater { return }
            self.send(interim)
        }
        let isLater = self.waits(until: self.pace?.head) { $0.send(answer) }
        if !isLater { self.send(answer) }
    }

    /// Whether it is too early; then it is done later.
    private func waits(until due: Double?, then: @escaping (ReplayExchange) -> Void) -> Bool {
        guard let pace, let due, !pace.isDue(due) else { return false }
        self.client.flush()
        pace.wait(until: due) { [weak self] in
            guard let self, !self.isOver else { return }
            self.client.wait(self.proxy.limits.clientStall)
            then(self)
        }
        return true
    }

    private func send(_ interim: InterimResponse) {
        guard HopByHop.passesInterim(to: self.request.head.version) else { return }
        let head = ResponseHead(
            version: interim.version, status: interim.status, reason: interim.reason, omitsReasonSpace: interim.omitsReasonSpace,
            fields: interim.headers)
        self.client.write(
            ByteBuffer(bytes: HopByHop.forwardedResponse(head, clientConnection: .keepAlive, clientVersion: self.request.head.version)))
    }

    private func send(_ answer: RecordedAnswer) {
        self.hasBegun = true
        guard let head = answer.head else { return self.finish(Self.failure(answer.outcome)) }
        guard head.status != 101 else {
            return self.finish(
                ProxyAnswer(
                    status: 501, reason: "Not Implemented", error: "tunnel",
                    text: "the recorded answer changed protocols, and what went through its tunnel is not in the cassette."))
        }
        var keeps = self.isRequestRead && self.request.persists && answer.requestWasRead && !self.proxy.isStopping
        if keeps, self.keepsPlainly, let wire = answer.wire, self.pace?.pacesBody != true {
            return self.send(wire)
        }
        let dechunks = HopByHop.needsDechunking(answer.framing, clientVersion: self.request.head.version)
        // As it was when the answer began: nobody knew yet that it would be cut.
        keeps = keeps && answer.framing != .untilClose && !dechunks
        if answer.framing == .untilClose || dechunks { self.client.answerEndsByClose() }
        self.client.write(
            ByteBuffer(
                bytes: HopByHop.forwardedResponse(
                    self.request.reverse?.response(head) ?? head, clientConnection: keeps ? .keepAlive : .close,
                    clientVersion: self.request.head.version, removesChunking: dechunks
                )))
        let sender = ReplayBodySender(
            answer: answer, isChunked: answer.framing == .chunked && !dechunks, client: self.client, library: self.proxy.library,
            pace: self.pace?.pacesBody == true ? self.pace : nil)
        self.sender = sender
        if self.pace != nil { self.client.flush() }
        sender.start { [weak self] isWhole in
            guard let self, !self.isOver else { return }
            if !isWhole {
                self.countUnreadable("the body's file of \(self.request.head.method) \(self.request.url) is not what was recorded")
            }
            guard isWhole, answer.outcome == .complete else {
                self.isOver = true
                return self.client.closeAfterFlush()
            }
            self.end(keeps ? .keep : .linger)
        }
    }

    /// Whether the client gets an answer as it was, and may ask again on its connection.
    private var keepsPlainly: Bool {
        self.request.persists && !self.proxy.isStopping && self.request.head.version >= .http11
    }

    private func send(_ recorded: [UInt8]) {
        let wire = self.request.reverse?.response(wire: recorded, clientVersion: self.request.head.version) ?? recorded
        self.proxy.count { $0.bytes += wire.count }
        self.client.write(ByteBuffer(bytes: wire))
        self.end(.keep)
    }

    private func countUnreadable(_ problem: String) {
        self.proxy.session.couldNotServe(self.index, problem: problem)
        self.proxy.count {
            $0.unreadable += 1
            if $0.firstUnreadable == nil { $0.firstUnreadable = problem }
        }
    }

    private static func failure(_ outcome: Outcome) -> ProxyAnswer {
        switch outcome {
        case .failed(let failure): .failure(failure)
        case .cut(let cut):
            .failure(Failure(kind: .cancelled, message: "the recorded exchange ended before an answer came: \(cut.reason)."))
        case .complete:
            .failure(Failure(kind: .truncated, message: "the recorded exchange has no response: add one to the cassette."))
        }
    }

    private func finish(_ answer: ProxyAnswer) {
        guard !self.isOver else { return }
        self.hasBegun = true
        let keeps = self.isRequestRead && self.answer?.requestWasRead != false && self.request.persists && !self.proxy.isStopping
        let option = self.request.connectionOption(keeps: keeps)
        self.client.write(ByteBuffer(bytes: answer.bytes(method: self.request.head.method, persistence: option)))
        self.end(keeps ? .keep : .linger)
    }

    private func end(_ after: ExchangeState.After) {
        self.isOver = true
        self.client.exchangeEnded(after)
    }

    // MARK: Client events

    func clientReadComplete() {}

    func clientWritabilityChanged(_ isWritable: Bool) {
        self.client.wait(self.proxy.limits.clientStall)
        if isWritable { self.sender?.proceed() }
    }

    func clientEnded() -> Bool { false }

    func proxyStopped() {}

    func clientLeft(_ reason: String) {
        if !self.isOver, !self.hasBegun, !self.leftAsRecorded {
            self.proxy.session.couldNotServe(self.index, problem: "its client left before the answer began (\(reason))")
        }
        self.isOver = true
        self.pace?.stop()
        self.sender?.stop()
    }

    /// The recorded client left, too.
    private var leftAsRecorded: Bool {
        // Read once more where the answer is still on its way: what is counted must not depend on who is quicker.
        if case .cut(let cut)? = self.answer?.outcome ?? self.proxy.library?.outcome(self.index) { cut.by == .client } else { false }
    }

    func deadlinePassed() {
        // It is we who wait.
        if self.pace?.isWaiting == true { return self.client.wait(self.proxy.limits.clientStall) }
        self.client.close()
    }
}
