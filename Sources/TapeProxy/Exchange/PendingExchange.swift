internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeExchange

/// The part of a request that was read before Wiretape decided how to answer it.
struct ReadAhead {
    /// The whole request was read.
    var isRead = false
    /// The body's bytes; nil if there are none or if the session forwards nothing.
    var body: BufferedRequestBody?
    /// The client was asked to send the body (RFC 9110, 10.1.1).
    var sentContinue = false
}

/// A request whose body determines how it is answered. Reads it to its end, asks the session, and hands over to the exchange that answers.
///
/// Keeps the body only if it may be forwarded, and never decides on a truncated body. Sends 100 (Continue) to a client that waits for it,
/// unless the recorded origin answered without it. Not Sendable: lives on its event loop.
final class PendingExchange: MessageExchange {
    /// A longer body is compared on another thread, because the event loop also serves other clients.
    private static let inlineSize = 64 << 10

    private let client: any ClientStream
    private let proxy: ProxyContext
    private let router: ExchangeRouter
    private let request: IncomingRequest
    private let scope: TunnelScope
    private let comparison: Comparison
    private var ahead = ReadAhead()
    private var size = 0
    private var isOver = false
    private(set) var deadline: NIODeadline

    init(router: ExchangeRouter, request: IncomingRequest, scope: TunnelScope, pending: PendingRequest) {
        self.router = router
        self.client = router.stream
        self.proxy = router.stream.peer.session
        self.request = request
        self.scope = scope
        self.comparison = Comparison(session: self.proxy.session, pending: pending)
        self.deadline = self.proxy.stallDeadline
    }

    func start() {
        guard self.request.hasBody else {
            self.ahead.isRead = true
            return self.conclude()
        }
        if self.proxy.session.mayForward {
            self.ahead.body = BufferedRequestBody(
                framing: self.request.framing, loop: self.proxy.loop, disk: self.proxy.disk, limits: self.proxy.messageLimits)
        }
        // A client that already sends the body needs no 100 (RFC 9110, 10.1.1).
        if self.request.expectsContinue, !self.client.hasInput { self.decideOnContinue() } else { self.client.setReading(true) }
    }

    // MARK: Expect: 100-continue

    private func decideOnContinue() {
        let comparison = self.comparison
        self.onThread({ comparison.decideUnasked() }, abandoned: { $0 }) { [self] decision in
            if let decision {
                // No part of the body was read. The next exchange requests it.
                self.ahead.body = nil
                return self.follow(decision)
            }
            self.client.send(interim: ResponseHead(version: .http11, status: 100, reason: Array("Continue".utf8), fields: HeaderFields()))
            self.client.flush()
            self.ahead.sentContinue = true
            self.deadline = self.proxy.stallDeadline
            self.client.setReading(true)
        }
    }

    // MARK: The body

    func requestBody(_ piece: BodyPiece) {
        guard !self.isOver else { return }
        piece.bytes.withUnsafeReadableBytes { bytes in
            guard let events = piece.events else { return self.compare(bytes) }
            for case .data(let range) in events { self.compare(UnsafeRawBufferPointer(rebasing: bytes[range])) }
        }
        self.ahead.body?.append(piece, at: self.elapsed)
        self.deadline = self.proxy.stallDeadline
        if piece.isLast {
            self.ahead.isRead = true
            return self.whenBuffered { $0.conclude() }
        }
        guard self.ahead.body?.isFull == true else { return }
        self.client.setReading(false)
        self.whenBuffered { $0.client.setReading(true) }
    }

    private func compare(_ bytes: UnsafeRawBufferPointer) {
        self.size += bytes.count
        self.comparison.push(bytes)
    }

    func requestFailed(_ error: MessageError) { self.answer(.malformed(error)) }

    /// Milliseconds since the exchange began.
    private var elapsed: Double { Double((self.proxy.now - self.request.start).nanoseconds) / 1e6 }

    private func whenBuffered(_ then: @escaping (PendingExchange) -> Void) {
        guard let body = self.ahead.body else { return then(self) }
        body.whenReady { [weak self] in
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            then(self)
        }
    }

    // MARK: Deciding

    private func conclude() {
        if self.size <= Self.inlineSize, let decision = self.comparison.decideNow() { return self.follow(decision) }
        let comparison = self.comparison
        self.onThread({ comparison.decide() }, abandoned: { $0 }) { [self] in self.follow($0) }
    }

