internal import Dispatch
internal import NIOCore
internal import Platform
internal import TapeBytes
internal import TapeRecorder

/// Looks up names on its own threads, so a resolver that hangs delays only the callers that need such a name, never a replay or a stop.
///
/// Serves any number of event loops. Caches nothing, because the system's resolver does.
final class NameResolver: Sendable {
    /// Why a lookup has no answer.
    enum Problem: Error {
        /// With the resolver's message.
        case notFound(String)
        /// This many names are waiting already.
        case tooMany(Int)
        /// No thread could be started.
        case noThread
        /// No thread was free before the callers timed out.
        case late
        case stopped

        /// With what to do next.
        func message(for host: String) -> String {
            switch self {
            case .notFound(let reason):
                "\"\(host)\" was not found (\(reason)): check the host name in the URL."
            case .tooMany(let count):
                "\"\(host)\" was not looked up, since too many names are being looked up (\(count) waiting): check the name server, and try again."
            case .noThread:
                "\"\(host)\" was not looked up, since no thread could be started: raise the limit of processes (ulimit -u)."
            case .late:
                "\"\(host)\" was not looked up in time: check the name server."
            case .stopped:
                "the lookup of \"\(host)\" was cancelled, since the proxy is being stopped."
            }
        }
    }

    /// All stream addresses of a host, in the system's order of preference. May block.
    typealias Lookup = @Sendable (_ host: String) throws -> [SocketAddress]

    /// Concurrent lookups: the same limit as Chromium's (`kDefaultMaxSystemTasks`).
    static let threadLimit = 64
    /// Threads that are kept when the queue is empty, because the C library reads its settings again on each new thread.
    private static let idleLimit = 2
    /// Names that may wait for a thread. At 2 s each, any more could not be looked up within `ProxyLimits.connect`.
    static let waitingLimit = 1_024

    private struct Waiter {
        var promise: EventLoopPromise<NameLookup.Answer>
        var port: Int
        var asked: NIODeadline
    }

    private struct State {
        /// The callers of each name that is waiting or being looked up.
        var waiters: [String: [Waiter]] = [:]
        /// Names that no thread has taken yet, in order.
        var queue = CircularBuffer<String>()
        var threads = 0
        /// Threads that wait to be woken.
        var idle = 0
        var isStopped = false
    }

    private let threadLimit: Int
    private let waitingLimit: Int
    private let timeout: TimeAmount
    private let now: @Sendable () -> NIODeadline
    private let lookup: Lookup
    private let state = Guarded(State())
    /// Signalled once for each thread that stops being idle.
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - timeout: how long a caller waits. A name that no thread has taken by then is not looked up.
    ///   - now: the clock.
    init(
        threadLimit: Int = NameResolver.threadLimit, waitingLimit: Int = NameResolver.waitingLimit,
        timeout: TimeAmount = .seconds(Int64(ProxyLimits().connect)), now: @escaping @Sendable () -> NIODeadline = { .now() },
        lookup: @escaping Lookup = { try NameResolver.systemAddresses(of: $0) }
    ) {
        self.threadLimit = threadLimit
        self.waitingLimit = waitingLimit
        self.timeout = timeout
        self.now = now
        self.lookup = lookup
    }

    /// The addresses of a name, or a `Problem`. Concurrent lookups of one name share the answer.
    ///
    /// - Parameter loop: must run until there is an answer or `stop` has been called.
    func look(up host: String, port: Int, on loop: any EventLoop) -> EventLoopFuture<NameLookup.Answer> {
        let promise = loop.makePromise(of: NameLookup.Answer.self)
        let waiter = Waiter(promise: promise, port: port, asked: self.now())
        // Names are compared without regard to case (RFC 4343).
        switch self.enqueue(waiter, name: host.lowercased()) {
        case .waits: break
        case .wakesThread: self.wake.signal()
        case .needsThread: self.startThread()
        case .refused(let problem): promise.fail(problem)
        }
        return promise.futureResult
    }

    private enum Entry {
        case waits, wakesThread, needsThread
        case refused(Problem)
    }

    private func enqueue(_ waiter: Waiter, name: String) -> Entry {
        self.state.withLock { state in
            guard !state.isStopped else { return .refused(.stopped) }
            guard state.waiters[name] == nil else {
                state.waiters[name]?.append(waiter)
                return .waits
            }
            guard state.waiters.count < self.threadLimit + self.waitingLimit else { return .refused(.tooMany(self.waitingLimit)) }
            state.waiters[name] = [waiter]
            state.queue.append(name)
            guard state.idle == 0 else {
                state.idle -= 1
                return .wakesThread
            }
            guard state.threads < self.threadLimit else { return .waits }
            state.threads += 1
            return .needsThread
        }
    }

