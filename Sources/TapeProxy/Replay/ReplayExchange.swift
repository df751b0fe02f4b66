internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeExchange

/// Answers a request from the cassette: with the recorded interim responses, head, body and trailers, or with the recorded failure.
///
/// Waits for the end of the request, as the origin most likely did, and truncates the answer where the origin did. Never dials. Not
/// Sendable: lives on its event loop.
final class ReplayExchange: MessageExchange {
    private let client: any ClientStream
    private let proxy: ProxyContext
    private let request: IncomingRequest
    private let index: Int
    private let form: AnswerForm
    private var requestIsRead: Bool
    /// The client was asked to send the request body.
    private var sentContinue: Bool
    private var answer: RecordedAnswer?
    private var isAnswering = false
    private var isOver = false
    /// Part of the final answer was sent.
    private var hasBegun = false
    /// Nothing more is sent, and the client is expected to wait.
    private var isHeld = false
    /// The run has said that the client waits.
    private var hasSaidSilence = false
    private var sender: ReplayBodySender?
    /// Why the client left while the answer was being loaded.
    private var abandonment: String?
    /// nil if the answer is sent without delays.
    private var pace: ReplayPace?
    /// Fires at the client's deadline for the call; nil if the client set none, or nothing delays its answer.
    private var callTimer: Scheduled<Void>?
    private(set) var deadline: NIODeadline

    init(client: any ClientStream, request: IncomingRequest, index: Int, form: AnswerForm = .recorded, ahead: ReadAhead = ReadAhead()) {
        self.client = client
        self.proxy = client.peer.session
        self.request = request
        self.index = index
        self.form = form
        self.requestIsRead = ahead.isRead || !request.hasBody
        self.sentContinue = ahead.sentContinue
        self.deadline = self.proxy.stallDeadline
    }

    func start() {
        if self.requestIsRead, self.form == .recorded, self.proxy.configuration.latency == .none,
            let ready = self.proxy.library?.ready(self.index, accepting: self.request.head.fields), self.client.send(ready)
        {
            return self.end()
        }
        if let timeout = self.request.call?.timeout, self.proxy.configuration.latency != .none { self.setDeadline(timeout) }
        // The decoded body may satisfy ranges that the coded body does not have, so the recorded answer is loaded first.
        self.load(self.form.ranges?.ranges.isEmpty == true ? .recorded : self.form)
        if !self.requestIsRead, !self.isOver { self.client.setReading(true) }
    }

    private func load(_ form: AnswerForm) {
        self.proxy.library?.answer(self.index, form: form) { [self] result in
            // The counts must not depend on whether the client leaves or the replay stops before the disk has answered.
            if let abandonment {
                return self.abandoned(abandonment, outcome: (try? result.get())?.outcome ?? self.proxy.library?.outcome(self.index))
            }
            guard !self.isOver else { return }
            self.proxy.readClock()
            switch result {
            case .success(let answer):
                guard let coding = answer.coding(notAcceptedBy: self.request.head.fields) else {
                    return form == .recorded && self.form != .recorded ? self.load(self.form) : self.found(answer)
                }
                guard self.canDecode(answer, form) else { return self.miss(coding: coding) }
                self.proxy.session.noteDecoded(self.index, coding: coding)
                self.load(
                    AnswerForm(
                        isDecoded: true, decodedRange: self.form.ranges == nil ? nil : self.rangeOfDecoded, echo: self.form.echo))
            case .failure(let error):
                self.countUnreadable(error.message)
                self.finish(ProxyAnswer(status: 500, reason: "Cassette Unreadable", error: "cassette", text: error.message))
            }
        }
    }

    /// Whether the body can be decoded for a client that does not accept its coding: it is whole, and the client accepts bodies without one.
    private func canDecode(_ answer: RecordedAnswer, _ form: AnswerForm) -> Bool {
        // Ranges are cut from the coded body, of which nothing else is known here.
        guard form.ranges != nil || answer.isDecodable else { return false }
        let isOfWhole = form.ranges.map { $0.sources.count == 1 && $0.sources[0].bytes == 0..<$0.length } ?? true
        guard !form.isDecoded, isOfWhole, form.ranges != nil || answer.head?.status != 206 else { return false }
        return AcceptedCodings(self.request.head.fields)?.acceptsIdentity != false
    }

