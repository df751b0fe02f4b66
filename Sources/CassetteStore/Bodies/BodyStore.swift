internal import CassetteFormat
public import CassetteModel
internal import Platform
public import TapeBytes

/// The folder of sidecars next to a cassette, for the recorder that writes it.
///
/// Used from one thread by the holder of the cassette's lock, unless it is a trial store; only spools may be created and finished on any
/// thread. Creates no folder until there is something to store.
public final class BodyStore {
    /// The folder's name, `pets.bodies` for `pets.json`: the first part of every sidecar's path.
    public let name: String
    private let location: FileLocation
    private let disk: DiskCalls
    private let isTrial: Bool
    /// The permissions of the cassette, which also apply to its folder and the files in it; nil if there is no cassette yet.
    private let mode: UInt32?
    /// Whether many files are synced by one call that syncs their whole file system. This is for a recording that is synced once, at its
    /// end. During traffic, it would wait for the files of other programs again and again.
    package var syncsFileSystem = false
    private let files = Guarded(Files())
    private var lazyRawSpool: RawSpool?
    /// The most names kept in `Files.proven`: about half a megabyte.
    private static let provenLimit = 4096

    /// State that is changed by creating and finishing spools, on any thread.
    private struct Files: Sendable {
        var folder: FolderBox?
        var spoolCount = 0
        /// Finished, but not known to be on disk.
        var unsynced: Set<String> = []
        /// Names whose content this store has written or compared, so that a recurring equal body is not compared again.
        var proven: Set<String> = []
    }

    private var lazyFolder: FolderBox? { self.files.withLock { $0.folder } }

    /// Shares an open folder.
    final class FolderBox: Sendable {
        let folder: OpenFolder

        init(_ folder: consuming OpenFolder) { self.folder = folder }
    }

    /// Opens the store of a cassette and removes incomplete files of a killed recorder.
    public convenience init(cassettePath: String) throws(CassetteError) {
        try self.init(cassettePath: cassettePath, disk: .system)
    }

    /// - Parameter model: the file whose permissions are used; nil for the cassette.
    package convenience init(cassettePath: String, model: String? = nil, disk: DiskCalls) throws(CassetteError) {
        try self.init(cassettePath, model: model, isTrial: false, disk: disk)
        try self.removeLeftovers()
    }

    /// A store for trials, which needs no lock, so a recorder may be writing at the same time. Its spools must not be finished. It removes
    /// nothing, and creates no folder.
    public convenience init(tryingOn cassettePath: String) throws(CassetteError) {
        try self.init(cassettePath, model: nil, isTrial: true, disk: .system)
    }

    private init(_ cassettePath: String, model: String?, isTrial: Bool, disk: DiskCalls) throws(CassetteError) {
        self.isTrial = isTrial
        self.location = FileLocation(CassettePlace.followed(cassettePath))
        self.name = self.location.bodiesName
        self.disk = disk
        self.mode = CassettePlace.mode(of: model ?? cassettePath)
        do {
            let parent = try OpenFolder(self.location.folder)
            let box = FolderBox(try OpenFolder(self.name, in: parent))
            // The cassette may have become more private since the folder was created.
            if let mode, !isTrial { box.folder.withhold(from: mode) }
            self.files.withLock { $0.folder = box }
        } catch {
            guard error.code == .notFound else { throw error }
        }
    }

    /// A temporary file for one body, to be finished under its digest or discarded. It has a name only if the system does not support
    /// unnamed files, because unredacted data must not survive a killed process.
    public func makeSpool() throws(CassetteError) -> BodySpool {
        let box = try self.folder()
        while true {
            let name = self.partName()
            #if os(Linux)
            if let file = OpenFile(unnamed: name, in: box.folder, disk: self.disk) {
                let mode = try file.restrict()
                return BodySpool(file: file, name: name, isNamed: false, mode: self.mode ?? mode, store: self, box: box)
            }
            #endif
            do {
                let file = try OpenFile(name, in: box.folder, for: .create, disk: self.disk)
                // Tells other recorders that this file is not a leftover.
                try file.lock()
                let mode = try file.restrict()
                return BodySpool(file: file, name: name, isNamed: true, mode: self.mode ?? mode, store: self, box: box)
            } catch  where error.code == .unwritable && box.folder.contains(name) {
                continue
            }
        }
    }

