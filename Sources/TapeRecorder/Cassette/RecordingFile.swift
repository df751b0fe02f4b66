internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import Dispatch
internal import TapeBytes

/// The cassette being recorded and its bodies. Opened according to the plan; sorted and moved into place when it is closed.
// SAFETY: used by the thread that opens it, then by the recorder thread, then, after that has finished, by the thread that closes
// it; never by two at a time.
final class RecordingFile: @unchecked Sendable {
    let store: BodyStore
    let repaired: CassetteDamage?
    /// What happened to conversations that a killed recorder left open, in sentences.
    let recovered: [String]
    /// nil if secrets are kept.
    let redactor: Redactor?
    let digest: @Sendable () -> any ContentDigest
    /// Secrets that remain in the closed recording.
    private(set) var leaks: [CassetteLeak] = []
    /// Exchanges of the closed recording that were not searched for remaining secrets before the time was over.
    private(set) var unchecked = 0
    /// Exchanges that had not ended, and were put together by the close.
    private(set) var adopted = 0
    /// Why exchanges that had not ended are not in the closed recording yet. Their journals are left for the next recorder.
    private(set) var leftOpen: CassetteError?
    private(set) var namedDigests = NamedDigests()
    /// Lines about secrets that were redacted in many answers.
    var spreadSecrets: [String] { self.redactor?.spread.words ?? [] }
    /// The highest number of an exchange in the file so far.
    let lastID: Int
    let plan: RecordingPlan
    /// The path being written: a temporary file next to the cassette when replacing one, otherwise the cassette itself.
    let path: String
    private var appender: CassetteAppender?
    /// The number of exchanges that the file already had.
    private let keptCount: Int
    /// The lock of the cassette that the recording will replace.
    private var oldLock: CassetteLock?
    private var lastStart: Timestamp?
    private var isInOrder = true
    /// Whether the disk may have bodies that no exchange names: exchanges were lost or rolled back, or the folder is older than the
    /// recording.
    var hasOrphans = false
    /// How far the close has come: whether the file was replaced by a sorted one, and whether it only has to take its place.
    private var isRewritten = false
    private var isFinished = false
    /// Whether exchanges may hold secrets that became known after they were written.
    private var mayHoldSecrets = false
    /// Proofs found during the recording, for use by the close.
    var proofs = RestorationProofs()
    /// What was done by the close.
    private(set) var finished = CassetteFinisher.Result()
    /// The redactor's generation when the newest exchange was redacted, and the first exchange that was redacted with it.
    private var settled: (generation: Int, from: Int)