    private func miss(coding: String) {
        let report = self.proxy.session.codingNotAccepted(self.index, coding: coding)
        self.proxy.count { $0.misses += 1 }
        self.finish(.miss(report.description))
    }

    /// The requested ranges, applied to the decoded body; nil if the request's condition names the coded body (RFC 9110, 13.1.5).
    private var rangeOfDecoded: String? {
        let fields = self.request.head.fields
        guard fields.first("if-range")?.contains("\"") != true else { return nil }
        // Azure's own field takes precedence over the standard one.
        let name: StaticString = fields.contains("x-ms-range") ? "x-ms-range" : "range"
        return fields.contains(name) ? fields.values(name).joined(separator: ", ") : nil
    }

    private func found(_ answer: RecordedAnswer) {
        self.answer = answer
        if self.request.expectsContinue, !self.requestIsRead, !self.sentContinue, let first = answer.interim.first, first.status == 100 {
            self.send(first)
            self.client.flush()
            self.sentContinue = true
        }
        self.proceed()
    }

    private func setDeadline(_ timeout: Double) {
        let left = self.request.start + .nanoseconds(Int64(timeout * 1e6)) - self.proxy.now
        self.callTimer = self.proxy.loop.assumeIsolated().scheduleTask(in: left) { [weak self] in
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            let status = GRPCStatus.deadline("the deadline of the call passed before its end, as --latency delays it")
            guard self.hasBegun else { return self.finish(.deadline(status.message)) }
            self.stopSending()
            self.client.send(BodyPiece(bytes: ByteBuffer(), events: [.trailers(status.trailers)], isLast: true))
            self.end()
        }
    }

    private func stopSending() {
        self.pace?.stop()
        self.sender?.stop()
        self.callTimer?.cancel()
    }

    func requestBody(_ piece: BodyPiece) {
        if !self.isHeld { self.deadline = self.proxy.stallDeadline }
        guard piece.isLast else { return }
        self.requestIsRead = true
        self.proceed()
    }

    func requestFailed(_ error: MessageError) {
        guard self.hasBegun, !self.isOver else { return self.finish(.malformed(error)) }
        // The answer has begun. An error would look like the rest of it.
        self.isOver = true
        self.stopSending()
        self.countBytes()
        self.client.cut()
    }

    // MARK: Answering

    private func proceed() {
        guard let answer, !self.isOver, !self.isAnswering else { return }
        let wasAsked = answer.interim.first?.status == 100
        // The origin answered without asking for the body, so the replay does too (RFC 9110, 10.1.1).
        guard self.requestIsRead || (self.request.expectsContinue && !wasAsked) else { return }
        self.isAnswering = true
        let latency = self.proxy.configuration.latency
        if let schedule = ReplaySchedule(latency, times: answer.times, arrival: answer.arrival, isWhole: answer.isComplete) {
            let start = schedule.isFromStart ? self.request.start : self.proxy.now
            self.pace = ReplayPace(schedule, start: start, proxy: self.proxy)
        }
        self.send(answer, from: 0)
    }

    /// Sends the interim responses from this one on and then the final response, each when it is due.
    private func send(_ answer: RecordedAnswer, from first: Int) {
        for position in first..<max(first, answer.interim.count) {
            let interim = answer.interim[position]
            if position == 0, interim.status == 100, self.sentContinue { continue }
            let isLater = self.waits(until: self.pace?.interim(at: interim.at)) { $0.send(answer, from: position) }
            if isLater { return }
            self.send(interim)
        }
        let isLater = self.waits(until: self.pace?.head) { $0.send(answer) }
        if !isLater { self.send(answer) }
    }

