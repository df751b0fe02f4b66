/// What a request to the control API asks for.
enum ControlRoute: Sendable, Hashable {
    case list
    case create
    case show(SessionName)
    /// - failed: what was recorded may not take the place of an older cassette.
    case end(SessionName, failed: Bool)

    /// - Throws: the refusal.
    init(_ request: ControlRequest) throws(ControlAnswer) {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.first?.isEmpty == true, (2...3).contains(parts.count), parts[1] == "sessions" else { throw Self.unknown }
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
            throw ControlAnswer(
                status: 404, reason: "Not Found", code: "not-found",
                message: "no session can have that ID, which is written as it is, without %: GET /sessions lists those there are.")
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

    /// A query that was misspelled would be an order that is silently not followed.
    private static func check(_ query: String, allowsFailed: Bool) throws(ControlAnswer) {
        guard query.isEmpty || (allowsFailed && (query == "failed=true" || query == "failed=false")) else {
            throw ControlAnswer(
                status: 400, reason: "Bad Request", code: "query",
                message: "the query is not known here: DELETE /sessions/ID takes \"failed=true\", and nothing else takes one.")
        }
    }

    private static var unknown: ControlAnswer {
        ControlAnswer(
            status: 404, reason: "Not Found", code: "not-found",
            message: "there is nothing of that path: use /sessions and /sessions/ID.")
    }

    /// RFC 9110, 15.5.6: a 405 without Allow is malformed.
    private static func notAllowed(_ methods: String) -> ControlAnswer {
        ControlAnswer(
            status: 405, reason: "Method Not Allowed", fields: ["Allow: \(methods)"], code: "method",
            message: "that method is not for this path: use \(methods).")
    }
}
