public import Logging

/// How a server of sessions listens, and what its sessions may do.
public struct SessionServerConfiguration: Sendable {
    /// The shared port of all sessions; its host has to be a loopback address.
    public var host: String
    public var port: Int
    public var folder: CassetteFolder
    public var durability: ProxyConfiguration.Durability
    public var diskFullPolicy: ProxyConfiguration.DiskFullPolicy
    public var limits: ProxyLimits
    /// Nil passes tunnels through unread.
    public var tls: TLSSettings?
    /// What holds for all sessions with a cassette, by its path; those of an order are laid over it.
    public var settings: @Sendable (_ path: String) -> RunSettings
    /// The value of an environment variable that a session names as a secret.
    public var secret: @Sendable (_ name: String) -> [UInt8]?
    /// Of the program, for the heads of cassettes.
    public var version: String
    /// The event loops that connections are spread over.
    public var loops: EventLoopProvider
    /// Takes what happens, for a person who debugs a run: nothing unless given. Its level is read at the start.
    public var logger: Logger

    public init(
        host: String = "127.0.0.1", port: Int = 0, folder: CassetteFolder, durability: ProxyConfiguration.Durability = .normal,
        diskFullPolicy: ProxyConfiguration.DiskFullPolicy = .pass, limits: ProxyLimits = ProxyLimits(), tls: TLSSettings? = nil,
        settings: @escaping @Sendable (_ path: String) -> RunSettings = { _ in RunSettings() },
        secret: @escaping @Sendable (_ name: String) -> [UInt8]? = { _ in nil }, version: String,
        loops: EventLoopProvider = .standard, logger: Logger = ProxyConfiguration.silent
    ) {
        self.host = host
        self.port = port
        self.folder = folder
        self.durability = durability
        self.diskFullPolicy = diskFullPolicy
        self.limits = limits
        self.tls = tls
        self.settings = settings
        self.secret = secret
        self.version = version
        self.loops = loops
        self.logger = logger
    }
}