    private func create(_ name: String, in folder: borrowing OpenFolder) throws(CassetteError) -> OpenFile {
        let file = try OpenFile(name, in: folder, for: .create, disk: self.disk)
        if let mode { try file.setMode(mode) }
        return file
    }

    private func partName() -> String {
        let number = self.files.withLock { files in
            files.spoolCount += 1
            return files.spoolCount
        }
        return ".part-\(getpid())-\(number)"
    }

    /// The spool of bodies that are decoded later; one per cassette.
    public func rawSpool() throws(CassetteError) -> RawSpool {
        if let spool = self.lazyRawSpool { return spool }
        let box = try self.folder()
        let file: OpenFile
        if box.folder.contains(RawSpool.fileName) {
            file = try OpenFile(RawSpool.fileName, in: box.folder, for: .update, disk: self.disk)
        } else {
            file = try self.create(RawSpool.fileName, in: box.folder)
        }
        let spool = try RawSpool(file: file, path: "\(self.name)/\(RawSpool.fileName)")
        self.lazyRawSpool = spool
        self.wrote(RawSpool.fileName)
        return spool
    }

    /// Closes and removes the raw spool, once nothing in the cassette refers to it.
    public func removeRawSpool() throws(CassetteError) {
        self.lazyRawSpool = nil
        self.forget(RawSpool.fileName)
        guard let box = self.lazyFolder else { return }
        try box.folder.remove(RawSpool.fileName, disk: self.disk)
    }

    /// Whether `syncAll` has anything to do.
    public var needsSync: Bool { self.files.withLock { !$0.unsynced.isEmpty } || self.lazyRawSpool?.needsSync == true }

    /// Waits until all finished sidecars and the raw spool are on disk. Call it before the cassette that refers to them is synced.
    public func syncAll() throws(CassetteError) {
        guard let sync = self.beginSync() else { return }
        do throws(CassetteError) {
            try sync.run()
        } catch {
            self.syncFailed(sync)
            throw error
        }
    }

    /// Like `syncAll`, but for another thread to wait for; nil if there is nothing to sync. Bodies may be finished meanwhile.
    public func beginSync() -> PendingSync? {
        guard self.needsSync, let box = self.lazyFolder else { return nil }
        let spool = self.lazyRawSpool?.beginSync()
        let names = self.files.withLock { files in
            var names: Set<String> = []
            swap(&names, &files.unsynced)
            return names
        }
        return PendingSync(files: spool.map { [$0] } ?? [], names: names, in: box, withFileSystem: self.syncsFileSystem, disk: self.disk)
    }

    /// A sync from `beginSync` has failed, so its files have to be synced again.
    public func syncFailed(_ sync: PendingSync) {
        self.files.withLock { $0.unsynced.formUnion(sync.names) }
        self.lazyRawSpool?.syncFailed()
    }

    /// Removes the sidecars whose paths (`pets.bodies/5f2c….jpg`) are not in `kept`. Other files are not touched.
    @discardableResult
    public func removeSidecars(keeping kept: Set<String>) throws(CassetteError) -> Int {
        guard let box = self.lazyFolder else { return 0 }
        let names = try self.names { SidecarName($0) != nil }
        func isKept(_ name: String) -> Bool { kept.contains("\(self.name)/\(name)") }
        // A kept name may be a link to a file whose name is not kept.
        let targets = names.allSatisfy(isKept) ? [] : Set(names.lazy.filter(isKept).compactMap { box.folder.target(ofLink: $0) })
        var removed = 0
        for name in names where !isKept(name) && !targets.contains(name) {
            try box.folder.remove(name, disk: self.disk)
            removed += 1
        }
        self.files.withLock { files in
            files.unsynced = files.unsynced.filter { SidecarName($0) == nil || kept.contains("\(self.name)/\($0)") }
        }
        return removed
    }

    /// Whether its folder, if it has one, is still where the cassette's path leads.
    var isInPlace: Bool { self.lazyFolder?.folder.isInPlace ?? true }

