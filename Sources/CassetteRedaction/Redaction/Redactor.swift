public import CassetteModel
public import TapeBytes

/// Removes secrets from messages: takes wire bytes and returns wire bytes, as if the traffic had contained placeholders.
///
/// Remembers the secrets it has learned, in its vault, and header lines without secrets.
public struct Redactor: Sendable {
    public let rules: RedactionRules
    public let vault: SecretVault
    /// The budget of one search; nil if the search is unlimited.
    private var budget: SearchBudget?
    /// Supplies the field names of gRPC messages.
    public var schema: ProtoSchema?
    private let searched: SearchedLines
    private let dictionaries: SharedDictionaries
    /// Nil for redactors of single requests, which are compared and then forgotten.
    private let checksums: ReplacedChecksums?
    /// The digests of bodies that were changed.
    package let digests: RedactedDigests
    /// The vault's generation at which `searched` may be used; nil if at any. Other vaults reach the same number with other secrets.
    private let searchedAt: Int?
    /// Secrets that were removed from many answers.
    public let spread: SpreadSecrets
    /// The hits in the answer that is being searched.
    private var hits: SecretHits?
    let makeDigest: @Sendable () -> any ContentDigest

    /// `makeDigest` makes a SHA-256, for digests in header fields that have to be corrected.
    public init(
        rules: RedactionRules = .standard, vault: SecretVault = SecretVault(),
        makeDigest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }
    ) {
        self.rules = rules
        self.vault = vault
        self.searched = SearchedLines()
        self.searchedAt = nil
        self.dictionaries = SharedDictionaries()
        self.checksums = ReplacedChecksums()
        self.digests = RedactedDigests()
        self.spread = SpreadSecrets()
        self.makeDigest = makeDigest
        for secret in rules.secrets where !secret.bytes.isEmpty {
            // A rule that lists a value is explicit, so the value is searched for even if it looks like an ordinary word.
            let reach = SecretReach(secret.bytes, isSure: true)
            _ = vault.placeholder(
                for: secret.bytes, kind: "env-\(secret.name)", reach: reach == .place ? .word : reach, keeping: rules.keptShape)
        }
    }

    /// How often the same messages are searched. Whenever a search finds a new secret, another one follows. In real messages, at most three
    /// or four secrets are each revealed only by removing the previous one. A message that needs more was built to waste time.
    static let lookLimit = 16
    static let noteOfManyLooks = "not searched to the end for secrets: \(Self.lookLimit) searches each found another one"

    private init(
        _ other: Redactor, vault: SecretVault, searched: SearchedLines, searchedAt: Int?, budget: SearchBudget?, isForgotten: Bool = false
    ) {
        self.rules = other.rules
        self.vault = vault
        self.searched = searched
        self.searchedAt = searchedAt
        self.dictionaries = other.dictionaries
        self.checksums = isForgotten ? nil : other.checksums
        self.digests = other.digests
        self.spread = other.spread
        self.budget = budget
        self.makeDigest = other.makeDigest
        self.schema = other.schema
    }

    /// A redactor with the same rules and secrets for one search that may end early. If it does, discard the result.
    package func within(_ budget: SearchBudget) -> Redactor {
        Redactor(self, vault: self.vault, searched: self.searched, searchedAt: self.searchedAt, budget: budget)
    }

    /// Whether this redactor only gives other numbers to placeholders.
    package var renumbers: Bool { self.vault.renumbers }

    /// Whether the search of this redactor has ended early.
    package var isSpent: Bool { self.budget?.isSpent == true }

    /// A redactor with the same rules and secrets for a second thread. Its searches are not repeated when the first one learns more.
    package func sharingSecrets() -> Redactor {
        Redactor(
            self, vault: SecretVault(sharing: self.vault), searched: self.searched, searchedAt: self.searchedAt, budget: self.budget)
    }

    /// A redactor with the same rules and the currently known secrets, for one search that only tells whether there is anything. What it
    /// learns is forgotten.
    ///
    /// It marks no lines as clean for others, as a line may contain a placeholder number that it assigned.
    package func forgetting(within budget: SearchBudget) -> Redactor {
        Redactor(
            self, vault: SecretVault(copying: self.vault), searched: SearchedLines(), searchedAt: nil, budget: budget, isForgotten: true)
    }

    /// A redactor with the same rules and the currently known secrets for the requests of one session, whose placeholder numbers do not
    /// matter. Secrets learned from a request are known for the next ones, but not elsewhere.
    func forSession() -> Redactor {
        Redactor(
            self, vault: SecretVault(copying: self.vault), searched: SearchedLines(), searchedAt: nil, budget: self.budget,
            isForgotten: true)
    }

    /// The same for a single request. Its searches are not repeated when other requests teach new secrets.
    func forOneRequest() -> Redactor {
        Redactor(
            self, vault: SecretVault(sharing: self.vault), searched: self.searched, searchedAt: self.searchedAt, budget: self.budget,
            isForgotten: true)
    }

    var text: TextRedaction { TextRedaction(rules: self.rules, vault: self.vault, budget: self.budget, hits: self.hits) }
    var head: HeadRedaction { HeadRedaction(text: self.text, searched: self.searched, searchedAt: self.searchedAt) }

    private func body(_ schema: GRPCSchema, _ headers: HeaderFields, isComplete: Bool) -> BodyRedaction {
        BodyRedaction(content: ContentRedaction(text: self.text(for: headers, isComplete: isComplete)), schema: schema)
    }

    /// For a body. A part of a representation keeps its length, so that it still fits its place (RFC 9110, 14.4 and 14.6). So does a whole
    /// representation of which parts may be requested, since these must fit it. So does the beginning of a body that was cut, since its
    /// client requests the rest from the number of bytes it has.
    private func text(for headers: HeaderFields, isComplete: Bool) -> TextRedaction {
        var text = self.text
        text.keepsLengths =
            headers.contains("content-range") || Self.isOfRanges(headers) || Self.acceptsRanges(headers)
            || !isComplete && headers.contains("content-length")
                && (headers.contains("etag") || headers.contains("last-modified") || headers.contains("accept-ranges"))
        if !isComplete { text.borders = .end }
        return text
    }

    /// `Accept-Ranges: bytes` (RFC 9110, 14.3) for a body without a content coding; a coded one would not keep its length.
    private static func acceptsRanges(_ headers: HeaderFields) -> Bool {
        guard let index = headers.firstIndex(of: "accept-ranges") else { return false }
        return headers.valueBytes(at: index).elementsEqual("bytes".utf8) { $0 | 32 == $1 }
            && (!headers.contains("content-encoding") || ContentEncoding(headers) == .none)
    }

    /// `multipart/byteranges` (RFC 9110, 14.6). The first letter rules out nearly all messages.
    private static func isOfRanges(_ headers: HeaderFields) -> Bool {
        guard let index = headers.firstIndex(of: "content-type") else { return false }
        let value = headers.valueBytes(at: index)
        return value.first.map { $0 | 32 } == UInt8(ascii: "m") && MultipartType(headers)?.subtype == "byteranges"
    }

    /// For a single gRPC message, which is compared before its body has ended.
    func messages(_ headers: HeaderFields, _ schema: GRPCSchema) -> GRPCRedaction? {
        GRPCRedaction(ContentRedaction(text: self.text), headers: headers, schema: schema)
    }

    /// Redacts all heads and both bodies of an exchange. Secrets learned in one are removed from all.
    ///
    /// Does not touch the interaction's own bodies. Corrects digests and lengths in header fields, or lists those that are wrong in the
    /// outcome.
    public func redact(
        _ interaction: inout Interaction, requestBody: inout WireBody?, responseBody: inout WireBody?
    ) -> (request: RedactionOutcome, response: RedactionOutcome) {
        var request = RedactionOutcome()
        var response = RedactionOutcome()
        var learned = -1
        // Looked up first, as a secret in the URL may change it.
        let types = self.schema?.types(ofURL: interaction.request.url)
        let old = (request: requestBody?.bytes, response: responseBody?.bytes)
        var oldHeaders: HeaderFields?
        // Checked before anything is copied, as few answers have such fields.
        let isCoded = interaction.response?.headers.contains("content-encoding") == true
        if isCoded || interaction.response?.headers.contains("use-as-dictionary") == true, var message = interaction.response,
            var body = responseBody, self.takeDictionaryCodingOff(&message, &body, &response)
        {
            (interaction.response, responseBody) = (message, body)
        }
        // Most recordings have no known secrets, and a copy costs as much as a small answer.
        let hits = self.checksums != nil && !self.vault.isEmpty ? SecretHits() : nil
        let counting = hits.map(self.counting)
        // A secret learned late in an exchange may occur early in it. A second search does not change anything that the first one changed.
        var looks = 0
        // Also search again after a body has changed: the text around a removed secret may now read differently.
        var hasChanged = false
        while (learned != self.vault.learned || hasChanged), !self.isSpent {
            guard looks < Self.lookLimit else {
                response.notes.append(Self.noteOfManyLooks)
                break
            }
            looks += 1
            learned = self.vault.learned
            hasChanged = false
            self.budget?.beginRound()
            let found = self.redact(request: &interaction.request, body: &requestBody, types?.request)
            hasChanged = found.isBodyChanged
            request.add(found)
            for index in interaction.interim.indices {
                response.count += self.head.redact(&interaction.interim[index].headers)
                response.count += self.redact(words: &interaction.interim[index].reason)
            }
            response.count += self.redact(outcome: &interaction.outcome)
            response.count += self.redact(modified: &interaction.modified)
            for index in interaction.unknown.indices where interaction.unknown[index].name == UnknownMember.archiveName {
                response.count += self.redact(&interaction.unknown[index])
            }
            // Kept for a body that changes, whose head is corrected later.
            if isCoded, looks == 1 { oldHeaders = interaction.response?.headers }
            let redacted =
                if let counting {
                    interaction.response?.redact(by: counting, &responseBody, types?.response)
                } else {
                    interaction.response?.redact(by: self, &responseBody, types?.response)
                }
            if let outcome = redacted {
                hasChanged = hasChanged || outcome.isBodyChanged
                response.add(outcome)
            }
        }
        if let hits, !self.isSpent { self.spread.add(hits) }
        if request.isBodyChanged || response.isBodyChanged, !self.isSpent {
            self.noteDigests(of: old.request, becoming: requestBody, HeaderFields(), interaction.request)
            self.noteDigests(of: old.response, becoming: responseBody, oldHeaders ?? HeaderFields(), interaction.request)
            if interaction.request.method == "GET", interaction.response?.status == 200, let old = old.response, let new = responseBody,
                new.isComplete
            {
                self.checksums?.add(lengthOf: interaction.request.url, old: old.count, new: new.bytes.count)
            }
        }
        if interaction.request.method == "HEAD", var fields = interaction.response?.headers,
            self.checksums?.fit(&fields, toHeadOf: interaction.request.url) == true
        {
            interaction.response?.headers = fields
            response.isHeadMended = true
        }
        return (request, response)
    }

    /// A redactor that also counts known secrets in an answer.
    private func counting(_ hits: SecretHits) -> Redactor {
        var other = self
        other.hits = hits
        return other
    }

    /// Remembers the digests of a body that was changed, and of its content without codings: pages and manifests refer to that.
    private func noteDigests(of old: [UInt8]?, becoming new: WireBody?, _ headers: HeaderFields, _ request: RecordedRequest) {
        guard self.checksums != nil, let old, let new, new.isComplete, old != new.bytes else { return }
        let content = headers.contains("content-encoding") ? SharedDictionaries.content(old, headers) : nil
        self.digests.add(old, content: content, request: "\(request.method) \(request.url)")
    }

    /// Whether an exception lists a body by its digest.
    private func keeps(_ bytes: [UInt8]) -> Bool {
        self.rules.hasKeptBodies && self.rules.keeps(body: FieldsOfBody(makeDigest: self.makeDigest).digest(bytes))
    }

    /// Decodes a body that was compressed with an earlier one as its dictionary (RFC 9842), since the recording may have that one without
    /// its secrets. Also keeps a body that may be such a dictionary. Returns whether the body was decoded.
    private func takeDictionaryCodingOff(
        _ message: inout RecordedResponse, _ body: inout WireBody, _ outcome: inout RedactionOutcome
    ) -> Bool {
        let mender = FieldsOfBody(makeDigest: self.makeDigest)
        self.dictionaries.add(body, message.headers, digest: mender.digest)
        guard body.isComplete, message.headers.contains("content-encoding"),
            let content = self.dictionaries.decoded(body.bytes, message.headers)
        else { return false }
        let old = body
        body.bytes = content
        FieldsOfBody.mend(&body.arrival, edits: nil, oldSize: old.bytes.count, newSize: content.count)
        message.headers = message.headers.removing("content-encoding")
        mender.mend(
            &message.headers, growth: content.count - old.bytes.count, old: { mender.checksum($0, of: old.bytes) },
            new: { mender.checksum($0, of: content) },
            notes: &outcome.notes)
        outcome.isBodyChanged = true
        outcome.notes.append("its content coding with a dictionary was taken off")
        return true
    }

    private func redact(modified: inout Modification?) -> Int {
        guard let url = modified?.forwardedTo, let (redacted, count) = self.head.redacted(url: url) else { return 0 }
        modified?.forwardedTo = redacted
        return count
    }

    /// Texts for people in the outcome may quote the exchange.
    private func redact(outcome: inout Outcome) -> Int {
        func redacted(_ text: String) -> (text: String, count: Int) {
            var words = Array(text.utf8)
            let count = self.redact(words: &words)
            return (count > 0 ? String(decoding: words, as: UTF8.self) : text, count)
        }
        switch outcome {
        case .complete: return 0
        case .cut(var cut):
            let (text, count) = redacted(cut.reason)
            cut.reason = text
            outcome = .cut(cut)
            return count
        case .failed(var failure):
            let (text, count) = redacted(failure.message)
            failure.message = text
            outcome = .failed(failure)
            return count
        }
    }

    public func redact(request: inout RecordedRequest, body: inout WireBody?) -> RedactionOutcome {
        self.redact(request: &request, body: &body, self.schema?.types(ofURL: request.url)?.request)
    }

    /// - Parameter messages: the type of a gRPC body's messages.
    func redact(request: inout RecordedRequest, body: inout WireBody?, _ messages: ProtoType?) -> RedactionOutcome {
        var outcome = RedactionOutcome()
        let gaps = self.vault.gaps
        if let (url, count) = self.head.redacted(url: request.url) {
            request.url = url
            outcome.count += count
        }
        if let target = request.target, let (redacted, count) = self.head.redacted(url: target) {
            request.target = redacted
            outcome.count += count
        }
        self.redact(&request.headers, &request.trailers, &body, GRPCSchema(request.body, messages), &outcome)
        self.noteGaps(since: gaps, &outcome)
        return outcome
    }

    public func redact(response: inout RecordedResponse, body: inout WireBody?) -> RedactionOutcome {
        self.redact(response: &response, body: &body, nil)
    }

    fileprivate func redact(response: inout RecordedResponse, body: inout WireBody?, _ messages: ProtoType?) -> RedactionOutcome {
        var outcome = RedactionOutcome()
        let gaps = self.vault.gaps
        outcome.count += self.redact(words: &response.reason)
        self.redact(&response.headers, &response.trailers, &body, GRPCSchema(response.body, messages), &outcome)
        self.noteGaps(since: gaps, &outcome)
        return outcome
    }

    /// Notes what in a message could not be searched for, or not searched.
    func noteGaps(since before: SecretVault.Gaps, _ outcome: inout RedactionOutcome) {
        let gaps = self.vault.gaps
        guard gaps != before, !self.renumbers else { return }
        if gaps.beyondLimits > before.beyondLimits {
            outcome.notes.append(
                "the run has more secrets than are looked for everywhere (\(SecretVault.limit), or \(SecretVault.byteLimit >> 20) MiB): those beyond are taken out at their own places only"
            )
        }
        if gaps.long > before.long {
            outcome.notes.append(
                "a secret of more than \(SecretVault.longest >> 10) KiB is taken out at the places of its rule only: what repeats it elsewhere is not searched for it"
            )
        }
        let opaque = gaps.opaque.filter { $0.value > before.opaque[$0.key, default: 0] }
        outcome.notes += opaque.keys.map(\.note).sorted().filter { !outcome.notes.contains($0) }
        if gaps.unreadPlaces > before.unreadPlaces {
            outcome.notes.append("not searched by the rules for places in JSON where it cannot be read as its media type says")
        }
    }

    /// Redacts chunk extensions (RFC 9112, 7.1.1). Returns how many secrets were replaced.
    public func redact(_ arrival: inout Arrival?) -> Int {
        guard var redacted = arrival else { return 0 }
        var count = 0
        func redact(_ line: inout String?) {
            guard let old = line, let semicolon = old.utf8.firstIndex(of: UInt8(ascii: ";")) else { return }
            var words = Array(old[semicolon...].utf8)
            let found = self.redact(words: &words)
            count += found
            if found > 0 { line = old[..<semicolon] + String(decoding: words, as: UTF8.self) }
        }
        for index in redacted.pieces.indices { redact(&redacted.pieces[index].line) }
        redact(&redacted.lastLine)
        if count > 0 { arrival = redacted }
        return count
    }

    /// Redacts texts in an archive outside of its messages. Returns how many secrets were replaced.
    public func redact(_ member: inout UnknownMember) -> Int {
        var json = member.json
        let count = self.redact(words: &json)
        guard count > 0 else { return 0 }
        // The secret extended beyond a string, so the JSON is broken.
        if (try? JSONDocument(json)) == nil { json = Array("{}".utf8) }
        member.json = json
        return count
    }

    /// A text for people, with "…" for secrets by the default rules. Placeholders are kept.
    package static func shown(_ text: String) -> String {
        var bytes = Array(text.utf8)
        let edits = bytes.withUnsafeBytes { Redactor().text.edits(in: $0) }
        guard !edits.isEmpty else { return text }
        let hidden = EditList(edits.edits.map { Edit(range: $0.range, bytes: Array("…".utf8)) })
        bytes = hidden.applied(to: bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A text for people, possibly truncated, with "…" for tokens and keys that are recognised by their shape. Placeholders are kept.
    package static func withoutTokens(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let hidden = bytes.withUnsafeBytes { bytes in
            var shapes = ShapeSurvey(text: SurveyText(bytes: bytes, hasMore: false, isView: false))
            var ranges: [Range<Int>] = []
            SurveyTable.shared.scan(bytes) { anchor, offset in
                switch anchor {
                case .shapes(let indices): ranges += shapes.findings(indices, anchorAt: offset).map(\.range)
                case .webToken: if let range = shapes.webToken(at: offset)?.range ?? shapes.cutWebToken(at: offset) { ranges.append(range) }
                case .name, .armour, .blank, .identified, .flag, .option, .directive, .scheme, .basicScheme, .rows,
                    .base64Beginning, .base64:
                    break
                }
            }
            return EditList(ranges.map { Edit(range: $0, bytes: Array("…".utf8)) })
        }
        return hidden.isEmpty ? text : String(decoding: hidden.applied(to: bytes), as: UTF8.self)
    }

    /// Redacts the words of a reason or a message.
    private func redact(words: inout [UInt8]) -> Int {
        // Most reasons are "OK". An anchor has at least four bytes, a known secret six.
        guard words.count >= 4 || !words.isEmpty && self.rules.hasTextPatterns else { return 0 }
        let edits = words.withUnsafeBytes { self.text.edits(in: $0) }
        if !edits.isEmpty { words = edits.applied(to: words) }
        return edits.count
    }

    private func redact(
        _ headers: inout HeaderFields, _ trailers: inout HeaderFields?, _ body: inout WireBody?, _ schema: GRPCSchema,
        _ outcome: inout RedactionOutcome
    ) {
        if var fields = trailers {
            outcome.count += self.head.redact(&fields)
            trailers = fields
        }
        // The body is redacted before the head's fields, because a boundary in Content-Type might be redacted.
        let result = body.flatMap { body in
            self.keeps(body.bytes)
                ? nil
                : self.body(schema, headers, isComplete: body.isComplete).redacted(
                    body.bytes, headers: headers, isComplete: body.isComplete, notes: &outcome.notes)
        }
        outcome.count += self.head.redact(&headers)
        if var wire = body {
            let count = self.redact(&wire.arrival)
            if count > 0 { (body, outcome.isBodyChanged) = (wire, true) }
            outcome.count += count
        }
        // A spent search is incomplete, so neither its bytes nor their checksums may be used.
        if let result, let old = body, !self.isSpent {
            outcome.count += result.count
            outcome.isBodyChanged = true
            for (old, new) in result.digests { self.checksums?.add(old, new) }
            var arrival = old.arrival
            FieldsOfBody.mend(&arrival, edits: result.edits, oldSize: old.bytes.count, newSize: result.bytes.count)
            body = WireBody(result.bytes, arrival: arrival, isComplete: old.isComplete)
            let mender = FieldsOfBody(makeDigest: self.makeDigest)
            for isTrailer in [false, true] {
                guard var fields = isTrailer ? trailers : headers else { continue }
                mender.mend(
                    &fields, growth: result.bytes.count - old.bytes.count, oldSize: old.bytes.count,
                    old: { mender.checksum($0, of: old.bytes) },
                    new: { mender.checksum($0, of: result.bytes) }, content: result.content, notes: &outcome.notes,
                    replaced: { self.checksums?.add($0, $1) })
                if isTrailer { trailers = fields } else { headers = fields }
            }
        }
        guard let checksums = self.checksums else { return }
        if checksums.apply(to: &headers) { outcome.isHeadMended = true }
        if var fields = trailers, checksums.apply(to: &fields) {
            outcome.isHeadMended = true
            trailers = fields
        }
    }

    /// Changes when something is learned that earlier exchanges of the recording may contain: a secret, or a replaced checksum or length.
    package var generation: Int { self.vault.generation + (self.checksums?.generation ?? 0) }

    /// A quick check whether these bytes may contain any of the known secrets, in any spelling. For the pass at the end of a recording,
    /// over the text of each interaction and its sidecars.
    public func mayConcern(_ bytes: UnsafeRawBufferPointer) -> Bool {
        LeakScan(self.vault).hasLeak(bytes) || self.checksums?.mayConcern(bytes) == true
    }
}

extension Redactor {
    /// Redacts a body that is too large for memory. `deliver` receives the redacted bytes in pieces, and is not called if there is nothing
    /// to redact.
    ///
    /// Reads the source twice. First redact the head with `redact(request:body:)` and no body, and finally `fit` it to the new bytes.
    public func redact(
        _ source: ByteSource, headers: HeaderFields, isComplete: Bool, messages: GRPCSchema = GRPCSchema(),
        deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        if self.rules.hasKeptBodies, self.rules.keeps(body: try self.digest(source)) { return RedactionOutcome() }
        let gaps = self.vault.gaps
        var outcome = try SourceRedaction(text: self.text(for: headers, isComplete: isComplete), schema: messages).redact(
            source, headers: headers, isComplete: isComplete, deliver: deliver)
        self.noteGaps(since: gaps, &outcome)
        return outcome
    }

    /// Corrects lengths and digests in header fields for the redacted bytes of a body.
    ///
    /// Reads the sources only if a field has a digest.
    public func fit(
        _ headers: inout HeaderFields, _ trailers: inout HeaderFields?, arrival: inout Arrival?, from old: ByteSource,
        to new: ByteSource, outcome: inout RedactionOutcome
    ) throws {
        FieldsOfBody.mend(&arrival, edits: nil, oldSize: old.size, newSize: new.size)
        let mender = FieldsOfBody(makeDigest: self.makeDigest)
        let growth = new.size - old.size
        var known: (old: [BodyChecksum: [UInt8]], new: [BodyChecksum: [UInt8]]) = ([:], [:])
        for isTrailer in [false, true] {
            guard var fields = isTrailer ? trailers : headers else { continue }
            try mender.mend(
                &fields, growth: growth, oldSize: old.size, old: { try self.checksum($0, of: old, &known.old) },
                new: { try self.checksum($0, of: new, &known.new) }, notes: &outcome.notes, replaced: { self.checksums?.add($0, $1) })
            if isTrailer { trailers = fields } else { headers = fields }
        }
        if try InlineScripts.mayBeListed(headers, old) {
            outcome.notes.append("a content security policy may list digests that no longer fit the scripts of the redacted page")
        }
    }

    /// Remembers the digests and the length of a body that is too large for memory and was changed.
    public func noteDigests(of old: ByteSource, becoming new: ByteSource, request: RecordedRequest) throws {
        guard let checksums = self.checksums else { return }
        if request.method == "GET" { checksums.add(lengthOf: request.url, old: old.size, new: new.size) }
        guard old.size <= Self.checksumLimit else { return }
        self.digests.add(try self.bytes(old), request: "\(request.method) \(request.url)")
    }

    /// The largest body for which checksums other than SHA-256 are computed, since this holds it in memory.
    private static let checksumLimit = 64 << 20

    private func checksum(
        _ checksum: BodyChecksum, of source: ByteSource, _ known: inout [BodyChecksum: [UInt8]]
    ) throws -> [UInt8]? {
        if let value = known[checksum] { return value }
        guard checksum == .sha256 || source.size <= Self.checksumLimit else { return nil }
        let value = checksum == .sha256 ? try self.digest(source) : checksum.value(of: try self.bytes(source))
        known[checksum] = value
        return value
    }

    private func bytes(_ source: ByteSource) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.size)
        try source.forEachPiece { bytes.append(contentsOf: $0) }
        return bytes
    }

    private func digest(_ source: ByteSource) throws -> [UInt8] {
        var digest = self.makeDigest()
        try source.forEachPiece { digest.update($0) }
        return digest.finalize()
    }
}

