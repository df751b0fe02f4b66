public import CassetteFormat
public import CassetteModel
public import TapeBytes

/// A conversation whose recording has not ended, as in its journal: it is being recorded, or its recorder was killed.
///
/// A snapshot of the moment when it was read. Writes nothing. Any thread may use it.
public struct OpenConversation: Sendable {
    /// The summary as in the index of a cassette.
    public let summary: InteractionSummary
    /// The number of complete messages, up to the first line that is torn or not a message.
    public let count: Int
    /// The size of these messages in bytes.
    public let size: Int
    /// The number of bytes after these messages, from an interrupted write or a line that is not a message.
    public let droppedBytes: Int
    let name: JournalName
    let form: ConversationForm
    /// The path of the folder, and its name in the paths of sidecars.
    let folder: (path: String, name: String)
    /// The digest of the messages; nil if they are few enough to be in the cassette.
    let sha256: String?

    public var id: Int { self.summary.id }
    public var started: Timestamp { self.summary.started }

    /// The exchange as the next recorder will write it: cut by the recorder where the journal ends.
    ///
    /// Throws `notFound` if the conversation has ended meanwhile.
    public func interaction(digest: @escaping () -> any ContentDigest = { PortableSHA256() }) throws(CassetteError) -> Interaction {
        try self.interaction(in: OpenFolder(self.folder.path, followsLinks: false), store: nil, digest: digest)
    }

    /// The same as JSON text, from `{` to `}`.
    public func text(digest: @escaping () -> any ContentDigest = { PortableSHA256() }) throws(CassetteError) -> [UInt8] {
        Array(Self.text(of: try self.interaction(digest: digest)).drop { $0 == 0x20 })
    }

    /// Whether it is still open, with nothing added since it was read.
    public var isUnchanged: Bool {
        guard let folder = try? OpenFolder(self.folder.path, followsLinks: false), folder.contains(self.name.head) else { return false }
        guard folder.contains(self.name.messages) else { return self.size + self.droppedBytes == 0 }
        return (try? OpenFile(self.name.messages, in: folder, for: .read).size()) == self.size + self.droppedBytes
    }

    /// - Parameter store: for content that the cassette does not contain itself; nil for a view that writes nothing.
    func interaction(
        in folder: borrowing OpenFolder, store: BodyStore?, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> Interaction {
        var interaction = try Self.head(self.name, in: folder).interaction
        if case .complete = interaction.outcome {
            interaction.outcome = .cut(Cut(by: .recorder, reason: "the recorder ended before the conversation"))
        }
        switch self.form {
        case .webSocket: interaction.webSocket = try self.messages(in: folder, store: store).webSocket()
        case .body where self.size > 0:
            let file = try OpenFile(self.name.messages, in: folder, for: .read)
            try JournalBodies(file, size: self.size, store: store, digest: digest).add(to: &interaction)
        case .body: break
        }
        return interaction
    }

    private func messages(in folder: borrowing OpenFolder, store: BodyStore?) throws(CassetteError) -> ConversationMessages {
        if let sha256 {
            let sidecar =
                try store?.adopt(messagesOf: self.name, size: self.size, sha256: sha256)
                ?? Sidecar(path: "\(self.folder.name)/\(self.name.messages)", size: self.size, sha256: sha256)
            return .file(sidecar, count: self.count)
        }
        guard self.size > 0 else { return .inline([]) }
        return .inline(try OpenFile(self.name.messages, in: folder, for: .read).read(0..<self.size))
    }

    /// Indented for a cassette.
    static func text(of interaction: Interaction) -> [UInt8] {
        var writer = JSONWriter()
        writer.removeAll(baseDepth: InteractionEncoder.depth)
        InteractionEncoder.encode(interaction, into: &writer)
        return writer.bytes
    }

    static func head(_ name: JournalName, in folder: borrowing OpenFolder) throws(CassetteError) -> JournalHead {
        let file = try OpenFile(name.head, in: folder, for: .read)
        let size = try file.size()
        guard size <= JournalHead.sizeLimit else {
            throw CassetteError(
                .tooLarge,
                "\"\(file.path)\" has \(size) bytes, more than the \(JournalHead.sizeLimit) that the head of a conversation may "
                    + "have: remove it, or move it elsewhere")
        }
        return try JournalHead(file.read(0..<size), path: file.path)
    }
}

/// The journals of one cassette: those that a recorder has open now, or had open when it was killed.
///
/// Reads messages only to count and check them, piece by piece. Follows no symbolic link and never leaves the folders of bodies.
public struct OpenConversations: Sendable {
    /// In order of their ids.
    public private(set) var conversations: [OpenConversation] = []
    /// Files with the name of a journal that are not journals, or that belong to a missing cassette, and unreadable folders of bodies. One
    /// sentence for each, without its full stop.
    public private(set) var problems: [String] = []

