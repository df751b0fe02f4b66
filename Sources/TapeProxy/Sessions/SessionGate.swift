internal import TapeBytes

/// Decides which session a client connection may use: that of its port, or the one named by its proxy credentials.
///
/// Belongs to one connection. Not Sendable: lives on its event loop.
struct SessionGate {
    private enum Kind {
        case open
        case guarded(ProxyCredentials)
        case named(SessionDirectory)
    }

    private let kind: Kind
    /// The last accepted field value, so that the connection's next request costs a single comparison.
    private var accepted: String?

    /// Whether credentials are required.
    var isGuarded: Bool { if case .open = self.kind { false } else { true } }

    /// Whether requests name their sessions.
    var isNamed: Bool { if case .named = self.kind { true } else { false } }

    /// Admits everyone who can reach the port.
    static var open: SessionGate { SessionGate(kind: .open) }

    /// Admits clients with these credentials; every client if nil.
    init(_ credentials: ProxyCredentials?) {
        self.kind = credentials.map { .guarded($0) } ?? .open
    }

    init(_ directory: SessionDirectory) {
        self.kind = .named(directory)
    }

    private init(kind: Kind) {
        self.kind = kind
    }

    /// The answer to a client that is not admitted. It does not reveal whether the name or the token is wrong.
    ///
    /// - Parameter authorization: the value of the request's `Proxy-Authorization` field.
    func refusal(of authorization: String?) -> ProxyAnswer {
        switch self.kind {
        case .open, .guarded: .authenticationRequired()
        case .named where authorization == nil:
            .authenticationRequired(
                "this proxy serves sessions: use the URL in \"proxy\" of the answer to POST /sessions. It contains the session's name and token."
            )
        case .named:
            .authenticationRequired(
                "no open session has that name and token: has it ended? take the URL from \"proxy\" of the answer to POST /sessions.")
        }
    }

    /// The session that a request is for; nil if the client is not admitted.
    ///
    /// - Parameters:
    ///   - authorization: the value of the request's `Proxy-Authorization` field.
    ///   - current: the connection's session.
    mutating func session(for authorization: String?, at current: ProxyContext) -> ProxyContext? {
        switch self.kind {
        case .open:
            return current
        case .guarded(let credentials):
            return credentials.accept(authorization) ? current : nil
        case .named(let directory):
            if let accepted, accepted == authorization, !current.isStopping { return current }
            self.accepted = nil
            guard let session = directory.session(for: authorization) else { return nil }
            self.accepted = authorization
            return session
        }
    }
}
