public import CassetteModel

/// Follows one forwarded exchange: what has begun and ended, which side is read, and what happens when a side ends, fails or leaves.
///
/// Independent of bytes, sockets and clocks. The caller moves the bytes, reports events with their time, and carries out the actions. Times
/// are milliseconds since the exchange began.
public struct ExchangeState: Sendable {
    public enum Action: Sendable, Equatable {
        case wait
        /// The answer is complete, and nothing of the request remains to be sent.
        case finish
        /// Nothing has been sent to the client yet. Answer with this failure in place of the origin.
        case answer(Failure)
        /// The answer has begun. End both connections so that no client mistakes the truncated answer for a complete one.
        case cut(Cut)
        /// The connection closed before the origin read the request. Send the request again on a new one (RFC 9112, 9.3.1).
        case redial
        /// The client left. Give up the upstream connection, which cancels the request there.
        case cancel(Cut)
        /// The exchange is over. A late event changes nothing.
        case ignore
    }

    /// What is known about the request when its exchange begins.
    public struct Request: Sendable {
        /// The request can be sent twice and has no body (RFC 9110, 9.2.2).
        public var isRepeatable: Bool
        /// The request has been read completely.
        public var isRead: Bool
        /// The body was read before and is sent from a buffer.
        public var isBuffered: Bool
        /// The client waits for 100 (Continue) before it sends the body (RFC 9110, 10.1.1).
        public var expectsContinue: Bool
        /// 100 (Continue) was sent before the destination of the request was known.
        public var sentContinue: Bool

        public init(
            isRepeatable: Bool, isRead: Bool, isBuffered: Bool = false, expectsContinue: Bool = false, sentContinue: Bool = false
        ) {
            self.isRepeatable = isRepeatable
            self.isRead = isRead
            self.isBuffered = isBuffered
            self.expectsContinue = expectsContinue
            self.sentContinue = sentContinue
        }
    }

    /// How long the sides may take, in milliseconds.
    public struct Limits: Sendable {
        /// A client that sends nothing of its body, or reads nothing of its answer.
        public var clientStall: Double
        /// An origin that sends nothing, or takes nothing of the request.
        public var originSilence: Double
        /// A connection attempt.
        public var connect: Double
        /// Either side of an exchange whose messages are sent when something happens.
        public var streamSilence: Double
        /// The whole exchange, because its client waits no longer; nil if the client sets no deadline.
        public var call: Double?

        public init(clientStall: Double, originSilence: Double, connect: Double, streamSilence: Double, call: Double? = nil) {
            self.clientStall = clientStall
            self.originSilence = originSilence
            self.connect = connect
            self.streamSilence = streamSilence
            self.call = call
        }
    }

    private enum Upstream: Sendable { case none, connecting, open, closed }
    private enum Response: Sendable { case awaited, begun, ended }

    private let limits: Limits
    private let isRepeatable: Bool
    private var isBuffered: Bool
    private let expectsContinue: Bool
    private let wasAskedBefore: Bool
    private var requestIsRead: Bool
    private var requestIsSent = false
    private var bodyHasBegun = false
    /// Part of the body has been sent upstream, and the caller no longer holds it.
    private var bodyIsLost = false
    private var upstream = Upstream.none
    private var upstreamIsReused = false
    private var wasSentAgain = false
    private var response = Response.awaited
    private var originHasSpoken = false
    /// The exchange is over.
    public private(set) var isOver = false
    private var clientIsWritable = true
    private var originIsWritable = true
    private var recorderIsFull = false
    /// When the side last did something, or when waiting for it began.
    private var clientSince = 0.0
    /// Messages of this exchange are sent when something happens.
    private var isStream = false
    private var originSince = 0.0
    /// The client was asked to send its body.
    public private(set) var sentContinue: Bool

    public init(_ request: Request, limits: Limits) {
        self.limits = limits
        self.isRepeatable = request.isRepeatable
        self.isBuffered = request.isBuffered
        self.expectsContinue = request.expectsContinue
        self.sentContinue = request.sentContinue
        self.wasAskedBefore = request.sentContinue
        self.requestIsRead = request.isRead
    }

    // MARK: Reading

    /// The request body may be taken, from the client or from the buffer.
    public var takesRequest: Bool {
        !self.isOver && !self.requestIsSent && self.upstream == .open && self.originIsWritable && !self.recorderIsFull
    }

    /// The client's connection may be read for the request body.
    public var readsClient: Bool { self.takesRequest && !self.isBuffered && !self.requestIsRead }

    /// The origin's connection may be read.
    public var readsOrigin: Bool { !self.isOver && self.clientIsWritable && !self.recorderIsFull }

    // MARK: Deadlines

