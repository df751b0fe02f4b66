internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import LocalHTTP
internal import TapeBytes
internal import TrafficRules

/// Shows what rules would do with a recorded exchange, and writes rules for exchanges like it.
struct RuleTrialService {
    /// Longer bodies are not loaded.
    private static let loadLimit = 64 << 20

    let rules: InspectedRules
    let interaction: Interaction
    let reader: BodyReader

    // MARK: Rules for such exchanges

    /// The text of a rule that people edit before they add it.
    func proposal(_ action: ExchangeRule.Action) throws -> [UInt8] {
        var answer: ExchangeRule.Answer?
        if action == .respond, let response = self.interaction.response {
            var body: [UInt8]?
            if response.body != nil {
                body = try self.bytes().contents(.response, as: .decoded, part: nil, message: nil).load(limit: InspectedRules.textLimit / 2)
                guard body != nil else {
                    throw LocalHTTP.LocalAnswer(
                        status: 413, reason: "Content Too Large", code: "too-large",
                        message: "the body has more than 2 MiB: write \"respond\" with \"file\" into the settings file.")
                }
            }
            answer = ExchangeRule.Answer(
                status: response.status, reason: String(validating: response.reason, as: UTF8.self) ?? "", headers: response.headers,
                body: body)
        }
        let names = Set(self.rules.engine.rules.rules.map(\.name))
        let rule = ExchangeRule(method: self.interaction.request.method, url: self.interaction.request.url)
        return RuleService.text(try rule.text(action, answer: answer, besides: names))
    }

    private func bytes() -> RecordedBytes { RecordedBytes(interaction: self.interaction, reader: self.reader) }

    private func wire(_ side: MessageChoice) throws -> [UInt8]? {
        guard self.interaction.body(of: side).body != nil else { return nil }
        return try self.bytes().contents(side, as: .raw, part: nil, message: nil).load(limit: Self.loadLimit)
    }

    // MARK: Trials

    /// What each rule would do, and what the request and the answer would become.
    ///
    /// The exchange counts as the first of its kind in a run that has just begun.
    func trial(_ rules: TrafficRules) throws -> [UInt8] {
        let request = self.interaction.request
        let facts = RequestFacts(
            method: request.method, url: request.url, version: request.version, headers: request.headers, body: try self.wire(.request),
            opensWebSocket: self.interaction.opensWebSocket, isGRPC: GRPCType(request.headers) != nil)
        var answer: ExchangeTrial.Answer?
        if let response = self.interaction.response {
            let head = ResponseHeadFacts(
                status: response.status, reason: String(decoding: response.reason, as: UTF8.self), headers: response.headers)
            answer = ExchangeTrial.Answer(head: head, body: try self.wire(.response) ?? [])
        }
        let trial = ExchangeTrial(self.rules.engine.copy(with: rules), facts, answer: answer)
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("rules")
        writer.beginArray(.inline)
        for rule in trial.trials {
            writer.element()
            Self.write(rule, &writer)
        }
        writer.endArray()
        for (name, change) in [("request", trial.request), ("answer", trial.answer)] {
            guard let change else { continue }
            writer.member(named: name)
            writer.beginObject(.inline)
            for (side, lines) in [("before", change.before), ("after", change.after)] {
                writer.member(named: side)
                writer.string(lines.joined(separator: "\n"))
            }
            writer.endObject()
        }
        for (name, lines) in [("effects", trial.effects), ("notes", trial.notes)] {
            writer.member(named: name)
            writer.beginArray(.inline)
            for line in lines {
                writer.element()
                writer.string(line)
            }
            writer.endArray()
        }
        writer.endObject()
        return writer.bytes + [10]
    }

    private static func write(_ trial: TrafficRuleTrial, _ writer: inout JSONWriter) {
        let (outcome, words): (StaticString, String) =
            switch trial.outcome {
            case .applies: ("applies", "applies")
            case .off: ("off", "is switched off")
            case .unmatched(let part): ("unmatched", "does not match: \(part) does not hold")
            case .preceded(let name): ("preceded", "matches, but \"\(name)\" comes first")
            case .notDrawn(let reason): ("not-drawn", "matches, but does not apply: \(reason)")
            }
        writer.beginObject(.inline)
        for (name, text) in [("name", trial.name), ("kind", trial.kind.rawValue), ("outcome", outcome.description), ("words", words)] {
            writer.member(named: name)
            writer.string(text)
        }
        writer.endObject()
    }
}
