internal import Dispatch
internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The part of a session that its requests share. Lives until the session and all its requests are released.
final class SessionCore: Sendable {
    /// Runs the serializers of completion handlers, for all sessions.
    static let serializationQueue = DispatchQueue(label: "wiretape.serialization", qos: .userInitiated, attributes: .concurrent)

    let configuration: HTTPSession.Configuration
    let clock: ElapsedClock
    private let clockOwner = ClockOwner()
    /// Nil uses the transport of the task's cassette, or the network.
    private let transport: (any Transport)?
    /// The cassette that the session is bound to.
    private let bound: Cassette?
    private let origin: SessionOrigin
    private let scopes: CassetteScopes
    private let network: SessionNetwork
    private let registry = Guarded(RequestRegistry())
    private let numbers = Guarded<UInt64>(0)
    private let seed = UInt64.random(in: .min ... .max)

    init(
        _ configuration: HTTPSession.Configuration, transport: (any Transport)? = nil, cassette: Cassette? = nil,
        among scopes: CassetteScopes = .shared
    ) {
        self.configuration = configuration
        self.clock = ElapsedClock(configuration.clock)
        let network = SessionNetwork(configuration)
        self.network = network
        self.transport = transport ?? cassette?.transport(around: network.recorded, clock: configuration.clock, owner: self.clockOwner)
        self.bound = transport == nil ? cassette : nil
        self.origin = SessionOrigin(Cassette.current, among: scopes)
        self.scopes = scopes
    }

    // MARK: Requests

    /// The transport of a request that the calling task makes now, and the cassette for its handlers.
    ///
    /// A request belongs to the test of its task, or to the test that the session is bound to. The test in which the session was created
    /// counts only while the request cannot belong to another one.
    func destination() -> (transport: any Transport, cassette: Cassette?) {
        let current = Cassette.current
        if let transport = self.transport { return self.destination(in: current, by: transport) }
        if let current, current.isOpen {
            self.origin.used(with: current, among: self.scopes)
            return (current.transport(around: self.network.recorded, clock: self.configuration.clock, owner: self.clockOwner), current)
        }
        // A test without a cassette may use the session of another test.
        let evidence = self.scopes.isOutside ? .none : self.origin.evidence(among: self.scopes)
        switch evidence {
        case .cassette(let cassette):
            return (cassette.transport(around: self.network.recorded, clock: self.configuration.clock, owner: self.clockOwner), cassette)
        // The network would also be wrong, whether a test is running or not.
        case .sharedWithoutTest: return (self.refusal(evidence, isLate: false), nil)
        case .shared, .none: if self.scopes.refuses { return (self.refusal(evidence, isLate: current != nil), nil) }
        }
        // A task whose cassette is closed gets an error that says so.
        if let current {
            return (current.transport(around: self.network.recorded, clock: self.configuration.clock, owner: self.clockOwner), current)
        }
        return (FallbackTransport.transport(around: self.network.unrecorded), nil)
    }

    /// The destination of a request of a session with a transport or a cassette of its own.
    private func destination(in current: Cassette?, by transport: any Transport) -> (transport: any Transport, cassette: Cassette?) {
        guard let bound = self.bound else { return (transport, current) }
        if let current, current.isOpen, self.scopes.areOfDifferentTests(bound, current) {
            let test = self.scopes.scope(of: current)
            return (EscapedTransport(scopes: self.scopes, reason: .foreign, known: Set([test].compactMap { $0 })), current)
        }
        // Requests that handlers make on queues belong to the same test.
        let isOfTest = current == nil && self.scopes.scope(of: bound) != nil
        return (transport, isOfTest ? bound : current)
    }

    private func refusal(_ evidence: SessionOrigin.Evidence, isLate: Bool) -> EscapedTransport {
        let reason: EscapedTransport.Reason =
            switch evidence {
            case .shared, .sharedWithoutTest: .shared(madeIn: self.origin.birth.name)
            case .cassette, .none: isLate ? .late : .unknown
            }
        return EscapedTransport(scopes: self.scopes, reason: reason, known: self.origin.known)
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
        func byte(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - 8 * index)) }
        return UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
                byte(high, 6) & 0x0F | 0x80, byte(high, 7), byte(low, 0) & 0x3F | 0x80, byte(low, 1), byte(low, 2), byte(low, 3),
                byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }

    var activeRequests: [HTTPSession.Request] { self.registry.withLock { $0.requests } }

    func started(_ request: HTTPSession.Request) { self.registry.withLock { $0.add(request) } }

    func finished(_ request: HTTPSession.Request) {
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

    func emit(_ kind: @autoclosure () -> HTTPSession.Event.Kind, of request: HTTPSession.Request) {
        let observers = request.data.withLock { $0.options.observers }
        guard !observers.isEmpty else { return self.emit(kind(), of: request.id) }
        let event = kind()
        for observer in observers { observer(event) }
        self.emit(event, of: request.id)
    }

    func emit(_ kind: @autoclosure () -> HTTPSession.Event.Kind, of id: UUID) {
        guard !self.configuration.eventMonitors.isEmpty else { return }
        let event = HTTPSession.Event(requestID: id, kind: kind())
        for monitor in self.configuration.eventMonitors { monitor.sessionDid(event) }
    }
}

// Runs serializers after a request has ended. The request is not retained, since its waiting handlers would keep it alive.
extension SessionCore {
    func respond<Serializer: HTTPSession.ResponseSerializer>(
        _ outcome: RequestOutcome, _ serializer: Serializer
    ) -> HTTPSession.DataResponse<Serializer.SerializedObject> {
        self.respond(outcome) { last in
            try serializer.serialize(
                request: last.request?.view(for: serializer), response: last.response, data: outcome.data, error: nil)
        }
    }