    /// nil if the plan writes nothing.
    ///
    /// - Parameter redaction: rules added to the cassette's own; nil keeps secrets.
    init?(
        _ plan: RecordingPlan, version: String, redaction: RedactionRules? = .standard,
        digest: @escaping @Sendable () -> any ContentDigest, disk: DiskCalls = .system
    ) throws(CassetteError) {
        self.plan = plan
        self.digest = digest
        var rules = redaction
        let vault = SecretVault()
        var members = plan.headMembers
        if let rules {
            let redactor = Redactor(rules: rules, vault: vault, makeDigest: digest)
            for index in members.indices where members[index].name == UnknownMember.archiveName { _ = redactor.redact(&members[index]) }
            members.append(CassetteHead.member(rules))
        }
        if plan.target != .nothing { try CassettePlace.checkName(plan.path) }
        let recorder = "wiretape \(version)"
        let store: BodyStore
        var repaired: CassetteDamage?
        var recovered: [String] = []
        switch plan.target {
        case .nothing:
            return nil
        case .create:
            self.path = plan.path
            self.oldLock = nil
            self.appender = try CassetteAppender.create(plan.path, recorder: recorder, members: members, disk: disk)
            // A cassette with secrets must be readable only by its owner.
            if redaction == nil { CassettePlace.keepPrivate(plan.path) }
            self.lastID = 0
            store = try Self.store(of: plan.path, fresh: plan.path, disk)
        case .stage:
            self.path = try CassettePlace.stagedPath(of: plan.path, by: .import)
            self.oldLock = nil
            self.appender = try CassetteAppender.create(self.path, recorder: recorder, members: members, disk: disk)
            if redaction == nil { CassettePlace.keepPrivate(self.path) }
            CassettePlace.withhold(self.path, fromAnyOf: plan.sources)
            self.lastID = 0
            store = try Self.store(of: plan.path, fresh: self.path, disk)
        case .replace:
            self.oldLock = try CassetteLock(plan.path)
            // Throws before the recording if the old file is not a cassette or has a newer format.
            let old = try CassetteReader(path: plan.path)
            let path = try CassettePlace.freeName(beside: plan.path)
            self.path = path
            self.appender = try CassetteAppender.create(path, recorder: recorder, members: members, disk: disk)
            // If only its owner could read the old cassette, the same applies to the new one.
            CassettePlace.copyMode(of: plan.path, to: path)
            if redaction == nil, try CassetteHead(old.head()).redactionRules() != nil { CassettePlace.keepPrivate(path) }
            self.lastID = 0
            store = try Self.store(of: plan.path, fresh: path, disk)
        case .append:
            self.path = plan.path
            self.oldLock = nil
            let appender = try CassetteAppender.open(plan.path, recorder: recorder, disk: disk)
            repaired = appender.repaired
            // From now on it has secrets.
            if redaction == nil, try CassetteHead(CassetteReader(path: plan.path).head()).redactionRules() != nil {
                CassettePlace.keepPrivate(plan.path)
            }
            store = try BodyStore(cassettePath: plan.path, disk: disk)
            let journals = try Self.recover(appender, store, digest, disk)
            recovered = journals.notices
            self.appender = try Self.appender(appender, recorder: recorder, &rules, vault, digest, disk)
            let last = try Self.last(plan.path)
            self.lastID = max(last.id, journals.lastID)
            self.lastStart = last.started
            // A killed recorder leaves exchanges in the order in which they ended.
            self.isInOrder = last.isInOrder
        }
        self.keptCount = self.appender?.count ?? 0
        self.repaired = repaired
        self.recovered = recovered
        self.redactor = rules.map { Redactor(rules: $0, vault: vault, makeDigest: digest) }
        self.settled = (self.redactor?.generation ?? 0, self.appender?.count ?? 0)
        store.syncsFileSystem = plan.target == .stage
        self.store = store
        self.hasOrphans = store.hasFiles
    }

    /// The bodies of a cassette whose file has just been created; the file is removed if they cannot be opened.
    ///
    /// - Parameter fresh: the file.
    private static func store(of path: String, fresh: String, _ disk: DiskCalls) throws(CassetteError) -> BodyStore {
        do throws(CassetteError) {
            let store = try BodyStore(cassettePath: path, model: fresh, disk: disk)
            // Journals may be left from a removed cassette of the same name. They would pass for conversations of this one.
            try store.removeJournals(of: fresh)
            return store
        } catch {
            try? CassettePlace.remove(fresh)
            throw error
        }
    }

    /// Adopts the exchanges that a killed recorder left open. If there is no space for them, they stay where they are until next time. The
    /// recording starts anyway: it resumes when it can, as when the disk becomes full later.
    private static func recover(
        _ appender: CassetteAppender, _ store: BodyStore, _ digest: @escaping @Sendable () -> any ContentDigest, _ disk: DiskCalls
    ) throws(CassetteError) -> JournalRecovery.Outcome {
        do {
            return try JournalRecovery.run(appender, store, digest: digest, disk: disk)
        } catch {
            guard RecorderProblem(error, ofExchange: 0).stopsWriting else { throw error }
            var outcome = JournalRecovery.Outcome()
            outcome.lastID = OpenConversations(of: appender.path, digest: digest).conversations.last?.id ?? 0
            outcome.notices = ["exchanges that the last recorder left open are not in the cassette yet: \(error.message)."]
            return outcome
        }
    }

