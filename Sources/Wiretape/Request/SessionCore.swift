internal import Dispatch
internal import Foundation
internal import TapeBytes

/// What the requests of a session share. Outlives the session by as long as one of its requests does.
final class SessionCore: Sendable {
    /// Serializers of all sessions' completion handlers run here.
    static let serializationQueue = DispatchQueue(label: "wiretape.serialization", qos: .userInitiated, attributes: .concurrent)

    let configuration: Session.Configuration
    let clock: SessionClock
    /// Of all requests; nil takes that of the task's cassette, or the network.
    let transport: (any Transport)?
    let network: SessionNetwork
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

    /// Rising, from 1.
    func nextNumber() -> UInt64 {
        self.numbers.withLock {
            $0 += 1
            return $0
        }
    }

    /// Of this process: the session's random octets and the request's number (RFC 9562, version 8). A random one costs 3 µs.
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

extension SessionCore {
    /// Of a request that is made now.
    var transportOfNow: any Transport {
        self.transport ?? Cassette.current?.transport(around: self.network.recorded)
            ?? FallbackTransport.transport(around: self.network.unrecorded)
    }
}

/// The requests of a session that are on their way, in the order in which they started.
struct RequestRegistry: Sendable {
    private var active: [UInt64: Request] = [:]
    private var waiters: [CheckedContinuation<Void, Never>] = []

    var requests: [Request] { self.active.values.sorted { $0.number < $1.number } }
    var isIdle: Bool { self.active.isEmpty }

    mutating func add(_ request: Request) { self.active[request.number] = request }

    /// - Returns: who waited for the last request to end.
    mutating func remove(_ request: Request) -> [CheckedContinuation<Void, Never>] {
        self.active.removeValue(forKey: request.number)
        guard self.active.isEmpty, !self.waiters.isEmpty else { return [] }
        defer { self.waiters = [] }
        return self.waiters
    }

    /// - Returns: false where there is nothing to wait for.
    mutating func wait(_ waiter: CheckedContinuation<Void, Never>) -> Bool {
        guard !self.isIdle else { return false }
        self.waiters.append(waiter)
        return true
    }
}
