public import CassetteModel
internal import CassetteRedaction

/// The user who has logged in on a connection, for schemes that authenticate the connection instead of each request (RFC 4559, 6).
///
/// Later requests on the connection carry no credentials. Without the login, nothing distinguishes the requests of two users.
public struct ConnectionLogin: Sendable, Hashable {
    private enum User: Sendable, Hashable {
        case nobody
        /// The last message of an NTLM login, without its proof.
        case named([UInt8])
        /// The credentials do not tell the user's name.
        case unnamed
    }

    /// Nil if the connection is not known.
    private var user: User?
    /// Whether the last request carried credentials.
    private var isStep = false

    /// The login of a connection that has carried no request.
    public init() { self.user = .nobody }

    private init(_ user: User?) { self.user = user }

    /// The login if the connection is not known. It fits each recorded one.
    public static let unknown = ConnectionLogin(nil)

    /// Changes to the login of a recorded request and of those that follow it on the connection. A recording has a placeholder in place of
    /// a first message, which the origin answers with a challenge.
    mutating func note(_ recorded: Interaction) {
        self.note(recorded.request.headers)
        if self.user == .unnamed, recorded.response?.status == 401 { self.user = .nobody }
    }

    /// Changes to the login of this request and of those that follow it on the connection.
    public mutating func note(_ request: HeaderFields) {
        self.isStep = false
        guard let credentials = request.first("authorization"), ConnectionAuthentication.names(credentials) else { return }
        self.isStep = true
        // The first message of NTLM starts a new login.
        if Self.message(of: credentials).starts(with: "TlRMTVNTUAAB".utf8) { return self.user = .nobody }
        self.user = NTLMMessage(Self.message(of: credentials)).map { .named($0.identity) } ?? .unnamed
    }

    /// Credentials of such a scheme without what differs in each login of a user; nil for other schemes.
    static func lasting(_ credentials: [UInt8]) -> [UInt8]? {
        let text = String(decoding: credentials, as: UTF8.self)
        guard ConnectionAuthentication.names(text) else { return nil }
        return NTLMMessage(self.message(of: text))?.identity ?? Array(text.prefix { $0 != " " }.lowercased().utf8)
    }

    private static func message(of credentials: String) -> [UInt8] {
        Array(credentials.drop { $0 != " " }.drop { $0 == " " }.utf8)
    }

    /// What distinguishes the login from others, as hashes. Two users have one in common, which neither has in common with nobody.
    var marks: [UInt64] {
        guard let user else { return [] }
        let anybody = Self.hash(user == .nobody)
        return if case .named(let name) = user { [anybody, Self.hash(name)] } else { [anybody] }
    }

    /// What distinguishes the steps of a login from later requests of the same user, as hashes.
    var steps: [UInt64] { self.user == nil ? [] : [Self.hash(self.isStep)] }

    private static func hash(_ value: some Hashable) -> UInt64 {
        var hasher = Hasher()
        hasher.combine("login")
        hasher.combine(value)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
