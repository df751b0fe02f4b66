internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import LocalHTTP
internal import TapeBytes

/// Answers a replay page's requests: the replay's state, why requests missed, and what a rule would change.
struct ReplayService {
    let report: ReplayReport
    let path: String

    // MARK: The report

    /// The report, with each miss compared field by field with the nearest recorded requests.
    func bytes() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("hits")
        writer.integer(self.report.verdict.hits)
        writer.member("misses")
        writer.integer(self.report.verdict.misses)
        writer.member("lines")
        writer.beginArray(.inline)
        for line in self.report.lines {
            writer.element()
            writer.string(line)
        }
        writer.endArray()
        writer.member("answers")
        writer.beginArray(.inline)
        for exchange in self.report.exchanges {
            writer.element()
            writer.integer(exchange.answers ?? -1)
        }
        writer.endArray()
        writer.member("missed")
        writer.beginArray(.inline)
        for miss in self.report.verdict.reports {
            writer.element()
            self.write(miss, &writer)
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [10]
    }

    private func write(_ miss: MissReport, _ writer: inout JSONWriter) {
        writer.beginObject(.inline)
        writer.member("request")
        writer.string(miss.request)
        writer.member("text")
        writer.string(miss.description)
        writer.member("next")
        writer.string(miss.nextStep)
        writer.member("nearest")
        writer.beginArray(.inline)
        for near in miss.nearest {
            writer.element()
            writer.beginObject(.inline)
            writer.member("exchange")
            writer.integer(near.index + 1)
            writer.member("request")
            writer.string(near.request)
            writer.member("usedUp")
            writer.bool(near.isUsedUp)
            writer.member("differences")
            writer.beginArray(.inline)
            for difference in near.differences {
                writer.element()
                writer.beginObject(.inline)
                let sides = difference.sides
                for (name, text) in [
                    ("place", sides.place), ("live", sides.here), ("recorded", sides.recorded), ("sentence", difference.description),
                    ("ignore", Self.ignoredPlace(difference)), ("pattern", PatternSuggestion.text(difference)),
                ] {
                    guard let text else { continue }
                    writer.member(named: name)
                    writer.string(text)
                }
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    // MARK: Rules

    /// What rules would do: which misses the nearest exchange would answer, and which recorded requests would become equal.
    static func trial(_ texts: MatchRuleTexts, report: ReplayReport?, path: String) throws -> [UInt8] {
        let cassette = try RecordedCassette(path: path)
        let rules = try cassette.matchRules()
        let merged = RuleTrial.merged(in: cassette, from: rules, to: try rules.adding(texts))
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("equal")
        writer.beginArray(.inline)
        for group in merged {
            writer.element()
            writer.beginArray(.inline)
            for index in group {
                writer.element()
                writer.integer(index + 1)
            }
            writer.endArray()
        }
        writer.endArray()
        writer.member("answered")
        writer.beginArray(.inline)
        for (index, miss) in (report?.verdict.reports ?? []).enumerated() {
            guard let near = miss.nearest.first(where: { Self.covers(texts, $0) }) else { continue }
            writer.element()
            writer.beginObject(.inline)
            writer.member("miss")
            writer.integer(index + 1)
            writer.member("exchange")
            writer.integer(near.index + 1)
            writer.member("usedUp")
            writer.bool(near.isUsedUp)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [10]
    }

    /// The place that `--ignore` takes for a difference: the smallest that is suggested, or the whole method or part of the URL.
    private static func ignoredPlace(_ difference: RequestDifference) -> String? {
        switch difference {
        case .method, .scheme, .host, .port, .path: difference.ignorablePlace ?? difference.sides.place
        default: difference.ignorablePlace
        }
    }

    private static func covers(_ texts: MatchRuleTexts, _ near: NearRequest) -> Bool {
        near.differences.allSatisfy { difference in
            Self.ignoredPlace(difference).map { texts.ignore.contains($0) } == true
                || PatternSuggestion.text(difference).map { texts.patterns.contains($0) } == true
        }
    }

    /// Adds rules to the cassette's head.
    ///
    /// Throws `inUse` while a recorder has the cassette.
    static func write(_ texts: MatchRuleTexts, path: String) throws {
        let cassette = try RecordedCassette(path: path)
        // Fails for rules that the reader of the head would refuse.
        _ = try cassette.matchRules().adding(texts)
        let all = try (cassette.matchTexts() ?? MatchRuleTexts()).adding(texts)
        guard let member = all.headMember else { return }
        let rewriter = try CassetteAppender.open(path, recorder: "wiretape \(Version.current)").finish()
        var head = CassetteHead(try rewriter.reader.head())
        try head.set(member)
        try rewriter.rewrite(order: Array(0..<rewriter.reader.count), head: head.bytes)
    }
}