    /// When the client must have done something; nil while it is not expected to.
    public var clientDeadline: Double? {
        guard !self.isOver, !self.recorderIsFull else { return nil }
        let isAwaited = self.readsClient && self.response != .begun
        guard isAwaited || !self.clientIsWritable else { return nil }
        return self.clientSince + (self.clientIsWritable ? self.bodySilence : self.limits.clientStall)
    }

    /// When the origin must have done something; nil while it is not expected to.
    public var originDeadline: Double? {
        guard !self.isOver, self.response != .ended, self.upstream != .none, let call = self.limits.call else {
            return self.silenceDeadline
        }
        return min(self.silenceDeadline ?? call, call)
    }

    private var silenceDeadline: Double? {
        guard !self.isOver, self.response != .ended || !self.originIsWritable else { return nil }
        switch self.upstream {
        case .none, .closed: return nil
        case .connecting: return self.originSince + self.limits.connect
        case .open:
            guard self.readsOrigin else { return nil }
            guard self.requestIsSent || self.response == .begun || !self.originIsWritable else { return nil }
            return self.originSince + self.originSilence
        }
    }

    /// A deadline has come. Returns `wait` if neither side's deadline has passed.
    ///
    /// - Parameter origin: the origin's authority, for the message.
    public mutating func deadlinePassed(origin: String, at: Double) -> Action {
        if let due = self.clientDeadline, due <= at {
            let limit = Self.seconds(self.clientIsWritable ? self.bodySilence : self.limits.clientStall)
            return self.clientLeft("client \(self.clientIsWritable ? "sent" : "read") nothing for \(limit) s")
        }
        guard let due = self.originDeadline, due <= at else { return .wait }
        if let call = self.limits.call, call <= at {
            return self.upstreamFailed(
                Failure(kind: .timeout, message: "\"\(origin)\" did not end the call before the deadline that the client set."))
        }
        let message =
            switch self.upstream {
            case .connecting: "no connection to \"\(origin)\" within \(Self.seconds(self.limits.connect)) s: is the origin up?"
            case .none, .open, .closed:
                self.originIsWritable
                    ? "\"\(origin)\" sent nothing for \(Self.seconds(self.originSilence)) s."
                    : "\"\(origin)\" read nothing of the request for \(Self.seconds(self.originSilence)) s."
            }
        return self.upstreamFailed(Failure(kind: .timeout, message: message))
    }

    /// Milliseconds for which a client may pause while sending its body.
    private var bodySilence: Double { self.isStream ? self.limits.streamSilence : self.limits.clientStall }

    private var originSilence: Double { self.isStream ? self.limits.streamSilence : self.limits.originSilence }

    private static func seconds(_ milliseconds: Double) -> Int { Int(milliseconds / 1000) }

    /// Called when either message head arrives. Event streams and gRPC calls may be silent for a long time, so they use the longer timeout.
    public mutating func headCame(_ fields: HeaderFields) {
        guard let index = fields.firstIndex(of: "content-type") else { return }
        let type = fields.valueBytes(at: index)
        self.isStream = self.isStream || Self.begins(type, with: "application/grpc") || Self.begins(type, with: "text/event-stream")
    }

    private static func begins(_ type: ArraySlice<UInt8>, with name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard type.count >= count else { return false }
        for offset in 0..<count where ASCII.lower(type[type.startIndex + offset]) != name.utf8Start[offset] { return false }
        return true
    }

    // MARK: Back-pressure

    public mutating func clientWritabilityChanged(_ isWritable: Bool, at: Double) {
        guard isWritable != self.clientIsWritable else { return }
        self.clientIsWritable = isWritable
        self.clientSince = at
        // The origin was not read meanwhile, so its time starts again.
        if isWritable { self.originSince = at }
    }

    public mutating func originWritabilityChanged(_ isWritable: Bool, at: Double) {
        guard isWritable != self.originIsWritable else { return }
        self.originIsWritable = isWritable
        self.originSince = at
        if isWritable { self.clientSince = at }
    }

    public mutating func recorderChanged(isFull: Bool, at: Double) {
        guard isFull != self.recorderIsFull else { return }
        self.recorderIsFull = isFull
        // Neither side is responsible for the time in between.
        self.clientSince = at
        self.originSince = at
    }

    // MARK: The upstream connection

    /// A connection attempt begins.
    public mutating func dialing(at: Double) {
        self.upstream = .connecting
        self.originSince = at
    }

    /// The exchange has its upstream connection.
    public mutating func upstreamTaken(isReused: Bool, at: Double) {
        self.upstream = .open
        self.upstreamIsReused = isReused
        self.originIsWritable = true
        self.clientSince = at
        self.originSince = at
    }

    // MARK: The request

