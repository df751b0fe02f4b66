internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// The conversations being recorded: for each, the messages that are not on disk yet, and its journal.
///
/// Takes encoded text, and has no clock: times are nanoseconds of a monotonic clock. Not Sendable: lives on the recorder's thread.
struct RunningConversations: ~Copyable {
    /// Nanoseconds after its beginning at which a conversation gets a journal. Most exchanges are over by then and need no file. With the
    /// recorder's longest nap, half a second, the first message is in a file within a second of its arrival.
    static let journalAfter: UInt64 = 400_000_000
    /// Nanoseconds after which a message is written.
    static let writeInterval: UInt64 = 250_000_000
    /// If one conversation has this many bytes, they are written regardless of age, so that a fast conversation fills files rather than
    /// memory.
    static let writeSize = 64 << 10
    /// If all conversations together have this many bytes, all are written.
    static let totalSize = 4 << 20

    /// One conversation.
    struct Conversation {
        let form: ConversationForm
        /// Its encoded interaction when it began.
        let head: [UInt8]
        let opened: UInt64
        /// The redactor's generation at that time.
        let generation: Int
        fileprivate var pending: [UInt8] = []
        fileprivate var pendingCount = 0
        fileprivate var pendingSince: UInt64 = 0
        fileprivate(set) var journal: ConversationJournal?
        /// The number of messages that were not kept, all after the kept ones.
        fileprivate(set) var missing = 0

        init(form: ConversationForm, head: [UInt8], opened: UInt64, generation: Int) {
            self.form = form
            self.head = head
            self.opened = opened
            self.generation = generation
        }
    }

    private let file: RecordingFile
    /// The most bytes of messages that are kept in memory while they cannot be written.
    private let heldLimit: Int
    private var running: [Int: Conversation] = [:]
    /// Conversations that have something to write, or need a journal.
    private var dirty: Set<Int> = []
    /// Bytes of messages in memory.
    private(set) var heldSize = 0

    init(file: RecordingFile, heldLimit: Int) {
        self.file = file
        self.heldLimit = heldLimit
    }

    var ids: [Int] { self.running.keys.sorted() }
    /// Whether there is anything to write, now or later.
    var hasPending: Bool { !self.dirty.isEmpty }

    /// Whether the messages in memory are to be written regardless of their age.
    var isFull: Bool { self.heldSize >= Self.totalSize }

    func contains(_ id: Int) -> Bool { self.running[id] != nil }

    mutating func begin(_ id: Int, _ conversation: Conversation) {
        self.running[id] = conversation
        self.dirty.insert(id)
    }

    /// Whether one of its messages is missing, so that no later one is kept.
    func hasGap(_ id: Int) -> Bool { self.running[id].map { $0.missing > 0 } ?? false }

    /// Whether its exchange will be recorded as a whole when it ends.
    func isBody(_ id: Int) -> Bool { self.running[id]?.form == .body }

    /// The number of its messages that are kept.
    func count(of id: Int) -> Int { self.running[id].map { $0.pendingCount + ($0.journal?.count ?? 0) } ?? 0 }

    /// The interaction with which it began; nil if there is no conversation with that number.
    func interaction(of id: Int) -> Interaction? { self.running[id].flatMap { try? InteractionDecoder.decode($0.head, at: .textAlone) } }

    /// What happened to a message.
    enum Added: Equatable {
        case kept
        /// The first message of its conversation that was not kept.
        case firstMissing
        /// A later one that was not kept, or a message of an unknown conversation.
        case missing
    }

    /// - Parameter line: the encoded message including its line feed.
    mutating func add(_ line: UnsafeRawBufferPointer, to id: Int, now: UInt64) -> Added {
        // Do not copy the conversation: the next append would then copy its messages.
        guard let missing = self.running[id]?.missing else { return .missing }
        // A conversation with a gap would be replayed as if nothing had been sent there.
        let isHeld = line.count <= ConversationMessages.lineLimit && self.heldSize + line.count <= self.heldLimit
        guard missing == 0, isHeld else { return self.leaveOut(id) }
        self.running[id]?.append(line, now: now)
        self.heldSize += line.count
        self.dirty.insert(id)
        return .kept
    }

    /// Notes a message that is not kept. No later message of its conversation is kept either.
    mutating func leaveOut(_ id: Int) -> Added {
        guard let missing = self.running[id]?.missing else { return .missing }
        self.running[id]?.missing = missing + 1
        return missing == 0 ? .firstMissing : .missing
    }

