internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// The cassette being recorded, with its bodies: opened as the plan says, closed in order and in its place.
///
/// SAFETY: used by the thread that opens it, then by the recorder thread, then, after that has finished, by the thread that closes
/// it; never by two at a time.
final class RecordingFile: @unchecked Sendable {
    let store: BodyStore
    let repaired: CassetteDamage?
    /// Nil where secrets are kept.
    let redactor: Redactor?
    let digest: @Sendable () -> any ContentDigest
    /// Secrets that are in the closed recording all the same.
    private(set) var leaks: [CassetteLeak] = []
    /// The highest number of an exchange in the file so far.
    let lastID: Int
    let plan: RecordingPlan
    /// Where the recording is written; beside the old cassette where it takes its place later.
    private let path: String
    private var appender: CassetteAppender?
    /// Exchanges that were in the file before.
    private let keptCount: Int
    /// On the cassette whose place the recording is to take.
    private var oldLock: CassetteLock?
    private var lastStart: Timestamp?
    private var isInOrder = true
    /// Exchanges were lost or taken back, whose bodies may be there all the same.
    var hasOrphans = false
    /// What was done at the close.
    private var finished = CassetteFinisher.Result()
    /// What the vault had learned when the newest exchange was written, and the first of those that were written since.
    private var settled: (generation: Int, from: Int)

    /// Nil where the plan writes nothing.
    ///
    /// - Parameter redaction: rules beside the cassette's own; nil where secrets are kept.
    init?(
        _ plan: RecordingPlan, version: String, redaction: RedactionRules? = .standard,
        digest: @escaping @Sendable () -> any ContentDigest, disk: DiskCalls = .system
    ) throws(CassetteError) {
        self.plan = plan
        self.digest = digest
        var rules = redaction
        let vault = SecretVault()
        let members = plan.headMembers + (rules.map { [CassetteHead.member($0)] } ?? [])
        let recorder = "wiretape \(version)"
        let repaired: CassetteDamage?
        switch plan.target {
        case .nothing:
            return nil
        case .create:
            self.path = plan.path
            self.oldLock = nil
            self.appender = try CassetteAppender.create(plan.path, recorder: recorder, members: members, disk: disk)
            self.lastID = 0
            repaired = nil
        case .replace:
            self.oldLock = try CassetteLock(plan.path)
            // An old cassette of a newer format, or none at all, is refused now and not after the recording.
            _ = try CassetteReader(path: plan.path)
            let path = try CassettePlace.freeName(beside: plan.path)
            self.path = path
            self.appender = try CassetteAppender.create(path, recorder: recorder, members: members, disk: disk)
            // A cassette that only its owner may read is followed by one of that kind.
            CassettePlace.copyMode(of: plan.path, to: path)
            self.lastID = 0
            repaired = nil
        case .append:
            self.path = plan.path
            self.oldLock = nil
            let opened = try Self.open(plan.path, recorder: recorder, &rules, vault, digest, disk)
            self.appender = opened.appender
            repaired = opened.repaired
            let last = try Self.last(plan.path)
            self.lastID = last.id
            self.lastStart = last.started
            // A recorder that was killed leaves its exchanges in the order of their ends.
            self.isInOrder = last.isInOrder
        }
        self.keptCount = self.appender?.count ?? 0
        self.repaired = repaired
        self.redactor = rules.map { Redactor(rules: $0, vault: vault, makeDigest: digest) }
        self.settled = (vault.generation, self.appender?.count ?? 0)
        self.store = try BodyStore(cassettePath: plan.path, disk: disk)
    }

