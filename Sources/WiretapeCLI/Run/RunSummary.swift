internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes
internal import TapeProxy
internal import TapeRecorder
internal import TrafficRules

/// The outcome of a run: for people, for scripts, and as an exit code.
struct RunSummary {
    var path: String
    var plan: RecordingPlan
    var counts: ProxyCounts
    var replay: ReplayReport
    /// Nil if nothing was recorded.
    var recorder: RecorderStatus?
    var childStatus: Int32?
    /// The words of the command.
    var command: [String] = []
    var failOn = FailureRule.standard
    /// What became of each traffic rule.
    var rules: [RuleReport] = []
    /// What the client did with answers that failed; nil if nobody asks.
    var clientVerdict: [ClientVerdict.Finding]?
    /// What an isolated command did on the network; nil if it was not isolated.
    var isolation: IsolationLines?
    /// The exchanges with broken uploads, and the number of defects; nil if nobody asks.
    var lint: RunLint?
    /// The outcome of `--review`; nil if there was no review.
    var review: RecordingReview.Outcome?
    /// The address of the command's proxy; nil if the command was not given one, as with a browser.
    var address: String?
    /// Whether the old cassette stays if the command failed.
    var keepsOnFailure = true

    private var verdict: Verdict { self.replay.verdict }

    /// The command's own exit code takes precedence. Of several reasons for failure, the smallest code is used.
    var exitStatus: Int32 {
        if let childStatus, childStatus != 0 { return childStatus }
        let failures = RunFailure.all(
            failOn: self.failOn, verdict: self.verdict, counts: self.counts, recorder: self.recorder, rules: self.rules,
            findings: self.clientVerdict?.count ?? 0, escapes: self.isolation?.report.refusals ?? 0, defects: self.lint?.defects ?? 0)
        return failures.min()?.rawValue ?? ExitStatus.done
    }

    // MARK: For people

    func report(to screen: RunScreen) {
        // Unreadable answers are reported below.
        let always: Set<VerdictFlaw> = self.counts.unreadable > 0 ? [.miss] : [.miss, .unserved]
        for line in self.replay.flawLines(naming: self.failOn.failing.union(always)) {
            screen.complain(MissCommands(words: Array(ProgramArguments.all.dropFirst()), file: self.path).complete(line))
        }
        if let problem = self.counts.firstUnreadable {
            screen.complain(
                "\(Quantity.count(self.counts.unreadable, "recorded answer")) could not be replayed (\(problem)): correct or restore the cassette."
            )
        }
        if self.plan.replays { screen.say(self.replay.numbers + ".") }
        if let recorder {
            screen.say(self.recordLine(recorder))
            if recorder.lost > 0 {
                let room = recorder.firstProblem.map { $0.code == .diskFull } ?? true ? "make room and " : ""
                screen.complain(
                    "\(Quantity.count(recorder.lost, "exchange")) not recorded (\(recorder.firstProblem?.message ?? "the disk failed")): \(room)record again."
                )
            } else if let problem = recorder.firstProblem, !recorder.isLeftOpen {
                screen.complain("recording was delayed (\(problem)); nothing is lost.")
            }
        }
        if self.verdict.unrecorded > 0 {
            screen.complain(
                "\(Quantity.count(self.verdict.unrecorded, "exchange")) passed unrecorded, while the recording was paused or because it has as many as --max-exchanges allows: the cassette does not have \(self.verdict.unrecorded == 1 ? "it" : "them")."
            )
        }
        for rule in self.rules {
            for line in RuleLines.lines(of: rule) { line.isComplaint ? screen.complain(line.text) : screen.say(line.text) }
        }
        for finding in self.clientVerdict ?? [] { screen.complain(RuleLines.line(of: finding)) }
        if self.clientVerdict?.isEmpty == true { screen.say("client: no faults found in what it did with answers that failed.") }
        for line in self.lint?.lines(of: self.path) ?? [] { screen.complain(line) }
        for leak in self.recorder?.leaks ?? [] {
            screen.complain("a secret is still in \"\(self.path)\": \(leak); remove the file, or try \"wiretape redact \(self.path)\".")
        }
        if self.counts.tlsFailures > 0 {
            screen.say("\(Quantity.count(self.counts.tlsFailures, "TLS handshake")) failed: the lines above say which, and what to do.")
        }
        if let isolation {
            for line in isolation.refusals { screen.complain(line) }
            screen.say(isolation.verdict)
        }
        if let unheard = self.unheard { screen.say(unheard) }
        if self.counts.tunnels > 0 {
            screen.say("\(Quantity.count(self.counts.tunnels, "tunnel")) passed through unopened: their contents are not recorded.")
        }
    }