    /// Prepares an open cassette for more exchanges. Its own rules stay in force, and the given rules are added to them, also in the file.
    private static func appender(
        _ appender: CassetteAppender, recorder: String, _ rules: inout RedactionRules?, _ vault: SecretVault,
        _ digest: () -> any ContentDigest, _ disk: DiskCalls
    ) throws(CassetteError) -> CassetteAppender {
        guard let given = rules else { return appender }
        let path = appender.path
        let reader = try CassetteReader(path: path)
        vault.countOn(behind: try PlaceholderTally(reader, path: path, digest: digest))
        var head = CassetteHead(try reader.head())
        let own = try head.redactionRules()
        let all = own?.adding(given) ?? given
        rules = all
        // A cassette without rules was recorded without redaction, and is matched as it is.
        guard let own, own.rules != all.rules || own.keep != all.keep else { return appender }
        try head.set(CassetteHead.member(all))
        let rewriter = try appender.finish()
        do {
            try rewriter.rewrite(order: Array(0..<reader.count), head: head.bytes)
        } catch {
            throw error as? CassetteError
                ?? CassetteError(.unwritable, "the rules of \"\(path)\" cannot be written: \(error)", cause: error)
        }
        rewriter.release()
        return try CassetteAppender.open(path, recorder: recorder, disk: disk)
    }

    private static func last(_ path: String) throws(CassetteError) -> (id: Int, started: Timestamp?, isInOrder: Bool) {
        let reader = try CassetteReader(path: path)
        var id = 0
        var started: Timestamp?
        var isInOrder = true
        for position in 0..<reader.count {
            guard let summary = try reader.bytes(at: position).withUnsafeBytes({ InteractionSummaryReader.read($0) }) else { continue }
            id = max(id, summary.id)
            if let started, summary.started < started { isInOrder = false }
            started = max(started ?? summary.started, summary.started)
        }
        return (id, started, isInOrder)
    }

    // MARK: Writing

    var needsSync: Bool { self.appender?.needsSync == true || self.store.needsSync }

    /// - Parameters:
    ///   - ends: the end of each exchange in `encoded`.
    ///   - generations: the redactor's generation when each exchange was redacted.
    func append(_ encoded: [UInt8], ends: [Int], generations: [Int] = []) throws(CassetteError) {
        guard let appender else { return }
        let count = appender.count
        var start = 0
        for end in ends {
            appender.stage { $0 += encoded[start..<end] }
            start = end
        }
        try appender.commit()
        for (index, generation) in generations.enumerated() where generation != self.settled.generation {
            self.settled = (generation, count + index)
        }
    }

    /// Starts the journal of a conversation that will be in this file.
    func makeJournal(id: Int, head: [UInt8], form: ConversationForm) throws(CassetteError) -> ConversationJournal {
        func make(_ digest: some ContentDigest) throws(CassetteError) -> ConversationJournal {
            try self.store.makeJournal(id: id, head: head, form: form, cassettePath: self.path, digest: digest)
        }
        return try make(self.digest())
    }

    /// The end of the file, for `rollBack`.
    var mark: CassetteAppender.Mark? { self.appender?.mark }

    /// Removes everything that was appended to the file since the mark.
    func rollBack(to mark: CassetteAppender.Mark?) throws(CassetteError) {
        guard let mark else { return }
        try self.appender?.rollBack(to: mark)
    }

    /// Syncs bodies first, so that the disk never has an exchange without its body.
    func sync() throws(CassetteError) {
        try self.store.syncAll()
        try self.appender?.sync()
    }