    /// Whether there are bodies, of this cassette or an earlier one.
    package var hasFiles: Bool {
        (try? self.names { SidecarName($0) != nil || $0 == RawSpool.fileName })?.isEmpty == false
    }

    private func names(where isWanted: (String) -> Bool) throws(CassetteError) -> [String] {
        guard let box = self.lazyFolder else { return [] }
        var names: [String] = []
        try box.folder.forEachName { name throws(CassetteError) in
            if isWanted(name) { names.append(name) }
        }
        return names
    }

    private func removeLeftovers() throws(CassetteError) {
        try CassettePlace.removeStaged(beside: self.location.sibling(self.location.name))
        guard let box = self.lazyFolder else { return }
        for name in try self.names(where: { $0.hasPrefix(".part-") }) {
            guard let file = try? OpenFile(name, in: box.folder, for: .update), (try? file.lock()) != nil else { continue }
            try box.folder.remove(name)
        }
    }

    private func folder() throws(CassetteError) -> FolderBox {
        if let box = self.lazyFolder { return box }
        let parent = try OpenFolder(self.location.folder)
        guard !self.isTrial else { return FolderBox(parent) }
        try parent.createFolder(self.name, mode: self.mode)
        let box = FolderBox(try OpenFolder(self.name, in: parent))
        try parent.synchronize()
        // Another thread may have been first; both folders are the same.
        return self.files.withLock { files in
            let folder = files.folder ?? box
            files.folder = folder
            return folder
        }
    }

    // MARK: Journals of open conversations

    /// Begins the journal of a conversation.
    ///
    /// - Parameters:
    ///   - head: its interaction without messages, encoded and redacted.
    ///   - cassettePath: the file that will contain it, which may be a recording next to this store's cassette.
    ///   - digest: a fresh SHA-256.
    public func makeJournal(
        id: Int, head: some Sequence<UInt8>, form: ConversationForm, cassettePath: String, digest: any ContentDigest
    ) throws(CassetteError) -> ConversationJournal {
        let box = try self.folder()
        let text = JournalHead.encode(head, form: form, cassette: FileLocation(CassettePlace.followed(cassettePath)).name)
        for copy in JournalName.copies {
            let name = JournalName(id: id, copy: copy)
            // Messages without a head belong to another conversation.
            guard !box.folder.contains(name.messages) else { continue }
            let file: OpenFile
            do {
                file = try self.create(name.head, in: box.folder)
            } catch  where box.folder.contains(name.head) {
                continue
            }
            do {
                try file.write(text, at: 0)
            } catch {
                try? box.folder.remove(name.head)
                throw error
            }
            self.wrote(name.head)
            return ConversationJournal(name, mode: self.mode, store: self, box: box, disk: self.disk, digest: digest)
        }
        throw CassetteError(
            .unwritable,
            "there are \(JournalName.copies.count) conversations with the number \(id) in \"\(box.folder.path)\" that no recorder "
                + "has added to a cassette: check them, and remove them")
    }

    /// Notes that a file of this name was written.
    func wrote(_ name: String) { self.files.withLock { _ = $0.unsynced.insert(name) } }

    private func forget(_ name: String) { self.files.withLock { _ = $0.unsynced.remove(name) } }

    /// Gives the messages of a journal a second name, that of a sidecar. The journal keeps its own name, as it may only be removed once the
    /// interaction that refers to the sidecar is on disk.
    ///
    /// - Parameter size: the size of the valid part of the file; the rest is cut off.
    func adopt(messagesOf name: JournalName, size: Int, sha256: String) throws(CassetteError) -> Sidecar {
        let box = try self.folder()
        let file = try OpenFile(name.messages, in: box.folder, for: .update, disk: self.disk)
        let part = self.partName()
        // Left by a killed process that had the same process id.
        try box.folder.remove(part)
        let spool: BodySpool
        if try box.folder.link(name.messages, as: part, disk: self.disk) {
            spool = BodySpool(file: file, size: size, name: part, isNamed: true, mode: nil, store: self, box: box)
        } else {
            spool = try self.makeSpool()
            try file.forEachPiece(in: 0..<size) { bytes, _ throws(CassetteError) in
                try spool.write(bytes)
                return true
            }
        }
        return try spool.finish(sha256: sha256, ext: ConversationJournal.fileExtension)
    }

