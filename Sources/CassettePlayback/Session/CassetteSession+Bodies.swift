public import CassetteModel
internal import CassetteStore
internal import TapeBytes

extension CassetteSession {
    /// Decides on a request whose body has come to its end. Can be called from any thread and never waits for anything.
    ///
    /// Nil where it takes a look at the cassette first: call `prepare` on a thread that may wait for the disk, and then this again.
    public func decide(_ pending: PendingRequest, body: BodyFacets) -> Decision? {
        let findings = pending.findings.withLock { $0 }
        guard let key = pending.key else {
            guard let heads = findings.heads else { return nil }
            return pending.head.withUnsafeBytes { self.nothingLeft($0, heads: heads) }
        }
        let isRefusing = self.mode.missRule(hasCassette: self.hasCassette) == .refuse
        let count = self.groups.count(ofKey: key)
        var equalCount = 0
        let assignment: AssignmentRule.Assignment? = self.withGroup(key) { group, state in
            let assignment: AssignmentRule.Assignment
            if self.rules.custom.isEmpty, group.isReady(body, state.assignments) {
                assignment = group.assign(body, &state.assignments)
            } else {
                guard group.seen == count, let others = findings.others else { return nil }
                let asksEquals = self.rules.custom.isEmpty
                assignment =
                    asksEquals ? group.assign(body, &state.assignments, others: others) : group.assign(among: others, &state.assignments)
                // A refusal says why, and that is read from the cassette.
                if assignment == .usedUp, isRefusing, findings.nearest == nil { return nil }
                equalCount = others.count + (asksEquals ? group.members(body).count : 0)
            }
            self.note(assignment, in: &state)
            return assignment
        }
        guard let assignment else { return nil }
        if let decision = self.decision(assignment) { return decision }
        return pending.head.withUnsafeBytes { self.nothingLeft($0, equalCount: equalCount, bodies: findings.nearest ?? []) }
    }

    /// Reads of the cassette what `decide` lacks. Waits for the disk.
    ///
    /// Throws what is wrong with a recorded body: without it nobody can say which exchange answers.
    public func prepare(_ pending: PendingRequest, body: BodyFacets) throws(CassetteError) {
        guard let source else { return pending.findings.withLock { $0 = PendingFindings(others: [], nearest: [], heads: []) } }
        guard let key = pending.key else {
            let heads = HeadLookup(session: self, source: source, pending: pending, body: body).nearest()
            return pending.findings.withLock { $0.heads = heads }
        }
        let reader = BodyLookup(session: self, source: source, pending: pending, key: key, body: body)
        guard try !reader.findEqual() else { return }
        let others = try reader.others()
        let nearest = self.mode.missRule(hasCassette: self.hasCassette) == .refuse ? reader.nearest() : []
        pending.findings.withLock { $0 = PendingFindings(others: others, nearest: nearest) }
    }

    /// Decides where waiting for the disk does no harm: `decide` and `prepare` in turn.
    public func resolve(_ pending: PendingRequest, body: BodyFacets) throws(CassetteError) -> Decision {
        while true {
            if let decision = self.decide(pending, body: body) { return decision }
            try self.prepare(pending, body: body)
        }
    }

    func withGroup<Result>(_ key: Int, _ body: (inout BodyGroup, inout State) -> Result) -> Result {
        self.state.withLock { state in
            // Taken out, not copied: what it holds would be copied with it.
            var group = state.bodies.removeValue(forKey: key) ?? BodyGroup()
            defer { state.bodies[key] = group }
            return body(&group, &state)
        }
    }
}