/// The changes made to a message by redaction.
public struct RedactionOutcome: Sendable, Hashable {
    /// How many placeholders were inserted, counting each place.
    public var count = 0
    public var isBodyChanged = false
    /// Whether checksums or a length in the head were corrected for the body of another message.
    var isHeadMended = false
    /// Sentences for people on what could not be searched or corrected, for `Body.note`.
    public var notes: [String] = []

    public init() {}

    public var isChanged: Bool { self.count > 0 || self.isBodyChanged || self.isHeadMended }
    /// Whether the whole body was searched and nothing was found in it.
    package var holdsNothing: Bool { !self.isBodyChanged && self.notes.isEmpty }
    public var note: String? { self.notes.isEmpty ? nil : self.notes.joined(separator: "; ") }

    /// Adds the outcome of another search.
    public mutating func add(_ other: RedactionOutcome) {
        self.count += other.count
        self.isBodyChanged = self.isBodyChanged || other.isBodyChanged
        self.isHeadMended = self.isHeadMended || other.isHeadMended
        self.notes += other.notes.filter { !self.notes.contains($0) }
    }
}

extension RecordedResponse {
    /// In place, since a response has many parts.
    fileprivate mutating func redact(by redactor: Redactor, _ body: inout WireBody?, _ messages: ProtoType?) -> RedactionOutcome {
        redactor.redact(response: &self, body: &body, messages)
    }
}
