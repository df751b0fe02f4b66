internal import CassetteFormat
public import CassetteModel
public import CassetteRedaction
internal import CassetteStore
public import TapeBytes

/// Redacts secrets in an existing cassette and the files next to it.
public struct CassetteRedaction {
    /// What was done, or what a dry run would do.
    public struct Outcome: Sendable, Hashable {
        /// Exchanges in the cassette.
        public var exchanges = 0
        /// Exchanges that contained secrets.
        public var changed = 0
        /// Places where a placeholder was put.
        public var places = 0
        /// Placeholders that are new in the cassette's own text, by kind.
        public var kinds: [String: Int] = [:]
        /// Secrets that remain.
        public var leaks: [CassetteLeak] = []
        /// Digests of changed bodies that the cassette contains.
        public var namedDigests = NamedDigests()
        /// Lines about secrets that were redacted in many answers.
        public var spreadSecrets: [String] = []
        /// Exchanges with parts that could not be searched.
        public var unsearched = UnsearchedExchanges()
        /// In a dry run: the first places where placeholders would be put.
        public var found: [RedactedPlace] = []
    }

    /// The most places that a dry run lists.
    private static let placeLimit = 2000
    /// The most passes over the cassette. Each pass may reveal secrets to the next one; two or three are usual.
    private static let lookLimit = 16

    private let path: String
    private let redactor: Redactor
    private let store: BodyStore
    private let bodies: BodyReader
    private let schema: ProtoSchema?
    private let digest: @Sendable () -> any ContentDigest

    /// Reads the cassette at least twice: to learn the secrets, then to redact them everywhere. Replaces the file once the new one is on
    /// disk, and removes the files that it no longer names.
    ///
    /// - Parameters:
    ///   - rules: added to the cassette's own rules.
    ///   - dryRun: changes nothing.
    ///   - schema: names the fields of gRPC messages; nil uses the names in the cassette.
    ///   - digest: makes a SHA-256.
    ///   - notice: receives a sentence on each repair: truncated bytes, or conversations that a killed recorder left open.
    public static func redact(
        _ path: String, rules: RedactionRules, version: String, dryRun: Bool, schema: ProtoSchema? = nil,
        digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }, notice: (String) -> Void = { _ in },
        progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws -> Outcome {
        try self.redact(
            path, rules: rules, version: version, dryRun: dryRun, schema: schema, digest: digest, disk: .system, notice: notice,
            progress: progress)
    }

    /// The same, with replaceable system calls for body files.
    static func redact(
        _ path: String, rules: RedactionRules, version: String, dryRun: Bool, schema: ProtoSchema? = nil,
        digest: @escaping @Sendable () -> any ContentDigest, disk: DiskCalls, notice: (String) -> Void = { _ in },
        progress: (_ done: Int, _ of: Int) -> Void
    ) throws -> Outcome {
        guard !dryRun else {
            let reader = try CassetteReader(path: path)
            if let damage = reader.damage { notice("\(damage.summary): the rest was not searched.") }
            let redaction = try CassetteRedaction(path, reader, rules, schema, digest, BodyStore(tryingOn: path))
            return try redaction.learn(reader, listsPlaces: true, progress: progress)
        }
        let appender = try CassetteAppender.open(path, recorder: "wiretape \(version)")
        if let repaired = appender.repaired { notice(repaired.summary + ".") }
        // Secrets may be in conversations that a killed recorder left open.
        let recovery = try JournalRecovery.run(appender, BodyStore(cassettePath: path, disk: disk), digest: digest, disk: disk)
        for text in recovery.notices { notice(text) }
        let rewriter = try appender.finish()
        let redaction = try CassetteRedaction(
            path, rewriter.reader, rules, schema, digest, BodyStore(cassettePath: path, disk: disk))
        let outcome: Outcome
        do {
            outcome = try redaction.rewrite(rewriter, progress: progress)
        } catch {
            // Remove the bodies that it created, which nothing names.
            _ = try? CassetteReferences(familyOf: path).tidy(redaction.store)
            throw error
        }
        // Keep its lock: a recorder that starts before the files are removed could lose what it has just written.
        withExtendedLifetime(rewriter) {}
        return outcome
    }