    /// Returns whether `due` is in the future. If so, calls `then` at that time.
    private func waits(until due: Double?, then: @escaping (ReplayExchange) -> Void) -> Bool {
        guard let pace, let due, !pace.isDue(due) else { return false }
        self.client.flush()
        pace.wait(until: due) { [weak self] in
            guard let self, !self.isOver else { return }
            self.deadline = self.proxy.stallDeadline
            then(self)
        }
        return true
    }

    private func send(_ interim: InterimResponse) {
        self.client.send(
            interim: ResponseHead(
                version: interim.version, status: interim.status, reason: interim.reason, omitsReasonSpace: interim.omitsReasonSpace,
                fields: interim.headers))
    }

    private func send(_ answer: RecordedAnswer) {
        guard let head = answer.head else { return answer.isHeldOpen ? self.hold(answer) : self.fail(as: answer.outcome) }
        self.hasBegun = true
        guard head.status != 101 else {
            let report = self.proxy.session.switchedProtocols(self.index)
            self.proxy.count { $0.misses += 1 }
            return self.finish(.miss(report.description))
        }
        if self.requestIsRead, self.pace?.pacesBody != true, let ready = ReadyAnswer(answer), self.client.send(ready) {
            return self.end()
        }
        var fitted = head
        if let fields = DigestAuthenticationInfo.fitting(head.fields, to: self.request.head.fields) { fitted.fields = fields }
        self.client.send(fitted, framing: answer.framing)
        if answer.isHeldOpen { self.holdBackLastPiece(of: answer) }
        let sender = ReplayBodySender(
            answer: answer,
            trailers: answer.trailers.map { DigestAuthenticationInfo.fitting($0, to: self.request.head.fields) ?? $0 },
            isChunked: answer.framing == .chunked, client: self.client, library: self.proxy.library,
            pace: self.pace?.pacesBody == true ? self.pace : nil)
        self.sender = sender
        if self.pace != nil { self.client.flush() }
        sender.start { [weak self] problem in
            guard let self, !self.isOver else { return }
            if let problem { self.countUnreadable(problem) }
            if problem == nil, answer.isHeldOpen { return self.hold(answer) }
            guard problem == nil, answer.outcome == .complete else {
                self.isOver = true
                self.countBytes()
                guard problem == nil, let broken = self.recordedBreak(answer.outcome) else { return self.client.cut() }
                return broken.happens(to: self.client)
            }
            self.end()
        }
    }

    /// The recorded client left after what it got last. This one may have to get it in the same way to leave.
    private func holdBackLastPiece(of answer: RecordedAnswer) {
        let isPaced = self.pace?.pacesBody == true && answer.arrival.map { $0.pieces.count > 1 } ?? false
        guard !isPaced, let schedule = ReplaySchedule(leaving: answer.times, arrival: answer.arrival, size: answer.size) else { return }
        self.pace?.stop()
        self.pace = ReplayPace(schedule, start: self.proxy.loop.now, proxy: self.proxy)
    }

    /// The recorded client left an answer that was still running, so its continuation is unknown. Ending the answer would make it look
    /// complete, or make the client reconnect.
    private func hold(_ answer: RecordedAnswer) {
        self.client.flush()
        self.stopSending()
        self.sender = nil
        self.isHeld = true
        self.wait(answer.patience ?? Self.silence)
    }

    /// Seconds after which the run says that a client waits for more of an event stream.
    private static let silence = 5.0

    private func wait(_ seconds: Double) {
        self.deadline = self.proxy.now + .milliseconds(Int64(min(seconds, Double(self.proxy.limits.tunnelIdle)) * 1000))
    }