    /// Torn heads without messages, whose recorder was killed while it began them. They contain nothing.
    private(set) var unbegun: [(name: JournalName, folder: String)] = []

    /// How many journals are examined: a proxy has at most as many connections at a time.
    private static let limit = 100_000
    /// How many problems are kept: the first ones are enough to find the others.
    private static let problemLimit = 20

    /// - Parameters:
    ///   - path: the path of the cassette, which need not exist.
    ///   - id: the id of the wanted conversations; nil for all.
    ///   - digest: makes a SHA-256.
    public init(of path: String, id: Int? = nil, digest: () -> any ContentDigest = { PortableSHA256() }) {
        let path = CassettePlace.followed(path)
        for owner in Self.owners(of: path) {
            do throws(CassetteError) {
                try self.look(FileLocation(owner), isOwn: owner == path, for: path, id: id, digest)
            } catch {
                // Most cassettes have no such folder. If it cannot be read, the cassette can still be.
                if error.code != .notFound { self.problems.append(error.message) }
            }
        }
        self.conversations.sort { ($0.id, $0.name.copy) < ($1.id, $1.name.copy) }
    }

    public var isEmpty: Bool { self.conversations.isEmpty }

    /// The conversations that a cassette does not contain yet. A recorder that is killed between writing an exchange and removing its
    /// journal leaves both.
    public func missing(in cassette: CassetteReader) throws(CassetteError) -> [OpenConversation] {
        guard !self.isEmpty else { return [] }
        let known = try Self.starts(cassette)
        return self.conversations.filter { known[$0.id] != $0.started }
    }

    /// The start of each exchange by its id.
    static func starts(_ cassette: CassetteReader) throws(CassetteError) -> [Int: Timestamp] {
        var starts: [Int: Timestamp] = [:]
        for position in 0..<cassette.count {
            guard let summary = try cassette.bytes(at: position).withUnsafeBytes({ InteractionSummaryReader.read($0) }) else { continue }
            starts[summary.id] = summary.started
        }
        return starts
    }

    /// The cassettes whose folders of bodies may contain journals of this cassette: its own, and that of the cassette it was to replace.
    static func owners(of path: String) -> [String] {
        guard path.hasSuffix(".json"), let dot = path.dropLast(5).lastIndex(of: ".") else { return [path] }
        let mark = path.dropLast(5)[dot...]
        guard mark == ".new" || mark.hasPrefix(".new-") else { return [path] }
        return [path, path[..<dot] + ".json"]
    }

    /// The names of all journals in a folder of bodies, whatever cassette they belong to.
    static func names(in folder: borrowing OpenFolder) throws(CassetteError) -> Set<JournalName> {
        var names: Set<JournalName> = []
        var isTooMany = false
        try folder.forEachName { name throws(CassetteError) in
            guard let journal = JournalName(name) else { return }
            if names.count < Self.limit { names.insert(journal) } else { isTooMany = true }
        }
        guard !isTooMany else {
            throw CassetteError(
                .tooLarge, "\"\(folder.path)\" has more than \(Self.limit) unfinished conversations: remove those that you do not need")
        }
        return names
    }

    private mutating func look(
        _ owner: FileLocation, isOwn: Bool, for path: String, id: Int?, _ digest: () -> any ContentDigest
    ) throws(CassetteError) {
        let folder = try OpenFolder(owner.bodiesName, in: OpenFolder(owner.folder))
        let location = FileLocation(path)
        let names = try Self.names(in: folder).filter { id == nil || $0.id == id }
        for name in names.sorted(by: { ($0.id, $0.copy) < ($1.id, $1.copy) }) {
            do throws(CassetteError) {
                guard folder.contains(name.head) else {
                    guard isOwn else { continue }
                    throw CassetteError(
                        .damaged, "\"\(folder.path)/\(name.messages)\" has messages of a conversation whose head is missing: remove it")
                }
                let head = try OpenConversation.head(name, in: folder)
                guard head.cassette == location.name else {
                    if isOwn { try Self.checkOwner(head.cassette, of: name, in: folder, location) }
                    continue
                }
                self.conversations.append(try Self.conversation(head, name, in: folder, (folder.path, owner.bodiesName), digest))
            } catch {
                // It ended while it was being read.
                guard error.code != .notFound else { continue }
                if isOwn, error.code == .damaged, !folder.contains(name.messages), Self.isTorn(name, in: folder) {
                    self.unbegun.append((name, owner.bodiesName))
                    continue
                }
                if self.problems.count < Self.problemLimit { self.problems.append(error.message) }
            }
        }
    }