    /// Decides on a thread that may block on the disk. The result is used only if the client is still connected.
    ///
    /// - Parameter abandoned: extracts the decision from the result. If the client has left meanwhile, the recorded exchange chosen for it
    ///   becomes available again.
    private func onThread<Value: Sendable>(
        _ deciding: @escaping @Sendable () -> Result<Value, CassetteError>, abandoned: @escaping (Value) -> Decision?,
        then: @escaping (Value) -> Void
    ) {
        self.deadline = self.proxy.now + .seconds(Int64(self.proxy.limits.upstreamSilence))
        let decided = self.proxy.disk.run(on: self.proxy.loop, deciding)
        decided.assumeIsolated().whenComplete { result in
            guard !self.isOver else {
                // Decide in any case, so that the counts do not depend on whether the replay stops before the disk has answered.
                let late = (try? result.get()) ?? deciding()
                if case .success(let value) = late, case .replay(let index, _)? = abandoned(value) {
                    self.proxy.session.giveBack(index, problem: "the client left before the answer was chosen")
                }
                return
            }
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
                    text: "the request's body could not be buffered before it was forwarded: \(problem.message)"))
        }
        self.become(self.router.exchange(following: decision, on: self.request, in: self.scope, ahead: self.ahead))
    }

    private func answer(_ answer: ProxyAnswer) {
        self.become(
            LocalExchange(client: self.client, request: self.request, answer: answer, isRead: self.ahead.isRead, endsUnread: true))
    }

    private func become(_ exchange: any ClientExchange) {
        guard !self.isOver else { return }
        self.isOver = true
        self.ahead.body = nil
        self.client.become(exchange)
        exchange.start()
    }

    // MARK: The client

    func clientLeft(_ reason: String) {
        if !self.isOver, !self.ahead.isRead, self.size > 0 { self.noteLeft() }
        self.isOver = true
        self.ahead.body = nil
    }

    private func noteLeft() {
        let comparison = self.comparison
        let noted = self.proxy.disk.run(on: self.proxy.loop) { comparison.clientLeft() }
        // Note it in any case, so that the counts do not depend on whether the replay stops first.
        noted.assumeIsolated().whenFailure { _ in comparison.clientLeft() }
    }

    func deadlinePassed() {
        guard !self.ahead.isRead, self.ahead.sentContinue || !self.request.expectsContinue || self.size > 0 else {
            return self.client.close()
        }
        let seconds = self.proxy.limits.clientStall
        self.client.peer.noteOwnAnswer(
            to: "\"\(self.request.head.method) \(self.request.url)\"", problem: "no bytes of its body arrived for \(seconds) s",
            next: "send it without such a pause")
        self.answer(.requestTimeout("no bytes of the request's body arrived for \(seconds) s: send it without such a pause."))
    }
}

extension PendingExchange {
    /// A body to compare, handed from the event loop to a thread that may block on the disk.
    ///
    /// SAFETY: the event loop does not use it while a thread has it, so no two threads ever use it at once.
    final class Comparison: @unchecked Sendable {
        private let session: CassetteSession
        private let pending: PendingRequest
        private var body: PendingBody?
        private var facets: BodyFacets?

        init(session: CassetteSession, pending: PendingRequest) {
            self.session = session
            self.pending = pending
            self.body = pending.body()
        }

        func push(_ bytes: UnsafeRawBufferPointer) { self.body?.push(bytes) }

        private func finished() -> BodyFacets {
            if let facets { return facets }
            let facets = self.body.take()?.finish() ?? BodyFacets.none
            self.facets = facets
            return facets
        }

        /// The decision if it can be made without the disk; otherwise nil.
        func decideNow() -> Decision? { self.session.decide(self.pending, body: self.finished()) }

        /// May block on the disk.
        func decide() -> Result<Decision, CassetteError> {
            do throws(CassetteError) {
                return .success(try self.session.resolve(self.pending, body: self.finished()))
            } catch {
                return .failure(error)
            }
        }

        /// Notes that the client left before the end of the body. May block on the disk.
        func clientLeft() { self.session.clientLeft(during: self.pending) }

        /// The decision if it can be made without the body; otherwise nil. May block on the disk.
        func decideUnasked() -> Result<Decision?, CassetteError> {
            do throws(CassetteError) {
                return .success(try self.session.decideUnasked(self.pending))
            } catch {
                return .failure(error)
            }
        }
    }
}
