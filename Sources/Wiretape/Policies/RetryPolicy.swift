internal import TapeBytes
public import CassetteModel
public import Foundation

/// Sends requests again that failed in a way that may pass: idempotent ones, a few times, after growing times.
///
/// `decision` is the rule, without clocks or state; as a `RequestRetrier` it takes what it needs from the request.
public struct RetryPolicy: RequestRetrier {
    /// Alamofire's.
    public static let defaultRetryLimit = 2
    /// Request Timeout, Internal Server Error, Bad Gateway, Service Unavailable, Gateway Timeout.
    public static let defaultRetryableStatusCodes: Set<Int> = [408, 500, 502, 503, 504]
    /// Those that may pass. A TLS failure, an answer that makes no sense and a cancelled request stay what they are.
    public static let defaultRetryableFailures: Set<Failure.Kind> = [.dns, .refused, .unreachable, .reset, .timeout, .truncated]

    public var retryLimit: Int
    public var backoff: ExponentialBackoff
    public var retryableMethods: Set<HTTPMethod>
    public var retryableStatusCodes: Set<Int>
    public var retryableFailures: Set<Failure.Kind>
    /// The longest `Retry-After` that is waited for: a request that would have to wait longer fails now.
    public var retryAfterLimit: Duration

    public init(
        retryLimit: Int = Self.defaultRetryLimit, backoff: ExponentialBackoff = ExponentialBackoff(),
        retryableMethods: Set<HTTPMethod> = HTTPMethod.idempotent, retryableStatusCodes: Set<Int> = Self.defaultRetryableStatusCodes,
        retryableFailures: Set<Failure.Kind> = Self.defaultRetryableFailures, retryAfterLimit: Duration = .seconds(60)
    ) {
        self.retryLimit = retryLimit
        self.backoff = backoff
        self.retryableMethods = retryableMethods
        self.retryableStatusCodes = retryableStatusCodes
        self.retryableFailures = retryableFailures
        self.retryAfterLimit = retryAfterLimit
    }

    /// How long to wait before the request is sent again; nil where it is not.
    ///
    /// - Parameters:
    ///   - retryCount: how often it was sent again already: 0 for the first attempt.
    ///   - now: for a `Retry-After` with a date in a response without one.
    public func decision(retryCount: Int, method: HTTPMethod, outcome: RetryOutcome, now: Date = Date()) -> Duration? {
        guard retryCount < self.retryLimit, self.retryableMethods.contains(method) else { return nil }
        let delay = self.backoff.delay(retryCount: retryCount)
        switch outcome {
        case .failure(let kind): return self.retryableFailures.contains(kind) ? delay : nil
        case .status(let status, let headers):
            guard self.retryableStatusCodes.contains(status) else { return nil }
            let time = Timestamp(microseconds: Int64((min(max(now.timeIntervalSince1970, -62e9), 253e9) * 1_000_000).rounded()))
            guard let asked = RetryAfter(headers, now: time)?.delay else { return delay }
            return asked <= self.retryAfterLimit ? max(asked, delay) : nil
        }
    }

    // MARK: RequestRetrier

    public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult {
        guard let outcome = Self.outcome(context, error) else { return .doNotRetry }
        let method = (context.request?.httpMethod).map(HTTPMethod.init(rawValue:)) ?? .get
        return self.decision(retryCount: context.retryCount, method: method, outcome: outcome).map { .retryAfter($0) } ?? .doNotRetry
    }

    /// A failure of the transport counts before the status of a response that it cut.
    static func outcome(_ context: RequestContext, _ error: any Error) -> RetryOutcome? {
        if let failure = error as? TransportFailure {
            guard case .network(let kind) = failure.kind else { return nil }
            return .failure(kind)
        }
        return context.response.map { .status($0.status, $0.headers) }
    }
}
