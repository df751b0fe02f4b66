/// Follows one CONNECT tunnel until both directions have ended.
///
/// Knows directions and closings, never bytes: the caller moves the bytes and reports events.
public struct TunnelState: Sendable {
    public enum Side: Sendable { case client, upstream }
    public enum Action: Sendable, Equatable { case closeOutput(Side), closeBoth, wait }

    private var ended: Set<Side> = []

    public init() {}

    /// One side has sent its last byte.
    public mutating func sideEnded(_ side: Side) -> Action {
        guard self.ended.insert(side).inserted else { return .wait }
        return self.ended.count == 2 ? .closeBoth : .closeOutput(side == .client ? .upstream : .client)
    }
}

/// Tells what a client speaks by the first bytes that it sends into a tunnel.
///
/// Looks at no more than it needs, and consumes nothing.
public enum ProtocolSniffer: Sendable, Hashable {
    /// A TLS handshake record (RFC 8446, 5.1).
    case tls
    /// A request line of HTTP/1, perhaps after empty lines (RFC 9112, 2.2), or the preface of HTTP/2 (RFC 9113, 3.4).
    case http
    /// Something else, which the proxy does not read.
    case other
    case needsMore

    /// Bytes searched for the end of a line that may be a request line.
    private static let lineLimit = 16 << 10

    public init(_ bytes: some Collection<UInt8>) {
        guard bytes.first == 0x16 else {
            self = Self.request(bytes)
            return
        }
        let second = bytes.dropFirst().first
        self = second == nil ? .needsMore : second == 3 ? .tls : .other
    }

    /// Whether the bytes begin with a request line: if the target begins like a path, `*` or a URL, by that; otherwise by its version.
    public static func request(_ bytes: some Collection<UInt8>) -> ProtocolSniffer {
        let line = self.withoutEmptyLines(bytes)
        guard !line.isEmpty else { return .needsMore }
        let method = line.prefix(self.lineLimit).prefix { ASCII.isToken($0) }
        let rest = line.dropFirst(method.count)
        guard !method.isEmpty, method.count < self.lineLimit else { return .other }
        guard let space = rest.first else { return .needsMore }
        guard space == ASCII.space else { return .other }
        if method.elementsEqual("PRI".utf8) {
            let preface = " * HTTP/2.0\r\n".utf8
            guard zip(rest, preface).allSatisfy(==) else { return .other }
            return rest.count < preface.count ? .needsMore : .http
        }
        // For another proxy at the end of this tunnel.
        if method.elementsEqual("CONNECT".utf8) { return .other }
        let target = rest.dropFirst()
        guard let start = target.first else { return .needsMore }
        if method.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == UInt8(ascii: "-") }) {
            if start == UInt8(ascii: "/") || start == UInt8(ascii: "*") || target.starts(with: "http".utf8) { return .http }
        }
        guard let end = target.prefix(self.lineLimit).firstIndex(of: ASCII.lineFeed) else {
            return target.count < self.lineLimit ? .needsMore : .other
        }
        var version = Array(target[..<end].suffix(10))
        if version.last == ASCII.carriageReturn { version.removeLast() }
        return version.suffix(9).starts(with: " HTTP/1.".utf8) ? .http : .other
    }

    private static func withoutEmptyLines<Bytes: Collection>(_ bytes: Bytes) -> Bytes.SubSequence where Bytes.Element == UInt8 {
        bytes.drop { $0 == ASCII.carriageReturn || $0 == ASCII.lineFeed }
    }

    /// Whether only empty lines have come so far.
    public static func isBlank(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { $0 == ASCII.carriageReturn || $0 == ASCII.lineFeed }
    }
}
