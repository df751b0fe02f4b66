/// A URL in the path of a request to the proxy itself: `/https://host/path?query`, or `/NAME:TOKEN/https://host/path?query`.
///
/// For clients that are configured with a base URL instead of a proxy. Says what the request is for, but not whether it is allowed.
public struct ReverseTarget: Sendable, Hashable {
    /// The name and token before the URL as `NAME:TOKEN`, percent-decoded; nil if there are none.
    public let credentials: [UInt8]?
    /// The part of the path before the URL: `/` or `/NAME:TOKEN/`.
    public let base: String
    /// The path of the URL's origin as the client spells it, `/https://host`, which prefixes all its paths.
    public let prefix: String
    /// The URL, including a path.
    public let url: String
    public let origin: Origin
    /// The target to request from the origin; `*` for OPTIONS without a path.
    public let originForm: String

    /// - Parameter path: a target in origin-form (RFC 9112, 3.2.1). `https:/host` counts as `https://host`, because some clients collapse
    ///   slashes.
    /// - Returns: nil if the path does not begin with a URL.
    /// - Throws: if it begins like a URL but is not one.
    public init?(_ path: String, method: String) throws(MessageError) {
        let bytes = Array(path.utf8)
        guard bytes.first == Self.slash else { return nil }
        let first = Self.segment(of: bytes, from: 1)
        var start = 1
        var credentials: [UInt8]?
        if Self.scheme(bytes[first]) == nil {
            // A question mark begins the query.
            let hasSecond = bytes[first.upperBound...].first == Self.slash
            let second = Self.segment(of: bytes, from: hasSecond ? first.upperBound + 1 : bytes.endIndex)
            guard Self.hasColon(bytes[first]), Self.scheme(bytes[second]) != nil else {
                guard !Self.resembles(bytes[first]) else { throw Self.refused(bytes) }
                guard !Self.isOtherScheme(bytes[first], before: bytes[first.upperBound...]) else { throw Self.refusedScheme }
                guard Self.resembles(bytes[second]) else { return nil }
                guard Self.hasColon(bytes[first]) else { throw Self.refusedStart }
                // The message must not repeat the credentials.
                throw Self.refused(Array(bytes[(second.lowerBound - 1)...]))
            }
            guard let decoded = Self.decoded(bytes[first]) else { throw Self.refusedCredentials }
            credentials = decoded
            start = second.lowerBound
        }
        let name = Self.segment(of: bytes, from: start)
        guard let scheme = Self.scheme(bytes[name]) else { return nil }
        var index = name.upperBound
        for _ in 0..<2 where index < bytes.count && bytes[index] == Self.slash { index += 1 }
        let end = bytes[index...].firstIndex { $0 == Self.slash || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
        let authority = Self.withBrackets(bytes[index..<end])
        let rest = String(decoding: bytes[end...], as: UTF8.self)
        let target = try RequestTarget("\(scheme.rawValue)://\(authority)\(rest)", method: method)
        guard case .absolute(let origin, let originForm) = target else { return nil }
        self.credentials = credentials
        self.base = String(decoding: bytes[..<start], as: UTF8.self)
        self.prefix = String(decoding: bytes[..<end], as: UTF8.self)
        self.url = "\(scheme.rawValue)://\(authority)\(originForm == "*" ? "" : originForm)"
        self.origin = origin
        self.originForm = originForm
    }

    private static let slash = UInt8(ascii: "/")

    /// The range up to the next slash or query.
    private static func segment(of bytes: [UInt8], from start: Int) -> Range<Int> {
        guard start < bytes.count else { return bytes.endIndex..<bytes.endIndex }
        return start..<(bytes[start...].firstIndex { $0 == self.slash || $0 == UInt8(ascii: "?") } ?? bytes.endIndex)
    }

    private static func scheme(_ segment: ArraySlice<UInt8>) -> Origin.Scheme? {
        segment.last == UInt8(ascii: ":") ? Origin.Scheme(name: segment.dropLast()) : nil
    }

    /// URL builders may encode the colon.
    private static func hasColon(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.contains(UInt8(ascii: ":")) || self.decoded(segment)?.contains(UInt8(ascii: ":")) == true
    }

    /// Whether the client meant a URL. Otherwise the proxy's own answer could be mistaken for the origin's.
    private static func resembles(_ segment: ArraySlice<UInt8>) -> Bool {
        let start = segment.prefix(8).map(ASCII.lower)
        return ["http", "https", "ws", "wss"].contains { start.starts(with: "\($0):".utf8) || start.starts(with: "\($0)%3a".utf8) }
    }

    /// Whether the first segment is a scheme (RFC 3986, 3.1) and two slashes follow, as in `ftp://host/`.
    private static func isOtherScheme(_ segment: ArraySlice<UInt8>, before rest: ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: [self.slash, self.slash]), let text = self.decoded(segment), text.last == UInt8(ascii: ":"),
            let first = text.first, self.isLetter(first)
        else { return false }
        return text.dropLast().allSatisfy { self.isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 32) }

    /// Restores the brackets of an IPv6 address. URL builders encode them, because a path may not contain them (RFC 3986, 3.3).
    private static func withBrackets(_ authority: ArraySlice<UInt8>) -> String {
        var text = ""
        var rest = authority
        while let byte = rest.first {
            let start = rest.prefix(3).map(ASCII.lower)
            if start.elementsEqual("%5b".utf8) || start.elementsEqual("%5d".utf8) {
                text += start[2] == UInt8(ascii: "b") ? "[" : "]"
                rest = rest.dropFirst(3)
            } else {
                text.unicodeScalars.append(Unicode.Scalar(byte))
                rest = rest.dropFirst()
            }
        }
        return text
    }

    /// nil if a `%` is not followed by two hex digits.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(ASCII.hexDigit), let low = rest.popFirst().flatMap(ASCII.hexDigit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func refused(_ bytes: [UInt8]) -> MessageError {
        MessageError(
            .target, status: 400,
            "request target \(ASCII.quoted(bytes)) is not a URL after a slash; write the URL itself, unescaped: \"/https://host/path\"")
    }

    /// Does not repeat that part, because it may be a token without its name.
    private static let refusedStart = MessageError(
        .target, status: 400,
        "request target has something before its URL that is not \"NAME:TOKEN\"; write one slash before it: \"/https://host/path\"")

    private static let refusedScheme = MessageError(
        .target, status: 400, "request target has a URL with a scheme other than http, https, ws and wss; write \"/https://host/path\"")

    /// Does not repeat the credentials either.
    private static let refusedCredentials = MessageError(
        .target, status: 400, "request target has a \"%\" without two hex digits in the credentials before its URL; write it as \"%25\"")
}