    /// The secrets that the rules of a cassette would redact in an exchange that is not in it yet; none if it has no rules.
    ///
    /// Does not read other exchanges, so the numbers in the placeholders may be those of other values.
    ///
    /// - Parameter number: the exchange's position in the file, from 1.
    public static func secrets(
        in interaction: Interaction, number: Int, of path: String,
        digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }
    ) throws -> [RedactedPlace] {
        let reader = try CassetteReader(path: path)
        guard let rules = try CassetteHead(reader.head()).redactionRules() else { return [] }
        let redactor = Redactor(rules: rules, vault: SecretVault(), makeDigest: digest)
        let maker = InteractionMaker(store: try BodyStore(tryingOn: path), redactor: redactor, schema: nil, digest: digest)
        guard let redacted = try maker.redacted(interaction, reader: BodyReader(cassettePath: path)) else { return [] }
        return RedactedPlace.all(number, interaction, redacted)
    }

    /// Gives the placeholders of a cassette other numbers, in its exchanges and in the files that it names.
    ///
    /// - Returns: the outcome, whose `leaks` are placeholders that keep their numbers, because there is no room for a longer one.
    public static func renumber(
        _ path: String, by renumbering: PlaceholderRenumbering, version: String,
        digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }, progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws -> Outcome {
        let rewriter = try CassetteAppender.open(path, recorder: "wiretape \(version)").finish()
        let redaction = CassetteRedaction(path, renumbering.redactor(makeDigest: digest), digest, try BodyStore(cassettePath: path))
        var outcome = try redaction.rewrite(rewriter, progress: progress)
        withExtendedLifetime(rewriter) {}
        outcome.leaks = outcome.leaks.map { leak in
            var leak = leak
            leak.placeholder = renumbering.old(leak.placeholder)
            return leak
        }
        return outcome
    }

    private init(_ path: String, _ redactor: Redactor, _ digest: @escaping @Sendable () -> any ContentDigest, _ store: BodyStore) {
        self.path = path
        self.redactor = redactor
        self.store = store
        self.bodies = BodyReader(cassettePath: path)
        self.digest = digest
        self.schema = nil
    }

    private init(
        _ path: String, _ reader: CassetteReader, _ rules: RedactionRules, _ schema: ProtoSchema?,
        _ digest: @escaping @Sendable () -> any ContentDigest, _ store: BodyStore
    ) throws(CassetteError) {
        let own = try CassetteHead(reader.head()).redactionRules()
        let vault = SecretVault()
        vault.countOn(behind: try PlaceholderTally(reader, path: path, digest: digest))
        self.path = path
        self.redactor = Redactor(rules: own?.adding(rules) ?? rules, vault: vault, makeDigest: digest)
        self.store = store
        self.bodies = BodyReader(cassettePath: path)
        self.digest = digest
        self.schema = schema
    }

    private func learn(_ cassette: CassetteReader, listsPlaces: Bool = false, progress: (Int, Int) -> Void) throws -> Outcome {
        let maker = InteractionMaker(store: self.store, redactor: self.redactor, schema: self.schema, digest: self.digest)
        var outcome = Outcome(exchanges: cassette.count)
        var generation = -1
        // Secrets learned from the last exchanges may be in the first ones. Each pass uses the secrets that earlier passes have found. The
        // leak scan reports any that this many passes do not find.
        var looks = 0
        while generation != self.redactor.generation, looks < Self.lookLimit {
            looks += 1
            generation = self.redactor.generation
            outcome = Outcome(exchanges: cassette.count)
            var unsearched = UnsearchedExchanges()
            var tally = PlaceholderTally()
            for position in 0..<cassette.count {
                progress(position, cassette.count)
                let interaction = try cassette.interaction(at: position)
                var notes: [String] = []
                let found = try maker.redacted(interaction, reader: self.bodies, notes: &notes)
                unsearched.add(position + 1, notes: notes)
                guard let redacted = found else { continue }
                outcome.changed += 1
                outcome.places += redacted.count
                if listsPlaces, outcome.found.count < Self.placeLimit {
                    let places = RedactedPlace.all(position + 1, interaction, redacted)
                    outcome.found += places.prefix(Self.placeLimit - outcome.found.count)
                }
                Self.count(redacted, &tally)
            }
            outcome.unsearched = unsearched
            outcome.kinds = tally.counts.filter { $0.value > 0 }
        }
        progress(cassette.count, cassette.count)
        return outcome
    }

    /// Counts placeholders in heads and in bodies in memory. In a body, existing placeholders are counted too.
    private static func count(_ redacted: InteractionMaker.Redacted, _ tally: inout PlaceholderTally) {
        let interaction = redacted.interaction
        Array(interaction.request.url.utf8).withUnsafeBytes { tally.add($0) }
        interaction.request.headers.withBytes { tally.add($0) }
        interaction.response?.headers.withBytes { tally.add($0) }
        if redacted.outcome.request.isBodyChanged { self.count(redacted.request, &tally) }
        if redacted.outcome.response.isBodyChanged { self.count(redacted.response, &tally) }
        if let messages = redacted.messages { tally.add(messages.placeholders) }
    }

    private static func count(_ body: CapturedBody?, _ tally: inout PlaceholderTally) {
        guard case .memory(let bytes) = body?.place else { return }
        bytes.withUnsafeBytes { tally.add($0) }
    }

    private func rewrite(_ rewriter: CassetteRewriter, progress: (Int, Int) -> Void) throws -> Outcome {
        let cassette = rewriter.reader
        var outcome = try self.learn(cassette) { done, count in progress(done / 2, count) }
        var head = CassetteHead(try cassette.head())
        // Renumbering applies no rules.
        if !self.redactor.renumbers { try head.set(CassetteHead.member(self.redactor.rules)) }
        outcome.places += try head.redactArchive(self.redactor)
        var maker = InteractionMaker(store: self.store, redactor: self.redactor, schema: self.schema, digest: self.digest)
        rewriter.beforeReplacing = self.store.syncAll
        try rewriter.rewrite(order: Array(0..<cassette.count), head: head.bytes) { place, bytes in
            progress((cassette.count + place) / 2, cassette.count)
            var interaction = try cassette.interaction(at: place)
            let wasUnsearched = UnsearchedNote.remove(from: &interaction)
            if let redacted = try maker.redacted(interaction, reader: self.bodies) {
                interaction = try maker.made(redacted, reader: self.bodies)
            } else if !wasUnsearched {
                return nil
            }
            if interaction.isUndecoded { interaction = (try? maker.decoded(interaction, reader: self.bodies)) ?? interaction }
            var writer = JSONWriter(reserving: bytes.count)
            writer.removeAll(baseDepth: 2)
            InteractionEncoder.encode(interaction, into: &writer)
            return writer.bytes
        }
        progress(cassette.count, cassette.count)
        try CassetteReferences(familyOf: self.path).tidy(self.store)
        outcome.leaks = try CassetteLeakScan(path: self.path, vault: self.redactor.vault, digest: self.digest).leaks()
        outcome.spreadSecrets = self.redactor.spread.words
        if !self.redactor.digests.isEmpty {
            outcome.namedDigests = try NamedDigests(path: self.path, self.redactor.digests, digest: self.digest)
        }
        return outcome
    }
}