    /// The client waits for more than was recorded.
    private func clientStayed() {
        if !self.hasBegun, self.form == .recorded, let whole = self.proxy.session.wholeInstead(ofLeft: self.index) {
            self.isOver = true
            let exchange = ReplayExchange(
                client: self.client, request: self.request, index: whole,
                ahead: ReadAhead(isRead: self.requestIsRead, sentContinue: self.sentContinue))
            self.client.become(exchange)
            return exchange.start()
        }
        let party: Cut.Party = if case .cut(let cut)? = self.answer?.outcome { cut.by } else { .client }
        let report = self.proxy.session.clientStayed(self.index, cutBy: party)
        self.proxy.count { $0.misses += 1 }
        self.isHeld = false
        guard self.hasBegun else { return self.finish(.miss(report.description)) }
        self.isOver = true
        self.countBytes()
        self.client.cut()
    }

    private func countUnreadable(_ problem: String) {
        self.proxy.session.couldNotServe(self.index, problem: problem)
        self.proxy.count {
            $0.unreadable += 1
            if $0.firstUnreadable == nil { $0.firstUnreadable = problem }
        }
    }

    /// Fails as the recorded exchange did.
    private func fail(as outcome: Outcome) {
        if case .failed(let failure) = outcome, failure.kind == .unprocessed, !self.isOver, self.client.refuse() {
            self.isOver = true
            return self.stopSending()
        }
        if case .failed = outcome, !self.isOver, let broken = self.recordedBreak(outcome) {
            self.hasBegun = true
            self.isOver = true
            self.stopSending()
            return broken.happens(to: self.client)
        }
        self.finish(Self.failure(outcome))
    }

    private func recordedBreak(_ outcome: Outcome) -> RecordedBreak? {
        RecordedBreak(outcome, choice: self.proxy.configuration.originErrors)
    }

    private static func failure(_ outcome: Outcome) -> ProxyAnswer {
        switch outcome {
        case .failed(let failure): .failure(failure)
        case .cut(let cut):
            .failure(Failure(kind: .cancelled, message: "the recorded exchange ended before its answer: \(cut.reason)."))
        case .complete:
            .failure(Failure(kind: .truncated, message: "the recorded exchange has no response: add one to the cassette."))
        }
    }

    private func finish(_ answer: ProxyAnswer) {
        guard !self.isOver else { return }
        self.hasBegun = true
        self.isOver = true
        self.stopSending()
        self.client.send(answer.visible(to: self.request.head.fields), isFinal: self.answer?.requestWasRead == false)
        self.client.finish()
    }

    private func end() {
        self.isOver = true
        self.stopSending()
        self.countBytes()
        self.client.finish()
    }

    private func countBytes() {
        let size = self.client.answerSize
        self.proxy.count { $0.bytes += size }
    }

    // MARK: The client

    /// A held answer sends nothing more, so stopping the proxy does not wait for it.
    var isIdle: Bool { self.isHeld }

    func clientWritabilityChanged(_ isWritable: Bool) {
        guard !self.isHeld else { return }
        self.deadline = self.proxy.stallDeadline
        if isWritable { self.sender?.proceed() }
    }

    func clientLeft(_ reason: String) {
        self.stopSending()
        guard !self.isOver else { return }
        self.isOver = true
        self.countBytes()
        guard !self.hasBegun else { return }
        if let answer { self.abandoned(reason, outcome: answer.outcome) } else { self.abandonment = reason }
    }

    /// The client left before the final answer began. Unless the recorded client left too, the exchange becomes available for another
    /// request.
    private func abandoned(_ reason: String, outcome: Outcome?) {
        if case .cut(let cut)? = outcome, cut.by != .origin { return }
        self.proxy.session.giveBack(self.index, problem: "the client left before the answer began (\(reason))")
    }

    func deadlinePassed() {
        // The replay is waiting, not the client.
        if self.pace?.isWaiting == true {
            self.deadline = self.proxy.stallDeadline
        } else if self.isHeld, self.answer?.patience != nil {
            self.clientStayed()
        } else if self.isHeld, !self.hasSaidSilence {
            self.hasSaidSilence = true
            self.proxy.diagnosis.remark(
                "\(self.request.head.method) \(self.request.url) waits: the recorded client left this event stream here, and no more of it is known."
            )
            self.wait(Double(self.proxy.limits.tunnelIdle))
        } else {
            self.client.close()
        }
    }
}
