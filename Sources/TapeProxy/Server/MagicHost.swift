/// The host that exists only behind the proxy: says that traffic flows, and hands out the CA's certificate.
///
/// Changes nothing and knows no connections: an answer follows from the request's line and a status.
struct MagicHost: Sendable {
    /// Never a real host: `.test` is reserved (RFC 6761, 6.2).
    static let name = "wiretape.test"

    /// Also in capitals, which origins never keep, and with the root's dot.
    static func isNamed(_ host: String) -> Bool { host == self.name || host == self.name + "." }

    private static let paths = ["/", "/ca.pem", "/ca.crt", "/ca.der", "/ca.p12", "/status.json", "/trusted.svg"]

    /// - Parameters:
    ///   - target: in origin-form; a query changes nothing.
    ///   - isSecure: the request came over TLS, with a certificate of our CA.
    func answer(method: String, target: String, isSecure: Bool, status: MagicStatus) -> ProxyAnswer {
        guard method == "GET" || method == "HEAD" else {
            // RFC 9110, 15.5.6: a 405 without Allow is malformed.
            return ProxyAnswer(
                status: 405, reason: "Method Not Allowed", error: "method", fields: [("Allow", "GET, HEAD")],
                text: "\"\(Self.name)\" is wiretape's own page and only to be read: ask with GET or HEAD.")
        }
        let path = target.prefix { $0 != "?" }
        switch path {
        case "/", "": return self.page(isSecure: isSecure, status: status)
        case "/status.json": return self.shown("application/json", status.json)
        case "/trusted.svg":
            // Loads only where our CA is trusted; over plain HTTP it would prove nothing.
            return isSecure ? self.shown("image/svg+xml", Self.trusted) : self.missing(path)
        case "/ca.pem", "/ca.crt", "/ca.der", "/ca.p12": return self.certificate(path, status.authority)
        default: return self.missing(path)
        }
    }

    private func page(isSecure: Bool, status: MagicStatus) -> ProxyAnswer {
        let page = MagicPage(status: status, isSecure: isSecure)
        return ProxyAnswer(
            contentType: "text/html; charset=utf-8", body: Array(page.html.markup.utf8),
            fields: [("Content-Security-Policy", MagicPage.contentSecurityPolicy)] + Self.always)
    }

    private func certificate(_ path: Substring, _ authority: MagicAuthority?) -> ProxyAnswer {
        guard let authority else {
            return ProxyAnswer(
                status: 404, reason: "Not Found", error: "no-authority", fields: Self.always,
                text: "this proxy does not intercept HTTPS and has no CA: \"http://\(Self.name)/\" says what it does.")
        }
        switch path {
        case "/ca.pem": return self.file(path, "application/x-pem-file", authority.pem)
        case "/ca.p12": return self.file(path, "application/x-pkcs12", authority.p12)
        default: return self.file(path, "application/x-x509-ca-cert", authority.der)
        }
    }

    private func file(_ path: Substring, _ contentType: String, _ body: [UInt8]) -> ProxyAnswer {
        let name = "wiretape-\(path.dropFirst())"
        return ProxyAnswer(
            contentType: contentType, body: body, fields: [("Content-Disposition", "attachment; filename=\"\(name)\"")] + Self.always)
    }

    private func shown(_ contentType: String, _ body: [UInt8]) -> ProxyAnswer {
        ProxyAnswer(contentType: contentType, body: body, fields: [("Content-Security-Policy", "default-src 'none'")] + Self.always)
    }

    private func missing(_ path: Substring) -> ProxyAnswer {
        let reason =
            path == "/trusted.svg"
            ? "\"/trusted.svg\" is there over https alone" : "\"\(Self.name)\" is wiretape's own page and has nothing here"
        return ProxyAnswer(
            status: 404, reason: "Not Found", error: "not-found", fields: Self.always,
            text: "\(reason): ask for one of \(Self.paths.joined(separator: ", ")).")
    }

    /// No answer may be kept: the same URL says something else once the CA is trusted, or is another proxy's.
    private static let always = [("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")]

    /// Plain attributes, no styles, so that it needs nothing of a content security policy.
    private static let trusted = Array(
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="110" height="28" viewBox="0 0 110 28" role="img" aria-label="trusted">
        <rect width="110" height="28" rx="14" fill="#1a7f37"/>
        <path d="M16 14.5l4 4 8-9" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/>
        <text x="38" y="19" fill="#fff" font-family="system-ui, sans-serif" font-size="15" font-weight="600"
         textLength="56" lengthAdjust="spacingAndGlyphs">trusted</text>
        </svg>

        """.utf8)
}
