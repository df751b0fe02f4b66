internal import CassetteModel
internal import CassetteTools

/// A recorded request as it is sent again, or the reason why it is not.
///
/// Sends nothing.
struct LiveRequest {
    /// Why a request is not sent again, in words for people.
    struct LeftOut: Error, Hashable {
        var reason: String
        /// Whether it would be sent if unsafe methods were allowed.
        var isUnsafe = false
    }

    var isSecure: Bool
    /// As in the Host field; for CONNECT, with a port.
    var authority: String
    /// Without a port, and without the brackets of an address.
    var host: String
    /// The whole message.
    var bytes: [UInt8]

    /// RFC 9110, 9.2.1, without TRACE, which reflects the request.
    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS"]
    /// The most bytes of a body that is sent again, since it is held in memory.
    static let bodyLimit = 64 << 20

    /// Fields of the recorded connection (RFC 9110, 7.6.1), and fields that are set again.
    private static let dropped: Set<String> = [
        "connection", "proxy-connection", "keep-alive", "te", "trailer", "upgrade", "transfer-encoding", "content-length", "expect",
        "proxy-authorization",
    ]

    /// - Parameters:
    ///   - fill: values for placeholders.
    ///   - wire: a body's bytes as they were sent.
    init(
        _ request: RecordedRequest, allowsUnsafe: Bool, fill: PlaceholderFill = PlaceholderFill(), wire: (Body) throws -> [UInt8]
    ) throws {
        guard request.method != "CONNECT" else { throw LeftOut(reason: "a tunnel has no answer to compare") }
        if request.version == .http2, GRPCType(request.headers) != nil {
            throw LeftOut(
                reason:
                    "gRPC needs HTTP/2, and a check sends HTTP/1.1: call it again through \"wiretape record\", and compare with \"wiretape diff\""
            )
        }
        guard allowsUnsafe || Self.safeMethods.contains(request.method) else {
            throw LeftOut(reason: "\(request.method) may change something: --unsafe-methods sends it", isUnsafe: true)
        }
        guard !request.headers.contains("upgrade"), request.connectProtocol == nil else {
            throw LeftOut(reason: "it requests another protocol")
        }
        guard let place = Self.place(of: request.url) else { throw LeftOut(reason: "its URL is neither http nor https") }
        (self.isSecure, self.authority, self.host) = (place.isSecure, place.authority, place.host)
        var body: [UInt8] = []
        if let recorded = request.body {
            guard recorded.isComplete else { throw LeftOut(reason: "its body was cut short") }
            guard recorded.byteCount <= Self.bodyLimit, recorded.size <= Self.bodyLimit else {
                throw LeftOut(reason: "its body has more than \(Quantity.bytes(Self.bodyLimit))")
            }
            body = try wire(recorded)
        }
        if let recorded = request.body, !recorded.codings.isEmpty, fill.hasPlaceholder(recorded.content.inlineBytes ?? []) {
            throw LeftOut(reason: "there is a placeholder in its compressed body")
        }
        if fill.hasPlaceholder(body) {
            body = try fill.filled(body, .body(request.headers.first("content-type") ?? ""))
        }
        let target = try fill.filled(request.target ?? (place.isSecure ? place.target : request.url), .target)
        var bytes = Array("\(request.method) \(target) HTTP/1.1\r\n".utf8)
        var hasHost = false
        for index in 0..<request.headers.count {
            let name = request.headers.name(at: index).lowercased()
            guard !Self.dropped.contains(name) else { continue }
            if name == "host" { hasHost = true }
            bytes += try fill.filled(Array(request.headers.line(at: index)), .field) + [13, 10]
        }
        if !hasHost { bytes += Array("Host: \(place.authority)\r\n".utf8) }
        if request.body != nil { bytes += Array("Content-Length: \(body.count)\r\n".utf8) }
        bytes += Array("Connection: close\r\n\r\n".utf8) + body
        self.bytes = bytes
    }

    private struct Place {
        var isSecure: Bool
        var authority: String
        var host: String
        var target: String
    }

    private static func place(of url: String) -> Place? {
        let lowercase = url.lowercased()
        guard let (isSecure, length) = lowercase.hasPrefix("https://") ? (true, 8) : lowercase.hasPrefix("http://") ? (false, 7) : nil
        else {
            return nil
        }
        let rest = url.utf8.dropFirst(length)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let plain = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority
        guard !plain.isEmpty, let text = String(plain), let target = String(rest[authority.endIndex...].prefix { $0 != UInt8(ascii: "#") })
        else { return nil }
        let colon = text.lastIndex(of: ":").flatMap { text[$0...].contains("]") ? nil : $0 }
        let host = colon.map { String(text[..<$0]) } ?? text
        return Place(
            isSecure: isSecure, authority: colon == nil ? "\(text):\(isSecure ? 443 : 80)" : text,
            host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host, target: target.hasPrefix("/") ? target : "/" + target)
    }
}
