public import CassetteModel
public import CassettePlayback
internal import LocalHTTP
public import Logging

/// How a proxy listens, what it allows, and how long it waits.
public struct ProxyConfiguration: Sendable {
    /// What happens to traffic while the disk is full.
    public enum DiskFullPolicy: String, Sendable, CaseIterable {
        /// It goes on without being recorded.
        case pass
        /// New requests are answered with 507 until there is room.
        case refuse
    }

    /// When a recorded exchange is synced to disk.
    public enum Durability: String, Sendable, CaseIterable {
        /// At least every second.
        case normal
        /// Before the last byte of the answer is passed on.
        case full
    }

    public var host: String
    /// 0 picks a free port.
    public var port: Int
    /// Permits an address other than loopback; then `credentials` is required.
    public var allowsRemote: Bool
    /// `USER:PASSWORD` that clients must give (RFC 9110, 11.7).
    public var credentials: String?
    public var durability: Durability
    public var diskFullPolicy: DiskFullPolicy
    /// Whether an answer ends when it is on the disk. Otherwise a full disk would be noticed only after an answer has passed unrecorded.
    var waitsForDisk: Bool { self.durability == .full || self.diskFullPolicy == .refuse }
    public var limits: ProxyLimits
    /// Nil passes tunnels through unread.
    public var tls: TLSSettings?
    /// Takes connections that the kernel leads here although they were made to somebody else (Linux).
    public var isTransparent = false
    /// The proxies that origins are reached through.
    public var chain = UpstreamChain()
    /// The cassette's file name, to show to people.
    public var cassetteName: String
    /// How long replayed answers take to come.
    public var latency: Latency
    /// What a client gets when an origin breaks its connection, or answers what is no HTTP. Nil is a page for live traffic, and what was recorded
    /// for a replay.
    public var originErrors: Failure.Answer?
    /// Moves dates of replayed answers to the day of the replay; nil leaves them as recorded.
    public var refresh: DateRefresh?
    /// The event loops that connections are spread over.
    public var loops: EventLoopProvider
    /// Takes what happens, for a person who debugs a run: nothing unless given. Its level is read at the start.
    public var logger: Logger

    /// Is told of exchanges that are recorded while they are open; called on event loops, and returns at once.
    package var watch: (@Sendable (WatchedExchange) -> Void)?
    /// Where else this process listens; no event loop dials it.
    package var closedPorts: [ClosedPort] = []

    package struct ClosedPort: Sendable, Hashable {
        /// An address, without brackets, or a name of the loopback address.
        package var host: String
        package var port: Int

        package init(host: String = "127.0.0.1", port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// Takes nothing.
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

/// How many connections a proxy takes and how long it waits, in seconds unless said otherwise.
///
/// Sizes of message parts are limits of the parser: see `TapeExchange.Limits`.
public struct ProxyLimits: Sendable {
    /// Client connections at once: what 10,000 slow clients and their upstream connections need, lowered at start to what the
    /// process may open.
    public var connections = 16_384
    /// From a connection's first byte of a request to the end of its head: Apache's RequestReadTimeout allows 20 to 40.
    public var requestHead = 30
    /// A keep-alive connection without a request: nginx's keepalive_timeout, 75.
    public var clientIdle = 75
    /// A client that stops sending in a body, or reading its answer: nginx's client_body_timeout and send_timeout, 60.
    public var clientStall = 60
    /// Name resolution and TCP connect together: half of nginx's proxy_connect_timeout, 60, since a developer waits for it.
    public var connect = 30
    /// A TLS handshake, on either side: Go's http.Transport gives it 10, nginx's client_header_timeout, which counts it in, 60.
    public var tlsHandshake = 20
    /// A client that opened a tunnel and says nothing for so long may wait for the origin to speak first.
    public var tunnelSilence = 2
    /// An origin that sends nothing, in wait or in a body: five times nginx's proxy_read_timeout, 60, since long polls and
    /// breakpoints in an origin are a recorder's daily business.
    public var upstreamSilence = 300
    /// An unused upstream connection: below the shortest common server default (Node, 5), so that few are stale.
    public var upstreamIdle = 4
    /// Unused upstream connections kept for one origin and in all: nginx's `keepalive` is set per upstream, 256 in its examples.
    public var idlePerOrigin = 256
    public var idleInAll = 1_024
    /// A tunnel without traffic, and an exchange whose messages come when something happens: haproxy's customary `timeout tunnel`, one hour.
    public var tunnelIdle = 3_600
    /// What a client may send after its answer before it is cut off: nginx's lingering_time, 30, lowered to lingering_timeout, 5.
    public var linger = 5
    /// What is in flight at a stop gets this long to end.
    public var grace = 5
    /// Bytes of pipelined requests held back while an answer is on its way.
    public var pipelined = 64 * 1024

    /// Bytes read from an origin at once, at most, while a large body comes: fewer and larger reads wake fewer threads.
    public var readSize = 256 * 1024

    public init() {}
}

/// Checks `Proxy-Authorization: Basic` (RFC 7617) against the one pair of credentials a proxy may want.
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
