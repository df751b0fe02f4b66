internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
public import TapeBytes

/// Finishes a closed cassette: sorts it by request start, removes secrets that became known after they were written, and decodes bodies
/// that were kept raw. Does not remove files that are no longer named.
public struct CassetteFinisher {
    private let store: BodyStore
    private let reader: BodyReader
    /// nil if secrets are kept.
    private let redactor: Redactor?
    /// The number of exchanges at the beginning of the file that were written before the last secrets were known.
    private let unsettled: Int
    /// Replaces everything before the first exchange, if it is to change.
    private let head: [UInt8]?
    /// Names the fields of gRPC messages.
    private let schema: ProtoSchema?
    private let proofs: RestorationProofs
    /// Spent if there is no time for searching and decoding.
    private let haste: SearchBudget
    private let digest: @Sendable () -> any ContentDigest
    /// Number of decoding threads; nil for one per processor.
    var threads: Int?

    /// What was done.
    struct Result {
        var decoded = 0
        var redacted = 0
        /// The numbers of exchanges that could not be searched, for lack of time, for secrets that became known later.
        var unsearched: [Int] = []
    }

    init(
        path: String, store: BodyStore, redactor: Redactor? = nil, unsettled: Int = 0, head: [UInt8]? = nil, schema: ProtoSchema? = nil,
        proofs: RestorationProofs = RestorationProofs(), haste: SearchBudget = SearchBudget(),
        digest: @escaping @Sendable () -> any ContentDigest
    ) {
        self.store = store
        self.reader = BodyReader(cassettePath: path)
        self.redactor = redactor
        self.unsettled = unsettled
        self.head = head
        self.schema = schema
        self.proofs = proofs
        self.haste = haste
        self.digest = digest
    }

