internal import CassettePlayback
internal import LocalHTTP
internal import TapeBytes

/// Performs requests to the control API and answers them.
///
/// Waits for the disk and for clients to end, so it must not be used on an event loop.
struct ControlService: Sendable {
    let server: SessionServer

    func answer(_ request: LocalRequest) -> LocalAnswer {
        do {
            switch try ControlRoute(request) {
            case .describe: return LocalAnswer(status: 200, reason: "OK", body: Array(ControlDescription.openAPI.utf8))
            case .create: return self.created(try self.server.open(try SessionOrderReader.read(request.body)))
            case .list: return Self.list(self.server.reports())
            case .show(let name): return Self.one(try self.server.report(on: name))
            case .modify(let name): return Self.one(try self.server.modify(name, try SessionModification(request.body)))
            case .end(let name, let failed): return Self.one(try self.server.end(name, keepsOld: failed))
            }
        } catch {
            return LocalAnswer(error)
        }
    }

    /// The only answer that contains the session's token.
    private func created(_ session: OpenSession) -> LocalAnswer {
        let address = self.server.address
        let proxy = "http://\(session.name):\(session.token.revealed)@\(address)"
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("id")
        writer.string(session.name.text)
        if let label = session.parts.label {
            writer.member("label")
            writer.string(label)
        }
        writer.member("cassette")
        writer.string(session.parts.cassetteName)
        writer.member("mode")
        writer.string(session.session.mode.rawValue)
        writer.member("replays")
        writer.bool(session.session.looksUp)
        writer.member("records")
        writer.bool(session.recorder != nil)
        if !session.parts.notices.isEmpty {
            writer.member("notices")
            writer.beginArray(.inline)
            for notice in session.parts.notices {
                writer.element()
                writer.string(notice)
            }
            writer.endArray()
        }
        writer.member("proxy")
        writer.string(proxy)
        writer.member("reverse")
        writer.string("http://\(address)/\(session.name):\(session.token.revealed)/")
        if let page = session.parts.page {
            writer.member("inspector")
            writer.string(page.address)
        }
        var clientProxy = proxy
        if let port = session.port {
            writer.member("port")
            writer.integer(port)
            writer.member("portProxy")
            let host = address.prefix { $0 != "]" }.hasPrefix("[") ? address.prefix { $0 != "]" } + "]" : address.prefix { $0 != ":" }
            clientProxy = "http://\(host):\(port)"
            writer.string(clientProxy)
        }
        if let client = self.server.configuration.client?(clientProxy) {
            Self.write("env", client.environment, &writer)
            Self.write("trust", client.trust, &writer)
        }
        writer.endObject()
        return LocalAnswer(
            status: 201, reason: "Created", fields: ["Location: /sessions/\(session.name)"], body: writer.bytes + [UInt8(ascii: "\n")])
    }

    private static func write(_ member: String, _ pairs: [(name: String, value: String)], _ writer: inout JSONWriter) {
        writer.member(named: member)
        writer.beginObject(.inline)
        for (name, value) in pairs {
            writer.member(named: name)
            writer.string(value)
        }
        writer.endObject()
    }

    private static func list(_ reports: [SessionReport]) -> LocalAnswer {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("sessions")
        writer.beginArray(.inline)
        for report in reports {
            writer.element()
            report.write(into: &writer)
        }
        writer.endArray()
        writer.endObject()
        return LocalAnswer(status: 200, reason: "OK", body: writer.bytes + [UInt8(ascii: "\n")])
    }

    private static func one(_ report: SessionReport) -> LocalAnswer {
        var writer = JSONWriter()
        report.write(into: &writer)
        return LocalAnswer(status: 200, reason: "OK", body: writer.bytes + [UInt8(ascii: "\n")])
    }
}

/// The operation that a request to the control API asks for.
enum ControlRoute: Sendable, Hashable {
    /// The OpenAPI description.
    case describe
    case list
    case create
    case show(SessionName)
    case modify(SessionName)
    /// - failed: the recording must not replace an older cassette.
    case end(SessionName, failed: Bool)

    /// - Throws: the refusal of an invalid request.
    init(_ request: LocalRequest) throws(LocalAnswer) {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        if request.path == ControlDescription.path {
            guard request.method == "GET" else { throw Self.notAllowed("GET") }
            try Self.check(request.query, allowsFailed: false)
            self = .describe
            return
        }
        guard parts.first?.isEmpty == true, (2...4).contains(parts.count), parts[1] == "sessions" else { throw Self.unknown }
        if parts.count == 2 {
            switch request.method {
            case "GET": self = .list
            case "POST": self = .create
            default: throw Self.notAllowed("GET, POST")
            }
            try Self.check(request.query, allowsFailed: false)
            return
        }
        guard let name = SessionName(String(parts[2])) else {
            throw LocalAnswer(
                status: 404, reason: "Not Found", code: "not-found",
                message: "that is not a valid session ID (IDs are never percent-encoded): GET /sessions lists the open sessions.")
        }
        if parts.count == 4 {
            guard parts[3] == "modify" else { throw Self.unknown }
            guard request.method == "PUT" else { throw Self.notAllowed("PUT") }
            try Self.check(request.query, allowsFailed: false)
            self = .modify(name)
            return
        }
        switch request.method {
        case "GET":
            try Self.check(request.query, allowsFailed: false)
            self = .show(name)
        case "DELETE":
            try Self.check(request.query, allowsFailed: true)
            self = .end(name, failed: request.query == "failed=true")
        default: throw Self.notAllowed("GET, DELETE")
        }
    }

    /// A misspelled query would otherwise be silently ignored.
    private static func check(_ query: String, allowsFailed: Bool) throws(LocalAnswer) {
        guard query.isEmpty || (allowsFailed && (query == "failed=true" || query == "failed=false")) else {
            throw LocalAnswer(
                status: 400, reason: "Bad Request", code: "query",
                message: "the query is unknown: only DELETE /sessions/ID accepts one, \"failed=true\".")
        }
    }

    private static var unknown: LocalAnswer {
        LocalAnswer(
            status: 404, reason: "Not Found", code: "not-found",
            message: "there is nothing at that path: use /sessions, /sessions/ID, /sessions/ID/modify and /openapi.json.")
    }

    /// RFC 9110, 15.5.6: a 405 without Allow is malformed.
    private static func notAllowed(_ methods: String) -> LocalAnswer {
        LocalAnswer(
            status: 405, reason: "Method Not Allowed", fields: ["Allow: \(methods)"], code: "method",
            message: "that method is not allowed for this path: use \(methods).")
    }
}
