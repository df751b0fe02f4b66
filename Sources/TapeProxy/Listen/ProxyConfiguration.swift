public import CassetteModel
public import CassettePlayback
internal import LocalHTTP
public import Logging
package import TapeIsolation
package import TrafficRules

/// How a proxy listens, what it allows and how long it waits.
public struct ProxyConfiguration: Sendable {
    /// What happens to traffic while the disk is full.
    public enum DiskFullPolicy: String, Sendable, CaseIterable {
        /// Traffic continues without being recorded.
        case pass
        /// New requests are answered with 507 until there is space.
        case refuse
    }

    /// When a recorded exchange is synced to disk.
    public enum Durability: String, Sendable, CaseIterable {
        /// At least every second.
        case normal
        /// Before the last byte of the answer is forwarded.
        case full
    }

    public var host: String
    /// 0 picks a free port.
    public var port: Int
    /// Permits an address other than loopback, which then requires `credentials`.
    public var allowsRemote: Bool
    /// `USER:PASSWORD` that clients must give (RFC 9110, 11.7).
    public var credentials: String?
    public var durability: Durability
    public var diskFullPolicy: DiskFullPolicy
    /// Whether an answer is completed only once it is on disk. Otherwise a full disk would be noticed only after an unrecorded answer.
    var waitsForDisk: Bool { self.durability == .full || self.diskFullPolicy == .refuse }
    public var limits: ProxyLimits
    /// nil passes tunnels through unread.
    public var tls: TLSSettings?
    /// Accepts connections to other servers that the kernel redirects here (Linux).
    public var isTransparent = false
    /// The proxies through which origins are reached.
    public var chain = UpstreamChain()
    /// The cassette's file name, for messages to people.
    public var cassetteName: String
    /// The settings of the run, for what reads them itself.
    public var settings = RunSettings()
    /// How long replayed answers take.
    public var latency: Latency
    /// What a client gets when an origin breaks its connection, or sends an answer that is not HTTP. nil sends an error page for live
    /// traffic, and replays what was recorded.
    public var originErrors: Failure.Answer?
    /// Moves the dates of replayed answers to the day of the replay; nil leaves them as recorded.
    public var refresh: DateRefresh?
    /// The event loops that serve the connections.
    public var loops: EventLoopProvider
    /// Receives events for debugging a run; silent by default. Its level is read at the start.
    public var logger: Logger

    /// Receives the exchanges that are being recorded while they are open. Called on event loops; must return at once.
    package var watch: (@Sendable (WatchedExchange) -> Void)?
    /// Changes the traffic; nil if no rules do.
    package var rules: RuleEngine?
    /// The client is a browser, which opens connections that it may not need, and leaves them in any state.
    package var clientIsBrowser = false
    /// Watches what clients do with answers that failed. Needs `rules`, which may be empty.
    package var judgesClient = false
    /// Where messages wait that rules pause; nil if nobody can look at them.
    package var pauseDesk: PauseDesk?
    /// Other ports on which this process listens. No event loop dials them.
    package var closedPorts: [ClosedPort] = []
    /// The isolation of the program whose traffic this is; nil if it is not isolated. `ProxyServer.serve` takes its connections.
    package var isolation: Isolation?

    package struct ClosedPort: Sendable, Hashable {
        /// An address without brackets, or a name of the loopback address.
        package var host: String
        package var port: Int

        package init(host: String = "127.0.0.1", port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// Discards everything.
    public static let silent = Logger(label: "wiretape") { _ in SwiftLogNoOpLogHandler() }

    public init(
        host: String = "127.0.0.1", port: Int = 0, allowsRemote: Bool = false, credentials: String? = nil,
        durability: Durability = .normal, diskFullPolicy: DiskFullPolicy = .pass, limits: ProxyLimits = ProxyLimits(),
        tls: TLSSettings? = nil, cassetteName: String = "", latency: Latency = .none, originErrors: Failure.Answer? = nil,
        refresh: DateRefresh? = nil,
        loops: EventLoopProvider = .standard, logger: Logger = ProxyConfiguration.silent
    ) {
        self.host = host
        self.port = port
        self.allowsRemote = allowsRemote
        self.credentials = credentials
        self.durability = durability
        self.diskFullPolicy = diskFullPolicy
        self.limits = limits
        self.tls = tls
        self.cassetteName = cassetteName
        self.latency = latency
        self.originErrors = originErrors
        self.refresh = refresh
        self.loops = loops
        self.logger = logger
    }
}

/// How many connections a proxy accepts and how long it waits, in seconds unless noted otherwise.
///
/// Sizes of message parts are limits of the parser: see `TapeExchange.Limits`.
public struct ProxyLimits: Sendable {
    /// Client connections at once: enough for 10,000 slow clients and their upstream connections. Lowered at start to what the process may
    /// open.
    public var connections = 16_384
    /// From the first byte of a request to the end of its head. Apache's RequestReadTimeout allows 20 to 40.
    public var requestHead = 30
    /// A keep-alive connection without a request: nginx's keepalive_timeout, 75.
    public var clientIdle = 75
    /// A client that stops sending its body, or reading its answer: nginx's client_body_timeout and send_timeout, 60.
    public var clientStall = 60
    /// Name resolution and TCP connect together: half of nginx's proxy_connect_timeout, 60, because a developer waits for it.
    public var connect = 30
    /// A TLS handshake, on either side. Go's http.Transport allows 10; nginx's client_header_timeout, which includes it, allows 60.
    public var tlsHandshake = 20
    /// A client that is silent for this long after opening a tunnel may be waiting for the origin to speak first.
    public var tunnelSilence = 2
    /// An origin that sends nothing, before or within a body: five times nginx's proxy_read_timeout, 60, because long polls and breakpoints
    /// in an origin are common when recording.
    public var upstreamSilence = 300
    /// An unused upstream connection. Below the shortest common server timeout (Node, 5), so that few are stale.
    public var upstreamIdle = 4
    /// Unused upstream connections kept for one origin and in total. nginx's `keepalive` is set per upstream, to 256 in its examples.
    public var idlePerOrigin = 256
    public var idleInAll = 1_024
    /// A tunnel without traffic, and an exchange whose messages are sent when something happens: haproxy's usual `timeout tunnel`, one
    /// hour.
    public var tunnelIdle = 3_600
    /// How long a client may keep sending after its answer before it is cut off: nginx's lingering_time, 30, lowered to lingering_timeout,
    /// 5.
    public var linger = 5
    /// How long exchanges in flight have to end when the proxy stops.
    public var grace = 5
    /// Bytes of pipelined requests that are held while an answer is on its way.
    public var pipelined = 64 * 1024

    /// The most bytes read from an origin at once during a large body. Fewer and larger reads wake fewer threads.
    public var readSize = 256 * 1024

    public init() {}
}

/// Checks `Proxy-Authorization: Basic` (RFC 7617) against the one pair of credentials that a proxy may require.
struct ProxyCredentials: Sendable {
    private let expected: Secret

    /// - Parameter pair: `USER:PASSWORD`; the user may not be empty.
    init(pair: String) throws(ProxyError) {
        guard let colon = pair.firstIndex(of: ":"), colon != pair.startIndex, pair.index(after: colon) != pair.endIndex else {
            throw ProxyError(
                .invalidCredentials, "the proxy's credentials are not USER:PASSWORD: pass both, with a colon between them.")
        }
        self.expected = Secret(pair)
    }

    func accept(_ fieldValue: String?) -> Bool {
        guard let given = BasicCredentials(fieldValue) else { return false }
        return self.expected.isEqual(to: given.pair)
    }
}
