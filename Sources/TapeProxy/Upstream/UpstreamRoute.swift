internal import TapeExchange

/// Where an upstream connection leads and what it was made with: connections of equal routes can stand in for each other.
struct UpstreamRoute: Hashable {
    let origin: Origin
    /// What the server_name extension says; nil leaves it out.
    let serverName: String?
    /// The application protocols to offer, the best first; empty leaves the extension out.
    let protocols: [String]

    init(_ origin: Origin, serverName: String? = nil, protocols: [String] = []) {
        self.origin = origin
        self.serverName = serverName
        self.protocols = protocols
    }

    /// The host that the origin's certificate has to be for: the one that the client asked the origin for.
    var verifiedHost: String { self.serverName ?? self.origin.host }
}