    /// Opens a cassette for more exchanges. Its rules go on to hold: others are added to them, in the file too.
    private static func open(
        _ path: String, recorder: String, _ rules: inout RedactionRules?, _ vault: SecretVault,
        _ digest: () -> any ContentDigest, _ disk: DiskCalls
    ) throws(CassetteError) -> (appender: CassetteAppender, repaired: CassetteDamage?) {
        let appender = try CassetteAppender.open(path, recorder: recorder, disk: disk)
        guard let given = rules else { return (appender, appender.repaired) }
        let reader = try CassetteReader(path: path)
        vault.countOn(behind: try PlaceholderTally(reader, path: path, digest: digest))
        var head = CassetteHead(try reader.head())
        let own = try head.redactionRules()
        let all = own?.adding(given) ?? given
        rules = all
        // What was recorded without redaction and holds no placeholder is compared as it came.
        guard let own, own.rules != all.rules || own.keep != all.keep else { return (appender, appender.repaired) }
        try head.set(CassetteHead.member(all))
        let rewriter = try appender.finish()
        do {
            try rewriter.rewrite(order: Array(0..<reader.count), head: head.octets)
        } catch {
            throw error as? CassetteError ?? CassetteError(.unwritable, "the rules of \"\(path)\" cannot be written: \(error)")
        }
        rewriter.release()
        return (try CassetteAppender.open(path, recorder: recorder, disk: disk), appender.repaired)
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

    /// - Parameter generations: of the vault when each was redacted.
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

    /// Where the next exchange goes, and back to there: what was appended since is in the file no more.
    var mark: CassetteAppender.Mark? { self.appender?.mark }

    func takeBack(to mark: CassetteAppender.Mark?) throws(CassetteError) {
        guard let mark else { return }
        try self.appender?.takeBack(to: mark)
    }

    /// Bodies first, so that the disk never holds an exchange without its body.
    func sync() throws(CassetteError) {
        try self.store.syncAll()
        try self.appender?.sync()
    }

    /// The same for another thread to wait for, bodies first; nil where nothing is to be synced.
    func beginSync() throws(CassetteError) -> [PendingSync]? {
        let bodies = self.store.beginSync()
        let cassette = try self.appender?.beginSync()
        let syncs = [bodies, cassette].compactMap { $0 }
        return syncs.isEmpty ? nil : syncs
    }

    /// A sync that was begun has failed: all of it is to be done again.
    func syncFailed(_ syncs: [PendingSync]) {
        for sync in syncs { self.store.syncFailed(sync) }
        self.appender?.syncFailed()
    }

    func noteStart(_ started: Timestamp) {
        if let lastStart, started < lastStart { self.isInOrder = false }
        self.lastStart = started
    }

    // MARK: Closing

    /// Ends a recording that never began: its new cassette goes away, so that nobody takes it for one that was recorded.
    func abandon() throws(CassetteError) {
        guard let appender = self.appender.take() else { return }
        defer { self.oldLock = nil }
        guard self.plan.target != .append, appender.count == 0 else { return }
        try CassettePlace.remove(self.path)
    }

    /// Takes back what was recorded: a cassette that was made for it goes away, one that went on ends where it ended before.
    func discard() throws(CassetteError) {
        guard let appender = self.appender.take() else { return }
        defer { self.oldLock = nil }
        switch self.plan.target {
        case .nothing: return
        case .create, .replace:
            // While it is there and locked nobody else makes one of its name.
            self.tidy(without: self.path)
            try CassettePlace.remove(self.path)
            withExtendedLifetime(appender) {}
        case .append:
            guard appender.count > self.keptCount else { return }
            let rewriter = try appender.finish()
            do {
                try rewriter.rewrite(order: Array(0..<self.keptCount))
            } catch {
                throw error as? CassetteError
                    ?? CassetteError(.unwritable, "what was added to \"\(self.path)\" cannot be taken out again: \(error)")
            }
            self.tidy()
            withExtendedLifetime(rewriter) {}
        }
    }

    /// - Returns: the path of the recording.
    func close(keepsOld: Bool, undeveloped: Bool, progress: (Int, Int) -> Void) throws(CassetteError) -> String {
        defer { self.oldLock = nil }
        // A run without a single exchange is no reason to lose the recording that is there.
        if self.plan.target == .replace, self.appender?.count == 0 {
            try self.abandon()
            return self.plan.path
        }
        guard let lock = try self.finish(undeveloped: undeveloped, progress: progress) else { return self.path }
        // Until the bodies that nobody names are gone: the next recorder may come as soon as there is no lock, and its bodies must not be
        // taken for such.
        defer { withExtendedLifetime(lock) {} }
        guard case .replace = self.plan.target, !keepsOld, self.leaks.isEmpty else {
            if self.finished.developed > 0 || self.finished.redacted > 0 || self.hasOrphans { self.tidy() }
            return self.path
        }
        try CassettePlace.replace(self.plan.path, with: self.path)
        self.tidy()
        return self.plan.path
    }

    /// Removes bodies that nobody names; where a cassette that shares the folder cannot be read, all are left alone.
    private func tidy(without removed: String? = nil) {
        _ = try? CassetteReferences(familyOf: self.plan.path, without: removed).tidy(self.store)
    }

    /// Puts the file in order and looks for secrets that are left.
    ///
    /// - Returns: what holds the cassette's lock; nil if there was no file to close.
    private func finish(undeveloped: Bool, progress: (Int, Int) -> Void) throws(CassetteError) -> CassetteRewriter? {
        guard let appender = self.appender.take() else { return nil }
        try self.store.syncAll()
        let rewriter = try appender.finish()
        let unsettled = self.unsettled(of: rewriter.reader.count)
        if !self.isInOrder || undeveloped || unsettled > 0 {
            let finisher = CassetteFinisher(
                path: self.path, store: self.store, redactor: self.redactor, unsettled: unsettled, digest: self.digest)
            self.finished = try finisher.finish(rewriter, progress: progress)
        }
        if let redactor, redactor.vault.generation > 0 {
            do {
                self.leaks = try CassetteLeakScan(path: self.path, vault: redactor.vault, digest: self.digest).leaks()
            } catch {
                throw error as? CassetteError
                    ?? CassetteError(.unreadable, "\"\(self.path)\" cannot be searched for secrets that are left: \(error)")
            }
        }
        return rewriter
    }

    /// Exchanges at the file's beginning that may hold what became known as a secret after they were written.
    private func unsettled(of count: Int) -> Int {
        guard let redactor, redactor.vault.generation > 0 else { return 0 }
        return redactor.vault.generation == self.settled.generation ? self.settled.from : count
    }
}
