public import CassetteModel
public import TapeBytes

/// A cassette opened for recording: adds interactions at its end, so that the file is a complete document after each write.
///
/// Takes interactions as encoded text, without interpreting them. Used from one thread; holds the lock that excludes other recorders.
public final class CassetteAppender {
    public let path: String
    /// The damage that was found when it was opened, and was repaired.
    public let repaired: CassetteDamage?
    /// Interactions in the file.
    public private(set) var count: Int
    /// Interactions staged for the next `commit`.
    public private(set) var stagedCount = 0
    /// Whether the file that is being written still has the cassette's name. It does not once the file, or its folder, has been moved,
    /// removed or replaced, also by a link to where it is now.
    package var isAtItsPath: Bool { self.shared.file.isAtItsPath }

    /// Bytes staged for the next `commit`.
    public var stagedByteCount: Int { self.staged.count }
    /// Whether something was written since the last `sync`.
    public private(set) var needsSync = false

    private let shared: SharedFile
    private let disk: DiskCalls
    private var isFinished = false
    /// The offset after the last interaction, or after the `[`.
    private var insertion: Int
    /// The text after `insertion` if there are interactions, and if there are none.
    private let closing: [UInt8]
    private let emptyClosing: [UInt8]
    private var staged: [UInt8] = []
    /// The offset of the digit of an older version, until something is written.
    private var oldVersion: Int?
    /// Whether the closing brackets are missing, or bytes of a failed write follow them.
    private var isTailBroken = false

    /// Creates a new cassette with its folders, at the target of a symbolic link if there is one. Throws if a non-empty file of that name
    /// exists.
    ///
    /// - Parameter members: further members of the document, written before its interactions.
    public static func create(_ path: String, recorder: String, members: [UnknownMember] = []) throws(CassetteError) -> CassetteAppender {
        try self.create(path, recorder: recorder, members: members, disk: .system)
    }

    /// Opens an existing cassette, possibly through a symbolic link, and repairs it if it is torn. Throws for an invalid file, and leaves
    /// it unchanged.
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
            // Synced before the first exchange, so that the head survives if the disk loses a later write.
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

    /// A new file with its lock, or the empty one that a recorder left when it was killed before its first write.
    private static func emptyFile(_ path: String, disk: DiskCalls) throws(CassetteError) -> SharedFile {
        let shared: SharedFile
        if CassettePlace.isEmptyFile(path) {
            shared = try SharedFile.locked(path, disk: disk)
        } else {
            shared = SharedFile(try OpenFile(path, for: .create, disk: disk))
            try shared.file.lock()
        }
        // Before this process had the lock, another recorder may have written the file and ended. This also applies to one just created,
        // which is still empty.
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

    /// - Parameter tail: the text after the index's insertion.
    private init(_ shared: SharedFile, index: CassetteIndex, tail: [UInt8], repaired: CassetteDamage?, disk: DiskCalls) {
        self.path = shared.file.path
        self.shared = shared
        self.disk = disk
        self.repaired = repaired
        self.count = index.interactions.count
        self.insertion = index.insertion ?? 0
        var tail = tail
        // A tool that sorts members puts the version after the interactions, where it is rewritten along with them.
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

    /// Encodes one interaction directly into the buffer of the next write.
    ///
    /// - Parameter encode: appends the text of one array element, indented by four spaces, without a line end. If it throws, the
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

    /// Writes the staged interactions in one write over the closing brackets.
    ///
    /// If it throws, none of the staged interactions is in the file or staged any more, and the file is unchanged. A later commit may
    /// succeed.
    public func commit() throws(CassetteError) {
        guard self.stagedCount > 0 else { return }
        let added = self.stagedCount
        let length = self.staged.count
        self.staged += self.closing
        defer {
            self.stagedCount = 0
            // One huge exchange must not hold its memory for the rest of the recording.
            self.staged.removeAll(keepingCapacity: self.staged.capacity <= 1 << 20)
        }
        do {
            if self.isTailBroken { try self.restoreTail() }
            try self.raiseVersion()
            self.needsSync = true
            try self.shared.file.write(self.staged, at: self.insertion)
        } catch {
            self.isTailBroken = true
            // If this fails too, the next commit or close tries again, and readers ignore the rest.
            try? self.restoreTail()
            let what = added == 1 ? "1 exchange was" : "\(added) exchanges were"
            throw CassetteError(error.code, "\(what) not recorded: \(error.message)", cause: error)
        }
        self.insertion += length
        self.count += added
    }

    /// Raises the document to the current version. This changes one byte, which is synced before anything is written that a reader of the
    /// old version would misread.
    private func raiseVersion() throws(CassetteError) {
        guard let offset = self.oldVersion else { return }
        try self.shared.file.write([CassetteLayout.versionDigit], at: offset)
        try self.shared.file.synchronize()
        self.oldVersion = nil
    }

    /// Adds all encoded interactions or none, in one write.
    public func append(_ interactions: [[UInt8]]) throws(CassetteError) {
        for interaction in interactions { self.stage { $0 += interaction } }
        try self.commit()
    }

    /// A position to which the file can be rolled back.
    package struct Mark {
        fileprivate var insertion: Int
        fileprivate var count: Int
    }

    /// The position of the next commit.
    package var mark: Mark { Mark(insertion: self.insertion, count: self.count) }

    /// Removes everything committed after the mark. If this fails, the next commit, sync or `finish` tries again first.
    package func rollBack(to mark: Mark) throws(CassetteError) {
        guard mark.insertion < self.insertion else { return }
        self.insertion = mark.insertion
        self.count = mark.count
        self.isTailBroken = true
        self.needsSync = true
        try self.restoreTail()
    }

    /// Waits until everything committed is on disk.
    public func sync() throws(CassetteError) {
        guard self.needsSync else { return }
        if self.isTailBroken { try self.restoreTail() }
        try self.shared.file.synchronize()
        self.needsSync = false
    }

    /// Like `sync`, but for another thread to wait for; nil if there is nothing to sync. Commits may continue meanwhile.
    public func beginSync() throws(CassetteError) -> PendingSync? {
        guard self.needsSync else { return nil }
        if self.isTailBroken { try self.restoreTail() }
        self.needsSync = false
        return PendingSync(files: [self.shared])
    }

    /// A sync from `beginSync` has failed, so its data has to be synced again.
    public func syncFailed() {
        self.needsSync = true
    }

    /// Cuts off the remains of a failed write, then writes the closing brackets. In this order, a crash in between leaves a file without an
    /// end, which is recognised as torn, rather than one with text after its end.
    private func restoreTail() throws(CassetteError) {
        try self.shared.file.truncate(to: self.insertion)
        try self.shared.file.write(self.tail, at: self.insertion)
        // The removed bytes may have reached the disk; mixed with the next write they could look like one exchange.
        try self.shared.file.synchronize()
        self.isTailBroken = false
    }

    /// Ends the recording with a final commit and sync, and passes on the lock. Nothing may be staged afterwards.
    public func finish() throws(CassetteError) -> CassetteRewriter {
        try self.commit()
        try self.sync()
        self.isFinished = true
        return try CassetteRewriter(self.shared, disk: self.disk)
    }
}
