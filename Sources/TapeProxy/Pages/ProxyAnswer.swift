internal import CassetteModel
internal import TapeExchange
internal import TapeRecorder
internal import TrafficRules

/// A response that the proxy itself sends in place of an origin.
///
/// Mostly plain text with a `Wiretape-Error` field, so that it is not mistaken for the origin's. Never repeats header values or bodies.
struct ProxyAnswer: Sendable {
    var status: Int
    var reason: String
    /// The value of the `Wiretape-Error` field; nil if the answer is not an error.
    var error: String?
    var fields: [(String, String)]
    var contentType: String
    var body: [UInt8]

    /// A plain-text answer. A missing newline at the end is added. With a status that has no content, the text is left out (RFC 9110, 6.4.1
    /// and 15.3.6): a rule may choose such a status.
    init(status: Int, reason: String, error: String? = nil, fields: [(String, String)] = [], text: String) {
        self.status = status
        self.reason = reason
        self.error = error
        self.fields = fields
        self.contentType = "text/plain; charset=utf-8"
        self.body = [204, 205, 304].contains(status) ? [] : Array((text.hasSuffix("\n") ? text : text + "\n").utf8)
    }

    /// A page or a file.
    init(contentType: String, body: [UInt8], fields: [(String, String)] = []) {
        self.status = 200
        self.reason = "OK"
        self.fields = fields
        self.contentType = contentType
        self.body = body
    }

    /// The body as text, without its final newline.
    var text: String {
        String(decoding: self.body.last == UInt8(ascii: "\n") ? self.body.dropLast() : self.body[...], as: UTF8.self)
    }

    /// A request that is not HTTP or is too large.
    static func malformed(_ error: MessageError) -> ProxyAnswer {
        ProxyAnswer(status: error.status, reason: reason(error.status), error: "bad-request", text: error.message)
    }

    /// Replaces the response of a failed exchange, in the same way live and replayed.
    static func failure(_ failure: Failure) -> ProxyAnswer {
        switch failure.kind {
        case .timeout:
            ProxyAnswer(status: 504, reason: "Gateway Timeout", error: failure.kind.rawValue, text: failure.message)
        case .dns, .refused, .unreachable, .reset, .tls, .truncated, .cancelled, .malformed:
            ProxyAnswer(status: 502, reason: "Bad Gateway", error: failure.kind.rawValue, text: failure.message)
        case .unprocessed:
            ProxyAnswer(
                status: 503, reason: "Service Unavailable", error: failure.kind.rawValue, fields: [("Retry-After", "1")],
                text: "\(failure.message) The origin has not acted on the request: it can be sent again.")
        }
    }

    /// A request that the cassette does not contain. 424 is a client error that no common retry policy covers: curl, urllib3, Alamofire and
    /// the cloud SDKs retry 408, 425, 429 and 5xx.
    static func miss(_ text: String) -> ProxyAnswer {
        ProxyAnswer(status: 424, reason: "Not In Cassette", error: "miss", text: self.missPrefix + text)
    }

    /// Clients print the text among their own messages, and often nothing else of the answer.
    static let missPrefix = "wiretape: miss: "

    static func authenticationRequired(
        _ text: String = "this proxy requires a user and a password: put them into the proxy's URL, http://USER:PASSWORD@HOST:PORT."
    ) -> ProxyAnswer {
        ProxyAnswer(
            status: 407, reason: "Proxy Authentication Required", error: "proxy-authentication",
            fields: [("Proxy-Authenticate", "Basic realm=\"wiretape\"")], text: text)
    }

    /// A CONNECT to a host that is refused by --refuse.
    static func refusedTunnel(_ authority: String) -> ProxyAnswer {
        ProxyAnswer(
            status: 403, reason: "Forbidden", error: "refused", text: "tunnels to \"\(authority)\" are refused here: see --refuse.")
    }

    static let tooManyConnections = ProxyAnswer(
        status: 503, reason: "Service Unavailable", error: "connections",
        text: "the proxy has reached its connection limit: close some connections, or raise the limit of open files (ulimit -n).")

    static let diskFull = ProxyAnswer(
        status: 507, reason: "Insufficient Storage", error: "disk-full",
        text: "the cassette's disk is full and --on-disk-full refuse is set: free some space, or record with --on-disk-full pass.")

    /// A request that cannot be recorded, with `--on-disk-full refuse`.
    static func unrecorded(_ problem: RecorderProblem) -> ProxyAnswer {
        guard problem.code != .diskFull else { return .diskFull }
        return ProxyAnswer(
            status: 507, reason: "Insufficient Storage", error: "unrecorded",
            text: "the cassette cannot be written and --on-disk-full refuse is set: see the proxy's messages, or record with "
                + "--on-disk-full pass.")
    }

    /// A request for a host other than that of its tunnel (RFC 9110, 15.5.20).
    static func misdirected(to authority: String, in tunnel: String) -> ProxyAnswer {
        ProxyAnswer(
            status: 421, reason: "Misdirected Request", error: "host",
            text: "the request is for \"\(authority)\", and its tunnel leads to \"\(tunnel)\": send it on another connection.")
    }

