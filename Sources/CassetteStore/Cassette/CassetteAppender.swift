public import CassetteModel
public import TapeBytes

/// A cassette opened for recording: adds interactions at its end, so that the file is a whole document after each write.
///
/// Takes interactions as encoded text and knows nothing of what is in them. Used from one thread; holds the lock that keeps other
/// recorders out.
public final class CassetteAppender {
    public let path: String
    /// What opening found torn, and has mended.
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
    /// Behind the last interaction, or behind the `[`.
    private var insertion: Int
    /// What stands behind `insertion` when there are interactions, and when there are none.
    private let closing: [UInt8]
    private let emptyClosing: [UInt8]
    private var staged: [UInt8] = []
    /// The closing brackets are missing, or bytes of a failed write stand behind them.
    private var isTailBroken = false

    /// Makes a new cassette, with its folders; an error when there is a file of that name.
    ///
    /// - Parameter members: further members of the document, written before its interactions.
    public static func create(_ path: String, recorder: String, members: [UnknownMember] = []) throws(CassetteError) -> CassetteAppender {
        try self.create(path, recorder: recorder, members: members, disk: .system)
    }

    /// Opens an existing cassette, and mends it when it is torn. A wrong file is left as it is, and an error.
    ///
    /// - Parameter recorder: written where the head of the file is lost.
    public static func open(_ path: String, recorder: String) throws(CassetteError) -> CassetteAppender {
        try self.open(path, recorder: recorder, disk: .system)
    }