extension PlaceholderTally {
    /// In bytes: more than the length of the longest placeholder in any spelling.
    private static let overlap = 256

    /// The placeholders of a cassette and of the files that it names.
    ///
    /// Skips files that cannot be read. The code that needs their bytes reports them.
    init(_ cassette: CassetteReader, path: String, digest: () -> any ContentDigest) throws(CassetteError) {
        self.init()
        try Self.forEachText(of: cassette, path: path, digest: digest) { self.add($0) }
    }

    /// Delivers the texts of a cassette's exchanges and the bytes of the files that they name, in pieces that overlap.
    ///
    /// Skips files that cannot be read. The code that needs their bytes reports them.
    static func forEachText(
        of cassette: CassetteReader, path: String, digest: () -> any ContentDigest, deliver: (UnsafeRawBufferPointer) -> Void
    ) throws(CassetteError) {
        let bodies = BodyReader(cassettePath: path)
        var seen: Set<String> = []
        for position in 0..<cassette.count {
            let bytes = try cassette.bytes(at: position)
            bytes.withUnsafeBytes(deliver)
            guard bytes.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }),
                let interaction = try? InteractionDecoder.decode(bytes, at: .textAlone)
            else { continue }
            let inBodies = [interaction.request.body, interaction.response?.body].flatMap { $0?.content.sidecars ?? [] }
            // If a message file cannot be read, the files that it names are unknown.
            let inMessages = interaction.webSocket.map { (try? self.sidecars(of: $0, bodies, digest())) ?? $0.sidecars } ?? []
            for sidecar in inBodies + inMessages where seen.insert(sidecar.path).inserted {
                if let source = try? bodies.source(sidecar, digest: digest()) { try? self.deliver(source, deliver) }
            }
        }
    }

    private static func sidecars(
        of messages: WebSocketMessages, _ reader: BodyReader, _ digest: some ContentDigest
    ) throws -> [Sidecar] { try reader.sidecars(of: messages, digest: digest) }

    private static func deliver(_ source: ByteSource, _ deliver: (UnsafeRawBufferPointer) -> Void) throws {
        var window: [UInt8] = []
        try source.forEachPiece { (piece) -> Void in
            window.append(contentsOf: piece)
            window.withUnsafeBytes(deliver)
            window.removeFirst(max(0, window.count - Self.overlap))
        }
    }
}

extension PlaceholderRenumbering.Found {
    /// The placeholders of a cassette and of the files that it names.
    public init(
        path: String, digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }
    ) throws(CassetteError) {
        self.init()
        try PlaceholderTally.forEachText(of: CassetteReader(path: path), path: path, digest: digest) { self.add($0) }
    }
}
