public import CassetteModel
public import TapeBytes

/// A cassette opened for recording: adds interactions at its end, so that the file is a whole document after each write.
///
/// Takes interactions as encoded text and knows nothing of what is in them. Used from one thread; holds the lock that keeps other
/// recorders out.
public final class CassetteAppender {
    public let path: String
    /// What was torn when it was opened, and has been repaired.
    public let repaired: CassetteDamage?
    /// Interactions in the file.
    public private(set) var count: Int
    /// Interactions staged for the next `commit`.
    public private(set) var stagedCount = 0
    /// Bytes staged for the next `commit`.
    public var stagedByteCount: Int { self.staged.count }
    /// Whether something was written since the last `sync`.
    public private(set) var needsSync = false

    private let shared: SharedFile
    private let disk: DiskCalls
    private var isFinished = false
    /// After the last interaction, or after the `[`.
    private var insertion: Int
    /// What follows `insertion` if there are interactions, and if there are none.
    private let closing: [UInt8]
    private let emptyClosing: [UInt8]
    private var staged: [UInt8] = []
    /// The digit of an older version, until something is written.
    private var oldVersion: Int?
    /// The closing brackets are missing, or bytes of a failed write follow them.
    private var isTailBroken = false

    /// Makes a new cassette, with its folders, where a symbolic link leads to if there is one; an error if there is a file of that name that is not empty.
    ///
    /// - Parameter members: further members of the document, written before its interactions.
    public static func create(_ path: String, recorder: String, members: [UnknownMember] = []) throws(CassetteError) -> CassetteAppender {
        try self.create(path, recorder: recorder, members: members, disk: .system)
    }

    /// Opens an existing cassette, perhaps through a symbolic link, and repairs it if it is torn. A wrong file is an error and stays as it is.
    ///
    /// - Parameter recorder: written if the head of the file is lost.
    public static func open(_ path: String, recorder: String) throws(CassetteError) -> CassetteAppender {
        try self.open(path, recorder: recorder, disk: .system)
    }

    package static func create(
        _ path: String, recorder: String, members: [UnknownMember] = [], disk: DiskCalls
    ) throws(CassetteError) -> CassetteAppender {
        let path = CassettePlace.followed(path)
        let location = FileLocation(path)
        if location.folder != "." { try OpenFolder.create(location.folder) }
        let shared = try self.emptyFile(path, disk: disk)
        let head = CassetteLayout.head(recorder: recorder, members: members)
        do {
            try shared.file.write(head + CassetteLayout.emptyClosing, at: 0)
            // Before the first exchange: a disk that then loses a write still has the head.
            try shared.file.synchronize()
            try OpenFolder(location.folder).synchronize()
        } catch {
            try? OpenFolder(location.folder).remove(location.name)
            throw error
        }
        let index = CassetteIndex(
            size: head.count + CassetteLayout.emptyClosing.count, headEnd: head.count, arrayEnd: head.count,
            documentEnd: head.count + CassetteLayout.emptyClosing.count - 1)
        return CassetteAppender(shared, index: index, tail: CassetteLayout.emptyClosing, repaired: nil, disk: disk)
    }

    /// A new file with its lock, or the one that a recorder left when it was killed before its first write.
    private static func emptyFile(_ path: String, disk: DiskCalls) throws(CassetteError) -> SharedFile {
        let shared: SharedFile
        if CassettePlace.isEmptyFile(path) {
            shared = try SharedFile.locked(path, disk: disk)
        } else {
            shared = SharedFile(try OpenFile(path, for: .create, disk: disk))
            try shared.file.lock()
        }
        // Before it had the lock, another recorder may have written it and ended: also one made here, which is empty until then.
        guard try shared.file.size() == 0 else {
            throw CassetteError(.inUse, "\"\(path)\" was written by another recorder meanwhile; open it again")
        }
        return shared
    }

    package static func open(_ path: String, recorder: String, disk: DiskCalls) throws(CassetteError) -> CassetteAppender {
        let path = CassettePlace.followed(path)
        let repair = try CassetteRepair(SharedFile.locked(path, disk: disk), recorder: recorder, disk: disk)
        return CassetteAppender(repair.shared, index: repair.index, tail: repair.tail, repaired: repair.damage, disk: disk)
    }

    /// - Parameter tail: what follows the index's insertion.
    private init(_ shared: SharedFile, index: CassetteIndex, tail: [UInt8], repaired: CassetteDamage?, disk: DiskCalls) {
        self.path = shared.file.path
        self.shared = shared
        self.disk = disk
        self.repaired = repaired
        self.count = index.interactions.count
        self.insertion = index.insertion ?? 0
        var tail = tail
        // A tool that sorts names puts the version after the interactions: there it is written with them.
        if let offset = index.oldVersion, offset >= self.insertion {
            tail[offset - self.insertion] = CassetteLayout.versionDigit
            self.oldVersion = nil
        } else {
            self.oldVersion = index.oldVersion
        }
        self.closing = index.interactions.isEmpty ? Array("\n  ".utf8) + tail.drop { $0 != UInt8(ascii: "]") } : tail
        self.emptyClosing = tail
    }