    /// Returns the syncs for another thread to run, bodies first; nil if there is nothing to sync.
    func beginSync() throws(CassetteError) -> [PendingSync]? {
        let bodies = self.store.beginSync()
        let cassette = try self.appender?.beginSync()
        let syncs = [bodies, cassette].compactMap { $0 }
        return syncs.isEmpty ? nil : syncs
    }

    /// Syncs from `beginSync` failed, so all of them have to be done again.
    func syncFailed(_ syncs: [PendingSync]) {
        for sync in syncs { self.store.syncFailed(sync) }
        self.appender?.syncFailed()
    }

    func noteStart(_ started: Timestamp) {
        if let lastStart, started < lastStart { self.isInOrder = false }
        self.lastStart = started
    }

    // MARK: Closing

    /// Ends a recording without exchanges: removes its new cassette, so that it does not pass for a recorded one.
    func abandon() throws(CassetteError) {
        guard let appender = self.appender.take() else { return }
        defer { self.oldLock = nil }
        // Whatever has its name by now is not this recording.
        guard self.plan.target != .append, appender.count == 0, appender.isAtItsPath else { return }
        try CassettePlace.remove(self.path)
    }

    /// Undoes the recording: removes a cassette that was created for it, or removes the appended exchanges from an existing one.
    func discard() throws(CassetteError) {
        guard let appender = self.appender.take() else { return }
        defer { self.oldLock = nil }
        switch self.plan.target {
        case .nothing: return
        case .create, .stage, .replace:
            // While the cassette exists and is locked, no other recorder can create one with the same name.
            try self.store.removeJournals(of: self.path)
            guard appender.isAtItsPath else { return }
            self.tidy(without: self.path)
            try CassettePlace.remove(self.path)
            withExtendedLifetime(appender) {}
        case .append:
            try self.store.removeJournals(of: self.path, after: self.lastID)
            guard appender.count > self.keptCount else { return }
            let rewriter = try appender.finish()
            do {
                try rewriter.rewrite(order: Array(0..<self.keptCount))
            } catch {
                throw error as? CassetteError
                    ?? CassetteError(.unwritable, "the unfinished write to \"\(self.path)\" could not be undone: \(error)", cause: error)
            }
            self.tidy()
            withExtendedLifetime(rewriter) {}
        }
    }

    /// - Parameters:
    ///   - keepsEmpty: whether a new cassette stays if nothing was recorded.
    ///   - lost: the number of exchanges that could not be written, for an error.
    ///   - haste: spent if there is no time for searching and decoding.
    /// - Returns: the path of the recording.
    func close(
        keepsOld: Bool, keepsEmpty: Bool = true, hasUndecoded: Bool, lost: Int = 0, haste: SearchBudget = SearchBudget(),
        progress: (Int, Int) -> Void
    ) throws(CassetteError) -> String {
        defer { self.oldLock = nil }
        let appender = self.appender
        do throws(CassetteError) {
            return try self.put(keepsOld: keepsOld, keepsEmpty: keepsEmpty, hasUndecoded: hasUndecoded, haste: haste, progress: progress)
        } catch {
            if self.plan.target == .stage {
                self.removeStaged()
                throw error
            }
            throw self.unfinished(error, appender, lost: lost)
        }
    }

    /// Removes a staged cassette. Nothing is lost, because its exchanges are in the files being imported.
    private func removeStaged() {
        try? self.store.removeJournals(of: self.path)
        self.tidy(without: self.path)
        try? CassettePlace.remove(self.path)
    }

