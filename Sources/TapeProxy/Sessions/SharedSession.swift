internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeBytes
internal import TapeExchange
internal import TapeRecorder

/// State shared by all event loops of one session: the cassette and its session, the recorder and the counts.
///
/// The state of each loop is its `ProxyContext`.
final class SharedSession: Sendable {
    let configuration: ProxyConfiguration
    private let current: Guarded<CassetteSession>
    /// nil if nothing is recorded.
    let recorder: (any ExchangeSink)?
    /// nil if nothing is replayed.
    let cassette: RecordedCassette?
    /// The HTTP version that clients of each origin used when they were recorded, taken from its first exchange.
    let recordedVersions: [Origin: HTTPVersion]
    /// Responses in memory. A response that one loop has read from the disk is not read again by the others.
    let cache: ReplayCache
    let diagnosis: Diagnosis
    /// Nil if no rules change the traffic.
    let rules: SessionRules?
    let substitutes = RouteSubstitutes()
    /// The servers that answered under each origin in the cassette. Made when it is first asked for.
    private let servers = Guarded<[String: Set<IPAddress>]?>(nil)
    let misdirections = Misdirections()
    let guests = SessionGuests()
    /// Names the session if the server has several.
    let log: ProxyLog
    private let lastUpstream = Guarded(0)
    /// Held while rules are added, so that none get lost.
    private let changing = Guarded(())
    /// One for each loop, so that counting never waits for another loop. Summed up when read.
    private let counts: Guarded<[Guarded<ProxyCounts>]>
    /// Those of what belongs to no loop.
    private let failures: Guarded<ProxyCounts>
    /// nil before the contexts are created and after the session has ended.
    private let contexts = Guarded<PerLoop<ProxyContext>?>(nil)

    /// - Parameter notice: receives messages for people. Called on any of the event loops.
    init(
        configuration: ProxyConfiguration, session: CassetteSession, recorder: (any ExchangeSink)? = nil, cassette: RecordedCassette? = nil,
        cacheLimits: ReplayCache.Limits = .one, log: ProxyLog = ProxyLog(), notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.current = Guarded(session)
        self.recorder = recorder
        self.cassette = cassette
        self.rules = configuration.rules.map { SessionRules($0, judgesClient: configuration.judgesClient, desk: configuration.pauseDesk) }
        self.recordedVersions = cassette.map { Self.versions(of: $0) } ?? [:]
        self.cache = ReplayCache(cacheLimits)
        self.log = log
        let failures = Guarded(ProxyCounts())
        self.failures = failures
        self.diagnosis = Diagnosis(counts: failures, log: log, notice: notice)
        self.counts = Guarded([failures])
        if let limit = configuration.settings.value(Settings.maxExchanges) { session.limitRecording(to: limit) }
    }

    private static func versions(of cassette: RecordedCassette) -> [Origin: HTTPVersion] {
        var versions: [Origin: HTTPVersion] = [:]
        for index in cassette.firstOfEachOrigin() {
            guard let request = try? cassette.interaction(at: index).request,
                case .absolute(let origin, _)? = try? RequestTarget(request.url, method: "GET")
            else { continue }
            versions[origin] = request.version
        }
        return versions
    }

    /// The addresses of the servers that answered requests to an origin in the cassette. Reads the whole cassette once.
    func servers(of origin: Origin) -> Set<IPAddress> {
        self.servers.withLock { known in
            if let known { return known[origin.authority] ?? [] }
            var servers: [String: Set<IPAddress>] = [:]
            for index in 0..<(self.cassette?.count ?? 0) {
                guard let interaction = try? self.cassette?.interaction(at: index), let address = Self.server(of: interaction),
                    case .absolute(let origin, _)? = try? RequestTarget(interaction.request.url, method: "GET")
                else { continue }
                servers[origin.authority, default: []].insert(address)
            }
            known = servers
            return servers[origin.authority] ?? []
        }
    }

    /// The server that answered an exchange of the cassette; nil if that was not recorded.
    func server(ofExchange index: Int) -> IPAddress? { (try? self.cassette?.interaction(at: index)).flatMap { Self.server(of: $0) } }

    private static func server(of interaction: Interaction) -> IPAddress? {
        interaction.connection.flatMap { ListenAddress(argument: $0.remote) }.flatMap { IPAddress($0.host) }
    }

    // MARK: Match rules

