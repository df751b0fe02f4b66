internal import Foundation

/// One header field.
///
/// Holds any text; `HTTPHeaders.validated()` checks what may be sent.
public struct HTTPHeader: Sendable, Hashable, CustomStringConvertible {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// `name: value`
    public var description: String { "\(self.name): \(self.value)" }

    /// Ignores the case of ASCII letters (RFC 9110, 5.1).
    func isNamed(_ name: String) -> Bool {
        self.name.utf8.count == name.utf8.count && zip(self.name.utf8, name.utf8).allSatisfy { Self.lower($0) == Self.lower($1) }
    }

    private static func lower(_ octet: UInt8) -> UInt8 { (65...90).contains(octet) ? octet | 32 : octet }
}

extension HTTPHeader {
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }
    public static func acceptCharset(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Charset", value: value) }
    public static func acceptEncoding(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Encoding", value: value) }
    public static func acceptLanguage(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Language", value: value) }

    /// Credentials of any scheme, sent as given.
    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }

    /// The Basic scheme with UTF-8 (RFC 7617). A user name with a colon arrives as another name: the scheme cannot express it.
    public static func authorization(username: String, password: String) -> HTTPHeader {
        self.authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
    }

    /// RFC 6750
    public static func authorization(bearerToken: String) -> HTTPHeader { self.authorization("Bearer \(bearerToken)") }

    public static func cacheControl(_ value: String) -> HTTPHeader { HTTPHeader(name: "Cache-Control", value: value) }
    public static func contentDisposition(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Disposition", value: value) }
    public static func contentEncoding(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Encoding", value: value) }
    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }
    public static func cookie(_ value: String) -> HTTPHeader { HTTPHeader(name: "Cookie", value: value) }
    public static func ifMatch(_ value: String) -> HTTPHeader { HTTPHeader(name: "If-Match", value: value) }
    public static func ifNoneMatch(_ value: String) -> HTTPHeader { HTTPHeader(name: "If-None-Match", value: value) }
    public static func origin(_ value: String) -> HTTPHeader { HTTPHeader(name: "Origin", value: value) }
    public static func range(_ value: String) -> HTTPHeader { HTTPHeader(name: "Range", value: value) }
    public static func referer(_ value: String) -> HTTPHeader { HTTPHeader(name: "Referer", value: value) }
    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }

    /// The subprotocols that a WebSocket client offers (RFC 6455, 11.3.4).
    public static func websocketProtocol(_ value: String) -> HTTPHeader { HTTPHeader(name: "Sec-WebSocket-Protocol", value: value) }

    /// The codings that every platform decodes by itself: `br;q=1.0, gzip;q=0.9, deflate;q=0.8`.
    public static let defaultAcceptEncoding = HTTPHeader.acceptEncoding(Self.weighted(["br", "gzip", "deflate"]))

    /// The user's first six languages, with falling weights.
    public static let defaultAcceptLanguage = HTTPHeader.acceptLanguage(Self.weighted(Locale.preferredLanguages.prefix(6)))

    /// The app's name and version, if there is an app, and the library's. Nothing about the system, so that recordings of two machines
    /// are alike.
    public static let defaultUserAgent = HTTPHeader.userAgent(Self.userAgent(of: Bundle.main.infoDictionary ?? [:]))

    /// With quality values (RFC 9110, 12.4.2): 1.0, 0.9 and so on.
    static func weighted(_ values: some Collection<String>) -> String {
        values.enumerated().map { "\($1);q=\($0 == 0 ? "1.0" : "0.\(max(1, 10 - $0))")" }.joined(separator: ", ")
    }

    static func userAgent(of app: [String: Any]) -> String {
        let library = "Wiretape/1"
        guard let name = app["CFBundleExecutable"] as? String else { return library }
        let product = self.token(name)
        guard !product.isEmpty else { return library }
        let version = self.token(app["CFBundleShortVersionString"] as? String ?? "")
        return version.isEmpty ? "\(product) \(library)" : "\(product)/\(version) \(library)"
    }

    /// RFC 9110, 5.6.2: other characters could end the field or begin a comment.
    private static func token(_ text: String) -> String {
        String(decoding: text.utf8.map { HTTPHeaders.isTokenCharacter($0) ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
    }
}
