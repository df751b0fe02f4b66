/// Follows one CONNECT tunnel until both directions have ended.
///
/// Independent of bytes: the caller moves them and reports events.
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

/// Detects a client's protocol from the first bytes that it sends into a tunnel.
///
/// Looks at no more bytes than it needs, and consumes none.
public enum ProtocolSniffer: Sendable, Hashable {
    /// A TLS handshake record (RFC 8446, 5.1).
    case tls
    /// An HTTP/1 request line, perhaps after empty lines (RFC 9112, 2.2), or the HTTP/2 preface (RFC 9113, 3.4).
    case http
    /// Another protocol, which the proxy does not read.
    case other
    case needsMore

    /// The most bytes searched for the end of a possible request line.
    private static let lineLimit = 16 << 10

    public init(_ bytes: some Collection<UInt8>) {
        guard bytes.first == 0x16 else {
            self = Self.request(bytes)
            return
        }
        let second = bytes.dropFirst().first
        self = second == nil ? .needsMore : second == 3 ? .tls : .other
    }

    /// Whether the bytes begin with a request line. It is recognised by a target that begins like a path or a URL, otherwise by its version:
    /// `OPTIONS *` begins requests of RTSP (RFC 7826) and SSDP as well.
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
            if start == UInt8(ascii: "/") || target.starts(with: "http".utf8) { return .http }
        }
        // git:// has NUL bytes and no line feed.
        guard !target.prefix(self.lineLimit).prefix(while: { $0 != ASCII.lineFeed }).contains(0) else { return .other }
        guard let end = target.prefix(self.lineLimit).firstIndex(of: ASCII.lineFeed) else {
            return target.count < self.lineLimit ? .needsMore : .other
        }
        var version = Array(target[..<end].suffix(10))
        if version.last == ASCII.carriageReturn { version.removeLast() }
        return version.suffix(9).starts(with: " HTTP/1.".utf8) ? .http : .other
    }

    /// Whether bytes inside TLS are no request, not even a broken one: they do not begin with a word and a blank, or their first line ends
    /// neither with a version of HTTP nor with a path (HTTP/0.9). False while that is not known: the parser has the last word.
    public static func isForeign(_ bytes: some Collection<UInt8>) -> Bool {
        let line = self.withoutEmptyLines(bytes)
        let method = line.prefix(self.lineLimit).prefix { ASCII.isToken($0) }
        guard let next = line.dropFirst(method.count).first else { return false }
        guard !method.isEmpty, next == ASCII.space || next == UInt8(ascii: "\t") else { return true }
        guard let end = line.prefix(self.lineLimit).firstIndex(of: ASCII.lineFeed) else { return false }
        var words = Array(line[..<end])
        if words.last == ASCII.carriageReturn { words.removeLast() }
        let target = words.dropFirst(method.count + 1)
        let last = target.split { $0 == ASCII.space || $0 == UInt8(ascii: "\t") }.last
        return last?.starts(with: "HTTP/".utf8) != true && target.first != UInt8(ascii: "/")
    }

    private static func withoutEmptyLines<Bytes: Collection>(_ bytes: Bytes) -> Bytes.SubSequence where Bytes.Element == UInt8 {
        bytes.drop { $0 == ASCII.carriageReturn || $0 == ASCII.lineFeed }
    }

    /// Whether only empty lines have arrived so far.
    public static func isBlank(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { $0 == ASCII.carriageReturn || $0 == ASCII.lineFeed }
    }
}
