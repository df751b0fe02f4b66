internal import Dispatch
internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// What the requests of a session share. Lives until the session and all its requests are gone.
final class SessionCore: Sendable {
    /// Runs the serializers of completion handlers, for all sessions.
    static let serializationQueue = DispatchQueue(label: "wiretape.serialization", qos: .userInitiated, attributes: .concurrent)

    let configuration: Session.Configuration
    let clock: SessionClock
    /// Nil takes the transport of the task's cassette, or the network.
    private let transport: (any Transport)?
    private let network: SessionNetwork
    private let registry = Guarded(RequestRegistry())
    private let numbers = Guarded<UInt64>(0)
    private let seed = UInt64.random(in: .min ... .max)

    init(_ configuration: Session.Configuration, transport: (any Transport)? = nil, cassette: Cassette? = nil) {
        self.configuration = configuration
        self.clock = SessionClock(configuration.clock)
        let network = SessionNetwork(configuration)
        self.network = network
        self.transport = transport ?? cassette?.transport(around: network.recorded)
    }

    // MARK: Requests

    /// The transport of a request that is made now.
    var transportOfNow: any Transport {
        self.transport ?? Cassette.current?.transport(around: self.network.recorded)
            ?? FallbackTransport.transport(around: self.network.unrecorded)
    }

    /// Ascending, from 1.
    func nextNumber() -> UInt64 {
        self.numbers.withLock {
            $0 += 1
            return $0
        }
    }

    /// Unique: the session's random bytes and the request's number (RFC 9562, version 8). A random UUID costs 3 µs.
    func id(of number: UInt64) -> UUID {
        let (high, low) = (self.seed, number)
        func octet(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - 8 * index)) }
        return UUID(
            uuid: (
                octet(high, 0), octet(high, 1), octet(high, 2), octet(high, 3), octet(high, 4), octet(high, 5),
                octet(high, 6) & 0x0F | 0x80, octet(high, 7), octet(low, 0) & 0x3F | 0x80, octet(low, 1), octet(low, 2), octet(low, 3),
                octet(low, 4), octet(low, 5), octet(low, 6), octet(low, 7)
            ))
    }

    var activeRequests: [Request] { self.registry.withLock { $0.requests } }

    func started(_ request: Request) { self.registry.withLock { $0.add(request) } }

    func finished(_ request: Request) {
        for waiter in self.registry.withLock({ $0.remove(request) }) { waiter.resume() }
    }

    func waitUntilIdle() async {
        await withCheckedContinuation { waiter in
            if !self.registry.withLock({ $0.wait(waiter) }) { waiter.resume() }
        }
    }

    func cancelAll(_ error: WiretapeError) {
        for request in self.activeRequests { request.cancel(error) }
    }

    // MARK: Events

    func emit(_ kind: @autoclosure () -> SessionEvent.Kind, of request: Request) { self.emit(kind(), of: request.id) }

    func emit(_ kind: @autoclosure () -> SessionEvent.Kind, of id: UUID) {
        guard !self.configuration.eventMonitors.isEmpty else { return }
        let event = SessionEvent(requestID: id, kind: kind())
        for monitor in self.configuration.eventMonitors { monitor.sessionDid(event) }
    }
}

// Runs serializers after a request has ended, without the request: its waiting handlers would keep it alive.
extension SessionCore {
    func respond<Serializer: ResponseSerializer>(
        _ outcome: RequestOutcome, _ serializer: Serializer
    ) -> DataResponse<Serializer.SerializedObject> {
        self.respond(outcome) { last in
            try serializer.serialize(
                request: last.request?.view(for: serializer), response: last.response, data: outcome.data, error: nil)
        }
    }

    func respond<Serializer: DownloadResponseSerializer>(
        download outcome: RequestOutcome, _ serializer: Serializer
    ) -> DownloadResponse<Serializer.SerializedObject> {
        self.respond(outcome) { last in
            try serializer.serializeDownload(
                request: last.request?.view(for: serializer), response: last.response, fileURL: outcome.fileURL, error: nil)
        }
    }

    /// Runs a serializer unless the request failed, and measures its time.
    private func respond<Content, Value>(
        _ outcome: RequestOutcome, _ serialize: (_ last: RequestAttempt) throws -> Value
    ) -> ContentResponse<Content, Value> {
        let start = self.clock.elapsed()
        let result = Result {
            if let error = outcome.error { throw error }
            return try serialize(outcome.last)
        }.mapError { WiretapeError($0, as: .serialization) }
        let end = self.clock.elapsed()
        let failure: WiretapeError? = if case .failure(let error) = result { error } else { nil }
        self.emit(.serialized(duration: end - start, error: failure), of: outcome.id)
        var metrics = outcome.metrics
        metrics.timeline.serializationCompleted = end - outcome.start
        return ContentResponse(outcome, result, metrics)
    }
}

extension TransportRequest {
    fileprivate func view(for serializer: some Any) -> URLRequest {
        guard serializer is any MethodSerializer else { return URLRequest(self) }
        var view = URLRequest(url: self.url)
        view.httpMethod = self.method
        return view
    }
}

/// A serializer that reads only the method of a request, so that its fields need not be copied into a `URLRequest`.
private protocol MethodSerializer {}

extension DataResponseSerializer: MethodSerializer {}
extension StringResponseSerializer: MethodSerializer {}
extension JSONResponseSerializer: MethodSerializer {}
extension PropertyListResponseSerializer: MethodSerializer {}
extension DecodableResponseSerializer: MethodSerializer {}

/// A clock whose times are durations since this value was made.
struct SessionClock: Sendable {
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
    /// Whether sleeps return at once, so that every timeout would be exceeded at once.
    let isImmediate: Bool

    init(_ clock: any Clock<Duration>) { self = Self.opened(clock) }

    private init(
        elapsed: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void, isImmediate: Bool
    ) {
        self.elapsed = elapsed
        self.sleep = sleep
        self.isImmediate = isImmediate
    }

    private static func opened<C: Clock>(_ clock: C) -> SessionClock where C.Duration == Duration {
        let origin = clock.now
        return SessionClock(
            elapsed: { origin.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) },
            isImmediate: clock is ImmediateClock
        )
    }
}

/// The requests of a session that have started and not ended, in the order in which they started.
struct RequestRegistry: Sendable {
    private var active: [UInt64: Request] = [:]
    private var waiters: [CheckedContinuation<Void, Never>] = []

    var requests: [Request] { self.active.values.sorted { $0.number < $1.number } }
    var isIdle: Bool { self.active.isEmpty }

    mutating func add(_ request: Request) { self.active[request.number] = request }

    /// - Returns: the waiters to resume, after the last request.
    mutating func remove(_ request: Request) -> [CheckedContinuation<Void, Never>] {
        self.active.removeValue(forKey: request.number)
        guard self.active.isEmpty, !self.waiters.isEmpty else { return [] }
        defer { self.waiters = [] }
        return self.waiters
    }

    /// - Returns: false if there is nothing to wait for.
    mutating func wait(_ waiter: CheckedContinuation<Void, Never>) -> Bool {
        guard !self.isIdle else { return false }
        self.waiters.append(waiter)
        return true
    }
}
