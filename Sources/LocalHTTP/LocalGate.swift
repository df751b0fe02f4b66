internal import CassetteModel
package import TapeExchange

/// Decides who may use a server on a loopback address: programs on this machine that know its token, and its own page.
///
/// A browser can be made to send requests here, through a name that resolves to a loopback address or from any web page. Host and Origin
/// reveal such requests before the token is checked.
package struct LocalGate: Sendable {
    /// The server's name in messages, and what it serves without the token.
    package struct Server: Sendable {
        /// `control API`
        package var name: String
        /// An existing path, for messages.
        package var example: String
        /// Where a client gets the token, as the end of a sentence.
        package var tokenAdvice: String
        /// Whether a path is served without the token, because its content is static and the same for everyone.
        package var isOpen: @Sendable (_ path: String) -> Bool

        package init(
            name: String, example: String, tokenAdvice: String, isOpen: @escaping @Sendable (_ path: String) -> Bool = { _ in false }
        ) {
            self.name = name
            self.example = example
            self.tokenAdvice = tokenAdvice
            self.isOpen = isOpen
        }
    }

    let server: Server
    private let token: Secret
    private let port: Int

    package init(token: Secret, port: Int, server: Server) {
        self.token = token
        self.port = port
        self.server = server
    }

    /// - Parameters:
    ///   - path: without the query.
    ///   - host: the Host field.
    /// - Returns: whether the request has the token, which open paths do not require.
    /// - Throws: the refusal.
    @discardableResult
    package func admit(_ head: RequestHead, path: String, host: Authority?) throws(LocalAnswer) -> Bool {
        guard let host, self.isOwn(host.host, host.port ?? 80) else {
            throw LocalAnswer(
                status: 403, reason: "Forbidden", code: "host",
                message: "the Host field does not name the \(self.server.name): send the request to http://127.0.0.1:\(self.port)/.")
        }
        for index in 0..<head.fields.count where head.fields.isNamed("origin", at: index) {
            guard self.isOwn(origin: String(decoding: head.fields.valueBytes(at: index), as: UTF8.self)) else {
                throw LocalAnswer(
                    status: 403, reason: "Forbidden", code: "origin",
                    message: "the \(self.server.name) is not for web pages of other origins: send the request without an Origin field.")
            }
        }
        let isOpen = self.server.isOpen(path) && (head.method == "GET" || head.method == "HEAD")
        // Browsers send this field when they omit Origin, and a page cannot change it (Fetch Metadata, W3C).
        if let site = head.fields.first("sec-fetch-site"), site != "same-origin", site != "none" {
            // A link to the page, as in a file opened in a browser. The page shows no data before it has the token.
            let isLink = head.fields.first("sec-fetch-mode") == "navigate" && head.fields.first("sec-fetch-dest") == "document"
            guard isOpen, isLink, path == "/" else {
                throw LocalAnswer(
                    status: 403, reason: "Forbidden", code: "origin",
                    message: "the \(self.server.name) is not for web pages of other origins: send the request from a program.")
            }
        }
        let hasToken = self.knowsToken(head.fields.first("authorization"))
        guard isOpen || hasToken else {
            throw LocalAnswer(
                status: 401, reason: "Unauthorized", fields: ["WWW-Authenticate: Bearer realm=\"wiretape\""], code: "token",
                message: "the \(self.server.name) requires its token: send \"Authorization: Bearer TOKEN\", \(self.server.tokenAdvice).")
        }
        return hasToken
    }

    private func isOwn(_ host: String, _ port: Int) -> Bool {
        port == self.port && LoopbackHost.contains(host)
    }

    private func isOwn(origin: String) -> Bool {
        guard case .absolute(let origin, "/")? = try? RequestTarget(origin, method: "GET") else { return false }
        return origin.scheme == .http && self.isOwn(origin.host, origin.port)
    }

    /// RFC 6750, 2.1.
    private func knowsToken(_ value: String?) -> Bool {
        guard let value, let space = value.firstIndex(of: " "), value[..<space].lowercased() == "bearer" else { return false }
        return self.token.isEqual(to: Array(value[value.index(after: space)...].utf8))
    }
}

/// Tells whether listening on a host admits only this machine.
package enum LoopbackHost {
    /// Loopback addresses in their usual notation, and `localhost` (RFC 6761, 6.3). No other name, whatever it resolves to.
    package static func contains(_ host: String) -> Bool {
        host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true
    }
}
