internal import TapeBytes
internal import TapeExchange

/// The client at the other end of a connection: which session it is with, and which tunnel its requests come through.
///
/// Shared by all requests of the connection. Not Sendable: lives on its event loop.
final class ClientPeer {
    /// Counts up from 1 over all event loops of a server.
    let id: Int
    /// The session that the client is with.
    private(set) var session: ProxyContext
    /// The tunnel that the requests come through; nil if the client sends them to a proxy.
    var scope: TunnelScope?
    /// The address that the client connected to.
    var localAddress: IPAddress?
    private var entrance: SessionGate
    /// Ends with its session. Set while the connection is open.
    private weak var connection: (any TimedConnection)?

    /// - Parameters:
    ///   - session: the one to begin with.
    ///   - sessionGate: says which session a request is for.
    init(id: Int, session: ProxyContext, entrance: SessionGate) {
        self.id = id
        self.session = session
        self.entrance = entrance
    }

    /// The connection is open: it ends with its session.
    func opened(_ connection: any TimedConnection) {
        self.connection = connection
        self.session.add(connection)
    }

    func closed(_ connection: any TimedConnection) {
        self.connection = nil
        self.session.remove(connection)
    }

    /// Goes to the session that a request outside of a tunnel is for; inside of one all are for the session of its CONNECT.
    ///
    /// - Returns: the refusal of a request whose credentials do not let it in.
    func enterSession(_ request: IncomingRequest) -> ProxyAnswer? {
        guard let session = self.entrance.session(for: request.proxyAuthorization, at: self.session) else {
            return request.reverse == nil
                ? self.entrance.refusal(of: request.proxyAuthorization) : ReverseGate.unauthorized(at: self.session.address)
        }
        guard session !== self.session else { return nil }
        if let connection {
            self.session.remove(connection)
            session.add(connection)
        }
        self.session = session
        session.log.sessionEntered(connection: self.id)
        return nil
    }

    /// Says who may ask for URLs in the path.
    var reverseGate: ReverseGate { ReverseGate(address: self.localAddress, isAuthorized: self.entrance.isGuarded) }
}