    /// Whether the end of a head was not written.
    private static func isTorn(_ name: JournalName, in folder: borrowing OpenFolder) -> Bool {
        guard let file = try? OpenFile(name.head, in: folder, for: .read), let size = try? file.size() else { return false }
        let end = (try? file.read(max(0, size - 2)..<size)) ?? []
        return end != Array("}\n".utf8)
    }

    private static func checkOwner(
        _ cassette: String, of name: JournalName, in folder: borrowing OpenFolder, _ location: FileLocation
    ) throws(CassetteError) {
        guard !FileLocation.isPlainName(cassette) || !CassettePlace.exists(location.sibling(cassette)) else { return }
        throw CassetteError(
            .damaged,
            "\"\(folder.path)/\(name.head)\" belongs to a conversation in \"\(cassette)\", which does not exist: restore that cassette, or remove this file and "
                + "\"\(name.messages)\"")
    }

    private static func conversation(
        _ head: JournalHead, _ name: JournalName, in folder: borrowing OpenFolder, _ place: (path: String, name: String),
        _ digest: () -> any ContentDigest
    ) throws(CassetteError) -> OpenConversation {
        var lines = JournalLines()
        if folder.contains(name.messages) { lines = try JournalLines(OpenFile(name.messages, in: folder, for: .read), head.form, digest) }
        let (request, id) = (head.interaction.request, head.interaction.id)
        let summary = InteractionSummary(
            id: id, started: head.interaction.started, method: request.method, url: request.url, mayHaveRequestBody: request.body != nil,
            mayHaveDecidingFields: DecidingFields.areIn(request.headers),
            mayLogIn: ConnectionAuthentication.isUsed(by: request.headers))
        return OpenConversation(
            summary: summary, count: lines.count, size: lines.size,
            droppedBytes: lines.droppedBytes, name: name, form: head.form, folder: place, sha256: lines.sha256)
    }
}

/// The complete messages at the beginning of a journal's file.
struct JournalLines {
    private(set) var count = 0
    private(set) var size = 0
    private(set) var droppedBytes = 0
    /// Nil if they are few enough for the cassette.
    private(set) var sha256: String?

    init() {}

    init(_ file: borrowing OpenFile, _ form: ConversationForm, _ digest: () -> any ContentDigest) throws(CassetteError) {
        let fileSize = try file.size()
        var digest = fileSize > ConversationMessages.inlineLimit ? digest() : nil
        var (count, size) = (0, 0)
        /// The beginning of a message that continues in the next piece.
        var carry: [UInt8] = []
        func take(_ line: UnsafeRawBufferPointer) -> Bool {
            guard line.count <= ConversationMessages.lineLimit, Self.isMessage(UnsafeRawBufferPointer(rebasing: line.dropLast()), form)
            else {
                return false
            }
            digest?.update(line)
            (count, size) = (count + 1, size + line.count)
            return true
        }
        try file.forEachPiece(in: 0..<fileSize) { bytes, _ in
            var start = 0
            while start < bytes.count {
                let end = ByteScan.index(of: 0x0a, in: bytes, from: start)
                let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(end + 1, bytes.count)])
                if end == bytes.count || !carry.isEmpty { carry += piece }
                guard end < bytes.count else { break }
                guard carry.isEmpty ? take(piece) : carry.withUnsafeBytes(take) else { return false }
                carry.removeAll(keepingCapacity: true)
                start = end + 1
            }
            return carry.count <= ConversationMessages.lineLimit
        }
        self.count = count
        self.size = size
        self.droppedBytes = fileSize - size
        if size > ConversationMessages.inlineLimit {
            self.sha256 = digest.map {
                var digest = $0; return Hex.encode(digest.finalize())
            }
        }
    }

    private static func isMessage(_ line: UnsafeRawBufferPointer, _ form: ConversationForm) -> Bool {
        switch form {
        case .webSocket: (try? WebSocketMessageCoder.decode(Array(line), .textAlone)) != nil
        case .body: self.isObject(line)
        }
    }

    /// Whether the line is a single JSON object.
    private static func isObject(_ line: UnsafeRawBufferPointer) -> Bool {
        guard UTF8Validator.isValid(line) else { return false }
        var tokenizer = JSONTokenizer(line)
        guard var token = tokenizer.next(), token.kind == .beginObject else { return false }
        while token.kind != .end {
            guard let next = tokenizer.next() else { return false }
            token = next
        }
        return true
    }
}
