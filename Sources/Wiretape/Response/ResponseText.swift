/// An answer and how it came, for people.
enum ResponseText {
    static func lines(_ outcome: RequestOutcome, metrics: RequestMetrics, result: String) -> [String] {
        let attempts = outcome.attempts.enumerated().flatMap { number, attempt in
            self.lines(attempt, number: number, of: outcome.attempts.count)
        }
        let file = outcome.fileURL.map { ["[File]: \($0.path)"] } ?? []
        return attempts + ["[Body]: \(outcome.data.count) octets"] + file + ["[Metrics]: \(metrics)", "[Result]: \(result)"]
    }

    private static func lines(_ attempt: RequestAttempt, number: Int, of count: Int) -> [String] {
        let prefix = count > 1 ? "[Attempt \(number + 1)] " : ""
        let redirects = attempt.redirects.map { "\(prefix)[Redirect]: \(self.line($0.request)) \($0.response.status)" }
        let request = "\(prefix)[Request]: \(attempt.request.map(self.line) ?? "none went out")"
        let response = "\(prefix)[Response]: \(attempt.response.map(self.line) ?? "none came")"
        return redirects + [request, response] + (attempt.error.map { ["\(prefix)[Error]: \($0.message)"] } ?? [])
    }

    private static func line(_ request: TransportRequest) -> String { "\(request.method) \(request.url.absoluteString)" }

    private static func line(_ response: HTTPResponse) -> String {
        "\(response.status)\(response.reason.isEmpty ? "" : " \(response.reason)"), \(response.headers.count) header fields, \(self.word(response.source))"
    }

    private static func word(_ source: ExchangeSource) -> String {
        switch source {
        case .live: "from the network"
        case .recorded(let cassette, let id): "from the network, recorded as exchange \(id) of \"\(cassette)\""
        case .replayed(let cassette, let id): "exchange \(id) of \"\(cassette)\""
        case .stub: "from a stub"
        }
    }
}
