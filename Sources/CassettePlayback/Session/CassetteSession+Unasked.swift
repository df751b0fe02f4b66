public import CassetteModel

extension CassetteSession {
    /// So many recorded requests are looked at: more with one head were hardly all refused.
    static let unaskedLimit = 64

    /// Decides on a request whose client waits to be asked for its body (RFC 9110, 10.1.1), where every recorded request with its head
    /// was answered unasked. Nil where the body is needed. Waits for the disk.
    ///
    /// Throws what is wrong with a recorded request.
    public func decideUnasked(_ pending: PendingRequest) throws(CassetteError) -> Decision? {
        guard let source, self.rules.custom.isEmpty else { return nil }
        // Nothing answers it, whatever the body: it is not worth sending.
        guard let key = pending.key else {
            return pending.head.withUnsafeBytes { head in
                self.nothingLeft(head, heads: NearestRequests(in: self.keys).search(for: head).map { self.nearHead($0) })
            }
        }
        let members = self.groups.members(ofKey: key)
        guard !members.isEmpty, members.count <= Self.unaskedLimit else { return nil }
        for index in members {
            let recorded = try source.comparedRequest(
                at: Int(index), rules: self.rules, detail: .digests, redaction: nil, digest: self.digest)
            guard !recorded.isComplete, recorded.facets.kind == .none else { return nil }
        }
        return try self.resolve(pending, body: .unsent)
    }
}

extension BodyFacets {
    /// A body of which nothing was sent, or seen: equal to none, and answered by requests that were cut.
    package static let unsent = BodyFacets(kind: .bytes, facets: [], count: 0, hasMarks: false, sum: 0)
}