    func respond<Serializer: HTTPSession.DownloadResponseSerializer>(
        download outcome: RequestOutcome, _ serializer: Serializer
    ) -> HTTPSession.DownloadResponse<Serializer.SerializedObject> {
        self.respond(outcome) { last in
            try serializer.serializeDownload(
                request: last.request?.view(for: serializer), response: last.response, fileURL: outcome.fileURL, error: nil)
        }
    }

    /// Runs a serializer unless the request failed, and measures its time.
    private func respond<Content, Value>(
        _ outcome: RequestOutcome, _ serialize: (_ last: HTTPSession.RequestAttempt) throws -> Value
    ) -> HTTPSession.ContentResponse<Content, Value> {
        let start = self.clock.elapsed
        let result = Result {
            if let error = outcome.error { throw error }
            return try serialize(outcome.last)
        }.mapError { WiretapeError($0, as: .serialization) }
        let end = self.clock.elapsed
        let failure: WiretapeError? = if case .failure(let error) = result { error } else { nil }
        self.emit(.serialized(duration: end - start, error: failure), of: outcome.id)
        var metrics = outcome.metrics
        metrics.timeline.serializationCompleted = end - outcome.start
        return HTTPSession.ContentResponse(outcome, result, metrics)
    }
}

extension TransportRequest {
    fileprivate func view(for serializer: some Any) -> URLRequest {
        guard serializer is any MethodSerializer else { return URLRequest(self) }
        var view = URLRequest(url: self.url)
        view.setMethod(self.method)
        return view
    }
}

/// A serializer that reads only the method of a request, so that its fields need not be copied into a `URLRequest`.
private protocol MethodSerializer {}

extension HTTPSession.DataResponseSerializer: MethodSerializer {}
extension HTTPSession.StringResponseSerializer: MethodSerializer {}
extension HTTPSession.JSONResponseSerializer: MethodSerializer {}
extension HTTPSession.PropertyListResponseSerializer: MethodSerializer {}
extension HTTPSession.DecodableResponseSerializer: MethodSerializer {}

/// The requests of a session that have started and not ended, in the order in which they started.
struct RequestRegistry: Sendable {
    private var active: [UInt64: HTTPSession.Request] = [:]
    private var waiters: [CheckedContinuation<Void, Never>] = []

    var requests: [HTTPSession.Request] { self.active.values.sorted { $0.number < $1.number } }
    var isIdle: Bool { self.active.isEmpty }

    mutating func add(_ request: HTTPSession.Request) { self.active[request.number] = request }

    /// - Returns: the waiters to resume, after the last request.
    mutating func remove(_ request: HTTPSession.Request) -> [CheckedContinuation<Void, Never>] {
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

/// The network transports of a session that was given no transport.
///
/// Created at the first use, so that a replay creates no `URLSession`.
final class SessionNetwork: Sendable {
    private struct Made {
        var recorded: LiveTransport?
        var cached: LiveTransport?
    }

    private let configuration: URLSessionConfiguration?
    private let serverTrust: HTTPSession.ServerTrustManager?
    private let clientCredential: URLCredential?
    private let cachedResponseHandler: (any HTTPSession.CachedResponseHandler)?
    private let made = Guarded(Made())

    init(_ configuration: HTTPSession.Configuration) {
        self.configuration = configuration.urlSessionConfiguration
        self.serverTrust = configuration.serverTrust
        self.clientCredential = configuration.clientCredential
        self.cachedResponseHandler = configuration.cachedResponseHandler
    }

    /// For recordings: without a cache, whose responses would not come from the origin.
    var recorded: LiveTransport {
        guard self.configuration != nil || self.serverTrust != nil || self.clientCredential != nil else { return .shared }
        return self.made.withLock { made in
            let transport =
                made.recorded
                ?? LiveTransport(
                    configuration: self.configuration ?? .ephemeral, serverTrust: self.serverTrust, clientCredential: self.clientCredential)
            made.recorded = transport
            return transport
        }
    }

    /// For requests that are not recorded: with the shared cache if there is a `cachedResponseHandler`.
    var unrecorded: LiveTransport {
        guard let cachedResponseHandler else { return self.recorded }
        return self.made.withLock { made in
            let transport =
                made.cached
                ?? LiveTransport(
                    configuration: self.configuration ?? .default, serverTrust: self.serverTrust,
                    cachedResponseHandler: cachedResponseHandler,
                    clientCredential: self.clientCredential)
            made.cached = transport
            return transport
        }
    }
}

/// The transport of requests with neither a transport nor a cassette: the network, unless the environment forbids it.
enum FallbackTransport {
    /// The variable that forbids the network, for example in tests on a CI service without a reliable network.
    static let variable = "WIRETAPE_OFFLINE"

    private static let isOffline = Self.isOffline(ProcessInfo.processInfo.environment)

    static func isOffline(_ environment: [String: String]) -> Bool { EnvironmentSwitch.isOn(environment[self.variable]) }

    static func transport(around network: @autoclosure () -> LiveTransport, isOffline: Bool = Self.isOffline) -> any Transport {
        isOffline ? OfflineTransport() : network()
    }
}

/// Reads environment variables that are on or off.
package enum EnvironmentSwitch {
    /// Off if missing, empty, "0", "false" or "no". CI services set "true" or "1".
    package static func isOn(_ value: String?) -> Bool { !["", "0", "false", "no"].contains((value ?? "").lowercased()) }
}
