internal import CassetteModel
internal import CassettePlayback
internal import TapeExchange
internal import TrafficRules

extension ProxyAnswer {
    /// The answer to a request that a rule blocks.
    static func blocked(status: Int, by names: [String]) -> ProxyAnswer {
        ProxyAnswer(
            status: status, reason: Self.reason(status), error: "blocked",
            text: "a traffic rule blocks this request: \(names.map { "\"\($0)\"" }.joined(separator: ", ")).")
    }

    /// The answer that a fault gives in place of the real one; nil if the fault gives none.
    ///
    /// - Parameter rule: the name of the fault's rule.
    init?(_ fault: Fault, rule: String, origin: Origin) {
        let by = "the traffic rule \"\(rule)\" says so"
        switch fault.kind {
        case .status(let status, let headers):
            self.init(
                status: status, reason: Self.reason(status), fields: Self.fields(headers),
                text: "the traffic rule \"\(rule)\" answers with this status.")
        case .refuse:
            self = .failure(Failure(kind: .refused, message: "\"\(origin.authority)\" refused the connection: \(by)."))
        case .dns:
            self = .failure(Failure(kind: .dns, message: "\"\(origin.host)\" has no address: \(by)."))
        case .tls(let alert):
            self = .failure(Failure(kind: .tls, message: "TLS with \"\(origin.authority)\" failed with alert \(alert): \(by)."))
        case .grpc, .close, .webSocketClose, .reset, .timeout, .stall, .truncate, .cut, .garbage, .corrupt, .slice, .reorder, .repeat,
            .drop:
            return nil
        }
    }

    /// Whether a fault answers in place of the real answer.
    static func isMade(by fault: Fault) -> Bool {
        switch fault.kind {
        case .status, .grpc, .refuse, .dns, .tls: true
        case .close, .webSocketClose, .reset, .timeout, .stall, .truncate, .cut, .garbage, .corrupt, .slice, .reorder, .repeat, .drop: false
        }
    }

    private static func fields(_ headers: HeaderFields) -> [(String, String)] {
        (0..<headers.count).compactMap { index in
            let line = String(decoding: headers.line(at: index), as: UTF8.self)
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
    }
}

extension LocalAnswer {
    /// An answer of the proxy's own, as one that can be recorded.
    ///
    /// - Parameter rule: the index of the rule that makes it.
    init(_ answer: ProxyAnswer, rule: Int) {
        var content = PauseDesk.Content()
        content.status = answer.status
        content.reason = answer.reason
        content.headers.append(name: "Content-Type", value: answer.contentType)
        if let error = answer.error { content.headers.append(name: "Wiretape-Error", value: error) }
        content.body = answer.body
        self.init(content, rule: rule)
    }
}

/// What the proxy sends of an answer: its own answers are `ProxyAnswer`s.
typealias AnswerItem = AnswerStep<ProxyAnswer>

extension MappedTarget {
    var origin: Origin? {
        guard case .absolute(let origin, _)? = try? RequestTarget(self.url, method: "GET") else { return nil }
        return origin
    }
}