    /// The error of a close that could not finish. It says what is lost, and where the other exchanges are.
    ///
    /// - Parameter appender: of the file, which may have been closed since.
    private func unfinished(_ error: CassetteError, _ appender: CassetteAppender?, lost: Int) -> CassetteError {
        var text = error.message
        while text.hasSuffix(".") { text.removeLast() }
        if lost > 0 { text += ". \(lost == 1 ? "1 exchange is" : "\(lost) exchanges are") lost" }
        guard let appender, self.isRewritten ? CassettePlace.exists(self.path) : appender.isAtItsPath,
            appender.count > 0 || self.leftOpen != nil
        else { return CassetteError(error.code, text + ".", cause: error) }
        guard appender.count > 0 else {
            return CassetteError(
                error.code,
                "\(text). Exchanges that had not ended are safe next to \"\(self.path)\": when there is room, run \"wiretape decode \(self.path)\".",
                cause: error)
        }
        let other = lost == 0 ? "" : "other "
        let what = appender.count == 1 ? "the only \(other)recorded exchange is" : "all \(appender.count) \(other)recorded exchanges are"
        guard !self.isFinished else {
            return CassetteError(error.code, "\(text). The recording is finished: \(what) safe in \"\(self.path)\".", cause: error)
        }
        let condition = error.code == .noSpace ? "when there is room" : "once that is corrected"
        let redact = self.mayHoldSecrets ? " and \"wiretape redact \(self.path)\", as it may hold secrets that were found late" : ""
        let rename = self.path == self.plan.path ? "" : ", and rename it to \"\(self.plan.path)\""
        return CassetteError(
            error.code,
            "\(text). The recording is not finished, but \(what) safe in \"\(self.path)\": \(condition), run \"wiretape decode \(self.path)\"\(redact)\(rename).",
            cause: error)
    }

    private func put(
        keepsOld: Bool, keepsEmpty: Bool, hasUndecoded: Bool, haste: SearchBudget, progress: (Int, Int) -> Void
    ) throws(CassetteError) -> String {
        if let appender = self.appender, appender.count > 0, !appender.isAtItsPath { throw CassettePlace.misplacedError(self.path) }
        try self.takeIn()
        // A run without exchanges does not replace the existing recording. Journals need the cassette that they belong to.
        if self.plan.target == .replace || !keepsEmpty && self.plan.target == .create, self.appender?.count == 0, self.leftOpen == nil {
            try self.abandon()
            return self.plan.path
        }
        let keepsOld = keepsOld || self.leftOpen != nil
        guard let lock = try self.finish(hasUndecoded: hasUndecoded, haste: haste, progress: progress) else { return self.path }
        // Held until unnamed bodies are removed. Without the lock, the next recorder could start, and its bodies would look unnamed.
        defer { withExtendedLifetime(lock) {} }
        self.isFinished = true
        if self.plan.target == .stage, !keepsOld {
            try CassettePlace.take(self.plan.path, with: self.path)
            self.tidy()
            return self.plan.path
        }
        guard case .replace = self.plan.target, !keepsOld, self.leaks.isEmpty, self.unchecked == 0 else {
            if self.finished.decoded > 0 || self.finished.redacted > 0 || self.hasOrphans { self.tidy() }
            return self.path
        }
        if let oldLock { try CassettePlace.checkReplaced(self.plan.path, by: self.path, oldLock) }
        // Conversations left open in the old cassette would otherwise be in the new one. In this order, because the old cassette is not
        // wanted.
        try self.store.removeJournals(of: self.plan.path)
        try CassettePlace.replace(self.plan.path, with: self.path)
        self.tidy()
        return self.plan.path
    }

    /// Adopts exchanges that have not ended and conversations that could not be written before. If there is still no space, they are left
    /// for the next recorder.
    private func takeIn() throws(CassetteError) {
        guard let appender else { return }
        do throws(CassetteError) {
            // A conversation is written when it ends, possibly long after its start.
            self.adopted = try JournalRecovery.run(appender, self.store, digest: self.digest).added.count
            if self.adopted > 0 { self.isInOrder = false }
        } catch {
            guard RecorderProblem(error, ofExchange: 0).stopsWriting else { throw error }
            // Some of them may have been added.
            self.isInOrder = false
            self.leftOpen = error
        }
    }

