internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// The conversations that are being recorded: of each, what is not on the disk yet, and its journal.
///
/// Takes encoded text, and has no clock: times are nanoseconds of a monotonic one. Not Sendable: lives on the recorder's thread.
struct RunningConversations: ~Copyable {
    /// Nanoseconds after its beginning from which a conversation has a journal. Most exchanges are over by then, and cost no files. With the
    /// recorder's longest nap, half a second, the first message is in a file a second after it came.
    static let journalAfter: UInt64 = 400_000_000
    /// Nanoseconds after which a message is written.
    static let writeInterval: UInt64 = 250_000_000
    /// Bytes of one conversation that are written at once, however young: a fast one fills files, not memory.
    static let writeSize = 64 << 10
    /// Bytes of all conversations at which all are written at once.
    static let totalSize = 4 << 20

    /// One conversation.
    struct Conversation {
        let form: ConversationForm
        /// Its interaction when it began, encoded.
        let head: [UInt8]
        let opened: UInt64
        /// The redactor's generation then.
        let generation: Int
        fileprivate var pending: [UInt8] = []
        fileprivate var pendingCount = 0
        fileprivate var pendingSince: UInt64 = 0
        fileprivate(set) var journal: ConversationJournal?
        /// Messages that are not kept, all after those that are.
        fileprivate(set) var missing = 0

        init(form: ConversationForm, head: [UInt8], opened: UInt64, generation: Int) {
            self.form = form
            self.head = head
            self.opened = opened
            self.generation = generation
        }
    }

    private let file: RecordingFile
    /// Bytes of all messages that are kept in memory while they cannot be written.
    private let heldLimit: Int
    private var running: [Int: Conversation] = [:]
    /// Those that have something to write, or need a journal.
    private var dirty: Set<Int> = []
    /// Bytes of messages that are in memory.
    private(set) var heldSize = 0

    init(file: RecordingFile, heldLimit: Int) {
        self.file = file
        self.heldLimit = heldLimit
    }

    var ids: [Int] { self.running.keys.sorted() }
    /// Whether there is anything to write, now or later.
    var hasPending: Bool { !self.dirty.isEmpty }

    func contains(_ id: Int) -> Bool { self.running[id] != nil }

    mutating func begin(_ id: Int, _ conversation: Conversation) {
        self.running[id] = conversation
        self.dirty.insert(id)
    }

    /// Whether a message of it is missing, so that no later one is kept.
    func hasGap(_ id: Int) -> Bool { self.running[id].map { $0.missing > 0 } ?? false }

    /// Whether its exchange will come as one that has ended.
    func isBody(_ id: Int) -> Bool { self.running[id]?.form == .body }

    /// The number of its messages that are kept.
    func count(of id: Int) -> Int { self.running[id].map { $0.pendingCount + ($0.journal?.count ?? 0) } ?? 0 }

    /// The interaction with which it began; nil if there is none of that number.
    func interaction(of id: Int) -> Interaction? { self.running[id].flatMap { try? InteractionDecoder.decode($0.head, at: .textAlone) } }

    /// What became of a message.
    enum Added: Equatable {
        case kept
        /// The first message of its conversation that is not kept.
        case firstMissing
        /// Another one, or one of an unknown conversation.
        case missing
    }

    /// - Parameter line: the encoded message with its line feed.
    mutating func add(_ line: UnsafeRawBufferPointer, to id: Int, now: UInt64) -> Added {
        // A copy of the conversation would have its messages copied by the next one.
        guard let missing = self.running[id]?.missing else { return .missing }
        // A conversation with a gap would be replayed as if nothing had been said there.
        let isHeld = line.count <= ConversationMessages.lineLimit && self.heldSize + line.count <= self.heldLimit
        guard missing == 0, isHeld else { return self.leaveOut(id) }
        self.running[id]?.append(line, now: now)
        self.heldSize += line.count
        self.dirty.insert(id)
        return .kept
    }

    /// Notes a message that is not kept; no later one of its conversation is.
    mutating func leaveOut(_ id: Int) -> Added {
        guard let missing = self.running[id]?.missing else { return .missing }
        self.running[id]?.missing = missing + 1
        return missing == 0 ? .firstMissing : .missing
    }

    /// Writes what is due; when it throws, what could not be written stays for the next time.
    ///
    /// - Returns: whether anything was written.
    mutating func write(now: UInt64) throws(CassetteError) -> Bool {
        guard !self.dirty.isEmpty else { return false }
        let isFull = self.heldSize >= Self.totalSize
        var hasWritten = false
        var failure: CassetteError?
        for id in self.dirty where isFull || self.running[id]?.isDue(now: now) == true {
            do throws(CassetteError) {
                try self.write(id)
                hasWritten = true
            } catch {
                failure = failure ?? error
                // Somebody has removed the files: what is kept for them would be kept for ever.
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

    /// Writes what there is of one conversation.
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

    /// A conversation that has ended, with its messages; nil if there is none of that number. When it throws, it is as before, and may be
    /// ended again.
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

    /// A burst must not keep its memory for the rest of the conversation, and an idle one keeps none.
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

/// Journals of conversations whose exchanges were written, until that is on the disk: before, a power failure could take both.
struct FinishedJournals {
    private var written: [ConversationJournal] = []
    /// Written before the sync that runs now, or has succeeded.
    private var covered: [ConversationJournal] = []

    var isEmpty: Bool { self.written.isEmpty && self.covered.isEmpty }

    /// Its exchange was written.
    mutating func append(_ journal: ConversationJournal) { self.written.append(journal) }

    /// A sync of all that is written has begun, or nothing needs one.
    mutating func syncBegan() {
        self.covered += self.written
        self.written = []
    }

    mutating func syncFailed() {
        self.written = self.covered + self.written
        self.covered = []
    }

    /// No sync is running, and the last one has not failed: those that may be removed now.
    mutating func synced() -> [ConversationJournal] {
        defer { self.covered = [] }
        return self.covered
    }
}
