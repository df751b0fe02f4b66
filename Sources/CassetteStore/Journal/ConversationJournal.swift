internal import CassetteFormat
public import CassetteModel
public import TapeBytes

/// A conversation that is being recorded, on disk: its head in one file, and its messages, as they come, in another.
///
/// Takes messages as lines of JSON text, redacted and encoded, without interpreting them. Used from one thread, by the holder of the
/// cassette's lock. Has no file open between two calls, so that thousands use no descriptors. A journal that is neither finished nor
/// removed stays on disk, for `JournalRecovery`.
public final class ConversationJournal {
    static let fileExtension = "jsonl"

    /// The size of the messages written so far, in bytes.
    public private(set) var size = 0
    /// The number of messages written so far.
    public private(set) var count = 0
    private let name: JournalName
    /// The mode of the file; nil for the process's default.
    private let mode: UInt32?
    private let store: BodyStore
    private let box: BodyStore.FolderBox
    private let disk: DiskCalls
    private var digest: any ContentDigest
    /// Nil until the journal is finished as a file.
    private var sha256: String?
    private var hasFile = false
    /// Whether bytes of a failed write follow the last message.
    private var isTailBroken = false

    init(
        _ name: JournalName, mode: UInt32? = nil, store: BodyStore, box: BodyStore.FolderBox, disk: DiskCalls, digest: any ContentDigest
    ) {
        self.name = name
        self.mode = mode
        self.store = store
        self.box = box
        self.disk = disk
        self.digest = digest
    }

    /// The exchange's id.
    public var id: Int { self.name.id }

    /// Appends all messages or none. After an error, the next ones are written in their place.
    ///
    /// They are synced with the store.
    ///
    /// - Parameter lines: JSON objects without line feeds in them, each followed by one.
    public func append(_ lines: [UInt8], count: Int) throws(CassetteError) {
        precondition(self.sha256 == nil, "nothing is said in a conversation after finish()")
        guard !lines.isEmpty else { return }
        let file = try OpenFile(self.name.messages, in: self.box.folder, for: self.hasFile ? .update : .create, disk: self.disk)
        if !self.hasFile, let mode { try file.setMode(mode) }
        self.hasFile = true
        if self.isTailBroken { try self.restoreTail(file) }
        do {
            try file.write(lines, at: self.size)
        } catch {
            self.isTailBroken = true
            // Complete messages may have been written, and must not occur twice or between others. If this fails, the next call tries
            // again.
            try? self.restoreTail(file)
            throw error
        }
        lines.withUnsafeBytes { self.digest.update($0) }
        self.size += lines.count
        self.count += count
        self.store.wrote(self.name.messages)
    }

    private func restoreTail(_ file: borrowing OpenFile) throws(CassetteError) {
        try file.truncate(to: self.size)
        self.isTailBroken = false
    }

    /// The messages for the interaction. A few are read back; many become a sidecar as they are, without being read or copied.
    ///
    /// The journal remains until `remove`, so that a process that is killed before its interaction is in the cassette loses nothing. May be
    /// called again after an error.
    public func finish(inlineLimit: Int = ConversationMessages.inlineLimit) throws(CassetteError) -> ConversationMessages {
        guard self.size > inlineLimit else {
            guard self.size > 0 else { return .inline([]) }
            let file = try OpenFile(self.name.messages, in: self.box.folder, for: .read, disk: self.disk)
            return .inline(try file.read(0..<self.size))
        }
        let sha256 = self.sha256 ?? Hex.encode(self.digest.finalize())
        self.sha256 = sha256
        return .file(try self.store.adopt(messagesOf: self.name, size: self.size, sha256: sha256), count: self.count)
    }

    /// Removes the journal, once its interaction is on disk or is not wanted.
    public func remove() throws(CassetteError) { try self.store.remove(self.name) }
}
