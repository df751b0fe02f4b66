public import CassetteModel
public import TapeBytes

/// Takes secrets out of messages: wire bytes in, wire bytes out, as if the traffic had carried placeholders.
///
/// Keeps what it learns, in its vault, and header lines that hold no secret.
public struct Redactor: Sendable {
    public let rules: RedactionRules
    public let vault: SecretVault
    /// Of one search; nil: it goes to its end.
    private var budget: SearchBudget?
    /// Names the fields of gRPC messages.
    public var schema: ProtoSchema?
    private let searched: SearchedLines
    private let dictionaries: SharedDictionaries
    /// Nil for single requests, which are compared and forgotten.
    private let checksums: ReplacedChecksums?
    /// The digests of bodies that were changed.
    package let digests: RedactedDigests
    /// Of the vault at which `searched` may be used; nil: at any. Other vaults come to the same number by other secrets.
    private let searchedAt: Int?
    /// Secrets that were taken out of many answers.
    public let spread: SpreadSecrets
    /// Of the answer that is searched now.
    private var hits: SecretHits?
    let makeDigest: @Sendable () -> any ContentDigest

    /// `makeDigest` makes a SHA-256, for digests in header fields that have to fit again.
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
            // Who names a value means it, though others take it for a word.
            let reach = SecretReach(secret.bytes, isSure: true)
            _ = vault.placeholder(
                for: secret.bytes, kind: "env-\(secret.name)", reach: reach == .place ? .word : reach, keeping: rules.keptShape)
        }
    }

    /// Looks at the same messages. A look that teaches a secret has another one after it, and a chain of secrets of which each shows the
    /// next one only when it is gone has three or four in real messages. What needs more was made to cost time.
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

    /// The same rules and secrets for one search that may end early: what it returns then is to be thrown away.
    package func within(_ budget: SearchBudget) -> Redactor {
        Redactor(self, vault: self.vault, searched: self.searched, searchedAt: self.searchedAt, budget: budget)
    }

    /// Whether the search that this one is for has ended early.
    package var isSpent: Bool { self.budget?.isSpent == true }

    /// The same rules and secrets for a second thread, whose searches are not repeated for what the first one learns meanwhile.
    package func sharingSecrets() -> Redactor {
        Redactor(
            self, vault: SecretVault(sharing: self.vault), searched: self.searched, searchedAt: self.searchedAt, budget: self.budget)
    }

    /// The same rules, and the secrets known now, for one search whose result is only whether there is anything: what it learns is forgotten.
    ///
    /// Finds no lines clean for others: one may have taken the number of a placeholder.
    package func forgetting(within budget: SearchBudget) -> Redactor {
        Redactor(
            self, vault: SecretVault(copying: self.vault), searched: SearchedLines(), searchedAt: nil, budget: budget, isForgotten: true)
    }

    /// The same rules, and the secrets known now, for the requests of one session, whose placeholders' numbers do not count: what these
    /// teach is known to the next ones, and to nobody else.
    func forSession() -> Redactor {
        Redactor(
            self, vault: SecretVault(copying: self.vault), searched: SearchedLines(), searchedAt: nil, budget: self.budget,
            isForgotten: true)
    }

    /// The same for one of the requests, whose searches are not repeated for what others learn meanwhile.
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

    /// For a body. A part of a representation keeps its number of bytes, so that it still fits its place (RFC 9110, 14.4 and 14.6).
    /// So does a whole one of which parts may be asked for, which have to fit it. And the beginning of one that was cut: its client asks for
    /// the rest by the number of bytes that it has.
    private func text(for headers: HeaderFields, isComplete: Bool) -> TextRedaction {
        var text = self.text
        text.keepsLengths =
            headers.contains("content-range") || Self.isOfRanges(headers) || Self.acceptsRanges(headers)
            || !isComplete && headers.contains("content-length")
                && (headers.contains("etag") || headers.contains("last-modified") || headers.contains("accept-ranges"))
        return text
    }

    /// `Accept-Ranges: bytes` (RFC 9110, 14.3) of a body without a content coding, which would not keep its length.
    private static func acceptsRanges(_ headers: HeaderFields) -> Bool {
        guard let index = headers.firstIndex(of: "accept-ranges") else { return false }
        return headers.valueBytes(at: index).elementsEqual("bytes".utf8) { $0 | 32 == $1 }
            && (!headers.contains("content-encoding") || ContentEncoding(headers) == .none)
    }

    /// `multipart/byteranges` (RFC 9110, 14.6). Told by its first letter in nearly all messages.
    private static func isOfRanges(_ headers: HeaderFields) -> Bool {
        guard let index = headers.firstIndex(of: "content-type") else { return false }
        let value = headers.valueBytes(at: index)
        return value.first.map { $0 | 32 } == UInt8(ascii: "m") && MultipartType(headers)?.subtype == "byteranges"
    }

    /// For one message of gRPC, which is compared before its body has ended.
    func messages(_ headers: HeaderFields, _ schema: GRPCSchema) -> GRPCRedaction? {
        GRPCRedaction(ContentRedaction(text: self.text), headers: headers, schema: schema)
    }

    /// Redacts all heads of an exchange and both bodies, what is learned in one used in all of them.
    ///
    /// The interaction's own bodies are left alone. Digests and lengths in header fields fit afterwards, or the outcome says which do not.
    public func redact(
        _ interaction: inout Interaction, requestBody: inout WireBody?, responseBody: inout WireBody?
    ) -> (request: RedactionOutcome, response: RedactionOutcome) {
        var request = RedactionOutcome()
        var response = RedactionOutcome()
        var learned = -1
        // A secret in a URL may change it.
        let types = self.schema?.types(ofURL: interaction.request.url)
        let old = (request: requestBody?.bytes, response: responseBody?.bytes)
        var oldHeaders: HeaderFields?
        // Looked at before anything is copied: few answers have such fields.
        let isCoded = interaction.response?.headers.contains("content-encoding") == true
        if isCoded || interaction.response?.headers.contains("use-as-dictionary") == true, var message = interaction.response,
            var body = responseBody, self.takeDictionaryCodingOff(&message, &body, &response)
        {
            (interaction.response, responseBody) = (message, body)
        }
        // Of most recordings nothing is known, and a copy costs as much as a small answer.
        let hits = self.checksums != nil && !self.vault.isEmpty ? SecretHits() : nil
        let counting = hits.map(self.counting)
        // What is learned late in an exchange may stand early in it. A second look changes nothing that the first one changed.
        var looks = 0
        // Also after bodies that have changed: what stood around a secret may be another text without it.
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
            // Kept for a body that changes: its head is put right then.
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

    /// The same redactor for an answer in which known secrets are counted.
    private func counting(_ hits: SecretHits) -> Redactor {
        var other = self
        other.hits = hits
        return other
    }

    /// Remembers the digests of a body that was changed. Those of scripts and styles that pages name are of the content without its codings.
    private func noteDigests(of old: [UInt8]?, becoming new: WireBody?, _ headers: HeaderFields, _ request: RecordedRequest) {
        guard self.checksums != nil, let old, let new, new.isComplete, old != new.bytes else { return }
        var content: [UInt8]?
        let type = headers.first("content-type")?.lowercased() ?? ""
        if headers.contains("content-encoding"), ["javascript", "ecmascript", "css"].contains(where: type.contains) {
            content = SharedDictionaries.content(old, headers)
        }
        self.digests.add(old, content: content, request: "\(request.method) \(request.url)")
    }

    /// Whether an exception names a body by its digest.
    private func keeps(_ bytes: [UInt8]) -> Bool {
        self.rules.hasKeptBodies && self.rules.keeps(body: FieldsOfBody(makeDigest: self.makeDigest).digest(bytes))
    }

    /// Decodes a body that was compressed with an earlier one (RFC 9842), since the recording may hold that one without its secrets, and
    /// keeps one that others may be compressed with. Whether the body is another one now, without a coding.
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

    /// Error messages may quote the exchange.
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
        let unsearched = self.vault.unsearched
        if let (url, count) = self.head.redacted(url: request.url) {
            request.url = url
            outcome.count += count
        }
        if let target = request.target, let (redacted, count) = self.head.redacted(url: target) {
            request.target = redacted
            outcome.count += count
        }
        self.redact(&request.headers, &request.trailers, &body, GRPCSchema(request.body, messages), &outcome)
        self.noteLimit(since: unsearched, &outcome)
        return outcome
    }

    public func redact(response: inout RecordedResponse, body: inout WireBody?) -> RedactionOutcome {
        self.redact(response: &response, body: &body, nil)
    }

    fileprivate func redact(response: inout RecordedResponse, body: inout WireBody?, _ messages: ProtoType?) -> RedactionOutcome {
        var outcome = RedactionOutcome()
        let unsearched = self.vault.unsearched
        outcome.count += self.redact(words: &response.reason)
        self.redact(&response.headers, &response.trailers, &body, GRPCSchema(response.body, messages), &outcome)
        self.noteLimit(since: unsearched, &outcome)
        return outcome
    }

    /// Notes that a message has secrets beyond the limit, which are not searched for elsewhere.
    func noteLimit(since unsearched: Int, _ outcome: inout RedactionOutcome) {
        guard self.vault.unsearched > unsearched else { return }
        outcome.notes.append(
            "the run has more secrets than are looked for everywhere (\(SecretVault.limit), or \(SecretVault.byteLimit >> 20) MiB): those beyond are taken out at their own places only"
        )
    }

    /// What stands after the sizes of chunks (RFC 9112, 7.1.1). Returns how many secrets were replaced.
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

    /// Texts that an archive has beside its messages. Returns how many secrets were replaced.
    public func redact(_ member: inout UnknownMember) -> Int {
        var json = member.json
        let count = self.redact(words: &json)
        guard count > 0 else { return 0 }
        // A secret that takes more than a text with it.
        if (try? JSONDocument(json)) == nil { json = Array("{}".utf8) }
        member.json = json
        return count
    }

    /// A text for people, with "…" for what the standard rules take for secrets. Placeholders stay.
    package static func shown(_ text: String) -> String {
        var bytes = Array(text.utf8)
        let edits = bytes.withUnsafeBytes { Redactor().text.edits(in: $0) }
        guard !edits.isEmpty else { return text }
        let hidden = EditList(edits.edits.map { Edit(range: $0.range, bytes: Array("…".utf8)) })
        bytes = hidden.applied(to: bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A text for people, which may have been cut, with "…" for tokens and keys that are known by what they look like. Placeholders stay.
    package static func withoutTokens(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let hidden = bytes.withUnsafeBytes { bytes in
            let shapes = ShapeSurvey(text: SurveyText(bytes: bytes, hasMore: false, isView: false))
            var ranges: [Range<Int>] = []
            SurveyTable.shared.scan(bytes) { anchor, offset in
                switch anchor {
                case .shapes(let indices): ranges += shapes.findings(indices, anchorAt: offset).map(\.range)
                case .webToken: if let range = shapes.webToken(at: offset)?.range ?? shapes.cutWebToken(at: offset) { ranges.append(range) }
                case .name, .armour, .blank, .identified, .flag, .option, .directive, .scheme, .rows, .base64Beginning,
                    .base64:
                    break
                }
            }
            return EditList(ranges.map { Edit(range: $0, bytes: Array("…".utf8)) })
        }
        return hidden.isEmpty ? text : String(decoding: hidden.applied(to: bytes), as: UTF8.self)
    }

    /// Words of a reason or a message.
    private func redact(words: inout [UInt8]) -> Int {
        // "OK", of most: an anchor has four bytes, a known secret six.
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
        // Before the fields of the head are redacted: a Content-Type may have its boundary taken for a secret's place.
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
        // What a spent search found is not all of it: neither its bytes nor their checksums may be used.
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
                    &fields, growth: result.bytes.count - old.bytes.count, old: { mender.checksum($0, of: old.bytes) },
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

    /// Changes when something becomes known that earlier exchanges of the recording may hold: a secret, or a checksum or length that was
    /// replaced.
    package var generation: Int { self.vault.generation + (self.checksums?.generation ?? 0) }

    /// A quick look: whether one of the secrets known by now may stand in these bytes, in any spelling. For the pass at the end of a
    /// recording, over the text of each interaction and its sidecars.
    public func mayConcern(_ bytes: UnsafeRawBufferPointer) -> Bool {
        LeakScan(self.vault).hasLeak(bytes) || self.checksums?.mayConcern(bytes) == true
    }
}

extension Redactor {
    /// A body that is too large for memory: `deliver` gets the redacted bytes in pieces, and is not called where nothing is to be done.
    ///
    /// Reads the source twice. Redact the head with `redact(request:body:)` and no body first, and then `fit` it to the new bytes.
    public func redact(
        _ source: ByteSource, headers: HeaderFields, isComplete: Bool, messages: GRPCSchema = GRPCSchema(),
        deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        if self.rules.hasKeptBodies, self.rules.keeps(body: try self.digest(source)) { return RedactionOutcome() }
        let unsearched = self.vault.unsearched
        var outcome = try SourceRedaction(text: self.text(for: headers, isComplete: isComplete), schema: messages).redact(
            source, headers: headers, isComplete: isComplete, deliver: deliver)
        self.noteLimit(since: unsearched, &outcome)
        return outcome
    }

    /// Makes lengths and digests in header fields fit the redacted bytes of a body.
    ///
    /// Reads the sources only where a field has a digest.
    public func fit(
        _ headers: inout HeaderFields, _ trailers: inout HeaderFields?, arrival: inout Arrival?, from old: ByteSource,
        to new: ByteSource, outcome: inout RedactionOutcome
    ) throws {
        FieldsOfBody.mend(&arrival, edits: nil, oldSize: old.size, newSize: new.size)
        if let note = AmazonEventStream.note(headers) { outcome.notes.append(note) }
        let mender = FieldsOfBody(makeDigest: self.makeDigest)
        let growth = new.size - old.size
        var known: (old: [BodyChecksum: [UInt8]], new: [BodyChecksum: [UInt8]]) = ([:], [:])
        for isTrailer in [false, true] {
            guard var fields = isTrailer ? trailers : headers else { continue }
            try mender.mend(
                &fields, growth: growth, old: { try self.checksum($0, of: old, &known.old) },
                new: { try self.checksum($0, of: new, &known.new) }, notes: &outcome.notes, replaced: { self.checksums?.add($0, $1) })
            if isTrailer { trailers = fields } else { headers = fields }
        }
    }

    /// Remembers the digests and the length of a body that is too large for memory and was changed.
    public func noteDigests(of old: ByteSource, becoming new: ByteSource, request: RecordedRequest) throws {
        guard let checksums = self.checksums else { return }
        if request.method == "GET" { checksums.add(lengthOf: request.url, old: old.size, new: new.size) }
        guard old.size <= Self.checksumLimit else { return }
        self.digests.add(try self.bytes(old), request: "\(request.method) \(request.url)")
    }

    /// The largest body of which other checksums than SHA-256 are computed, since it is held in memory for that.
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

/// What redaction did to a message.
public struct RedactionOutcome: Sendable, Hashable {
    /// Placeholders that were put in, each place counted.
    public var count = 0
    public var isBodyChanged = false
    /// Whether checksums or a length in the head were made to fit the body of another message.
    var isHeadMended = false
    /// Sentences for people on what could not be looked into or could not be made right; for `Body.note`.
    public var notes: [String] = []

    public init() {}

    public var isChanged: Bool { self.count > 0 || self.isBodyChanged || self.isHeadMended }
    /// Whether all of the body was searched, and nothing was found in it.
    package var holdsNothing: Bool { !self.isBodyChanged && self.notes.isEmpty }
    public var note: String? { self.notes.isEmpty ? nil : self.notes.joined(separator: "; ") }

    /// Adds what another look did.
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