    /// Part of the request body was sent upstream.
    ///
    /// - Parameter isKept: the caller still holds everything sent upstream, so the request can be sent again.
    public mutating func requestBodySent(at: Double, isKept: Bool = false) {
        self.bodyHasBegun = true
        self.bodyIsLost = self.bodyIsLost || !isKept
        self.clientSince = at
        self.originSince = at
    }

    /// The buffered part of the request was sent upstream. The rest comes from the client.
    public mutating func bufferSent() { self.isBuffered = false }

    /// The last byte of the request was read from the client.
    public mutating func requestRead() { self.requestIsRead = true }

    /// The last byte of the request was sent upstream.
    public mutating func requestSent(at: Double) -> Action {
        guard !self.isOver else { return .ignore }
        self.requestIsSent = true
        self.originSince = at
        return self.response == .ended ? self.finished() : .wait
    }

    /// The rest of the request is not HTTP, so none of it is sent upstream.
    public mutating func requestMalformed(_ reason: String) -> Action {
        guard !self.isOver else { return .ignore }
        switch self.response {
        case .ended: return self.finished()
        case .begun:
            self.isOver = true
            return .cut(Cut(by: .client, reason: reason))
        case .awaited:
            self.isOver = true
            return .answer(Failure(kind: .malformed, message: reason))
        }
    }

    // MARK: The answer

    /// Bytes arrived from the origin.
    public mutating func originSent(at: Double) {
        self.originHasSpoken = true
        self.originSince = at
    }

    /// An interim response arrived.
    ///
    /// - Returns: whether to send it to the client. A client that has already been asked for its body is not asked again.
    public mutating func interim(_ status: Int) -> Bool {
        guard status == 100 else { return true }
        self.sentContinue = true
        return !self.wasAskedBefore
    }

    /// The head of the final response arrived.
    public mutating func responseBegan() { self.response = .begun }

    /// The last byte of the response arrived.
    ///
    /// - Parameter readsOn: the origin has not announced a close, so it may want the rest of the request (RFC 9112, 9.3).
    public mutating func responseEnded(readsOn: Bool, at: Double) -> Action {
        guard !self.isOver else { return .ignore }
        self.response = .ended
        // A client that waits to be asked for its body will not send it any more (RFC 9110, 10.1.1).
        let holdsBodyBack = self.expectsContinue && !self.sentContinue && !self.bodyHasBegun
        guard readsOn, !self.requestIsSent, self.upstream == .open, !holdsBodyBack else { return self.finished() }
        self.clientSince = at
        self.originSince = at
        return .wait
    }

    /// The last byte of the answer has arrived.
    public var responseIsWhole: Bool { self.response == .ended }

    /// The exchange continues as something else, or ends without the origin.
    public mutating func ended() { self.isOver = true }

    private mutating func finished() -> Action {
        self.isOver = true
        return .finish
    }

    // MARK: Ends

    /// The upstream connection could not be made, broke, or carried something other than HTTP.
    ///
    /// - Parameter isUnprocessed: the origin has not acted on the request, because the request was not sent or was refused (RFC 9113, 8.7).
    ///   It can be sent again whatever its method.
    public mutating func upstreamFailed(_ failure: Failure, isUnprocessed: Bool = false) -> Action {
        guard !self.isOver else { return .ignore }
        self.upstream = .closed
        switch self.response {
        case .ended: return self.finished()
        case .begun:
            self.isOver = true
            let kind: Failure.Kind? = if failure.isReset { .reset } else if failure.isBreak, failure.code == nil { .truncated } else { nil }
            return .cut(Cut(by: .origin, kind: kind, reason: failure.message, code: failure.code))
        case .awaited:
            let isStale = self.upstreamIsReused && !self.originHasSpoken && (failure.kind == .reset || failure.kind == .truncated)
            if !self.bodyIsLost, !self.wasSentAgain, isUnprocessed || (isStale && self.isRepeatable) {
                self.wasSentAgain = true
                self.upstreamIsReused = false
                self.requestIsSent = false
                return .redial
            }
            self.isOver = true
            return .answer(failure)
        }
    }

    /// The client closed or broke its connection, or stalled for too long.
    public mutating func clientLeft(_ reason: String) -> Action {
        guard !self.isOver else { return .ignore }
        guard self.response != .ended else { return self.finished() }
        self.isOver = true
        return .cancel(Cut(by: .client, reason: reason))
    }

    /// The proxy is stopping and waits no longer.
    public mutating func recorderStopped(_ reason: String) -> Action {
        guard !self.isOver else { return .ignore }
        guard self.response != .ended else { return self.finished() }
        self.isOver = true
        return .cancel(Cut(by: .recorder, reason: reason))
    }
}
