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
    /// The recorded 100 has gone out, ahead of the request's body.
    private var hasToldToGoOn = false
    private var isOver = false
    private var sender: ReplayBodySender?

    let isIdle = false

    init(client: ClientHandler, request: IncomingRequest, index: Int) {
        self.client = client
        self.proxy = client.proxy
        self.request = request
        self.index = index
        self.body = BodyParser(framing: request.framing.framing, side: .request)
    }

    func start() {
        self.isRequestRead = !self.request.hasBody
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
        if self.request.expectsContinue, !self.isRequestRead, let first = answer.interim.first, first.status == 100 {
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
        for (position, interim) in answer.interim.enumerated() {
            if position == 0, self.hasToldToGoOn { continue }
            self.send(interim)
        }
        self.send(answer)
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
        guard let head = answer.head else { return self.finish(Self.failure(answer.outcome)) }
        guard head.status != 101 else {
            return self.finish(
                ProxyAnswer(
                    status: 501, reason: "Not Implemented", error: "tunnel",
                    text: "the recorded answer changed protocols, and what went through its tunnel is not in the cassette."))
        }
        var keeps = self.isRequestRead && self.request.persists && answer.requestWasRead && !self.proxy.isStopping
        if keeps, self.request.head.version >= .http11, let wire = answer.wire {
            self.proxy.count { $0.bytes += wire.readableBytes }
            self.client.write(wire)
            return self.end(.keep)
        }
        let dechunks = HopByHop.needsDechunking(answer.framing, clientVersion: self.request.head.version)
        // As it was when the answer began: nobody knew yet that it would be cut.
        keeps = keeps && answer.framing != .untilClose && !dechunks
        if answer.framing == .untilClose || dechunks { self.client.answerEndsByClose() }
        self.client.write(
            ByteBuffer(
                bytes: HopByHop.forwardedResponse(
                    head, clientConnection: keeps ? .keepAlive : .close, clientVersion: self.request.head.version, removesChunking: dechunks
                )))
        let sender = ReplayBodySender(
            answer: answer, isChunked: answer.framing == .chunked && !dechunks, client: self.client, library: self.proxy.library)
        self.sender = sender
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
        self.isOver = true
        self.sender?.stop()
    }

    func deadlinePassed() { self.client.close() }
}
