public import CassettePlayback
public import CassetteStore
public import TapeBytes
public import TapeRecorder
package import TrafficRules

/// The state or the result of a session: totals and, if requested, a report on each exchange.
public struct SessionReport: Sendable {
    public var name: SessionName
    /// Free text from the order; nil if it had none.
    public var label: String?
    /// The cassette's name in the server's folder.
    public var cassette: String
    public var mode: RecordMode
    public var isOpen: Bool
    /// Exchanges in the replayed cassette.
    public var recorded: Int
    public var counts: ProxyCounts
    public var verdict: Verdict
    /// The result for each exchange; nil if not requested.
    public var details: ReplayReport?
    /// nil if nothing is recorded.
    public var recorder: RecorderStatus?
    /// The recording's file, which differs from the cassette's if the old cassette was kept. nil if nothing was recorded, and before the
    /// end.
    public var file: String?
    /// Why the cassette could not be closed; nil if it was.
    public var problem: String?

    /// The replay flaws that count as failures.
    public var failOn = FailureRule.standard
    /// What became of each traffic rule.
    package var rules: [RuleReport] = []
    /// What the client did with answers that failed; nil if nobody asks.
    package var clientVerdict: [ClientVerdict.Finding]?
    /// A message that the cassette is expired but was replayed anyway; nil otherwise.
    public var expiry: String?

    /// The exit code of a run with this result: 0, or the smallest `RunFailure`.
    public var exitStatus: Int {
        if self.problem != nil || self.verdict.unserved > 0 { return Int(RunFailure.failed.rawValue) }
        let failures = RunFailure.all(
            failOn: self.failOn, verdict: self.verdict, counts: self.counts, recorder: self.recorder, rules: self.rules,
            findings: self.clientVerdict?.count ?? 0)
        return Int(failures.min()?.rawValue ?? 0)
    }

    /// What a person should read if `exitStatus` is not 0: each problem with its next step, as `replay` and `record` print them. Empty if
    /// nothing is wrong or the report has no details.
    public var lines: [String] {
        var lines = self.details?.flawLines(naming: self.failOn.failing.union([.miss])) ?? []
        if let problem = self.problem ?? self.recorder?.firstProblem?.message { lines.append(problem) }
        if let lost = self.recorder?.lost, lost > 0 { lines.append("\(lost) of the recorded exchanges were lost.") }
        for leak in self.recorder?.leaks ?? [] {
            lines.append("a secret is still in \"\(self.file ?? self.cassette)\": \(leak); remove the file, or try \"wiretape redact\".")
        }
        lines += self.rules.flatMap { RuleLines.lines(of: $0) }.filter(\.isComplaint).map(\.text)
        lines += (self.clientVerdict ?? []).map { RuleLines.line(of: $0) }
        if let unreadable = self.counts.firstUnreadable { lines.append("a recorded answer could not be read: \(unreadable)") }
        return lines
    }

    /// Writes one JSON object.
    public func write(into writer: inout JSONWriter) {
        writer.beginObject(.inline)
        writer.member("id")
        writer.string(self.name.text)
        if let label {
            writer.member("label")
            writer.string(label)
        }
        writer.member("state")
        writer.string(self.isOpen ? "open" : "closed")
        writer.member("cassette")
        writer.string(self.cassette)
        writer.member("mode")
        writer.string(self.mode.rawValue)
        writer.member("exit")
        writer.integer(self.exitStatus)
        writer.member("failOn")
        writer.string(self.failOn.description)
        if let expiry {
            writer.member("expired")
            writer.string(expiry)
        }
        writer.member("exchanges")
        writer.integer(self.recorded)
        writer.member("verdict")
        self.writeVerdict(&writer)
        if self.recorder != nil {
            writer.member("recording")
            self.writeRecording(&writer)
        }
        if !self.rules.isEmpty {
            writer.member("rules")
            RuleLines.write(self.rules, to: &writer)
        }
        if let clientVerdict {
            writer.member("client")
            RuleLines.write(clientVerdict, to: &writer)
        }
        writer.member("traffic")
        Self.write(
            [
                ("bytes", self.counts.bytes), ("tunnels", self.counts.tunnels), ("malformed", self.counts.malformed),
                ("tlsFailures", self.counts.tlsFailures),
            ], &writer)
        if let details {
            writer.member("text")
            writer.string(self.lines.joined(separator: "\n"))
            writer.member("report")
            writer.raw(details.json.last == UInt8(ascii: "\n") ? Array(details.json.dropLast()) : details.json)
        }
        writer.endObject()
    }

    private func writeVerdict(_ writer: inout JSONWriter) {
        writer.beginObject(.inline)
        for (name, count) in [
            ("hits", self.verdict.hits), ("repeatedHits", self.verdict.repeatedHits), ("forwarded", self.verdict.forwarded),
            ("unreached", self.verdict.unreached), ("answeredByRules", self.verdict.answeredByRules),
            ("misses", self.verdict.misses), ("orderViolations", self.verdict.orderViolations), ("unused", self.verdict.unused.count),
            ("unreadable", self.counts.unreadable),
        ] {
            writer.member(named: name)
            writer.integer(count)
        }
        writer.endObject()
    }

    private func writeRecording(_ writer: inout JSONWriter) {
        writer.beginObject(.inline)
        if let file {
            writer.member("file")
            writer.string(file)
        }
        writer.member("recorded")
        writer.integer(self.recorder?.recorded ?? 0)
        writer.member("lost")
        writer.integer(self.recorder?.lost ?? 0)
        if let problem = self.problem ?? self.recorder?.firstProblem?.message {
            writer.member("problem")
            writer.string(problem)
        }
        if let unsearched = self.recorder?.unsearchedExchanges, unsearched.count > 0 {
            writer.member("unsearched")
            writer.integer(unsearched.count)
        }
        if let unchecked = self.recorder?.unchecked, unchecked > 0 {
            writer.member("unchecked")
            writer.integer(unchecked)
        }
        if let leaks = self.recorder?.leaks, !leaks.isEmpty {
            writer.member("leaks")
            writer.beginArray(.inline)
            for leak in leaks {
                writer.element()
                writer.string(leak.description)
            }
            writer.endArray()
        }
        if let words = self.recorder?.namedDigests.words, !words.isEmpty {
            writer.member("namedDigests")
            writer.beginArray(.inline)
            for text in words {
                writer.element()
                writer.string(text)
            }
            writer.endArray()
        }
        writer.endObject()
    }

    private static func write(_ counts: [(String, Int)], _ writer: inout JSONWriter) {
        writer.beginObject(.inline)
        for (name, count) in counts {
            writer.member(named: name)
            writer.integer(count)
        }
        writer.endObject()
    }
}
