internal import CassetteModel
internal import TapeBytes

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