    /// Opens, decodes and closes a cassette that no recorder has open.
    ///
    /// - Parameters:
    ///   - digest: makes a SHA-256.
    ///   - notice: receives a sentence on each repair: truncated bytes, or conversations that a killed recorder left open.
    /// - Returns: the number of exchanges that were decoded.
    public static func decode(
        _ path: String, version: String, digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() },
        notice: (String) -> Void = { _ in }, progress: (_ done: Int, _ of: Int) -> Void
    ) throws -> Int {
        try self.decode(path, version: version, digest: digest, disk: .system, notice: notice, progress: progress)
    }

    /// A body that is not decoded yet and cannot be read.
    package struct UnreadableBody: Sendable {
        /// The exchange's id.
        package var exchange: Int
        /// Why, with what to do.
        package var reason: String
    }

    /// The raw bodies of a cassette that cannot be read, so that their exchanges were not decoded.
    package static func unreadableBodies(in path: String, digest: () -> any ContentDigest) throws -> [UnreadableBody] {
        let cassette = try CassetteReader(path: path)
        let bodies = BodyReader(cassettePath: path)
        var found: [UnreadableBody] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        for position in 0..<cassette.count {
            guard try cassette.bytes(at: position).withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }) else { continue }
            let interaction = try cassette.interaction(at: position)
            let messages = [
                (interaction.request.body, interaction.request.headers),
                (interaction.response?.body, interaction.response?.headers ?? HeaderFields()),
            ]
            for case (let body?, let headers) in messages where body.isUndecoded(headers) {
                do throws(CassetteError) {
                    switch body.content {
                    case .raw(let slice):
                        let stream = try bodies.open(slice)
                        while try stream.read(into: buffer) > 0 {}
                    case .file(let sidecar): try Self.check(sidecar, bodies, digest())
                    default: break
                    }
                } catch {
                    found.append(UnreadableBody(exchange: interaction.id, reason: error.message))
                    break
                }
            }
        }
        return found
    }

    /// Throws if a file is not there, or is not what the cassette says.
    private static func check(_ sidecar: Sidecar, _ bodies: BodyReader, _ digest: some ContentDigest) throws(CassetteError) {
        _ = try bodies.source(sidecar, digest: digest)
    }

    /// The same, with replaceable system calls for body files.
    static func decode(
        _ path: String, version: String, digest: @escaping @Sendable () -> any ContentDigest, disk: DiskCalls,
        notice: (String) -> Void = { _ in }, progress: (_ done: Int, _ of: Int) -> Void
    ) throws -> Int {
        try CassettePlace.refuseEmptyFile(path)
        let appender = try CassetteAppender.open(path, recorder: "wiretape \(version)")
        let store = try BodyStore(cassettePath: path, disk: disk)
        if let repaired = appender.repaired { notice(repaired.summary + ".") }
        for text in try JournalRecovery.run(appender, store, digest: digest, disk: disk).notices { notice(text) }
        let rewriter = try appender.finish()
        let count = try CassetteFinisher(path: path, store: store, digest: digest).finish(rewriter, progress: progress).decoded
        if count > 0 {
            try CassetteReferences(familyOf: path).tidy(store)
        } else if store.hasFiles {
            // Files left by a command that failed. They stay if a related cassette cannot be read.
            _ = try? CassetteReferences(familyOf: path).tidy(store)
        }
        // Keep its lock: a recorder that starts before the files are removed could lose what it has just written.
        withExtendedLifetime(rewriter) {}
        return count
    }

    @discardableResult
    func finish(_ rewriter: CassetteRewriter, progress: (_ done: Int, _ of: Int) -> Void) throws(CassetteError) -> Result {
        let cassette = rewriter.reader
        var starts: [(started: Timestamp, position: Int)] = []
        starts.reserveCapacity(cassette.count)
        for position in 0..<cassette.count {
            let summary = try cassette.bytes(at: position).withUnsafeBytes { InteractionSummaryReader.read($0) }
            starts.append((summary?.started ?? Timestamp(microseconds: .max), position))
        }
        starts.sort { ($0.started, $0.position) < ($1.started, $1.position) }
        let order = starts.map(\.position)
        var maker = InteractionMaker(
            store: self.store, redactor: self.redactor?.within(self.haste), schema: self.schema, digest: self.digest)
        maker.memory.proofs = self.proofs
        let ahead = DecodingAhead(
            order, of: cassette, after: self.unsettled, bodies: self.reader, proofs: self.proofs, haste: self.haste,
            threads: self.threads
        ) {
            InteractionMaker(store: self.store, schema: self.schema, digest: self.digest)
        }
        defer { ahead.stop() }
        var result = Result()
        var failure: (bytes: [UInt8], error: any Error)?
        do {
            rewriter.beforeReplacing = self.store.syncAll
            try rewriter.rewrite(order: order, head: self.head) { place, bytes in
                progress(place, starts.count)
                guard starts[place].position < self.unsettled else {
                    let text = try ahead.text(at: place)
                    if text != nil { result.decoded += 1 }
                    return text
                }
                var redacted: Interaction?
                do {
                    redacted = try self.redacted(starts[place].position, bytes, of: cassette, &maker)
                } catch is SearchBudget.Spent {
                    let heads = try self.headsRedacted(starts[place].position, of: cassette)
                    result.unsearched.append(heads.id)
                    redacted = heads
                } catch {
                    // Continue with the other exchanges.
                    failure = failure ?? (bytes, error)
                }
                if redacted != nil { result.redacted += 1 }
                guard var changed = try redacted ?? DecodingAhead.undecoded(starts[place].position, bytes, of: cassette) else { return nil }
                // A body that cannot be decoded stays raw and can still be replayed.
                if changed.isUndecoded, !self.haste.isSpent, let decoded = try? maker.decoded(changed, reader: self.reader) {
                    changed = decoded
                    result.decoded += 1
                } else if redacted == nil {
                    return nil
                }
                var writer = JSONWriter(reserving: bytes.count)
                writer.removeAll(baseDepth: 2)
                InteractionEncoder.encode(changed, into: &writer)
                return writer.bytes
            }
            progress(starts.count, starts.count)
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(
                .unwritable, "\"\(rewriter.path)\" cannot be sorted (\(error)): all that was recorded is in it.", cause: error)
        }
        if let failure { throw Self.unsearched(failure.bytes, failure.error, in: rewriter.path) }
        return result
    }

    // MARK: Secrets

    /// nil if nothing changes.
    private func redacted(
        _ position: Int, _ bytes: [UInt8], of cassette: CassetteReader, _ maker: inout InteractionMaker
    ) throws -> Interaction? {
        guard let redactor, try self.mayHoldSecrets(position, bytes, of: cassette, redactor) else { return nil }
        guard let redacted = try maker.redacted(cassette.interaction(at: position), reader: self.reader) else { return nil }
        return try maker.made(redacted, reader: self.reader)
    }

    /// Redacts only the heads of an exchange whose bodies cannot be searched in time for secrets that became known later. Its notes say so.
    private func headsRedacted(_ position: Int, of cassette: CassetteReader) throws -> Interaction {
        var interaction = try cassette.interaction(at: position)
        var (request, response): (CapturedBody?, CapturedBody?) = (nil, nil)
        let maker = InteractionMaker(store: self.store, redactor: self.redactor, schema: self.schema, digest: self.digest)
        _ = try maker.redaction?.redact(&interaction, request: &request, response: &response)
        UnsearchedNote.add(to: &interaction)
        return interaction
    }

    /// The error must be reported, so that the recording does not pass for one without secrets.
    private static func unsearched(_ bytes: [UInt8], _ error: any Error, in path: String) -> CassetteError {
        let id = bytes.withUnsafeBytes { InteractionSummaryReader.read($0) }?.id
        let exchange = id.map { "exchange \($0)" } ?? "an exchange"
        let reason = (error as? CassetteError)?.message ?? "\(error)"
        return CassetteError(
            .unwritable,
            "\"\(path)\" may hold secrets: secrets that were found later could not be removed from \(exchange) (\(reason)); run "
                + "\"wiretape redact \(path)\", or remove the file.")
    }

    /// Whether an exchange has messages that may begin or end within a secret. The quick search finds only complete ones.
    private static func mayCutSecrets(_ interaction: UnsafeRawBufferPointer) -> Bool {
        let marks: [StaticString] = [
            "ontent-Range", "ontent-range", "pload-Offset", "pload-offset", "\"complete\":", "\"webSocket\":",
        ]
        return marks.contains { ByteSearch.contains($0, in: interaction) }
    }

    /// A quick search of the text and of the files that it names.
    private func mayHoldSecrets(_ position: Int, _ bytes: [UInt8], of cassette: CassetteReader, _ redactor: Redactor) throws -> Bool {
        if bytes.withUnsafeBytes({ redactor.mayConcern($0) || Self.mayCutSecrets($0) }) { return true }
        guard bytes.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }) else { return false }
        let interaction = try cassette.interaction(at: position)
        // The search cannot look into coded bodies.
        if interaction.isUndecoded { return true }
        let scan = LeakScan(redactor.vault, within: self.haste)
        for body in [interaction.request.body, interaction.response?.body].compactMap({ $0 }) {
            for sidecar in body.content.sidecars + [body.original].compactMap({ $0 }) {
                if try !scan.leaks(in: self.reader.source(sidecar, digest: self.digest())).isEmpty { return true }
            }
        }
        for sidecar in try interaction.webSocket.map({ try self.reader.sidecars(of: $0, digest: self.digest()) }) ?? [] {
            if try !scan.leaks(in: self.reader.source(sidecar, digest: self.digest())).isEmpty { return true }
        }
        return false
    }
}
