internal import Foundation

extension HTTPHeader {
    /// What every platform takes off by itself: `br;q=1.0, gzip;q=0.9, deflate;q=0.8`.
    public static let defaultAcceptEncoding = HTTPHeader.acceptEncoding(Self.weighted(["br", "gzip", "deflate"]))

    /// The first six of the user's languages, with falling weights.
    public static let defaultAcceptLanguage = HTTPHeader.acceptLanguage(Self.weighted(Locale.preferredLanguages.prefix(6)))

    /// The app's name and version where there is an app, and the library's: nothing of the system, so that recordings of two machines
    /// are alike.
    public static let defaultUserAgent = HTTPHeader.userAgent(Self.userAgent(of: Bundle.main.infoDictionary ?? [:]))

    /// As `Accept-Language` has it (RFC 9110, 12.4.2): 1.0, 0.9 and so on.
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
