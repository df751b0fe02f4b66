internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeBytes
internal import TapeExchange

/// The client of a connection: its session and the tunnel that its requests come through.
///
/// Shared by all requests of the connection. Not Sendable: lives on its event loop.
final class ClientPeer {
    /// Unique number, counted up from 1 across all event loops of a server.
    let id: Int
    private(set) var session: ProxyContext
    /// The tunnel that the requests come through; nil outside a tunnel.
    var scope: TunnelScope?
    /// The address that the client connected to.
    var localAddress: IPAddress?
    /// The address that the client connected from.
    var remoteAddress: SocketAddress?
    /// The same with its port.
    var proxyAddress: SocketAddress?
    /// It has reset the connection, and bytes that it had sent may be lost.
    var hasBroken = false
    /// The isolated program whose connection another process leads here; nil for any other client.
    var guest: Guest?
    /// Who has logged in, by origin; only for origins with logins in the cassette.
    private var logins: [Origin: ConnectionLogin] = [:]
    private var sessionGate: SessionGate

    /// An isolated program of a session.
    struct Guest {
        /// The address to which it connected; nil if that is the host.
        var address: IPAddress?
    }

    /// Set while the connection is open, because it closes with its session.
    private weak var connection: (any TimedConnection)?

    /// - Parameters:
    ///   - session: the session in which the connection begins.
    ///   - sessionGate: decides which session a request is for.
    init(id: Int, session: ProxyContext, sessionGate: SessionGate) {
        self.id = id
        self.session = session
        self.sessionGate = sessionGate
    }

    /// The client of one stream of a multiplexed connection. If requests name their session, each stream belongs to the session it names,
    /// independently of the other streams. The connection itself stays in its session.
    func ofStream() -> ClientPeer {
        guard self.scope == nil, self.sessionGate.isNamed else { return self }
        let peer = ClientPeer(id: self.id, session: self.session, sessionGate: self.sessionGate)
        peer.localAddress = self.localAddress
        return peer
    }

    /// The connection is open. From now on it closes with its session.
    func opened(_ connection: any TimedConnection) {
        self.connection = connection
        self.session.add(connection)
    }

    func closed(_ connection: any TimedConnection) {
        if self.connection === connection { self.connection = nil }
        self.session.pool.clientClosed(self.id)
        self.session.rules?.clientClosed(self.id, at: self.session.now)
        self.session.remove(connection)
    }

    /// The login of a request, which may change that of the connection.
    func login(_ request: HeaderFields, to origin: Origin) -> ConnectionLogin {
        guard self.session.session.comparesLogins else { return .unknown }
        if self.logins.count >= Self.loginLimit, self.logins[origin] == nil { return .unknown }
        self.logins[origin, default: ConnectionLogin()].note(request)
        return self.logins[origin] ?? .unknown
    }

    /// How many origins a connection may log in to. A client that asks more of them is unknown to the others.
    private static let loginLimit = 256

    /// Switches to the session that a request is for. Not called inside a tunnel, whose requests belong to the session of its CONNECT.
    ///
    /// - Returns: the refusal, if credentials are missing or wrong; otherwise nil.
    func enterSession(_ request: IncomingRequest) -> ProxyAnswer? {
        guard let session = self.sessionGate.session(for: request.proxyAuthorization, at: self.session) else {
            return request.reverse == nil
                ? self.sessionGate.refusal(of: request.proxyAuthorization) : ReverseGate.unauthorized(at: self.session.address)
        }
        guard session !== self.session else { return nil }
        if let connection {
            self.session.pool.clientClosed(self.id)
            self.session.remove(connection)
            session.add(connection)
        }
        self.session = session
        self.logins = [:]
        session.log.sessionEntered(connection: self.id)
        return nil
    }

    // MARK: Connections that the kernel led here

    /// The client is this proxy itself, because the kernel redirected its own connection back to it. Known only shortly after connecting.
    var isLedBack: Bool { self.remoteAddress.flatMap { self.session.shared.transparent?.isOwn($0) } ?? false }

    func remarkLoop(to authority: String) {
        self.session.diagnosis.remark(
            "a connection from this proxy to \(authority) was redirected back to it and was closed: \"wiretape env --transparent\" prints rules that exempt its own connections."
        )
    }

    /// Whether it is an isolated program, of this process or of another.
    var isIsolated: Bool { self.guest != nil || self.session.configuration.isolation != nil }

    /// A request cannot be read, so that the proxy answers it. In a replay this is a miss. In a recording it is a remark if the client is an
    /// isolated program.
    ///
    /// - Parameters:
    ///   - target: of its request line, which names the server outside a tunnel; nil if there is none.
    ///   - isForwarded: its exchange is forwarded, and recorded as failed.
    func noteMalformed(_ error: MessageError, target: String?, isForwarded: Bool) {
        guard self.isIsolated || !self.session.session.mayForward, !isForwarded else { return }
        let server = self.scope?.origin.authority ?? target.flatMap { Self.server(ofTarget: $0) } ?? self.session.address
        guard !self.session.session.malformed(server: server, problem: error.message) else { return }
        self.session.diagnosis.remark(
            "a malformed request to \"\(server)\" was answered with an error and not forwarded: \(error.message).")
    }

    /// The proxy answers with an error of its own what a server or the cassette would have answered. In a replay this is a miss, in a
    /// recording a remark.
    func noteOwnAnswer(to request: String, problem: String, next: String) {
        if self.session.session.answeredItself(request, problem: problem, next: next) {
            self.session.count { $0.misses += 1 }
        } else {
            self.session.diagnosis.remark("\(request) was answered with an error and not forwarded: \(problem): \(next).")
        }
    }

    /// The authority in a URL or in the target of CONNECT, without user and password; nil if there is none.
    private static func server(ofTarget target: String) -> String? {
        let rest = target.firstRange(of: "://").map { target[$0.upperBound...] } ?? target[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let server = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return server.isEmpty || server == "*" ? nil : String(server)
    }

    // MARK: Sessions

    var needsCredentials: Bool { self.sessionGate.isGuarded }

    /// Whether a request with this `Proxy-Authorization` value would be accepted. Enters no session.
    func admits(_ authorization: String) -> Bool {
        // A copy, because the gate takes a value that it has accepted before for that of the current session.
        var sessionGate = self.sessionGate
        return sessionGate.session(for: authorization, at: self.session) != nil
    }

    /// Decides who may request URLs in the path.
    var reverseGate: ReverseGate { ReverseGate(address: self.localAddress, isAuthorized: self.sessionGate.isGuarded) }
}