    /// Removes bodies that no cassette names, unless a cassette that shares the folder cannot be read.
    private func tidy(without removed: String? = nil) {
        // A staged cassette has no name yet.
        let references = try? CassetteReferences(
            familyOf: self.plan.path, without: removed, mayBeMissing: self.plan.target == .stage)
        _ = try? references?.tidy(self.store)
    }

    /// Sorts and decodes the file, then searches it for remaining secrets.
    ///
    /// - Returns: the holder of the cassette's lock; nil if there was no file to close.
    private func finish(
        hasUndecoded: Bool, haste: SearchBudget, progress: (Int, Int) -> Void
    ) throws(CassetteError) -> CassetteRewriter? {
        guard let appender = self.appender.take() else { return nil }
        // Until the file is known to be clean.
        self.mayHoldSecrets = self.unsettled(of: appender.count) > 0
        try self.store.syncAll()
        let rewriter = try appender.finish()
        let unsettled = self.unsettled(of: rewriter.reader.count)
        let head = try self.redactedHead(rewriter.reader)
        if !self.isInOrder || hasUndecoded || unsettled > 0 || head != nil {
            let finisher = CassetteFinisher(
                path: self.path, store: self.store, redactor: self.redactor, unsettled: unsettled, head: head, schema: self.plan.schema,
                proofs: self.proofs, haste: haste, digest: self.digest)
            self.finished = try finisher.finish(rewriter, progress: progress)
            self.isRewritten = true
            self.mayHoldSecrets = false
        }
        if let redactor, redactor.vault.generation > 0 {
            do {
                (self.leaks, self.unchecked) = try CassetteLeakScan(
                    path: self.path, vault: redactor.vault, within: haste, digest: self.digest
                ).found()
            } catch {
                self.mayHoldSecrets = true
                throw error as? CassetteError
                    ?? CassetteError(.unreadable, "\"\(self.path)\" could not be checked for remaining secrets: \(error)", cause: error)
            }
        }
        if let redactor, !redactor.digests.isEmpty, !haste.isSpent {
            do {
                self.namedDigests = try NamedDigests(path: self.path, redactor.digests, digest: self.digest)
            } catch {
                throw error as? CassetteError
                    ?? CassetteError(
                        .unreadable, "\"\(self.path)\" could not be checked for digests of changed bodies: \(error)", cause: error)
            }
        }
        return rewriter
    }

    /// The head without secrets that became known after it was written; nil if it has none.
    private func redactedHead(_ reader: CassetteReader) throws(CassetteError) -> [UInt8]? {
        guard let redactor, redactor.vault.generation > 0, self.plan.headMembers.contains(where: { $0.name == UnknownMember.archiveName })
        else { return nil }
        var head = CassetteHead(try reader.head())
        return try head.redactArchive(redactor) > 0 ? head.bytes : nil
    }

    /// The number of exchanges at the beginning of the file that may contain secrets that became known after they were written.
    private func unsettled(of count: Int) -> Int {
        guard let redactor, redactor.generation > 0 else { return 0 }
        return redactor.generation == self.settled.generation ? self.settled.from : count
    }
}

/// One sync of the cassette and its bodies, on a thread of Dispatch's pool.
final class BackgroundSync: Sendable {
    let syncs: [PendingSync]
    private let outcome = Guarded<Result<Void, CassetteError>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    /// Starts immediately and runs the syncs in order.
    init(_ syncs: [PendingSync]) {
        self.syncs = syncs
        DispatchQueue.global().async {
            let result: Result<Void, CassetteError>
            do throws(CassetteError) {
                for sync in syncs { try sync.run() }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            self.outcome.withLock { $0 = result }
            self.done.signal()
        }
    }

    /// The result; nil while the sync is running, unless `waits`.
    func result(waits: Bool) -> Result<Void, CassetteError>? {
        if waits {
            self.done.wait()
            self.done.signal()
        }
        return self.outcome.withLock { $0 }
    }
}