    /// Writes what is due. If it throws, whatever could not be written is kept for the next time.
    ///
    /// - Returns: whether anything was written.
    mutating func write(now: UInt64) throws(CassetteError) -> Bool {
        guard !self.dirty.isEmpty else { return false }
        let isFull = self.isFull
        var hasWritten = false
        var failure: CassetteError?
        for id in self.dirty where isFull || self.running[id]?.isDue(now: now) == true {
            do throws(CassetteError) {
                try self.write(id)
                hasWritten = true
            } catch {
                failure = failure ?? error
                // The files were removed by someone else. Messages for them would be kept forever.
                if error.code == .notFound { self.abandon(id) }
            }
        }
        if let failure { throw failure }
        return hasWritten
    }

    private mutating func abandon(_ id: Int) {
        guard let conversation = self.running[id], conversation.journal != nil else { return }
        self.heldSize -= conversation.pending.count
        self.running[id]?.missing += conversation.pendingCount
        self.running[id]?.clear()
        self.dirty.remove(id)
    }

    /// Writes the pending messages of one conversation.
    mutating func write(_ id: Int) throws(CassetteError) {
        guard var conversation = self.running[id] else { return }
        if conversation.journal == nil {
            conversation.journal = try self.file.makeJournal(id: id, head: conversation.head, form: conversation.form)
            self.running[id]?.journal = conversation.journal
        }
        try conversation.journal?.append(conversation.pending, count: conversation.pendingCount)
        self.heldSize -= conversation.pending.count
        self.running[id]?.clear()
        self.dirty.remove(id)
    }

    /// Ends a conversation and returns it with its messages; nil if there is no conversation with that number. If it throws, the
    /// conversation is unchanged and may be ended again.
    mutating func end(_ id: Int) throws(CassetteError) -> (conversation: Conversation, messages: ConversationMessages)? {
        guard let conversation = self.running[id] else { return nil }
        let isShort = conversation.journal == nil && conversation.pending.count <= ConversationMessages.inlineLimit
        if !isShort, conversation.journal == nil || !conversation.pending.isEmpty { try self.write(id) }
        let messages = try self.running[id]?.journal?.finish() ?? .inline(conversation.pending)
        return self.remove(id).map { ($0, messages) }
    }

    /// Forgets a conversation. Its journal stays on the disk.
    @discardableResult
    mutating func remove(_ id: Int) -> Conversation? {
        self.dirty.remove(id)
        guard let conversation = self.running.removeValue(forKey: id) else { return nil }
        self.heldSize -= conversation.pending.count
        return conversation
    }
}

extension RunningConversations.Conversation {
    fileprivate mutating func append(_ line: UnsafeRawBufferPointer, now: UInt64) {
        if self.pending.isEmpty { self.pendingSince = now }
        self.pending.append(contentsOf: line)
        self.pendingCount += 1
    }

    /// Frees the memory: a burst must not keep it for the rest of the conversation, and an idle conversation needs none.
    fileprivate mutating func clear() {
        self.pending = []
        self.pendingCount = 0
    }

    fileprivate func isDue(now: UInt64) -> Bool {
        if self.pending.count >= RunningConversations.writeSize { return true }
        guard now >= self.opened + RunningConversations.journalAfter else { return false }
        return self.pending.isEmpty || now >= self.pendingSince + RunningConversations.writeInterval
    }
}

/// Journals of conversations whose exchanges have been written, kept until that is on disk: before that, a power failure could take both.
struct FinishedJournals {
    private var written: [ConversationJournal] = []
    /// Written before the sync that is running now or has succeeded.
    private var covered: [ConversationJournal] = []

    var isEmpty: Bool { self.written.isEmpty && self.covered.isEmpty }

    /// Adds a journal whose exchange has been written.
    mutating func append(_ journal: ConversationJournal) { self.written.append(journal) }

    /// A sync of everything written has begun, or nothing needs one.
    mutating func syncBegan() {
        self.covered += self.written
        self.written = []
    }

    mutating func syncFailed() {
        self.written = self.covered + self.written
        self.covered = []
    }

    /// No sync is running, and the last one has not failed. Returns the journals that may be removed now.
    mutating func synced() -> [ConversationJournal] {
        defer { self.covered = [] }
        return self.covered
    }
}
