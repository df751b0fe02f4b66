public import TapeBytes
internal import TapeExchange
public import TapeTrust

/// A proxy through which connections to origins are made.
public struct UpstreamProxy: Sendable, Hashable, CustomStringConvertible {
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        case http, https, socks5

        var defaultPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            case .socks5: 1080
            }
        }
    }

    public var scheme: Scheme
    /// In lower case; an IPv6 address has no brackets.
    public var host: String
    public var port: Int
    /// `USER:PASSWORD`, in whatever charset the proxy expects; never shown.
    public var credentials: [UInt8]?
    /// The option or variable that names the proxy, for messages.
    public var source: String

    private static let example = "write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT"

    /// Parses a URL. The scheme defaults to `http`, and user and password may be percent-encoded.
    ///
    /// No error message repeats the text, because it may contain a password.
    public init(_ text: String, source: String) throws(SettingSyntaxError) {
        var rest = text[...]
        var name = "http"
        if let separator = text.firstRange(of: "://") {
            name = text[..<separator.lowerBound].lowercased()
            rest = text[separator.upperBound...]
        }
        self.source = source
        if name.hasPrefix("pac+") || name == "file" || rest.hasSuffix(".pac") || rest.hasSuffix("wpad.dat") {
            throw SettingSyntaxError(
                "\(source) names a PAC file, a program in JavaScript, which wiretape does not run: look in it for the proxy of your origins, as in \"PROXY proxy.example.com:3128\", and pass --upstream-proxy http://proxy.example.com:3128"
            )
        }
        guard let scheme = name == "socks5h" ? .socks5 : Scheme(rawValue: name) else {
            throw SettingSyntaxError("\(source) has the scheme \"\(name)\", which wiretape does not speak; \(Self.example)")
        }
        self.scheme = scheme
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        if let at = rest.lastIndex(of: "@") {
            let userInfo = rest[..<at]
            // RFC 7617, 2: the colon is required even without a password.
            self.credentials = Self.decoded(userInfo) + (userInfo.contains(":") ? [] : [UInt8(ascii: ":")])
            rest = rest[rest.index(after: at)...]
        }
        guard !rest.contains("/"), let origin = Self.origin(rest) else {
            throw SettingSyntaxError("\(source) is not a proxy's URL; \(Self.example)")
        }
        self.host = origin.host
        self.port = rest.hasSuffix(":\(origin.port)") ? origin.port : scheme.defaultPort
    }

    /// The authority as parsed by the strict request parser.
    private static func origin(_ authority: Substring) -> Origin? {
        guard case .absolute(let origin, _)? = try? RequestTarget("http://\(authority)/", method: "GET") else { return nil }
        return origin
    }

    private static func decoded(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), rest.count >= 2 {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Without user and password.
    public var description: String { "\(self.scheme.rawValue)://\(self.authority)" }

    /// Whether the proxy comes from a variable and was not requested in this command.
    var isFromEnvironment: Bool { !self.source.hasPrefix("-") }

    var authority: String { self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)" }

    /// The value of a `Proxy-Authorization` field (RFC 7617).
    var authorization: String? { self.credentials.map { "Basic \(BasicCredentials.encoded($0))" } }

    /// The user and password for SOCKS (RFC 1929).
    package var login: (user: [UInt8], password: [UInt8])? {
        guard let credentials else { return nil }
        let parts = credentials.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        return (Array(parts[0]), parts.count > 1 ? Array(parts[1]) : [])
    }
}

/// Which origins are reached through which proxy. Servers on this machine are always reached directly.
public struct UpstreamChain: Sendable, Hashable {
    /// For URLs with `http`.
    public var http: UpstreamProxy?
    /// For URLs with `https`, and for tunnels whose content is unknown.
    public var https: UpstreamProxy?
    /// Hosts that are reached directly.
    public var exceptions: [HostPattern] = []
    /// Exceptions from the variable `no_proxy`.
    public var environmentExceptions = NoProxy("")

    /// The proxies are the port of a session, to which an isolating process leads the connections of its program. Servers on this machine
    /// are reached through them, too.
    package var isSession = false

    public init(http: UpstreamProxy? = nil, https: UpstreamProxy? = nil) {
        self.http = http
        self.https = https
    }

    public var isEmpty: Bool { self.http == nil && self.https == nil }

    /// nil if the origin is reached directly.
    ///
    /// - Parameters:
    ///   - scheme: the origin's scheme. An https origin is never reached through the proxy for `http`.
    ///   - isTunnel: the connection carries something other than requests.
    func proxy(_ scheme: Origin.Scheme, host: String, port: Int, isTunnel: Bool) -> UpstreamProxy? {
        let chosen = scheme == .https ? self.https : isTunnel ? self.https ?? self.http : self.http
        guard let proxy = chosen, self.isSession || !Self.isHere(host) else { return nil }
        let isException = self.exceptions.contains { $0.matches(host: host, port: port) } || self.environmentExceptions.contains(host, port)
        return isException ? nil : proxy
    }