    /// Removes the journals of a cassette that is gone or about to be removed.
    ///
    /// - Parameter id: removes only those of later exchanges.
    public func removeJournals(of cassettePath: String, after id: Int = 0) throws(CassetteError) {
        guard let box = self.lazyFolder else { return }
        let owner = FileLocation(CassettePlace.followed(cassettePath)).name
        for name in try OpenConversations.names(in: box.folder) where name.id > id && box.folder.contains(name.head) {
            guard let head = try? OpenConversation.head(name, in: box.folder), head.cassette == owner else { continue }
            try self.remove(name)
        }
    }

    /// Removes the files of a journal, the head last. If the process is killed in between, the rest is still recognised by the head.
    func remove(_ name: JournalName) throws(CassetteError) {
        guard let box = self.lazyFolder else { return }
        for file in [name.messages, name.head] {
            try box.folder.remove(file, disk: self.disk)
            self.forget(file)
        }
    }

    /// Renames a spool's file to the sidecar's name. Equal content is kept once.
    func adopt(_ spool: BodySpool, as sidecar: SidecarName) throws(CassetteError) -> Sidecar {
        let box = spool.box
        let name = sidecar.string
        var isThere = self.files.withLock { $0.proven.contains(name) } && box.folder.contains(name)
        if !isThere { isThere = try self.holds(name, equalTo: spool, in: box) }
        if !isThere {
            // The existing file does not have the content that its name says (a crash before its sync). The new content must be on disk
            // before it replaces the file, or a second crash would lose both.
            if box.folder.contains(name) { try spool.file.synchronize() }
            try spool.giveName()
            try box.folder.rename(spool.name, to: name)
        } else if spool.isNamed {
            try box.folder.remove(spool.name)
        }
        self.files.withLock { files in
            files.unsynced.insert(name)
            if files.proven.count < Self.provenLimit { files.proven.insert(name) }
        }
        return Sidecar(path: "\(self.name)/\(name)", size: spool.size, sha256: sidecar.sha256)
    }

    private func holds(_ name: String, equalTo spool: BodySpool, in box: FolderBox) throws(CassetteError) -> Bool {
        let other: OpenFile
        do {
            other = try OpenFile(body: name, in: box.folder, disk: self.disk)
        } catch {
            // A link that leads to nothing, or to a forbidden place, is replaced by the file.
            guard error.code == .notFound || error.code == .unsafePath else { throw error }
            return false
        }
        guard try other.size() == spool.size else { return false }
        var offset = 0
        while offset < spool.size {
            let end = min(offset + 65_536, spool.size)
            let (ours, theirs) = (try spool.file.read(offset..<end), try other.read(offset..<end))
            guard ours.count == theirs.count, memcmp(ours, theirs, ours.count) == 0 else { return false }
            offset = end
        }
        if let mode { other.withhold(from: mode) }
        return true
    }
}

/// Files that have to reach the disk, taken from a store or an appender so that another thread can wait for them.
///
/// If the recorder's own thread waited for a slow disk, it could not keep up with the traffic.
public struct PendingSync: Sendable {
    /// Open files: a cassette, a raw spool.
    private let files: [SharedFile]
    /// Names of sidecars, which have to be synced again if this fails.
    let names: Set<String>
    private let folder: BodyStore.FolderBox?
    private let withFileSystem: Bool
    private let disk: DiskCalls

    init(
        files: [SharedFile], names: Set<String> = [], in folder: BodyStore.FolderBox? = nil, withFileSystem: Bool = false,
        disk: DiskCalls = .system
    ) {
        self.files = files
        self.names = names
        self.folder = folder
        self.withFileSystem = withFileSystem
        self.disk = disk
    }

    /// Waits for the disk; stops at the first error.
    public func run() throws(CassetteError) {
        for shared in self.files { try shared.file.synchronize() }
        guard let folder, !self.names.isEmpty else { return }
        if self.withFileSystem, try folder.folder.synchronizeFileSystem(self.disk) { return }
        for name in self.names {
            do {
                try OpenFile(body: name, in: folder.folder, disk: self.disk).synchronize()
            } catch  where error.code == .notFound {
                continue
            }
        }
        try folder.folder.synchronize()
    }
}