    /// Fails all waiting lookups. A lookup that has begun continues, but its answer is ignored. Does not wait.
    func stop() {
        let (waiters, idle) = self.state.withLock { state in
            state.isStopped = true
            state.queue.removeAll()
            defer {
                state.waiters = [:]
                state.idle = 0
            }
            return (state.waiters.values.flatMap { $0 }, state.idle)
        }
        for _ in 0..<idle { self.wake.signal() }
        for waiter in waiters { waiter.promise.fail(Problem.stopped) }
    }

    // MARK: The threads

    private func startThread() {
        guard !DedicatedThread.start({ self.run() }) else { return }
        // Other threads continue with the queue. If there are none, the queued names fail.
        let waiters = self.state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [Waiter]() }
            defer { state.queue.removeAll() }
            return state.queue.flatMap { state.waiters.removeValue(forKey: $0) ?? [] }
        }
        for waiter in waiters { waiter.promise.fail(Problem.noThread) }
    }

    private func run() {
        while let name = self.next() {
            let result = Result { try self.lookup(name) }
            let now = self.now()
            self.state.withLock { state in
                // Under the lock, so that no loop gets an answer after `stop`. Callbacks of the promise run on their loop, not here.
                for waiter in state.waiters.removeValue(forKey: name) ?? [] { Self.complete(waiter, result, now) }
            }
        }
    }

    private enum Turn {
        case name(String), idle, end
    }

    /// The next name, after waiting for one if necessary; nil if the thread should end.
    private func next() -> String? {
        while true {
            let turn = self.state.withLock { state -> Turn in
                while let name = state.queue.popFirst() {
                    let oldest = self.now() - self.timeout
                    guard let waiters = state.waiters[name], waiters.allSatisfy({ $0.asked < oldest }) else { return .name(name) }
                    state.waiters[name] = nil
                    // Under the lock, so that no loop gets an answer after `stop`.
                    for waiter in waiters { waiter.promise.fail(Problem.late) }
                }
                guard !state.isStopped, state.idle < Self.idleLimit else {
                    state.threads -= 1
                    return .end
                }
                state.idle += 1
                return .idle
            }
            switch turn {
            case .name(let name): return name
            case .idle: self.wake.wait()
            case .end: return nil
            }
        }
    }

    private static func complete(_ waiter: Waiter, _ result: Result<[SocketAddress], any Error>, _ now: NIODeadline) {
        switch result {
        case .success(var addresses):
            for index in addresses.indices { addresses[index].port = waiter.port }
            waiter.promise.succeed(
                NameLookup.Answer(addresses: addresses, milliseconds: Double((now - waiter.asked).nanoseconds) / 1e6))
        case .failure(let error):
            waiter.promise.fail(error as? Problem ?? .notFound("\(error)"))
        }
    }

    // MARK: The system's resolver

    /// In the order of RFC 6724, all with port 0. Blocks as long as the system's resolver does: 10 s or more if no server answers
    /// (resolv.conf(5): timeout, attempts).
    static func systemAddresses(of host: String) throws(Problem) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = streamSocket
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else {
            // A minimal system has no /etc/hosts, but these names are loopback in any case (RFC 6761, 6.3).
            let loopback = self.loopbackAddresses(of: host)
            guard loopback.isEmpty else { return loopback }
            throw .notFound(String(cString: gai_strerror(status)))
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let address = self.address(entry.pointee, host: host) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }

    /// The addresses of `localhost` and its subdomains; empty for any other name.
    static func loopbackAddresses(of host: String) -> [SocketAddress] {
        let name = host.lowercased().hasSuffix(".") ? host.lowercased().dropLast() : host.lowercased()[...]
        guard name == "localhost" || name.hasSuffix(".localhost") else { return [] }
        return ["127.0.0.1", "::1"].compactMap { try? SocketAddress(ipAddress: $0, port: 0) }
    }

    private static func address(_ entry: addrinfo, host: String) -> SocketAddress? {
        guard let raw = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET:
            return raw.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee, host: host) }
        case AF_INET6:
            return raw.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee, host: host) }
        default:
            return nil
        }
    }
}

/// A running lookup of a host's name.
struct NameLookup {
    struct Answer: Sendable {
        var addresses: [SocketAddress]
        /// How long the lookup took.
        var milliseconds: Double
    }

    let answer: EventLoopFuture<Answer>
}
