internal import TapeCore

/// The cassette being recorded, with its bodies: opened as the plan says, closed in order and in its place.
///
/// SAFETY: used by the thread that opens it, then by the recorder thread, then, after that has finished, by the thread that closes
/// it; never by two at a time.
final class RecordingFile: @unchecked Sendable {
    let store: BodyStore
    let repaired: CassetteDamage?
    /// The highest number of an exchange in the file so far.
    let lastID: Int
    private let plan: RecordingPlan
    /// Where the recording is written; beside the old cassette where it takes its place later.
    private let path: String
    private var appender: CassetteAppender?
    /// On the cassette whose place the recording is to take.
    private var oldLock: CassetteLock?
    private var lastStart: Timestamp?
    private var isInOrder = true
    /// Exchanges that were developed at the close.
    private var developed = 0

    /// Nil where the plan writes nothing.
    init?(_ plan: RecordingPlan, version: String) throws(CassetteError) {
        self.plan = plan
        let recorder = "wiretape \(version)"
        switch plan.target {
        case .nothing:
            return nil
        case .create:
            self.path = plan.path
            self.oldLock = nil
            self.appender = try CassetteAppender.create(plan.path, recorder: recorder, members: plan.headMembers)
            self.lastID = 0
        case .replace:
            self.oldLock = try CassetteLock(plan.path)
            // An old cassette of a newer format, or none at all, is refused now and not after the recording.
            _ = try CassetteReader(path: plan.path)
            let path = try CassettePlace.freeName(beside: plan.path)
            self.path = path
            self.appender = try CassetteAppender.create(path, recorder: recorder, members: plan.headMembers)
            // A cassette that only its owner may read is followed by one of that kind.
            CassettePlace.copyMode(of: plan.path, to: path)
            self.lastID = 0
        case .append:
            self.path = plan.path
            self.oldLock = nil
            self.appender = try CassetteAppender.open(plan.path, recorder: recorder)
            let last = try Self.last(plan.path)
            self.lastID = last.id
            self.lastStart = last.started
            // A recorder that was killed leaves its exchanges in the order of their ends.
            self.isInOrder = last.isInOrder
        }
        self.repaired = self.appender?.repaired
        self.store = try BodyStore(cassettePath: plan.path)
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

    func append(_ encoded: [UInt8], ends: [Int]) throws(CassetteError) {
        guard let appender else { return }
        var start = 0
        for end in ends {
            appender.stage { $0 += encoded[start..<end] }
            start = end
        }
        try appender.commit()
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

    /// - Returns: the path of the recording.
    func close(keepsOld: Bool, undeveloped: Bool, progress: (Int, Int) -> Void) throws(CassetteError) -> String {
        defer { self.oldLock = nil }
        // A run without a single exchange is no reason to lose the recording that is there.
        if self.plan.target == .replace, self.appender?.count == 0 {
            try self.abandon()
            return self.plan.path
        }
        guard try self.finish(undeveloped: undeveloped, progress: progress) else { return self.path }
        guard case .replace = self.plan.target, !keepsOld else {
            if self.developed > 0 { self.tidy() }
            return self.path
        }
        // The next recorder may come as soon as the new file is in its place, and its bodies must not be taken for the old one's.
        let newLock = try CassetteLock(self.path)
        defer { withExtendedLifetime(newLock) {} }
        try CassettePlace.replace(self.plan.path, with: self.path)
        self.tidy()
        return self.plan.path
    }

    /// Removes bodies that nobody names; where a cassette that shares the folder cannot be read, all are left alone.
    private func tidy() {
        _ = try? CassetteReferences(familyOf: self.plan.path).tidy(self.store)
    }

    /// Closes the file and lets go of its lock.
    ///
    /// - Returns: whether there was a file to close.
    private func finish(undeveloped: Bool, progress: (Int, Int) -> Void) throws(CassetteError) -> Bool {
        guard let appender = self.appender.take() else { return false }
        try self.store.syncAll()
        let rewriter = try appender.finish()
        if !self.isInOrder || undeveloped {
            self.developed = try CassetteFinisher(path: self.path, store: self.store).finish(rewriter, progress: progress)
        }
        return true
    }
}
