internal import CassetteFormat
internal import CassetteModel

/// Takes the secrets out of a body that is too large for memory, in passes over its source.
///
/// What cannot be searched to its end, or not by the rules, is left out: a body that is missing is seen, a secret in one is not.
struct SourceRedaction {
    let text: TextRedaction
    /// Whether a body may be loaded after all, where rules need all of it.
    var mayLoad = true

    /// Bytes of a body that rules for places in JSON load: with its views it takes some 200 MiB, most of what the proxy may use.
    static let loadLimit = 32 << 20

    /// `deliver` gets the redacted bytes in pieces, and is not called where nothing is to be done.
    func redact(
        _ source: ByteSource, headers: HeaderFields, isComplete: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        var outcome = RedactionOutcome()
        guard source.size > 0 else { return outcome }
        let kind = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes)).kind
        if self.text.rules.hasJSONPlaces, kind == .json || kind == .text {
            if self.mayLoad, source.size <= Self.loadLimit { return try self.loaded(source, headers, isComplete, deliver) }
            if kind == .json, self.text.rules.rules.contains(where: \.isJSON) {
                return Self.leftOut("\(source.size) bytes are too many for rules for places in JSON")
            }
            outcome.notes.append("rules for places in JSON are not applied to a body of \(source.size) bytes")
        }
        var names: [ContentEncoding.Name] = []
        switch ContentEncoding(headers) {
        case .none: break
        case .coded(let coded): names = coded
        case .other(let words): outcome.notes.append("not searched for secrets behind the content coding \"\(words)\"")
        }
        let known = self.text.vault.learned
        // First for what is to be learned, so that the second pass knows it from the beginning.
        var pass = SourcePass(text: self.text, headers: headers, names: names)
        try pass.run(source) { _ in }
        if let problem = pass.problem {
            if problem.kind == .tooLong { return Self.leftOut("it cannot be searched for secrets: \(problem.reason)") }
            if isComplete { outcome.notes.append("searched for secrets only up to where \(problem)") }
        }
        var again = SourcePass(text: self.text, headers: headers, names: names)
        if pass.count == 0 {
            guard self.text.vault.learned != known else { return outcome }
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

    private func loaded(
        _ source: ByteSource, _ headers: HeaderFields, _ isComplete: Bool, _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        var outcome = RedactionOutcome()
        let body = BodyRedaction(content: ContentRedaction(text: self.text))
        let wire = try source.load()
        guard var result = body.redacted(wire, headers: headers, isComplete: isComplete, notes: &outcome.notes) else { return outcome }
        // What its end teaches may stand at its beginning.
        if let again = body.redacted(result.bytes, headers: headers, isComplete: isComplete, notes: &outcome.notes) {
            result = BodyRedaction.Result(bytes: again.bytes, count: result.count + again.count)
        }
        outcome.count = result.count
        outcome.isBodyChanged = true
        try result.bytes.withUnsafeBytes(deliver)
        return outcome
    }

    private static func leftOut(_ reason: String) -> RedactionOutcome {
        var outcome = RedactionOutcome()
        outcome.count = 1
        outcome.isBodyChanged = true
        outcome.notes = ["left out: \(reason)"]
        return outcome
    }
}
