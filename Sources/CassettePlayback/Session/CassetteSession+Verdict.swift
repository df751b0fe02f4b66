internal import CassetteStore
internal import TapeBytes

extension CassetteSession {
    /// No recorded exchange is left for a request.
    ///
    /// - Parameters:
    ///   - equalCount: how many exchanges answer it, all used up.
    ///   - bodies: the nearest recorded requests with an equal head.
    ///   - heads: the nearest with another one; nil where they were not looked for.
    func nothingLeft(_ head: UnsafeRawBufferPointer, equalCount: Int = 0, bodies: [NearBody] = [], heads: [NearHead]? = nil) -> Decision {
        switch self.mode.missRule(hasCassette: self.hasCassette) {
        case .forward(let record): self.forward(record)
        case .refuse: .refuse(self.refuse(head, equalCount: equalCount, bodies: bodies, heads: heads))
        }
    }

    /// Searches outside the lock: the recorded keys never change.
    private func refuse(_ head: UnsafeRawBufferPointer, equalCount: Int, bodies: [NearBody], heads: [NearHead]?) -> MissReport {
        let heads = heads ?? NearestRequests(in: self.keys).search(for: head).map { self.nearHead($0) }
        let isUsedUp = self.state.withLock { state in
            (
                bodies: bodies.map { state.assignments.answered[$0.index] > 0 },
                heads: heads.map { match in self.groups.members(ofKey: match.key).allSatisfy { state.assignments.answered[Int($0)] > 0 } }
            )
        }
        var nearest = zip(bodies, isUsedUp.bodies).map { body, isUsedUp in
            NearRequest(
                index: body.index, request: self.text(ofExchange: body.index), isUsedUp: isUsedUp, differences: body.differences)
        }
        nearest += zip(heads, isUsedUp.heads).map { match, isUsedUp in
            NearRequest(
                index: match.index, request: self.keys.withBytes(ofKey: match.key) { MissReport.text($0) },
                isUsedUp: isUsedUp, differences: match.differences)
        }
        let reason: MissReport.Reason = !self.hasCassette ? .noCassette : equalCount > 0 ? .usedUp(count: equalCount) : .notRecorded
        let report = MissReport(
            request: MissReport.text(head), mode: self.mode, reason: reason, nearest: Array(nearest.prefix(NearestRequests.limit)),
            cassette: self.cassettePath, audience: self.audience)
        self.state.withLock { state in
            state.verdict.misses += 1
            if state.verdict.reports.count < Self.reportLimit { state.verdict.reports.append(report) }
        }
        return report
    }

    /// A replay that was decided could not be given as it was recorded: it is no hit.
    ///
    /// - Parameter problem: why, with the file and the next step.
    public func couldNotServe(_ index: Int, problem: String) {
        self.state.withLock { state in
            state.verdict.hits -= 1
            Self.noteUnserved(index, problem, in: &state.verdict)
        }
    }

    /// The client of a replay that was decided left before anything of the answer was sent: the exchange answers another request, most often
    /// the client's own next try. If none comes it is an answer that was not served. In a strict order nothing is given back once a later
    /// exchange was asked for.
    ///
    /// - Parameter problem: why, for people.
    public func giveBack(_ index: Int, problem: String) {
        self.state.withLock { state in
            switch state.assignments.giveBack(index) {
            case .free:
                state.verdict.hits -= 1
                state.abandoned[index] = problem
            case .answered:
                state.verdict.hits -= 1
                state.verdict.repeatedHits -= 1
            case .usedUp:
                break
            }
        }
    }

    /// A request for which no exchange could be chosen, since the cassette cannot be read: neither a hit nor a miss.
    ///
    /// - Parameter problem: why, with the file and the next step.
    public func couldNotDecide(problem: String) {
        self.state.withLock { Self.noteUnserved(nil, problem, in: &$0.verdict) }
    }

    private static func noteUnserved(_ index: Int?, _ problem: String, in verdict: inout Verdict) {
        verdict.unserved += 1
        guard verdict.unservedAnswers.count < Self.reportLimit else { return }
        verdict.unservedAnswers.append(UnservedAnswer(index: index, problem: PlainText.escape(problem.utf8, limit: 500)))
    }

    /// What has been decided so far; can be asked at any time.
    public func verdict() -> Verdict { self.verdictAndAnswers().verdict }

    /// Both of the same moment; how often each exchange has answered, as `AssignmentRule` counts it.
    func verdictAndAnswers() -> (verdict: Verdict, answered: [UInt32]) {
        let (noted, assignments, abandoned) = self.state.withLock { ($0.verdict, $0.assignments, $0.abandoned) }
        var verdict = noted
        for (index, problem) in abandoned.sorted(by: { $0.key < $1.key }) { Self.noteUnserved(index, problem, in: &verdict) }
        verdict.unused = assignments.unused
        verdict.damage = self.damage
        return (verdict, assignments.answered)
    }
}