    /// The advice for a command that made no request through the proxy; nil for others.
    private var unheard: String? {
        guard self.childStatus != nil, self.isolation == nil, self.counts == ProxyCounts(), self.verdict.hits == 0,
            self.verdict.answeredByRules == 0, let address
        else { return nil }
        return UnheardProgram(of: self.command).advice(address: address)
    }

    private func recordLine(_ recorder: RecorderStatus) -> String {
        if recorder.recorded == 0 {
            let next: String
            if self.counts.answered > 0 {
                next = ": wiretape itself answered \(Quantity.count(self.counts.answered, "request"))."
            } else if self.verdict.answeredByRules > 0 {
                next = ": traffic rules answered \(Quantity.count(self.verdict.answeredByRules, "request"))."
            } else {
                next =
                    recorder.lost > 0 || self.counts.tunnels > 0 || self.unheard != nil || self.isolation != nil
                    ? "." : ": does the program use its proxy settings?"
            }
            switch self.plan.target {
            case .create where CassettePlace.exists(self.plan.path):
                return "no exchange of this run is in \(self.plan.path)\(next)"
            case .replace: return "nothing was recorded, so \(self.plan.path) is unchanged\(next)"
            case .create: return "nothing was recorded, so there is no \(self.plan.path)\(next)"
            case .append, .stage, .nothing: break
            }
        }
        var text = "recorded \(Quantity.count(recorder.recorded, "exchange")) (\(Quantity.bytes(self.counts.bytes))) in \(self.path)"
        switch self.review {
        case .pending: return text + "; to accept it, run: mv \(ShellWord.quoted(self.path)) \(ShellWord.quoted(self.plan.path))"
        case .rejected: return "the recording was removed, and \(self.plan.path) is unchanged."
        case .same: return text + "; nothing differs except what differs in every recording."
        case .accepted, nil: break
        }
        if self.path != self.plan.path {
            let reason =
                recorder.lost > 0 || recorder.isLeftOpen
                ? "it is incomplete"
                : !recorder.leaks.isEmpty ? "it contains a secret" : recorder.unchecked > 0 ? "it may hold secrets" : "the command failed"
            text += "; \(reason), so \(self.plan.path) is unchanged"
        } else if self.plan.mode == .once || self.plan.target == .create, self.keepsOnFailure, let childStatus, childStatus != 0 {
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
        if let digests = self.recorder?.namedDigests.count, digests > 0 { self.number("namedDigests", digests, &writer) }
        if let unsearched = self.recorder?.unsearchedExchanges.count, unsearched > 0 { self.number("unsearched", unsearched, &writer) }
        if let unchecked = self.recorder?.unchecked, unchecked > 0 { self.number("unchecked", unchecked, &writer) }
        if self.verdict.unrecorded > 0 { self.number("unrecorded", self.verdict.unrecorded, &writer) }
        if self.plan.replays {
            self.number("hits", self.verdict.hits, &writer)
            if self.verdict.answeredByRules > 0 { self.number("answeredByRules", self.verdict.answeredByRules, &writer) }
            self.number("misses", self.verdict.misses, &writer)
            self.number("unreadable", self.counts.unreadable, &writer)
            self.number("unused", self.verdict.unused.count, &writer)
            self.number("orderViolations", self.verdict.orderViolations, &writer)
        }
        if !self.rules.isEmpty {
            writer.member("rules")
            RuleLines.write(self.rules, to: &writer)
        }
        if let clientVerdict {
            writer.member("client")
            RuleLines.write(clientVerdict, to: &writer)
        }
        if let isolation {
            writer.member("isolation")
            writer.raw(isolation.json)
        }
        if let lint { self.number("uploadDefects", lint.defects, &writer) }
        if let review {
            writer.member("review")
            writer.string(review.rawValue)
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
        return VisibleText.whole(writer.bytes, .json)
    }

    private func number(_ name: StaticString, _ value: Int?, _ writer: inout JSONWriter) {
        guard let value else { return }
        writer.member(name)
        writer.integer(value)
    }
}