    func proxy(for route: UpstreamRoute) -> UpstreamProxy? {
        self.isEmpty
            ? nil
            : self.proxy(
                route.isUnread ? .https : route.origin.scheme, host: route.origin.host, port: route.origin.port, isTunnel: route.isTunnelled
            )
    }

    private static func isHere(_ host: String) -> Bool {
        if let address = IPAddress(host) { return address.isLoopback || address.isUnspecified }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "localhost." || host.hasSuffix(".localhost.")
    }
}

/// The hosts in a value of `no_proxy`: names with their subdomains, addresses, address blocks and `*`, each with an optional port.
///
/// An entry of any other form matches nothing. It is not reported, because the variable is not Wiretape's.
public struct NoProxy: Sendable, Hashable {
    private enum Entry: Sendable, Hashable {
        case all
        /// The name itself and all its subdomains.
        case name(String, port: Int?)
        /// Addresses that begin with these bits.
        case block([UInt8], bits: Int, port: Int?)
    }

    private let entries: [Entry]

    public init(_ text: String) {
        self.entries = text.split { $0 == "," || $0 == " " }.compactMap { Self.entry($0.lowercased()) }
    }

    private static func entry(_ text: String) -> Entry? {
        if text == "*" { return .all }
        if let slash = text.firstIndex(of: "/") {
            guard let address = IPAddress(String(text[..<slash])), let bits = Int(text[text.index(after: slash)...]),
                (0...address.bytes.count * 8).contains(bits)
            else { return nil }
            return .block(address.bytes, bits: bits, port: nil)
        }
        if let address = IPAddress(text) { return .block(address.bytes, bits: address.bytes.count * 8, port: nil) }
        var host = text[...]
        var port: Int?
        if let colon = host.lastIndex(of: ":"), let number = Int(host[host.index(after: colon)...]) {
            port = number
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        if let address = IPAddress(String(host)) { return .block(address.bytes, bits: address.bytes.count * 8, port: port) }
        if host.hasPrefix("*") { host = host.dropFirst() }
        if host.hasPrefix(".") { host = host.dropFirst() }
        return host.isEmpty ? nil : .name(String(host), port: port)
    }

    func contains(_ host: String, _ port: Int) -> Bool {
        guard !self.entries.isEmpty else { return false }
        let address = IPAddress(host)
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        return self.entries.contains { entry in
            switch entry {
            case .all: true
            case .name(let known, let only): (only == nil || only == port) && (name == known || name.hasSuffix(".\(known)"))
            case .block(let bytes, let bits, let only):
                (only == nil || only == port) && address.map { Self.begins($0.bytes, with: bytes, bits) } == true
            }
        }
    }

    private static func begins(_ address: [UInt8], with block: [UInt8], _ bits: Int) -> Bool {
        guard address.count == block.count else { return false }
        let whole = bits / 8
        guard address[..<whole] == block[..<whole] else { return false }
        let rest = bits % 8
        return rest == 0 || (address[whole] ^ block[whole]) >> (8 - rest) == 0
    }
}

extension UpstreamChain {
    /// The proxies named by the shell's variables. Lower-case names take precedence.
    ///
    /// A Wiretape proxy that set the variables for its program, or through `wiretape env`, is skipped: it may be the very proxy that is
    /// starting.
    ///
    /// - Parameter unusable: called with each value that cannot be used and is therefore ignored.
    public static func environment(_ variables: [String: String], unusable: (SettingSyntaxError) -> Void) -> UpstreamChain {
        func value(_ name: String) -> (name: String, text: String)? {
            for name in [name, name.uppercased()] { if let text = variables[name], !text.isEmpty { return (name, text) } }
            return nil
        }
        let reverse = variables["WIRETAPE_REVERSE"].flatMap {
            try? UpstreamProxy(String($0.dropFirst("http://".count).prefix { $0 != "/" }), source: "")
        }
        func proxy(_ name: String) -> UpstreamProxy? {
            guard let found = value(name) ?? value("all_proxy") else { return nil }
            do {
                let proxy = try UpstreamProxy(found.text, source: found.name)
                return proxy.host == reverse?.host && proxy.port == reverse?.port ? nil : proxy
            } catch {
                unusable(error)
                return nil
            }
        }
        var chain = UpstreamChain(http: proxy("http_proxy"), https: proxy("https_proxy"))
        if let exceptions = value("no_proxy") { chain.environmentExceptions = NoProxy(exceptions.text) }
        return chain
    }
}
