public import CassettePlayback
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
        /// Before the last octet of the answer is passed on.
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
    public var limits: ProxyLimits
    /// Nil passes tunnels through unread.
    public var tls: TLSSettings?
    /// The cassette's file name, to show to people.
    public var cassetteName: String
    /// How long replayed answers take to come.
    public var latency: Latency
    /// Moves dates of replayed answers to the day of the replay; nil leaves them as recorded.
    public var refresh: DateRefresh?
    /// The event loops that connections are spread over.
    public var loops: EventLoopProvider
    /// Takes what happens, for a person who debugs a run: nothing unless given. Its level is read at the start.
    public var logger: Logger

    /// Takes nothing.
    public static let silent = Logger(label: "wiretape") { _ in SwiftLogNoOpLogHandler() }

    public init(
        host: String = "127.0.0.1", port: Int = 0, allowsRemote: Bool = false, credentials: String? = nil,
        durability: Durability = .normal, diskFullPolicy: DiskFullPolicy = .pass, limits: ProxyLimits = ProxyLimits(),
        tls: TLSSettings? = nil, cassetteName: String = "", latency: Latency = .none, refresh: DateRefresh? = nil,
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
        self.refresh = refresh
        self.loops = loops
        self.logger = logger
    }
}
