internal import CassetteModel
internal import TapeExchange

/// Who may ask for URLs in reverse form where no credentials are wanted: programs that reach the proxy, and no web page.
///
/// A browser asks for whatever a page makes it ask for, under any name that resolves to a loopback address: what it says of itself in Host,
/// Origin and Sec-Fetch-Site gives it away.
struct ReverseGate {
    /// The address that the client connected to; no page can have a name for it in Host.
    let address: IPAddress?
    /// Credentials were asked for and given, which no page knows.
    let isAuthorized: Bool

    /// - Parameter host: of the Host field; nil where an HTTP/1.0 client sent none, which no browser is.
    /// - Returns: nil where the request is let in.
    func refusal(of fields: HeaderFields, host: Authority?) -> ProxyAnswer? {
        if let host, !self.isAuthorized, !self.isOwn(host.host) {
            return Self.refused(
                "the Host field names \"\(host.host)\" and not this proxy: ask for http://127.0.0.1:PORT/https://host/path, with the proxy's port."
            )
        }
        for index in 0..<fields.count where fields.isNamed("origin", at: index) {
            guard let host, self.isOwn(fields.value(at: index), host) else {
                return Self.refused("URLs in this form are not for web pages: send the request without an Origin field.")
            }
        }
        // Browsers send this where they leave Origin out, and a page cannot change it (Fetch Metadata). A page of one origin would have the
        // rights of every other's here, so that only what a person typed is let in.
        if let site = fields.first("sec-fetch-site"), site != "none" {
            return Self.refused("URLs in this form are not for web pages: set the browser's proxy in place of them.")
        }
        return nil
    }

    private func isOwn(_ host: String) -> Bool {
        LoopbackHost.contains(host) || (self.address != nil && IPAddress(host) == self.address)
    }

    /// Some programs make the field from the URL that they were given.
    private func isOwn(_ origin: String, _ host: Authority) -> Bool {
        guard case .absolute(let origin, "/")? = try? RequestTarget(origin, method: "GET") else { return false }
        return origin == Origin(scheme: .http, authority: host)
    }

    private static func refused(_ text: String) -> ProxyAnswer {
        ProxyAnswer(status: 403, reason: "Forbidden", error: "reverse", text: text)
    }

    /// The credentials are missing or wrong. Not 407, which clients without a proxy take for a fault of the protocol.
    static func unauthorized(at address: String) -> ProxyAnswer {
        ProxyAnswer(
            status: 403, reason: "Forbidden", error: "proxy-authentication",
            text:
                "this proxy wants credentials that are right: write them before the URL, http://\(address)/NAME:TOKEN/https://host/path, percent-encoded."
        )
    }

    /// A host whose tunnels are left alone, or not opened.
    static func excluded(_ authority: String, by option: String) -> ProxyAnswer {
        ProxyAnswer(
            status: 403, reason: "Forbidden", error: "refused",
            text: "\"\(authority)\" is excepted with \(option): ask it without wiretape, or leave the option out.")
    }
}
