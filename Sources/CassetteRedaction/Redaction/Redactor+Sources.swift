public import CassetteModel
internal import TapeBytes

extension Redactor {
    /// A body that is too large for memory: `deliver` gets the redacted octets in pieces, and is not called where nothing is to be done.
    ///
    /// Reads the source twice. Redact the head with `redact(request:body:)` and no body first, and then `fit` it to the new octets.
    public func redact(
        _ source: OctetSource, headers: HeaderFields, isComplete: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        let unsearched = self.vault.unsearched
        var outcome = try SourceRedaction(text: self.text).redact(source, headers: headers, isComplete: isComplete, deliver: deliver)
        self.noteLimit(since: unsearched, &outcome)
        return outcome
    }

    /// Makes lengths and digests in header fields fit the redacted octets of a body.
    ///
    /// Reads the sources only where a field has a digest.
    public func fit(
        _ headers: inout HeaderFields, _ trailers: inout HeaderFields?, arrival: inout Arrival?, from old: OctetSource,
        to new: OctetSource, outcome: inout RedactionOutcome
    ) throws {
        FieldsOfBody.mend(&arrival, edits: nil, oldSize: old.size, newSize: new.size)
        let mender = FieldsOfBody(makeDigest: self.makeDigest)
        let growth = new.size - old.size
        try mender.mend(&headers, growth: growth, old: { try self.digest(old) }, new: { try self.digest(new) }, notes: &outcome.notes)
        guard var fields = trailers else { return }
        try mender.mend(&fields, growth: growth, old: { try self.digest(old) }, new: { try self.digest(new) }, notes: &outcome.notes)
        trailers = fields
    }

    private func digest(_ source: OctetSource) throws -> [UInt8] {
        var digest = self.makeDigest()
        try source.forEachPiece { digest.update($0) }
        return digest.finalize()
    }
}
