internal import CassetteModel
internal import TapeBytes

/// Checksums and lengths that became wrong when a body was redacted, with the correct ones. Other messages of the recording contain them
/// too: the answer to a HEAD request, the `If-None-Match` of a later request.
final class ReplacedChecksums: Sendable {
    /// Further checksums are not remembered.
    private static let limit = 1 << 14
    /// How many lengths are remembered for one URL.
    private static let lengthsOfURL = 64
    /// Fields that contain checksums of bodies, or of scripts in them, although their names do not say so.
    private static let others: Set<String> = [
        "if-match", "if-none-match", "if-range", "content-security-policy", "content-security-policy-report-only",
    ]

    private struct State {
        var replacements: [String: String] = [:]
        /// The texts that each text has replaced.
        var sources: [String: [String]] = [:]
        /// The new length of each old one, by URL.
        var lengths: [String: [Int: Int]] = [:]
        /// The URLs whose HEAD was answered with a length that no GET has had yet.
        var heads: Set<String> = []
        var generation = 0
    }

    private let state = Guarded(State())

    /// Changes when earlier messages may contain something that was just replaced.
    var generation: Int { self.state.withLock { $0.generation } }

    func add(_ old: String, _ new: String) {
        self.state.withLock { state in
            guard old != new else { return }
            // A body may be searched several times.
            let earlier = state.sources.removeValue(forKey: old) ?? []
            for text in earlier { state.replacements[text] = new }
            guard state.replacements.count < Self.limit else { return }
            if state.replacements[old] != new { state.generation += 1 }
            state.replacements[old] = new
            state.sources[new, default: []] += earlier + [old]
        }
    }

    /// Remembers the length of a representation in bytes, before and after redaction.
    func add(lengthOf url: String, old: Int, new: Int) {
        guard old != new else { return }
        self.state.withLock { state in
            guard state.lengths[url] != nil || state.lengths.count < Self.limit else { return }
            // The body was redacted before and is redacted further.
            var lengths = (state.lengths[url] ?? [:]).mapValues { $0 == old ? new : $0 }
            if lengths.count < Self.lengthsOfURL { lengths[old] = new }
            if state.heads.contains(url), state.lengths[url] != lengths { state.generation += 1 }
            state.lengths[url] = lengths
        }
    }

    /// Replaces known checksums in the fields of another message. Returns whether it replaced any.
    func apply(to fields: inout HeaderFields) -> Bool {
        // Most recordings have none.
        guard let known = self.state.withLock({ $0.replacements.isEmpty ? nil : $0.replacements }) else { return false }
        var changed = HeaderFields()
        var isChanged = false
        for index in 0..<fields.count {
            let name = fields.name(at: index).lowercased()
            if Self.others.contains(name) || FieldsOfBody.mayHaveChecksum(name),
                let value = ChecksumWords.replaced(in: fields.value(at: index), { known[$0] })
            {
                isChanged = true
                changed.append(name: fields.name(at: index), value: value)
            } else {
                changed.append(line: fields.line(at: index))
            }
        }
        if isChanged { fields = changed }
        return isChanged
    }

    /// Corrects the length in an answer to HEAD to that of the GET (RFC 9110, 9.3.2). Returns whether it was wrong.
    func fit(_ fields: inout HeaderFields, toHeadOf url: String) -> Bool {
        guard let length = fields.first("content-length").flatMap({ Int($0) }) else { return false }
        let known = self.state.withLock { state -> Int? in
            let new = state.lengths[url]?[length]
            if new == nil, state.heads.count < Self.limit { state.heads.insert(url) }
            return new
        }
        guard let new = known else { return false }
        fields = fields.replacing("content-length", with: "\(new)")
        return true
    }

    /// A quick check whether the text of an exchange that was stored earlier may contain something replaced since.
    func mayConcern(_ text: UnsafeRawBufferPointer) -> Bool {
        let (known, hasLengths) = self.state.withLock { ($0.replacements, !$0.lengths.isEmpty) }
        if hasLengths, ByteSearch.contains("\"HEAD\"", in: text) { return true }
        guard !known.isEmpty else { return false }
        return ChecksumWords.contains(in: text) { known[$0] != nil }
    }
}