    /// The size of the file.
    public var size: Int { self.insertion + self.tail.count }

    private var tail: [UInt8] { self.count == 0 ? self.emptyClosing : self.closing }

    /// Encodes one interaction straight into the buffer of the next write.
    ///
    /// - Parameter encode: appends the text of one array element, indented by four spaces, without a line end. When it throws, the
    ///   interaction is not staged.
    public func stage(_ encode: (inout [UInt8]) throws -> Void) rethrows {
        precondition(!self.isFinished, "nothing is recorded into a cassette after finish()")
        let start = self.staged.count
        if self.count + self.stagedCount > 0 { self.staged.append(UInt8(ascii: ",")) }
        self.staged.append(0x0a)
        do {
            try encode(&self.staged)
        } catch {
            self.staged.removeSubrange(start...)
            throw error
        }
        self.stagedCount += 1
    }

    /// Writes what is staged, in one write over the closing brackets.
    ///
    /// When it throws, none of the staged interactions is in the file or staged any more, and the file is as it was; a later commit
    /// may succeed.
    public func commit() throws(CassetteError) {
        guard self.stagedCount > 0 else { return }
        let added = self.stagedCount
        let length = self.staged.count
        self.staged += self.closing
        defer {
            self.stagedCount = 0
            // One giant exchange must not keep its memory for the rest of the recording.
            self.staged.removeAll(keepingCapacity: self.staged.capacity <= 1 << 20)
        }
        do {
            if self.isTailBroken { try self.restoreTail() }
            try self.raiseVersion()
            self.needsSync = true
            try self.shared.file.write(self.staged, at: self.insertion)
        } catch {
            self.isTailBroken = true
            // If this fails too, the next commit or close tries again, and a reader leaves the rest out.
            try? self.restoreTail()
            let what = added == 1 ? "1 exchange was" : "\(added) exchanges were"
            throw CassetteError(error.code, "\(what) not recorded: \(error.message)", cause: error)
        }
        self.insertion += length
        self.count += added
    }

    /// Makes the document one of the present version: one byte, on the disk before anything that a reader of the old version would misread.
    private func raiseVersion() throws(CassetteError) {
        guard let offset = self.oldVersion else { return }
        try self.shared.file.write([CassetteLayout.versionDigit], at: offset)
        try self.shared.file.synchronize()
        self.oldVersion = nil
    }

    /// Adds encoded interactions, all or none, in one write.
    public func append(_ interactions: [[UInt8]]) throws(CassetteError) {
        for interaction in interactions { self.stage { $0 += interaction } }
        try self.commit()
    }

    /// A place in the file to which it can be taken back.
    package struct Mark {
        fileprivate var insertion: Int
        fileprivate var count: Int
    }

    /// Where the next commit goes.
    package var mark: Mark { Mark(insertion: self.insertion, count: self.count) }

    /// Takes out what was committed after the mark. If this fails, the next commit, sync or `finish` tries again first.
    package func rollBack(to mark: Mark) throws(CassetteError) {
        guard mark.insertion < self.insertion else { return }
        self.insertion = mark.insertion
        self.count = mark.count
        self.isTailBroken = true
        self.needsSync = true
        try self.restoreTail()
    }

    /// Waits until all that was committed is on the disk.
    public func sync() throws(CassetteError) {
        guard self.needsSync else { return }
        if self.isTailBroken { try self.restoreTail() }
        try self.shared.file.synchronize()
        self.needsSync = false
    }

    /// As `sync`, for another thread to wait for; nil if there is nothing to sync. Commits may go on meanwhile.
    public func beginSync() throws(CassetteError) -> PendingSync? {
        guard self.needsSync else { return nil }
        if self.isTailBroken { try self.restoreTail() }
        self.needsSync = false
        return PendingSync(files: [self.shared])
    }

    /// A sync from `beginSync` has failed: what it covered is still to be synced.
    public func syncFailed() {
        self.needsSync = true
    }

    /// Cuts off what a failed write has left, then writes the closing brackets: in this order, a crash in between leaves
    /// a file without an end, which is known to be torn, and not one with text after its end.
    private func restoreTail() throws(CassetteError) {
        try self.shared.file.truncate(to: self.insertion)
        try self.shared.file.write(self.tail, at: self.insertion)
        // What was here may have reached the disk; mixed with the next write it could pass for one exchange.
        try self.shared.file.synchronize()
        self.isTailBroken = false
    }

    /// Ends the recording with a last commit and sync, and passes the lock on; nothing may be staged after it.
    public func finish() throws(CassetteError) -> CassetteRewriter {
        try self.commit()
        try self.sync()
        self.isFinished = true
        return try CassetteRewriter(self.shared, disk: self.disk)
    }
}
