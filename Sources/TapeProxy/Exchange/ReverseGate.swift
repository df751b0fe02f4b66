internal import CassetteModel
internal import LocalHTTP
internal import TapeExchange

/// Decides who may request URLs in reverse form if no credentials are required: programs that can reach the proxy, but not web pages.
///
/// A page can make its browser send any request, to any name that resolves to a loopback address. The fields Host, Origin and
/// Sec-Fetch-Site reveal that the request comes from a page.
struct ReverseGate {
    /// The address that the client connected to. A request from a page has a name in Host instead.
    let address: IPAddress?
    /// The client gave valid credentials, which a page cannot know.
    let isAuthorized: Bool

    /// - Parameter host: the Host field; nil if an HTTP/1.0 client sent none, which browsers never do.
    /// - Returns: nil if the request is allowed.
    func refusal(of fields: HeaderFields, host: Authority?) -> ProxyAnswer? {
        if let host, !self.isAuthorized, !self.isOwn(host.host) {
            return Self.refused(
                "the Host field names \"\(host.host)\" and not this proxy: request http://127.0.0.1:PORT/https://host/path, with the proxy's port."
            )
        }
        for index in 0..<fields.count where fields.isNamed("origin", at: index) {
            guard let host, self.isOwn(fields.value(at: index), host) else {
                return Self.refused("URLs in this form are not for web pages: send the request without an Origin field.")
            }
        }
        // Browsers send this field when they omit Origin, and a page cannot change it (Fetch Metadata). The pages of one origin would have
        // the rights of every other origin here, so only a URL that a person typed is allowed.
        if let site = fields.first("sec-fetch-site"), site != "none" {
            return Self.refused("URLs in this form are not for web pages: set the proxy in the browser's settings instead.")
        }
        return nil
    }

    private func isOwn(_ host: String) -> Bool {
        LoopbackHost.contains(host) || (self.address != nil && IPAddress(host) == self.address)
    }

    /// Some programs derive the Origin field from the URL they request.
    private func isOwn(_ origin: String, _ host: Authority) -> Bool {
        guard case .absolute(let origin, "/")? = try? RequestTarget(origin, method: "GET") else { return false }
        return origin == Origin(scheme: .http, authority: host)
    }

    private static func refused(_ text: String) -> ProxyAnswer {
        ProxyAnswer(status: 403, reason: "Forbidden", error: "reverse", text: text)
    }

    /// Credentials are missing or wrong. The status is not 407, which clients without proxy settings treat as a protocol error.
    static func unauthorized(at address: String) -> ProxyAnswer {
        ProxyAnswer(
            status: 403, reason: "Forbidden", error: "proxy-authentication",
            text:
                "this proxy requires valid credentials: put them before the URL, http://\(address)/NAME:TOKEN/https://host/path, percent-encoded."
        )
    }

    /// Tunnels to this host are passed through or refused, so it cannot be reached by a URL in the path.
    static func excluded(_ authority: String, by option: String) -> ProxyAnswer {
        ProxyAnswer(
            status: 403, reason: "Forbidden", error: "refused",
            text: "\"\(authority)\" is excluded by \(option): send the request without wiretape, or remove the option.")
    }
}