    /// - Parameter rules: the traffic rules that send the request there, if it was for another URL.
    static func loop(_ authority: String, rules: [String] = []) -> ProxyAnswer {
        let names = rules.map { "\"\($0)\"" }.joined(separator: ", ")
        return ProxyAnswer(
            status: 508, reason: "Loop Detected", error: "loop",
            text: rules.isEmpty
                ? "\"\(authority)\" is this proxy itself: send the request to an origin."
                : "\"\(authority)\" is this proxy itself, and traffic rules send the request there (\(names)): write the URL of another server into them."
        )
    }

    /// A request that has passed more Wiretape proxies than anyone would chain.
    static let ring = ProxyAnswer(
        status: 508, reason: "Loop Detected", error: "loop",
        text:
            "the request has passed through more than \(ProxyHop.limit) wiretape proxies that name each other as their upstream proxy: start one of them with another --upstream-proxy, or with --no-upstream-proxy '*'."
    )

    static func requestTimeout(_ text: String) -> ProxyAnswer {
        ProxyAnswer(status: 408, reason: "Request Timeout", error: "timeout", text: text)
    }

    /// The deadline that the client set for its call has passed.
    static func deadline(_ text: String) -> ProxyAnswer {
        ProxyAnswer(status: 504, reason: "Gateway Timeout", error: "timeout", text: text)
    }

    static func reason(_ status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 414: "URI Too Long"
        case 417: "Expectation Failed"
        case 431: "Request Header Fields Too Large"
        case 501: "Not Implemented"
        case 505: "HTTP Version Not Supported"
        default: StatusText.reason(status).isEmpty ? "Error" : StatusText.reason(status)
        }
    }

    /// The same answer, made visible to the page that sent the request: a browser shows a page the errors of another origin only with these
    /// fields (Fetch, 3.3). Answers that are not errors, ask for a password or refuse the page itself are left unchanged.
    func visible(to request: HeaderFields) -> ProxyAnswer {
        guard self.error != nil, self.status != 407, self.status != 403, request.contains("origin"), let origin = request.first("origin")
        else { return self }
        var answer = self
        answer.fields += Self.sharing(with: origin) + [("Access-Control-Expose-Headers", "Wiretape-Error")]
        return answer
    }

    private static func sharing(with origin: String) -> [(String, String)] {
        [("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true"), ("Vary", "Origin")]
    }

    /// Allows a request for which a page has sent a preflight (Fetch, 4.8). The request itself is then answered from the cassette, or is a
    /// miss that the page can see.
    static func preflight(for request: HeaderFields) -> ProxyAnswer {
        var fields = self.sharing(with: request.first("origin") ?? "*")
        if let method = request.first("access-control-request-method") { fields.append(("Access-Control-Allow-Methods", method)) }
        let names = request.values("access-control-request-headers")
        if !names.isEmpty { fields.append(("Access-Control-Allow-Headers", names.joined(separator: ", "))) }
        if request.first("access-control-request-private-network") == "true" {
            fields.append(("Access-Control-Allow-Private-Network", "true"))
        }
        // The browser asks again in the next run, which may use another cassette.
        fields.append(("Access-Control-Max-Age", "0"))
        return ProxyAnswer(
            status: 200, reason: "OK", fields: fields, text: "the cassette has no answer to this preflight: wiretape allows it.")
    }

    /// The answer to a TRACE or OPTIONS request that may not be forwarded (RFC 9110, 9.3.7 and 9.3.8). A trace omits the fields that
    /// contain credentials.
    static func lastRecipient(of head: RequestHead) -> ProxyAnswer {
        guard head.method == "TRACE" else {
            var answer = ProxyAnswer(contentType: "text/plain; charset=utf-8", body: [])
            answer.fields = [("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, CONNECT")]
            return answer
        }
        let fields = head.fields.removing("cookie").removing("authorization").removing("proxy-authorization")
        let line = Array("\(head.method) \(head.target) \(head.version)\r\n".utf8)
        return ProxyAnswer(contentType: "message/http", body: line + fields.bytes + Array("\r\n".utf8))
    }

    /// An answer with this status has not even a length (RFC 9110, 8.6).
    var isBodiless: Bool { self.status == 204 || self.status == 304 }

    /// The status and the fields.
    var head: ResponseHead {
        var fields = HeaderFields()
        for (name, value) in self.fields { fields.append(name: name, value: value) }
        if let error { fields.append(name: "Wiretape-Error", value: error) }
        if !self.isBodiless {
            fields.append(name: "Content-Type", value: self.contentType)
            fields.append(name: "X-Content-Type-Options", value: "nosniff")
            fields.append(name: "Content-Length", value: String(self.body.count))
        }
        return ResponseHead(version: .http11, status: self.status, reason: Array(self.reason.utf8), fields: fields)
    }

    /// The answer as HTTP/1 bytes.
    func bytes(method: String, persistence: ConnectionOption) -> [UInt8] {
        let head = self.head
        var bytes = Array("HTTP/1.1 \(self.status) \(self.reason)\r\n".utf8) + head.fields.bytes
        switch persistence {
        case .close: bytes += "Connection: close\r\n".utf8
        case .keepAlive: bytes += "Connection: keep-alive\r\n".utf8
        case .none: break
        }
        bytes += "\r\n".utf8
        return bytes + (method == "HEAD" || self.isBodiless ? [] : self.body)
    }
}
