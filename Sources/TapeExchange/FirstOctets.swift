/// What the first octets that a client sends into a tunnel begin with.
///
/// Looks at no more than it needs, and consumes nothing.
public enum FirstOctets: Sendable, Hashable {
    /// A TLS handshake record (RFC 8446, 5.1).
    case tls
    /// A request line of HTTP/1.
    case http
    /// Something else, which is none of our business.
    case other
    case needsMore

    /// Registered methods have at most 17 letters (UPDATEREDIRECTREF).
    private static let longestMethod = 20

    public init(_ bytes: some Collection<UInt8>) {
        guard let first = bytes.first else {
            self = .needsMore
            return
        }
        if first == 0x16 {
            let second = bytes.dropFirst().first
            self = second == nil ? .needsMore : second == 3 ? .tls : .other
            return
        }
        self = Self.request(bytes)
    }

    /// A method, a space and what a target begins with: a path, `*`, or an absolute URL.
    private static func request(_ bytes: some Collection<UInt8>) -> FirstOctets {
        let method = bytes.prefix(self.longestMethod + 1).prefix { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == 45 }
        guard method.count <= self.longestMethod, method.first != 45 else { return .other }
        let rest = bytes.dropFirst(method.count)
        guard let space = rest.first else { return .needsMore }
        guard !method.isEmpty, space == UInt8(ascii: " ") else { return .other }
        let target = rest.dropFirst()
        guard let start = target.first else { return .needsMore }
        // The preface of HTTP/2 begins like a request (RFC 9113, 3.4); what follows it is not HTTP/1.
        if method.elementsEqual("PRI".utf8) { return .other }
        if start == UInt8(ascii: "/") || start == UInt8(ascii: "*") { return .http }
        let url = Array("http".utf8)
        guard target.prefix(url.count).elementsEqual(url.prefix(target.prefix(url.count).count)) else { return .other }
        return target.prefix(url.count).count == url.count ? .http : .needsMore
    }
}
