public import CassetteModel
internal import CassettePlayback
public import Foundation
internal import TapeBytes

extension HTTPSession {
    /// Retries idempotent requests after failures that may be temporary: a few times, after growing delays.
    ///
    /// `decision` is the rule, without clocks or state; `retry` takes its arguments from the request's context.
    public struct RetryPolicy: RequestInterceptor {
        /// As in Alamofire.
        public static let defaultRetryLimit = 2
        /// Request Timeout, Internal Server Error, Bad Gateway, Service Unavailable, Gateway Timeout.
        public static let defaultRetryableStatusCodes: Set<Int> = [408, 500, 502, 503, 504]
        /// Failures that may be temporary. Failures of TLS, invalid responses and cancelled requests are not among them.
        public static let defaultRetryableFailures: Set<Failure.Kind> = [
            .dns, .refused, .unreachable, .reset, .timeout, .truncated, .unprocessed,
        ]

        public var retryLimit: Int
        public var backoff: HTTPSession.RetryPolicy.ExponentialBackoff
        public var retryableMethods: Set<Method>
        public var retryableStatusCodes: Set<Int>
        public var retryableFailures: Set<Failure.Kind>
        /// The longest accepted `Retry-After`: a request that would have to wait longer fails at once.
        public var retryAfterLimit: Duration

        public init(
            retryLimit: Int = Self.defaultRetryLimit,
            backoff: HTTPSession.RetryPolicy.ExponentialBackoff = HTTPSession.RetryPolicy.ExponentialBackoff(),
            retryableMethods: Set<Method> = Method.idempotent, retryableStatusCodes: Set<Int> = Self.defaultRetryableStatusCodes,
            retryableFailures: Set<Failure.Kind> = Self.defaultRetryableFailures, retryAfterLimit: Duration = .seconds(60)
        ) {
            self.retryLimit = retryLimit
            self.backoff = backoff
            self.retryableMethods = retryableMethods
            self.retryableStatusCodes = retryableStatusCodes
            self.retryableFailures = retryableFailures
            self.retryAfterLimit = retryAfterLimit
        }

        /// How long to wait before the request is sent again; nil if it is not.
        ///
        /// - Parameters:
        ///   - retryCount: 0 after the first attempt.
        ///   - now: used if `Retry-After` is a date and the response has no `Date`.
        public func decision(retryCount: Int, method: Method, outcome: HTTPSession.RetryPolicy.Outcome, now: Date = Date()) -> Duration? {
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

        // MARK: RequestInterceptor

        public func retry(_ context: RequestContext, dueTo error: any Error) async -> RetryResult {
            guard let outcome = Self.outcome(context, error) else { return .doNotRetry }
            let method = (context.request?.httpMethod).map(Method.init(rawValue:)) ?? .get
            return self.decision(retryCount: context.retryCount, method: method, outcome: outcome).map { .retryAfter($0) } ?? .doNotRetry
        }

        /// A failure of the transport takes precedence over the status of the response that it cut short.
        static func outcome(_ context: RequestContext, _ error: any Error) -> HTTPSession.RetryPolicy.Outcome? {
            if let failure = error as? TransportFailure {
                guard case .network(let kind) = failure.kind else { return nil }
                return .failure(kind)
            }
            return context.response.map { .status($0.status, $0.headers) }
        }
    }
}

extension HTTPSession.RetryPolicy {
    /// How an attempt ended.
    public enum Outcome: Sendable, Hashable {
        case status(Int, HTTPSession.Headers)
        case failure(Failure.Kind)
    }
}

extension HTTPSession.RequestInterceptor where Self == HTTPSession.RetryPolicy {
    /// Retries idempotent requests whose connection was lost, as is common in mobile networks, and no others.
    public static func connectionLost(
        retryLimit: Int = HTTPSession.RetryPolicy.defaultRetryLimit,
        backoff: HTTPSession.RetryPolicy.ExponentialBackoff = HTTPSession.RetryPolicy.ExponentialBackoff(),
        retryableMethods: Set<HTTPSession.Method> = HTTPSession.Method.idempotent
    ) -> HTTPSession.RetryPolicy {
        HTTPSession.RetryPolicy(
            retryLimit: retryLimit, backoff: backoff, retryableMethods: retryableMethods, retryableStatusCodes: [],
            retryableFailures: [.reset, .truncated])
    }
}

extension HTTPSession.RetryPolicy {
    /// The delay before a retry: `scale` × `base` to the power of the retries so far, minus a seeded jitter.
    ///
    /// The same seed produces the same delays, in every process and on every platform.
    public struct ExponentialBackoff: Sendable, Hashable {
        /// At least 1.
        public let base: UInt
        /// The delay before the first retry, without jitter.
        public let scale: Duration
        /// The longest delay.
        public let limit: Duration
        /// The largest random reduction, from 0 (none) to 1 (the whole delay): clients that failed together do not return together.
        public let jitter: Double
        public let seed: UInt64

        /// - Parameter seed: random by default, so that two processes differ; give one for reproducible delays.
        public init(
            base: UInt = 2, scale: Duration = .milliseconds(500), limit: Duration = .seconds(300), jitter: Double = 0.5,
            seed: UInt64 = .random(in: 0 ... .max)
        ) {
            self.base = max(base, 1)
            self.scale = max(scale, .zero)
            self.limit = max(limit, .zero)
            self.jitter = jitter.isNaN ? 0 : min(max(jitter, 0), 1)
            self.seed = seed
        }

        /// - Parameter retryCount: 0 before the first retry.
        public func delay(retryCount: Int) -> Duration {
            var delay = min(self.scale, self.limit)
            for _ in 0..<max(retryCount, 0) {
                guard delay < self.limit, self.base > 1, delay > .zero else { break }
                // Compare before multiplying, because the product could overflow.
                delay = delay > self.limit / Int(clamping: self.base) ? self.limit : delay * Int(clamping: self.base)
            }
            // Each retry has its own generator, so that a delay does not depend on those before it.
            var generator = SplitMix64(seed: self.seed &+ UInt64(clamping: retryCount) &* 0xd134_2543_de82_ef95)
            let part = self.jitter * Double(generator.next() >> 11) / Double(1 << 53 as UInt64)
            return delay * (1 - part)
        }
    }
}

/// The delay that a server asks for in `Retry-After` (RFC 9110, 10.2.3).
struct RetryAfter: Sendable, Hashable {
    /// Never below zero.
    let delay: Duration

    /// A date is relative to the response's own `Date`, so that a wrong local clock does no harm, and replayed responses give the same
    /// delay.
    ///
    /// - Parameter now: used for a response without a `Date`.
    /// - Returns: nil if there is no such field, or if it is neither seconds nor a date.
    init?(_ headers: HTTPSession.Headers, now: Timestamp) {
        guard let text = headers.value(for: "Retry-After")?.trimmed else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            // A number that overflows is above any limit.
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
