internal import CassetteModel
internal import NIOCore
internal import NIOPosix
internal import TapeExchange

/// Who may use the control API: programs of this machine that know its token, and no web page.
///
/// A browser can be made to send requests here, by a name that resolves to a loopback address or from a page of its own: Host and Origin
/// give those away before the token is looked at.
struct ControlGate: Sendable {
    private let token: Secret
    private let port: Int

    init(token: Secret, port: Int) {
        self.token = token
        self.port = port
    }

    /// - Parameter host: of the Host field.
    /// - Throws: the refusal.
    func admit(_ head: RequestHead, host: Authority?) throws(ControlAnswer) {
        guard let host, self.isOwn(host.host, host.port ?? 80) else {
            throw ControlAnswer(
                status: 403, reason: "Forbidden", code: "host",
                message: "the Host field does not name the control API: send the request to http://127.0.0.1:\(self.port)/.")
        }
        for index in 0..<head.fields.count where head.fields.isNamed("origin", at: index) {
            guard self.isOwn(origin: String(decoding: head.fields.valueBytes(at: index), as: UTF8.self)) else {
                throw ControlAnswer(
                    status: 403, reason: "Forbidden", code: "origin",
                    message: "the control API is not for web pages of other origins: send the request without an Origin field.")
            }
        }
        // Browsers send this where they leave Origin out; a page cannot (Fetch Metadata, W3C).
        if let site = head.fields.first("sec-fetch-site"), site != "same-origin", site != "none" {
            throw ControlAnswer(
                status: 403, reason: "Forbidden", code: "origin",
                message: "the control API is not for web pages of other origins: send the request from a program.")
        }
        guard self.knowsToken(head.fields.first("authorization")) else {
            throw ControlAnswer(
                status: 401, reason: "Unauthorized", fields: ["WWW-Authenticate: Bearer realm=\"wiretape\""], code: "token",
                message:
                    "the control API requires its token: send \"Authorization: Bearer TOKEN\", with the token from --token-file or WIRETAPE_TOKEN."
            )
        }
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

/// What the connections of the control API share: the gate, and the threads that do what is asked for.
///
/// Not Sendable: lives on its event loop.
final class ControlContext {
    /// Connections at once: twice as many as there can be sessions.
    static let connectionLimit = 2 * SessionServer.sessionLimit

    let gate: ControlGate
    let shared: ProxyLoop
    private let service: ControlService
    private let threads: NIOThreadPool
    private let connections = ConnectionRegistry()

    init(gate: ControlGate, shared: ProxyLoop, service: ControlService, threads: NIOThreadPool) {
        self.gate = gate
        self.shared = shared
        self.service = service
        self.threads = threads
    }

    var isFull: Bool { self.connections.count > Self.connectionLimit }

    func add(_ connection: ControlHandler) {
        self.connections.add(connection)
        self.shared.registry.add(connection)
    }

    func remove(_ connection: ControlHandler) {
        self.connections.remove(connection)
        self.shared.registry.remove(connection)
    }

    /// Ends all connections: those that have their answer when it is out.
    func close() {
        for connection in self.connections.all { connection.stop() }
    }

    /// Has a thread do it, and calls back on the loop.
    func answer(_ request: ControlRequest, then: @escaping (ControlAnswer) -> Void) {
        let service = self.service
        let answering = self.threads.runIfActive(eventLoop: self.shared.loop) { service.answer(request) }
        answering.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let answer): then(answer)
            case .failure: then(.stopping)
            }
        }
    }
}
