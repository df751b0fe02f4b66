public import TapeCore

/// Follows one proxied exchange and says what happens to both connections when something ends, fails or leaves.
///
/// Knows what has begun and ended, never octets, sockets or clocks: the caller moves the octets and reports events.
public struct ExchangeState: Sendable {
    /// What becomes of a connection behind the exchange.
    public enum After: Sendable, Equatable {
        case keep, close
        /// Close the output, then read and drop what the peer still sends, so that its unread answer is not lost to a reset
        /// (RFC 9112, 9.6).
        case linger
    }

    public enum Action: Sendable, Equatable {
        case wait
        /// Both messages are through.
        case finish(client: After, upstream: After)
        /// Nothing was sent to the client yet: answer in the origin's place with this failure, then close the client where
        /// its request was not read to the end.
        case answer(Failure, client: After)
        /// The response had begun: close both now, so that no client takes the part for the whole.
        case cut(Cut)
        /// A reused connection had gone away before it took the request: send the request again on a new one
        /// (RFC 9112, 9.3.1).
        case redial
        /// The client left: close the upstream connection, which cancels the request there.
        case cancel(Cut)
        /// The exchange is over; a late event changes nothing.
        case ignore
    }

    private enum ResponseSide: Sendable { case awaited, begun, ended }

    private var requestEnded = false
    private var response = ResponseSide.awaited
    private var isOver = false
    private var clientPersists: Bool
    private let isIdempotent: Bool
    private var upstreamPersists = true
    private var upstreamIsReused = false
    private var bodyWasSent = false

    /// - Parameters:
    ///   - clientPersists: the client's connection may serve another request after this one (RFC 9112, 9.3).
    ///   - isIdempotent: the request may be sent twice (RFC 9110, 9.2.2).
    public init(clientPersists: Bool, isIdempotent: Bool) {
        self.clientPersists = clientPersists
        self.isIdempotent = isIdempotent
    }

    /// The exchange got its upstream connection.
    public mutating func upstreamTaken(isReused: Bool) {
        self.upstreamIsReused = isReused
    }

    /// Part of the request's body went upstream, so that the request cannot be sent again.
    public mutating func requestBodySent() {
        self.bodyWasSent = true
    }

    /// The last octet of the request was read.
    public mutating func requestRead() {
        self.requestEnded = true
    }

    /// The head of the final response was read.
    ///
    /// - Parameter clientPersists: false where the response can only be ended by closing the client's connection.
    public mutating func responseBegan(upstreamPersists: Bool, clientPersists: Bool = true) {
        self.response = .begun
        self.upstreamPersists = upstreamPersists
        self.clientPersists = self.clientPersists && clientPersists
    }

    /// The last octet of the response was read.
    public mutating func responseEnded() -> Action {
        guard !self.isOver else { return .ignore }
        self.isOver = true
        self.response = .ended
        guard self.requestEnded else { return .finish(client: .linger, upstream: .close) }
        return .finish(client: self.clientPersists ? .keep : .linger, upstream: self.upstreamPersists ? .keep : .close)
    }

    /// The upstream connection was never made, broke, or sent what is not HTTP.
    ///
    /// - Parameter sawResponse: at least one octet of a response, interim ones included, came on it.
    public mutating func upstreamFailed(_ failure: Failure, sawResponse: Bool) -> Action {
        guard !self.isOver else { return .ignore }
        if self.response == .awaited, self.upstreamIsReused, self.isIdempotent, !self.bodyWasSent, !sawResponse,
            failure.kind == .reset || failure.kind == .truncated
        {
            self.upstreamIsReused = false
            return .redial
        }
        self.isOver = true
        guard self.response == .awaited else { return .cut(Cut(by: .origin, reason: failure.message)) }
        return .answer(failure, client: self.requestEnded ? (self.clientPersists ? .keep : .linger) : .linger)
    }

    /// The client closed its connection, broke it, or stalled past its time.
    public mutating func clientLeft(_ reason: String) -> Action {
        guard !self.isOver else { return .ignore }
        self.isOver = true
        return .cancel(Cut(by: .client, reason: reason))
    }

    /// The proxy stops and waits no longer.
    public mutating func recorderStopped(_ reason: String) -> Action {
        guard !self.isOver else { return .ignore }
        self.isOver = true
        return .cancel(Cut(by: .recorder, reason: reason))
    }

    /// The rest of the request is not HTTP: nothing of it goes upstream.
    public mutating func requestMalformed(_ reason: String) -> Action {
        guard !self.isOver else { return .ignore }
        self.isOver = true
        guard self.response == .awaited else { return .cut(Cut(by: .client, reason: reason)) }
        return .answer(Failure(kind: .malformed, message: reason), client: .linger)
    }
}
