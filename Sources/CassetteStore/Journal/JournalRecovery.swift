internal import CassetteFormat
public import CassetteModel
public import TapeBytes

/// Adds the conversations that a killed recorder has left open to their cassette, each as an exchange that the recorder cut.
///
/// For the holder of the cassette's lock, before anything else is written. Being killed in between neither loses nor repeats anything: a
/// journal is removed once its exchange is on disk, and is not added again if its exchange is already in the cassette.
public struct JournalRecovery {
    /// The result of the recovery.
    public struct Outcome: Sendable, Hashable {
        /// The ids of the exchanges that were added.
        public var added: [Int] = []
        /// The number of journals whose exchanges were already in the cassette.
        public var leftovers = 0
        /// The highest id of any journal. New exchanges need higher ones, whether the journal was added or not.
        public var lastID = 0
        /// What users should know, as sentences.
        public var notices: [String] = []

        public init() {}
    }

    private let appender: CassetteAppender
    private let store: BodyStore
    private let disk: DiskCalls
    private let digest: () -> any ContentDigest
    private var outcome = Outcome()
    private var finished: [(JournalName, BodyStore)] = []

    /// - Parameters:
    ///   - appender: the cassette's appender, with nothing staged.
    ///   - store: the cassette's store.
    ///   - digest: makes a SHA-256.
    ///   - Throws: if the cassette cannot be written. Exchanges added until then remain.
    @discardableResult
    public static func run(
        _ appender: CassetteAppender, _ store: BodyStore, digest: @escaping () -> any ContentDigest = { PortableSHA256() }
    ) throws(CassetteError) -> Outcome {
        try self.run(appender, store, digest: digest, disk: .system)
    }

    @discardableResult
    package static func run(
        _ appender: CassetteAppender, _ store: BodyStore, digest: @escaping () -> any ContentDigest = { PortableSHA256() }, disk: DiskCalls
    ) throws(CassetteError) -> Outcome {
        let open = OpenConversations(of: appender.path, digest: digest)
        var recovery = JournalRecovery(appender: appender, store: store, disk: disk, digest: digest)
        recovery.outcome.notices = open.problems.map { "\($0)." }
        for (name, folder) in open.unbegun where folder == store.name { try store.remove(name) }
        guard !open.isEmpty else { return recovery.outcome }
        try recovery.add(open.conversations)
        return recovery.outcome
    }

    private init(appender: CassetteAppender, store: BodyStore, disk: DiskCalls, digest: @escaping () -> any ContentDigest) {
        self.appender = appender
        self.store = store
        self.disk = disk
        self.digest = digest
    }

    private mutating func add(_ conversations: [OpenConversation]) throws(CassetteError) {
        var known = try OpenConversations.starts(CassetteReader(path: self.appender.path))
        self.outcome.lastID = conversations.map(\.id).max() ?? 0
        var lastID = max(self.outcome.lastID, known.keys.max() ?? 0)
        var torn: [Int] = []
        for conversation in conversations {
            let store = try self.store(of: conversation)
            var interaction: Interaction
            do {
                // Also done for an exchange that is already in the cassette: the name of its sidecar may not have reached the disk before a
                // power failure.
                interaction = try conversation.interaction(
                    in: OpenFolder(conversation.folder.path, followsLinks: false), store: store, digest: self.digest)
            } catch {
                // An error that prevents writing stops the recovery; a journal that cannot be read does not affect the others.
                guard [.damaged, .unreadable, .tooLarge].contains(error.code) else { throw error }
                self.outcome.notices.append("\(error.message).")
                continue
            }
            self.finished.append((conversation.name, store))
            guard known[conversation.id] != conversation.started else {
                self.outcome.leftovers += 1
                continue
            }
            // Another exchange has its number: the cassette was edited, or replaced by another one.
            if known[interaction.id] != nil {
                lastID += 1
                interaction.id = lastID
            }
            known[interaction.id] = interaction.started
            self.outcome.added.append(interaction.id)
            if conversation.droppedBytes > 0 { torn.append(interaction.id) }
            self.appender.stage { $0 += OpenConversation.text(of: interaction) }
            // Commits each one, so that only one is in memory.
            try self.appender.commit()
        }
        self.outcome.lastID = max(self.outcome.lastID, lastID)
        try self.store.syncAll()
        for (_, store) in self.finished where store !== self.store { try store.syncAll() }
        try self.appender.sync()
        for (name, store) in self.finished { try store.remove(name) }
        self.tell(torn)
    }

    /// The journals of a recording next to a cassette are in that cassette's folder.
    private func store(of conversation: OpenConversation) throws(CassetteError) -> BodyStore {
        guard conversation.folder.name != self.store.name else { return self.store }
        if let store = self.finished.lazy.map(\.1).first(where: { $0.name == conversation.folder.name }) { return store }
        let stem = FileLocation(conversation.folder.path).name.dropLast(".bodies".count)
        return try BodyStore(cassettePath: FileLocation(self.appender.path).sibling("\(stem).json"), disk: self.disk)
    }

    private mutating func tell(_ torn: [Int]) {
        guard !self.outcome.added.isEmpty else { return }
        let count = self.outcome.added.count
        let what = count == 1 ? "1 conversation" : "\(count) conversations"
        var text =
            "\"\(self.appender.path)\": the last recorder ended during \(what); the recorded part of \(count == 1 ? "it" : "them") "
        text += "is in the cassette, cut by the recorder (\(Self.exchanges(self.outcome.added)))"
        if !torn.isEmpty { text += "; a partly written message is left out (\(Self.exchanges(torn)))" }
        self.outcome.notices.append(text + ".")
    }

    private static func exchanges(_ ids: [Int]) -> String {
        let named = ids.prefix(5).map(String.init).joined(separator: ", ")
        let more = ids.count > 5 ? " and \(ids.count - 5) more" : ""
        return "exchange\(ids.count == 1 ? "" : "s") \(named)\(more)"
    }
}
