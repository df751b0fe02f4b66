internal import TapeCore
internal import TapeProxy

/// What came of a run: for people, for scripts, and as an exit code.
struct RunSummary {
    var path: String
    var plan: RecordingPlan
    var counts: ProxyCounts
    var verdict: Verdict
    /// Nil where nothing was recorded.
    var recorder: RecorderStatus?
    /// Exchanges in the replayed cassette.
    var recorded: Int
    var childStatus: Int32?

    var exitStatus: Int32 {
        if let childStatus, childStatus != 0 { return childStatus }
        if self.counts.unreadable > 0 { return ExitStatus.failed }
        if let recorder, recorder.lost > 0 || recorder.firstProblem != nil { return ExitStatus.failed }
        if let recorder, !recorder.leaks.isEmpty { return ExitStatus.leak }
        return self.verdict.misses > 0 ? ExitStatus.misses : ExitStatus.done
    }

    // MARK: For people

    func report(to screen: RunScreen) {
        for report in self.verdict.reports { screen.complain("miss: \(report.description)") }
        if self.verdict.unreportedMisses > 0 {
            screen.complain("and \(Quantity.count(self.verdict.unreportedMisses, "more miss", plural: "more misses")).")
        }
        if let problem = self.counts.firstUnreadable {
            screen.complain(
                "\(Quantity.count(self.counts.unreadable, "recorded answer")) could not be replayed (\(problem)): correct or restore the cassette."
            )
        }
        if self.plan.replays { screen.say(self.replayLine) }
        if let recorder {
            screen.say(self.recordLine(recorder))
            if recorder.lost > 0 {
                screen.complain(
                    "\(Quantity.count(recorder.lost, "exchange")) not recorded (\(recorder.firstProblem ?? "the disk failed")): make room and record again."
                )
            } else if let problem = recorder.firstProblem {
                screen.complain("recording was held up (\(problem)); nothing is lost.")
            }
        }
        for leak in self.recorder?.leaks ?? [] {
            screen.complain("a secret is still in \"\(self.path)\": \(leak); remove the file, or try \"wiretape redact \(self.path)\".")
        }
        if self.counts.tlsFailures > 0 {
            screen.say("\(Quantity.count(self.counts.tlsFailures, "TLS handshake")) failed: the lines above say which, and what to do.")
        }
        if self.counts.tunnels > 0 {
            screen.say("\(Quantity.count(self.counts.tunnels, "tunnel")) passed through unread: what is inside is not recorded.")
        }
    }

    private var replayLine: String {
        var text = "replayed \(self.verdict.hits) of \(Quantity.count(self.recorded, "exchange")) from \(self.plan.path)"
        if self.verdict.repeatedHits > 0 { text += ", \(self.verdict.repeatedHits) of them again" }
        text += self.verdict.misses > 0 ? ", \(Quantity.count(self.verdict.misses, "miss", plural: "misses"))" : ""
        if !self.verdict.unused.isEmpty { text += ", \(self.verdict.unused.count) unused" }
        return text + "."
    }

    private func recordLine(_ recorder: RecorderStatus) -> String {
        if self.plan.target == .replace, recorder.recorded == 0, recorder.lost == 0 {
            let next = self.counts.tunnels > 0 ? "." : ": does the program use its proxy settings?"
            return "nothing was recorded, so \(self.plan.path) stays as it was\(next)"
        }
        var text = "recorded \(Quantity.count(recorder.recorded, "exchange")) (\(Quantity.bytes(self.counts.bytes))) in \(self.path)"
        if self.path != self.plan.path {
            let reason = recorder.lost > 0 ? "it is not whole" : recorder.leaks.isEmpty ? "the command failed" : "a secret is in it"
            text += "; \(reason), so \(self.plan.path) stays as it was"
        } else if self.plan.mode == .once, let childStatus, childStatus != 0 {
            text += "; the command failed, and the next run replays this: remove it to record again"
        }
        return text + "."
    }

    // MARK: For scripts

    var json: String {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("cassette")
        writer.string(self.path)
        writer.member("mode")
        writer.string(self.plan.mode.rawValue)
        self.number("recorded", self.recorder?.recorded, &writer)
        self.number("lost", self.recorder?.lost, &writer)
        if let leaks = self.recorder?.leaks.count, leaks > 0 { self.number("leaks", leaks, &writer) }
        if self.plan.replays {
            self.number("hits", self.verdict.hits, &writer)
            self.number("misses", self.verdict.misses, &writer)
            self.number("unreadable", self.counts.unreadable, &writer)
            self.number("unused", self.verdict.unused.count, &writer)
        }
        self.number("bytes", self.counts.bytes, &writer)
        self.number("tunnels", self.counts.tunnels, &writer)
        self.number("tlsFailures", self.counts.tlsFailures, &writer)
        self.number("exit", Int(self.exitStatus), &writer)
        if !self.verdict.reports.isEmpty {
            writer.member("reports")
            writer.beginArray(.inline)
            for report in self.verdict.reports {
                writer.element()
                writer.string(report.description)
            }
            writer.endArray()
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func number(_ name: StaticString, _ value: Int?, _ writer: inout JSONWriter) {
        guard let value else { return }
        writer.member(name)
        writer.integer(value)
    }
}
