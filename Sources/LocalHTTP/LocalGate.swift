internal import CassetteModel
package import TapeExchange

/// Who may use a server on a loopback address: programs of this machine that know its token, and its own page.
///
/// A browser can be made to send requests here, by a name that resolves to a loopback address or from a page of its own: Host and Origin
/// give those away before the token is looked at.
package struct LocalGate: Sendable {
    /// What the server is called in messages, and what it gives away.
    package struct Server: Sendable {
        /// `control API`
        package var name: String
        /// A path that there is, for messages.
        package var example: String
        /// Where a client has the token from, as the end of a sentence.
        package var tokenAdvice: String
        /// Whether a path is served without the token: static, and the same for everybody.
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
    ///   - host: of the Host field.
    /// - Returns: whether the request has the token; those for open paths need none.
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
        // Browsers send this where they leave Origin out; a page cannot (Fetch Metadata, W3C).
        if let site = head.fields.first("sec-fetch-site"), site != "same-origin", site != "none" {
            // A link to the page, as in a file that a browser was opened with: what it shows has no data before it has the token.
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

/// Tells whether listening on a host lets in nobody but this machine.
package enum LoopbackHost {
    /// Loopback addresses in their usual notation, and `localhost` (RFC 6761, 6.3); no other name, whatever it resolves to.
    package static func contains(_ host: String) -> Bool {
        host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true
    }
}
