/// The server a request is for: scheme, host and port (RFC 9110, 4.3.1).
///
/// Equal origins may share connections. Knows nothing of addresses.
public struct Origin: Sendable, Hashable {
    public enum Scheme: String, Sendable, Hashable {
        case http, https

        public var defaultPort: Int { self == .http ? 80 : 443 }
    }

    public var scheme: Scheme
    /// Lower-case, an IPv6 address without its brackets.
    public var host: String
    public var port: Int

    public init(scheme: Scheme, host: String, port: Int? = nil) {
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port ?? scheme.defaultPort
    }

    public init(scheme: Scheme, authority: Authority) {
        self.init(scheme: scheme, host: authority.host, port: authority.port)
    }

    /// The text for a Host field: the port only where it is not the scheme's own.
    public var authority: String {
        let host = self.host.utf8.contains(UInt8(ascii: ":")) ? "[\(self.host)]" : self.host
        return self.port == self.scheme.defaultPort ? host : "\(host):\(self.port)"
    }
}
