public import CassetteModel
internal import CassettePlayback
public import Foundation
internal import TapeBytes

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

/// What came of an attempt that may be repeated.
public enum RetryOutcome: Sendable, Hashable {
    case status(Int, HTTPHeaders)
    case failure(Failure.Kind)
}

/// How long a server asks its clients to wait (RFC 9110, 10.2.3).
struct RetryAfter: Sendable, Hashable {
    /// Never below zero.
    let delay: Duration

    /// A date counts from the response's own `Date`, so that a wrong clock here does no harm, and answers that are replayed give the same time.
    ///
    /// - Parameter now: for a response without a `Date`.
    /// - Returns: nil without such a field, or with one that is neither seconds nor a date.
    init?(_ headers: HTTPHeaders, now: Timestamp) {
        guard let text = headers.value(for: "Retry-After")?.trimmed else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // Past all numbers is past all limits.
            self.delay = .seconds(Int64(text).map { min($0, Int64(Int32.max)) } ?? Int64(Int32.max))
        } else if let date = WrittenDate(String(text))?.time {
            let from = headers.value(for: "Date").flatMap { WrittenDate(String($0.trimmed)) }?.time ?? now
            self.delay = max(.zero, .microseconds(date.microseconds - from.microseconds))
        } else {
            return nil
        }
    }
}

extension String {
    /// Without white space around it (RFC 9110, 5.6.3).
    fileprivate var trimmed: Substring {
        let start = self.utf8.firstIndex { $0 != 32 && $0 != 9 } ?? self.endIndex
        let end = self.utf8.lastIndex { $0 != 32 && $0 != 9 }.map(self.utf8.index(after:)) ?? self.endIndex
        return self[start..<max(start, end)]
    }
}
