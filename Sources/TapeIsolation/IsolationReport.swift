/// A program that used the network inside an isolation.
package struct IsolatedProgram: Sendable, Hashable {
    /// Its file; nil if unknown.
    package var path: String?
    /// Its process id; nil if it had ended.
    package var id: Int32?
    /// Its user's number; nil if unknown.
    package var user: UInt32?

    package init(path: String? = nil, id: Int32? = nil, user: UInt32? = nil) {
        self.path = path
        self.id = id
        self.user = user
    }

    /// The file's name; nil if unknown.
    package var name: String? { self.path?.split(separator: "/").last.map(String.init) }
}

/// What an isolated command did on the network besides what it asked the proxy for.
package struct IsolationReport: Sendable, Hashable {
    package enum Transport: Sendable, Hashable {
        case tcp, udp, icmp
        /// Any other protocol, by its number in IP.
        case other(UInt8)
        /// A socket that is none of IP, by the number of its family.
        case family(Int32)

        package var name: String {
            switch self {
            case .tcp: "tcp"
            case .udp: "udp"
            case .icmp: "icmp"
            case .other(let number): "protocol \(number)"
            case .family(16): "netlink"
            case .family(17): "packet"
            case .family(40): "vsock"
            case .family(let number): "family \(number)"
            }
        }
    }

    /// Why something was refused.
    package enum Reason: String, Sendable, Hashable {
        /// Datagrams: QUIC, NTP, other DNS servers.
        case datagram
        /// A port of a protocol in which the server speaks first, such as SMTP.
        case port
        /// The first bytes were neither TLS nor HTTP.
        case notHTTP = "not-http"
        /// The client waited for the server to speak.
        case silent
        case ping
        case multicast
        /// A protocol besides TCP, UDP and ICMP.
        case transport
        /// No connection may be made at all.
        case offline
        /// A socket of this machine's network that the program would have inherited.
        case inherited
        /// The client reset the connection, so that what it had sent is lost.
        case reset
        /// The isolation itself could not handle it.
        case failed
    }

    /// Something that was refused, as often as the same program tried it.
    package struct Refusal: Sendable, Hashable {
        package var transport: Transport
        /// A name that the resolver gave an address, or the address itself. Empty for a socket without an address.
        package var host: String
        /// Nil if the protocol has none.
        package var port: UInt16?
        package var reason: Reason
        /// Nil if it had ended before it could be found.
        package var program: IsolatedProgram?
        /// The number of a socket that the program would have inherited.
        package var descriptor: Int32?
        package var count = 1
    }

    /// Connections to a server.
    package struct Target: Sendable, Hashable {
        package var host: String
        package var port: UInt16
        package var count = 1
    }

    /// A query for another record than an address, which was answered empty.
    package struct Question: Sendable, Hashable {
        package var name: String
        package var kind: String
        package var count = 1
    }

    /// Requests that came by the proxy's port.
    package var proxied = 0
    /// Requests in connections that were made to an address.
    package var seen = 0
    /// Connections that were made to an address.
    package var connections = 0
    /// The names of the programs that made them, each once.
    package var programs: [String] = []
    package var refused: [Refusal] = []
    /// The servers of connections whose HTTP or TLS was let through to the proxy.
    package var reached: [Target] = []
    /// The servers of connections that `--allow` passed through unread.
    package var passed: [Target] = []
    package var questions: [Question] = []
    /// Distinct events that were counted but not listed, because there were too many.
    package var unlisted = 0

    package init() {}

    /// How many attempts were refused.
    package var refusals: Int { self.refused.reduce(0) { $0 + $1.count } + self.unlisted }
}
