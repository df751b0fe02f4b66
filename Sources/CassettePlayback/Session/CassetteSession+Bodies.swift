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

/// Finds what comes nearest to a request of which no recorded one has the head, with what differs in the bodies. Waits for the disk.
struct HeadLookup {
    /// So many recorded bodies are read of each near head.
    static let bodyLimit = 4

    let session: CassetteSession
    let source: any RequestSource
    let pending: PendingRequest
    let body: BodyFacets

    func nearest() -> [NearHead] {
        let matches = self.pending.head.withUnsafeBytes { NearestRequests(in: self.session.keys).search(for: $0) }
        return matches.map { match in
            let head = self.session.nearHead(match)
            guard let (index, bodies) = self.nearestBody(ofKey: match.key, from: head.index) else { return head }
            return NearHead(key: match.key, index: index, differences: match.differences + bodies)
        }
    }

    /// Among the first that are left; nil where none can be read.
    private func nearestBody(ofKey key: Int, from first: Int) -> (index: Int, differences: [RequestDifference])? {
        let candidates = self.session.groups.members(ofKey: key).drop { Int($0) < first }.prefix(Self.bodyLimit)
        var best: (index: Int, differences: [RequestDifference])?
        for index in candidates.map(Int.init) {
            guard
                let recorded = try? self.source.comparedRequest(
                    at: index, rules: self.session.rules, detail: .contents, redaction: self.session.redaction, digest: self.session.digest)
            else { continue }
            let fits = !recorded.isComplete || recorded.facets.fits(live: self.body)
            let differences = fits ? [] : self.body.differences(fromRecorded: recorded.facets)
            if differences.count < best?.differences.count ?? .max { best = (index, differences) }
        }
        return best
    }
}

extension CassetteSession {
    /// With the first of its exchanges that is left, or else the first.
    func nearHead(_ match: NearestRequests.Match) -> NearHead {
        let members = self.groups.members(ofKey: match.key)
        let index = self.state.withLock { state in members.first { state.assignments.answered[Int($0)] == 0 } } ?? members.first ?? 0
        return NearHead(key: match.key, index: Int(index), differences: match.differences)
    }
}

/// Reads the recorded requests with the head of a pending one, as far as it takes to answer it. Waits for the disk.
struct BodyLookup {
    /// So many recorded bodies are looked at in one go: one wait for the disk serves the requests that follow, too.
    static let batch = 64
    /// So many are read to find the nearest.
    static let candidateLimit = 12

    let session: CassetteSession
    let source: any RequestSource
    let pending: PendingRequest
    let key: Int
    let body: BodyFacets

    /// Looks at the next bodies until one is equal and left, or all were looked at. Whether one is left.
    func findEqual() throws(CassetteError) -> Bool {
        let members = self.session.groups.members(ofKey: self.key)
        while true {
            let (seen, isReady) = self.session.withGroup(self.key) { group, state in
                (group.seen, group.isReady(self.body, state.assignments))
            }
            if isReady, self.session.rules.custom.isEmpty { return true }
            guard seen < members.count else { return false }
            let first = members.startIndex + seen
            let indexes = members[first..<min(first + Self.batch, members.endIndex)]
            let recorded = try self.readable(indexes)
            self.session.withGroup(self.key) { group, _ in
                // Another thread may have been quicker.
                guard group.seen == seen else { return }
                for (index, request) in zip(indexes, recorded) { group.append(request, index: Int(index)) }
            }
        }
    }

    /// The first of these that can be read; throws where that is none. One that cannot be read is in the way of those behind it alone.
    private func readable(_ indexes: ArraySlice<UInt32>) throws(CassetteError) -> [ComparedRequest] {
        var recorded: [ComparedRequest] = []
        for index in indexes {
            do {
                recorded.append(try self.recorded(Int(index), .digests))
            } catch {
                guard !recorded.isEmpty else { throw error }
                break
            }
        }
        return recorded
    }

    /// The exchanges that answer without having the same facets, or by a custom rule, ascending.
    func others() throws(CassetteError) -> [Int] {
        let custom = self.session.rules.custom
        let (equals, inexact) = self.session.withGroup(self.key) { group, _ in (group.members(self.body), group.inexact) }
        let isEqual = Set(equals.map(Int.init))
        let candidates = custom.isEmpty ? inexact : (inexact.filter { !isEqual.contains($0) } + isEqual).sorted()
        let live = self.pending.matched(self.body)
        var found: [Int] = []
        for index in candidates where !custom.isEmpty || !isEqual.contains(index) {
            let recorded = try self.recorded(index, .contents)
            guard isEqual.contains(index) || self.fits(recorded) else { continue }
            if custom.allSatisfy({ $0.difference(recorded.matched, live) == nil }) { found.append(index) }
        }
        return found
    }

    /// A body that was cut fits every body: nobody knows how it would have gone on.
    private func fits(_ recorded: ComparedRequest) -> Bool {
        guard recorded.isComplete else { return self.body.kind != .none }
        return recorded.facets.hasMarks && recorded.facets.fits(live: self.body)
    }

    /// The recorded bodies that differ least, the nearest first. Leaves out what cannot be read.
    func nearest() -> [NearBody] {
        let sketch = BodySketch(self.body)
        let sketches = self.session.withGroup(self.key) { group, _ in group.sketches }
        let members = self.session.groups.members(ofKey: self.key)
        let distances = zip(members, sketches).map { (index: Int($0), distance: $1.distance(to: sketch)) }
        let candidates = distances.sorted { ($0.distance, $0.index) < ($1.distance, $1.index) }.prefix(Self.candidateLimit)
        var found: [NearBody] = []
        for candidate in candidates {
            guard let recorded = try? self.recorded(candidate.index, .contents) else { continue }
            let differences = self.body.differences(fromRecorded: recorded.facets) + self.customDifferences(recorded)
            if !differences.isEmpty { found.append(NearBody(index: candidate.index, differences: differences)) }
        }
        found.sort { ($0.differences.count, $0.index) < ($1.differences.count, $1.index) }
        return Array(found.prefix(NearestRequests.limit))
    }

    private func customDifferences(_ recorded: ComparedRequest) -> [RequestDifference] {
        guard !self.session.rules.custom.isEmpty, recorded.facets == self.body else { return [] }
        let live = self.pending.matched(self.body)
        return self.session.rules.custom.compactMap { rule in
            rule.difference(recorded.matched, live).map { reason in
                .custom(
                    name: PlainText.escape(rule.name.utf8, limit: RequestComparison.textLimit),
                    reason: PlainText.escape(reason.utf8, limit: RequestComparison.textLimit))
            }
        }
    }

    private func recorded(_ index: Int, _ detail: BodyFacets.RecordedDetail) throws(CassetteError) -> ComparedRequest {
        // A digest of a file that was redacted says nothing of the octets between its placeholders.
        let detail: BodyFacets.RecordedDetail = self.session.redaction == nil ? detail : .contents
        return try self.source.comparedRequest(
            at: index, rules: self.session.rules, detail: detail, redaction: self.session.redaction, digest: self.session.digest)
    }
}
