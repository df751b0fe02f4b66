internal import CassettePlayback
internal import TapeBytes

/// What `when` of a rule says about a request, in the filter language.
struct RuleCondition: Sendable {
    let text: String
    let expression: FilterExpression

    /// What is known of a condition before the body has been read.
    enum Likelihood {
        case no, yes
        /// The body decides.
        case open
    }

    init(_ node: RuleNode, _ reader: RuleReader) throws(SettingSyntaxError) {
        self.text = try reader.text(node, "\"when\"")
        do {
            self.expression = try FilterParser.parse(self.text, setting: "when")
        } catch {
            throw reader.error(node.line, error.message)
        }
        if let problem = Self.problem(self.expression) { throw reader.error(node.line, problem) }
    }

    /// What of an expression a request cannot answer.
    private static func problem(_ expression: FilterExpression) -> String? {
        switch expression {
        case .flag(let term), .pattern(let term, _): self.problem(term)
        case .status: self.problem(.status)
        case .grpc: self.problem(.grpc)
        case .version: nil
        case .not(let inner): self.problem(inner)
        case .and(let left, let right), .or(let left, let right): self.problem(left) ?? self.problem(right)
        }
    }

    private static func problem(_ term: FilterTerm) -> String? {
        let letters = "\"~\(term.rawValue)\""
        switch term {
        case .all, .http, .method, .url, .domain, .header, .requestHeader, .body, .requestBody, .type, .requestType, .version, .webSocket:
            return nil
        case .status, .responseBody, .responseHeader, .responseType, .asset, .answered, .unanswered, .failed, .grpc:
            return
                "when: \(letters) is about the answer, and a rule is chosen by its request alone: use a condition about the request, for example \"~u /pets\""
        case .destination:
            return "when: \(letters) is about the address, which is not known before a connection is made: use \"~d\" for the host"
        }
    }

    /// What of the condition a tunnel cannot answer, of which only the host and its port are known.
    var problemOfTunnel: String? {
        Self.terms(self.expression).first { ![.all, .http, .domain, .url].contains($0) }.map { term in
            "a fault of kind \"tls\" happens before any request is sent, and \"~\(term.rawValue)\" is about the request: use \"~d\" for the host"
        }
    }

    private static func terms(_ expression: FilterExpression) -> [FilterTerm] {
        switch expression {
        case .flag(let term), .pattern(let term, _): [term]
        case .status: [.status]
        case .grpc: [.grpc]
        case .version: [.version]
        case .not(let inner): self.terms(inner)
        case .and(let left, let right), .or(let left, let right): self.terms(left) + self.terms(right)
        }
    }

    /// Whether the condition looks at the body.
    var needsBody: Bool { Self.needsBody(self.expression) }

    private static func needsBody(_ expression: FilterExpression) -> Bool {
        switch expression {
        case .pattern(.body, _), .pattern(.requestBody, _): true
        case .flag, .status, .grpc, .version, .pattern: false
        case .not(let inner): self.needsBody(inner)
        case .and(let left, let right), .or(let left, let right): self.needsBody(left) || self.needsBody(right)
        }
    }

    // MARK: Asking

    func holds(_ request: inout RequestView) -> Bool { Self.holds(self.expression, &request) }

    private static func holds(_ expression: FilterExpression, _ request: inout RequestView) -> Bool {
        switch expression {
        case .flag(.webSocket): request.facts.opensWebSocket
        case .flag: true
        case .status, .grpc: false
        case .version(let version): request.facts.version == version
        case .pattern(let term, let pattern): self.holds(term, pattern, &request)
        case .not(let inner): !self.holds(inner, &request)
        case .and(let left, let right): self.holds(left, &request) && self.holds(right, &request)
        case .or(let left, let right): self.holds(left, &request) || self.holds(right, &request)
        }
    }

    private static func holds(_ term: FilterTerm, _ pattern: FilterPattern, _ request: inout RequestView) -> Bool {
        switch term {
        case .method: return pattern.matches(request.facts.method)
        case .url: return pattern.matches(request.facts.url)
        case .domain:
            if pattern.matches(request.host) { return true }
            return request.facts.headers.firstIndex(of: "host").map { pattern.matches(request.facts.headers, valueAt: $0) } == true
        case .header, .requestHeader: return pattern.matches(request.facts.headers)
        case .type, .requestType:
            return request.facts.headers.contains("content-type")
                && request.facts.headers.values("content-type").contains { pattern.matches($0) }
        case .body, .requestBody: return request.bodyMatches(pattern)
        case .all, .asset, .answered, .destination, .failed, .grpc, .http, .responseBody, .responseHeader, .responseType, .status,
            .unanswered, .version, .webSocket:
            return false
        }
    }

    /// The same before the body has been read.
    func likelihood(_ request: inout RequestView) -> Likelihood { Self.likelihood(self.expression, &request) }

    private static func likelihood(_ expression: FilterExpression, _ request: inout RequestView) -> Likelihood {
        switch expression {
        case .pattern(.body, _), .pattern(.requestBody, _): return .open
        case .flag, .status, .grpc, .version, .pattern: return self.holds(expression, &request) ? .yes : .no
        case .not(let inner):
            return switch self.likelihood(inner, &request) {
            case .no: .yes
            case .yes: .no
            case .open: .open
            }
        case .and(let left, let right):
            let first = self.likelihood(left, &request)
            guard first != .no else { return .no }
            let second = self.likelihood(right, &request)
            return second == .no ? .no : first == .open || second == .open ? .open : .yes
        case .or(let left, let right):
            let first = self.likelihood(left, &request)
            guard first != .yes else { return .yes }
            let second = self.likelihood(right, &request)
            return second == .yes ? .yes : first == .open || second == .open ? .open : .no
        }
    }

    /// The smallest part that does not hold, as text; nil if the condition holds.
    func failing(_ request: inout RequestView) -> String? { Self.failing(self.expression, &request) }

    private static func failing(_ expression: FilterExpression, _ request: inout RequestView) -> String? {
        guard !self.holds(expression, &request) else { return nil }
        guard case .and(let left, let right) = expression else { return "\(expression)" }
        return self.failing(left, &request) ?? self.failing(right, &request)
    }

    // MARK: The part of the URL that decided

    /// The conditions about the URL that hold for a request, outside of `!`, in their order.
    func matchingURLPatterns(_ url: String) -> [FilterPattern] { Self.urlPatterns(self.expression).filter { $0.matches(url) } }

    /// All conditions about the URL outside of `!`.
    var urlPatterns: [FilterPattern] { Self.urlPatterns(self.expression) }

    private static func urlPatterns(_ expression: FilterExpression) -> [FilterPattern] {
        switch expression {
        case .pattern(.url, let pattern): [pattern]
        case .flag, .status, .grpc, .version, .pattern, .not: []
        case .and(let left, let right), .or(let left, let right): self.urlPatterns(left) + self.urlPatterns(right)
        }
    }
}
