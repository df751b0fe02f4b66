extension Redactor {
    /// A body that is too large for memory: `deliver` gets the redacted octets in pieces, and is not called where nothing is to be done.
    ///
    /// Reads the source twice. Redact the head with `redact(request:body:)` and no body first, and then `fit` it to the new octets. Rules
    /// for places in JSON are not applied: those need all of a text.
    public func redact(
        _ source: OctetSource, headers: HeaderFields, isComplete: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        var outcome = RedactionOutcome()
        guard source.size > 0 else { return outcome }
        if self.rules.hasJSONPlaces, MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes)).kind == .json {
            outcome.notes.append("rules for places in JSON are not applied to a body of \(source.size) octets")
        }
        var names: [ContentEncoding.Name] = []
        switch ContentEncoding(headers) {
        case .none: break
        case .coded(let coded): names = coded
        case .other(let words): outcome.notes.append("not searched for secrets behind the content coding \"\(words)\"")
        }
        // First for what is to be learned, so that the second pass knows it from the beginning.
        var pass = SourcePass(text: self.text, headers: headers, names: names)
        try pass.run(source) { _ in }
        if let problem = pass.problem, isComplete { outcome.notes.append("searched for secrets only up to where \(problem)") }
        var again = SourcePass(text: self.text, headers: headers, names: names)
        if pass.count == 0 {
            // A secret of the end of a body may stand at its beginning in another spelling.
            try again.run(source) { _ in }
            guard again.count > 0 else { return outcome }
            again = SourcePass(text: self.text, headers: headers, names: names)
        }
        try again.run(source, codings: pass.codings, deliver)
        outcome.count = again.count
        outcome.isBodyChanged = true
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