    /// Decides on requests that arrive now. One that has begun is decided by the session that it began in.
    var session: CassetteSession { self.current.withLock { $0 } }

    /// Adds match rules, which apply to requests that arrive from now on. Reads from disk.
    func match(by texts: MatchRuleTexts) throws {
        guard let cassette else { throw CassetteError(.notFound, "nothing is replayed, so no rules apply") }
        try self.changing.withLock { _ in
            let next = try self.session.adding(texts, in: cassette)
            self.current.withLock { $0 = next }
        }
    }

    // MARK: Its event loops

    /// Makes the session's context on each loop. Blocks, so it must not be called on an event loop.
    func makeContexts(
        through loopGates: [LoopGate], _ make: @escaping @Sendable (any EventLoop) throws -> ProxyContext
    ) throws -> PerLoop<ProxyContext> {
        let contexts = try PerLoop(through: loopGates) { _, loop in try make(loop) }
        self.contexts.withLock { $0 = contexts }
        self.recorder?.onDrain { contexts.execute { $0.recorderDrained() } }
        return contexts
    }

    /// Closes idle connections now and busy ones after their exchange, but no later than the end of the grace period. Succeeds when all
    /// loops have finished.
    func stop(_ contexts: PerLoop<ProxyContext>) -> EventLoopFuture<Void> {
        contexts.whenAll { $0.stop(then: $1) }.map {
            // Breaks the reference cycle through the recorder.
            self.recorder?.onDrain {}
            for request in self.misdirections.end() { self.misdirected(request) }
            self.diagnosis.end(hasRequests: self.totalCounts.requests > 0)
            self.contexts.withLock { $0 = nil }
        }
    }

    /// A request was answered with 421, and is for no server that it could be forwarded to.
    func misdirected(_ request: Misdirections.Request) {
        if self.session.misdirected(method: request.method, authority: request.authority, tunnel: request.tunnel) {
            self.failures.withLock { $0.misses += 1 }
        } else {
            self.diagnosis.remark("a request was answered with 421 and not forwarded: \(request.text)")
        }
    }

    /// One loop has found the queue full, so the others stop reading as well.
    func recorderFilled() {
        self.contexts.withLock { $0 }?.execute { $0.recorderFilled() }
    }

    /// The next number of a connection to an origin, unique in the session's cassette.
    func nextUpstream() -> Int {
        self.lastUpstream.withLock {
            $0 += 1
            return $0
        }
    }

    // MARK: Counts

    /// The counts of one loop.
    func makeCounts() -> Guarded<ProxyCounts> {
        let box = Guarded(ProxyCounts())
        self.counts.withLock { $0.append(box) }
        return box
    }

    /// The sum over all loops.
    var totalCounts: ProxyCounts {
        let boxes = self.counts.withLock { $0 }
        return boxes.reduce(into: ProxyCounts()) { total, box in total.add(box.withLock { $0 }) }
    }
}

/// What a proxy has done so far. Read from any thread.
public struct ProxyCounts: Sendable, Hashable {
    public var exchanges = 0
    public var replayed = 0
    public var misses = 0
    /// Requests whose recorded answer is damaged or cannot be read, and why the first of them could not.
    public var unreadable = 0
    public var firstUnreadable: String?
    /// CONNECT tunnels that were passed through, so their contents are not recorded.
    public var tunnels = 0
    /// Bytes sent to clients.
    public var bytes = 0
    /// Requests refused because they are not HTTP.
    public var malformed = 0
    /// Requests that the proxy answered itself: with a refusal, a miss, or a page of its own.
    public var answered = 0
    /// TLS handshakes that failed, with clients or with origins.
    public var tlsFailures = 0

    public init() {}

    /// Requests of any kind that arrived.
    var requests: Int { self.exchanges + self.replayed + self.misses + self.unreadable + self.malformed + self.answered }

    /// Adds the counts of another event loop.
    mutating func add(_ other: ProxyCounts) {
        self.exchanges += other.exchanges
        self.replayed += other.replayed
        self.misses += other.misses
        self.unreadable += other.unreadable
        if self.firstUnreadable == nil { self.firstUnreadable = other.firstUnreadable }
        self.tunnels += other.tunnels
        self.bytes += other.bytes
        self.malformed += other.malformed
        self.answered += other.answered
        self.tlsFailures += other.tlsFailures
    }
}
