internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeBytes
internal import TapeExchange
internal import TrafficRules

/// Watches one exchange for the verdict on the client: when the request came, how it was answered, and when the client left.
///
/// Not Sendable: lives on its event loop.
final class AttemptWatch {
    private let log: AttemptLog
    private let number: Int
    private let isHTTP2: Bool
    private let time: () -> Duration
    private let fingerprint: ([UInt8]?) -> [UInt8]
    /// Whether equal requests with a long body have equal bytes.
    private let comparesBytes: Bool
    /// What has come of the request's body; nil once it is too long to be compared as matching does.
    private var body: [UInt8]? = []
    private var digest = FastSHA256()
    private var hasHead = false
    private var status = 0
    /// Whether the answer's own end is among what goes to the client.
    private var isWhole = false
    /// What the client still lacks of a body whose length the head says; nil if the head does not, or the end counts as on HTTP/2.
    private var left: Int?

    /// Nil if enough attempts have been watched.
    ///
    /// - Parameters:
    ///   - engine: says which requests are equal.
    ///   - time: since the run began.
    init?(_ request: IncomingRequest, connection: Int, log: AttemptLog, engine: RuleEngine, time: @escaping () -> Duration) {
        let fields = request.head.fields
        var attempt = ClientVerdict.Attempt(
            start: time(), end: nil, method: request.head.method, redactedURL: DrawnURL.of(request.url),
            hasIdempotencyKey: fields.contains("idempotency-key") || fields.contains("if-match") || fields.contains("if-none-match"),
            outcome: .lost, isInjected: false, version: request.head.version, connection: connection)
        attempt.url = request.url
        attempt.user = RequestUser.hash(of: fields, url: request.url)
        attempt.isGRPC = request.call != nil
        // A rule may end the exchange before all of the body has come.
        attempt.hasWholeRequest = !request.hasBody
        guard let number = log.began(attempt) else { return nil }
        self.log = log
        self.number = number
        self.isHTTP2 = request.head.version == .http2
        self.comparesBytes = engine.comparesBytes(of: fields)
        self.fingerprint = { engine.fingerprint(of: request.facts(body: $0)) }
        self.time = time
    }

    /// Quotas count the request by these values.
    func isCounted(by values: [[UInt8]]) {
        if !values.isEmpty { self.log.change(self.number) { $0.isCounted(by: values) } }
    }

    /// A piece of the request's body has come.
    func requestBody(_ piece: BodyPiece) {
        let payload = piece.payload
        payload.withUnsafeReadableBytes { self.digest.update($0) }
        if let count = self.body?.count {
            if count + payload.readableBytes <= RequestFacts.bodyLimit {
                self.body?.append(contentsOf: payload.readableBytesView)
            } else {
                self.body = nil
            }
        }
        guard piece.isLast else { return }
        let isKnown = self.body != nil || self.comparesBytes
        let digest = self.body == nil ? self.digest.finalize() : []
        let fingerprint = self.fingerprint(self.body)
        self.body = nil
        self.log.change(self.number) { attempt in
            attempt.fingerprint = fingerprint
            attempt.bodyDigest = digest
            attempt.hasWholeRequest = isKnown
        }
    }

    /// Part of the answer goes to the client.
    ///
    /// - Parameter isInjected: a rule has made it.
    func answered(_ item: AnswerItem, isInjected: Bool) {
        let now = self.time()
        switch item {
        case .head(let head, let framing):
            self.status = head.status
            switch framing {
            case .length(let length): self.left = self.isHTTP2 ? nil : length
            case .none: self.left = self.isHTTP2 || head.status == 101 ? nil : 0
            case .chunked, .untilClose: break
            }
        case .local(let answer, _): self.status = answer.status
        case .end(.finished): self.isWhole = true
        case .raw, .end:
            // The client has the whole answer: what breaks behind it is no failure of this request.
            if self.left == 0 { return }
        case .data(let bytes): self.left = self.left.map { $0 - bytes.count }
        // A stall is told when it begins, after what comes behind it.
        case .stall, .interim, .flush, .closeOutput: break
        }
        self.log.change(self.number) { attempt in
            attempt.isInjected = attempt.isInjected || isInjected
            switch item {
            case .head(let head, _):
                attempt.outcome = .answer(head.status)
                attempt.take(RetryAfter(head.fields.first("retry-after"), date: head.fields.first("date")))
            case .local(let answer, _):
                attempt.outcome = .answer(answer.status)
                func field(_ name: String) -> String? { answer.fields.first { $0.0.lowercased() == name }?.1 }
                attempt.take(RetryAfter(field("retry-after"), date: field("date")))
            case .stall(let time):
                if time == nil || time.map({ $0 >= .seconds(1) }) == true { attempt.outcome = .stalled(from: now) }
            // On HTTP/2 it is in the frames of one stream, and the connection may be kept (RFC 9113, 5.4.2).
            case .raw: attempt.outcome = .garbage(breaksFraming: attempt.version != .http2)
            // REFUSED_STREAM: nothing was done, so that any request may be sent again (RFC 9113, 8.7).
            case .end(.reset(code: 7, isOfConnection: false)) where attempt.version == .http2 && attempt.outcome == .lost:
                attempt.outcome = .notSent
            case .end(.cut), .end(.brokenOff), .end(.reset):
                switch attempt.outcome {
                case .answer: attempt.outcome = .cut
                case .garbage, .stalled, .lost, .cut, .notSent: break
                }
            case .interim, .data, .flush, .closeOutput, .end(.finished), .end(.closed): break
            }
        }
    }

    func ended() {
        let now = self.time()
        let status = self.isWhole ? self.status : nil
        self.log.change(self.number) { attempt in
            attempt.end = attempt.end ?? now
            // A stall that ended, and the rest came: the client has its answer, and a later request is not a retry.
            guard let status, attempt.clientLeft == nil, case .stalled(let start) = attempt.outcome else { return }
            attempt.stalledFrom = start
            attempt.outcome = .answer(status)
        }
    }

    func clientLeft() {
        let now = self.time()
        self.log.change(self.number) { if $0.end == nil { $0.clientLeft = now } }
    }
}

extension ClientVerdict.Attempt {
    fileprivate mutating func take(_ wait: RetryAfter?) {
        guard let wait else { return }
        self.retryAfter = wait.time
        self.isRetryAfterDate = wait.isDate
    }
}

/// The value of a `Retry-After` field: whole seconds, or a date (RFC 9110, 10.2.3).
struct RetryAfter: Equatable {
    /// Never below zero.
    var time: Duration
    var isDate: Bool

    /// Nil if there is no field, or it is malformed.
    ///
    /// - Parameter date: the answer's own `Date`. A date without one says nothing: the clock of this machine may be another than the server's.
    init?(_ value: String?, date: String?) {
        guard let value = value.map(Self.trimmed) else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ 48...57 ~= $0 }) {
            guard let seconds = Int(value), seconds <= 1_000_000 else { return nil }
            self.time = .seconds(seconds)
            self.isDate = false
            return
        }
        guard let due = WrittenDate(value)?.time, let now = date.flatMap({ WrittenDate(Self.trimmed($0)) })?.time else { return nil }
        self.time = max(.zero, .microseconds(due.microseconds - now.microseconds))
        self.isDate = true
    }

    /// Without white space around it (RFC 9110, 5.6.3).
    private static func trimmed(_ text: String) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