    package static func create(
        _ path: String, recorder: String, members: [UnknownMember] = [], disk: DiskCalls
    ) throws(CassetteError) -> CassetteAppender {
        let location = FileLocation(path)
        if location.folder != "." { try OpenFolder.create(location.folder) }
        let shared = SharedFile(try OpenFile(path, for: .create, disk: disk))
        try shared.file.lock()
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

    package static func open(_ path: String, recorder: String, disk: DiskCalls) throws(CassetteError) -> CassetteAppender {
        let repair = try CassetteRepair(SharedFile.locked(path, disk: disk), recorder: recorder, disk: disk)
        return CassetteAppender(repair.shared, index: repair.index, tail: repair.tail, repaired: repair.damage, disk: disk)
    }

    /// `tail` is what stands behind the index's insertion.
    private init(_ shared: SharedFile, index: CassetteIndex, tail: [UInt8], repaired: CassetteDamage?, disk: DiskCalls) {
        self.path = shared.file.path
        self.shared = shared
        self.disk = disk
        self.repaired = repaired
        self.count = index.interactions.count
        self.insertion = index.insertion ?? 0
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
        precondition(!self.isFinished, "nothing is recorded into a cassette behind finish()")
        let start = self.staged.count
        self.staged += self.count + self.stagedCount == 0 ? [0x0a] : [UInt8(ascii: ","), 0x0a]
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
            self.needsSync = true
            try self.shared.file.write(self.staged, at: self.insertion)
        } catch {
            self.isTailBroken = true
            // Where this fails too, the next commit or close tries again, and a reader leaves the rest out.
            try? self.restoreTail()
            let what = added == 1 ? "1 exchange was" : "\(added) exchanges were"
            throw CassetteError(error.code, "\(what) not recorded: \(error.message)")
        }
        self.insertion += length
        self.count += added
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

    /// Takes out what was committed after the mark. Where this fails, the next commit, sync or `finish` tries again before anything else.
    package func takeBack(to mark: Mark) throws(CassetteError) {
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

    /// As `sync`, for another thread to wait for; nil where nothing is to be synced. Commits may go on meanwhile.
    public func beginSync() throws(CassetteError) -> PendingSync? {
        guard self.needsSync else { return nil }
        if self.isTailBroken { try self.restoreTail() }
        self.needsSync = false
        return PendingSync(files: [self.shared])
    }

    /// A sync that was begun has failed: what it was for is still to be synced.
    public func syncFailed() {
        self.needsSync = true
    }

    /// Cuts off what a failed write has left, then writes the closing brackets: in this order, since a crash in between then leaves
    /// a file without an end, which is known as torn, and not one with text behind its end.
    private func restoreTail() throws(CassetteError) {
        try self.shared.file.truncate(to: self.insertion)
        try self.shared.file.write(self.tail, at: self.insertion)
        // What lay here may have reached the disk; mixed with the next write it could pass for one exchange.
        try self.shared.file.synchronize()
        self.isTailBroken = false
    }

    /// Ends the recording with a last commit and sync, and hands the lock on; nothing may be staged after it.
    public func finish() throws(CassetteError) -> CassetteRewriter {
        try self.commit()
        try self.sync()
        self.isFinished = true
        return try CassetteRewriter(self.shared, disk: self.disk)
    }
}

/// Makes a torn cassette whole again, before anything is appended to it.
///
/// What is taken out of the file is kept beside it first. A wrong file is an error and stays as it is.
struct CassetteRepair {
    /// A document with more behind its interactions would cost too much at every append.
    private static let tailLimit = 1 << 20

    /// The file to append to: the one opened, or the one that was put in its place.
    private(set) var shared: SharedFile
    private(set) var index: CassetteIndex
    /// What stands behind the last interaction.
    private(set) var tail: [UInt8] = []
    /// What was found and mended.
    private(set) var damage: CassetteDamage?

    init(_ shared: SharedFile, recorder: String, disk: DiskCalls) throws(CassetteError) {
        self.shared = shared
        self.index = try CassetteScanner.scan(shared.file)
        if !self.index.damage.isEmpty {
            self.damage = CassetteDamage(path: shared.file.path, stretches: self.index.damage)
            try self.mend(recorder: recorder, disk: disk)
        }
        let insertion = self.index.insertion ?? 0
        guard self.index.size - insertion <= Self.tailLimit else {
            throw CassetteError(
                .tooLarge,
                "\"\(shared.file.path)\" has \(self.index.size - insertion) bytes behind its interactions; move other members before them")
        }
        self.tail = try self.shared.file.read(insertion..<self.index.size)
    }

    private mutating func mend(recorder: String, disk: DiskCalls) throws(CassetteError) {
        guard let headEnd = self.index.headEnd else {
            if !self.index.interactions.isEmpty { return try self.rewrite(disk: disk) }
            try self.keep([0..<self.index.size], disk: disk)
            return try self.replaceEnd(from: 0, by: CassetteLayout.head(recorder: recorder, members: []) + CassetteLayout.emptyClosing)
        }
        let insertion = self.index.interactions.last?.upperBound ?? headEnd
        guard self.index.damage.allSatisfy({ $0.bytes.lowerBound >= insertion }) else { return try self.rewrite(disk: disk) }
        guard let documentEnd = self.index.documentEnd, documentEnd > insertion, documentEnd - insertion < Self.tailLimit else {
            try self.keep([insertion..<self.index.size], disk: disk)
            let isEmpty = self.index.interactions.isEmpty
            return try self.replaceEnd(from: insertion, by: isEmpty ? CassetteLayout.emptyClosing : CassetteLayout.closing)
        }
        // The document is whole, and something follows it.
        try self.keep([documentEnd..<self.index.size], disk: disk)
        try self.replaceEnd(from: insertion, by: self.shared.file.read(insertion..<documentEnd) + [0x0a])
    }

    /// The cut comes first: a crash behind it leaves a file without an end, which the next repair knows as torn.
    private mutating func replaceEnd(from offset: Int, by bytes: [UInt8]) throws(CassetteError) {
        try self.shared.file.truncate(to: offset)
        // On the disk before new text is written where the old one was: mixed by a crash they could pass for one exchange.
        try self.shared.file.synchronize()
        try self.shared.file.write(bytes, at: offset)
        try self.shared.file.synchronize()
        self.index = try CassetteScanner.scan(self.shared.file)
    }

    /// For stretches with intact interactions behind them.
    private mutating func rewrite(disk: DiskCalls) throws(CassetteError) {
        let path = self.shared.file.path
        try self.keep(self.index.damage.map(\.bytes), disk: disk)
        let rewriter = CassetteRewriter(self.shared, index: self.index, disk: disk)
        do {
            try rewriter.rewrite(order: Array(self.index.interactions.indices))
        } catch {
            throw error as? CassetteError ?? CassetteError(.unwritable, "cannot mend \"\(path)\": \(error)")
        }
        rewriter.release()
        self.shared = try SharedFile.locked(path, disk: disk)
        self.index = try CassetteScanner.scan(self.shared.file)
    }

    /// Puts bytes into `NAME.json.torn-N`, the first such name that is free.
    private mutating func keep(_ ranges: [Range<Int>], disk: DiskCalls) throws(CassetteError) {
        var isWorthless = true
        for range in ranges where isWorthless { isWorthless = try self.isWorthless(range) }
        guard !isWorthless else { return }
        let location = FileLocation(self.shared.file.path)
        let folder = try OpenFolder(location.folder)
        let name = try self.freeName(location, in: folder)
        let file = try OpenFile(name, in: folder, for: .create, disk: disk)
        do {
            var writer = BufferedWriter()
            for range in ranges { try writer.append(range, of: self.shared.file, to: file) }
            try writer.flush(to: file)
            try file.synchronize()
            try folder.synchronize()
        } catch {
            try? folder.remove(name)
            throw error
        }
        self.damage?.keptAt = location.sibling(name)
    }

    /// A rest of brackets and white space that nobody will look for.
    private func isWorthless(_ range: Range<Int>) throws(CassetteError) -> Bool {
        guard range.count <= 16 else { return false }
        return try self.shared.file.read(range).allSatisfy { [0x0a, 0x20, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d].contains($0) }
    }

    private func freeName(_ location: FileLocation, in folder: borrowing OpenFolder) throws(CassetteError) -> String {
        for number in 1...9999 {
            let name = "\(location.name).torn-\(number)"
            if !folder.contains(name) { return name }
        }
        throw CassetteError(.unwritable, "there are 9999 files \"\(location.sibling(location.name)).torn-N\"; remove them")
    }
}
