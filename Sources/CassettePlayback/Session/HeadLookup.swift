internal import TapeBytes

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
