/// What a proxy has done so far; read from any thread.
public struct ProxyCounts: Sendable, Hashable {
    public var exchanges = 0
    public var replayed = 0
    public var misses = 0
    /// Requests whose recorded answer is damaged or cannot be read, and why the first could not.
    public var unreadable = 0
    public var firstUnreadable: String?
    /// CONNECT tunnels that were passed through, so that their contents are not recorded.
    public var tunnels = 0
    /// Octets passed to clients.
    public var bytes = 0
    /// Requests refused because they are not HTTP.
    public var malformed = 0
    /// TLS handshakes that failed, with clients and with origins.
    public var tlsFailures = 0

    public init() {}

    /// Adds what another event loop has counted.
    mutating func add(_ other: ProxyCounts) {
        self.exchanges += other.exchanges
        self.replayed += other.replayed
        self.misses += other.misses
        self.unreadable += other.unreadable
        if self.firstUnreadable == nil { self.firstUnreadable = other.firstUnreadable }
        self.tunnels += other.tunnels
        self.bytes += other.bytes
        self.malformed += other.malformed
        self.tlsFailures += other.tlsFailures
    }
}
