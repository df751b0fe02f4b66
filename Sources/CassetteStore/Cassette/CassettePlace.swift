internal import CassetteFormat
public import CassetteModel
internal import Platform
public import TapeBytes

/// Cassettes as files: checks whether one exists, and replaces one by another.
public enum CassettePlace {
    /// The longest chain of links: as many as Linux follows.
    private static let linkLimit = 40

    /// The path of a symbolic link's target, whether it exists or not; the path itself if it is not a link. The bodies of a cassette and
    /// its new recordings are next to the target, not the link.
    ///
    /// Links of folders in the path are resolved by the system. A cycle of links is an error when the path is opened.
    public static func followed(_ path: String) -> String {
        var current = path
        for _ in 0..<self.linkLimit {
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(current, &target, target.count)
            guard count > 0 else { return current }
            let text = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            current = text.hasPrefix("/") ? text : FileLocation(current).sibling(text)
        }
        return path
    }

    /// Whether anything of that name exists, even a damaged file or a dangling link.
    public static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Whether it is an empty file, as left by a recorder that is killed before its first write. It is not a cassette, and is recorded as
    /// if it did not exist.
    public static func isEmptyFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    }

    /// Whether a run in this mode finds a cassette, possibly through a link. An empty file is recorded as if it did not exist; a run that
    /// only replays opens it, and fails.
    public static func exists(_ path: String, for mode: RecordMode) -> Bool {
        self.exists(self.followed(path)) && (mode == .none || !self.isEmptyFile(path))
    }

    /// For commands that change a cassette: a repair would turn an empty file into one.
    ///
    /// - Throws: `damaged` if the file is empty.
    package static func refuseEmptyFile(_ path: String) throws(CassetteError) {
        guard !self.isEmptyFile(path) else { throw self.emptyFileError(path) }
    }

    static func emptyFileError(_ path: String) -> CassetteError {
        CassetteError(.damaged, "\"\(path)\" is an empty file, not a cassette: record it, or restore it from a copy")
    }

    /// The error of a write to a cassette whose name no longer leads to the file that was opened.
    package static func misplacedError(_ path: String) -> CassetteError {
        guard self.exists(path) else {
            return CassetteError(
                .notFound,
                "\"\(path)\" is gone: it or its folder was moved or removed while it was written; look for it there, or record again")
        }
        return CassetteError(
            .notFound,
            "\"\(path)\" is another file than the one that was recorded: something replaced it, or its folder, during the run. Look for the recording where the file or folder was moved, or record again"
        )
    }

    /// Throws if another file than the locked one would be replaced. A file that is gone may be.
    package static func checkReplaced(_ old: String, by new: String, _ lock: CassetteLock) throws(CassetteError) {
        let path = self.followed(old)
        guard path != lock.followed || self.exists(path) && !lock.isAtItsName else { return }
        throw CassetteError(
            .notFound,
            "\"\(old)\" is another file than the one that this recording was to replace: something replaced or moved it during the run. It is unchanged, and the recording is in \"\(new)\": compare the two, then rename or remove one"
        )
    }

    /// Replaces a file by another in the same folder; a crash leaves one or the other.
    public static func replace(_ old: String, with new: String) throws(CassetteError) {
        let old = self.followed(old)
        guard rename(new, old) == 0 else {
            throw CassetteError(
                .unwritable,
                "\"\(new)\" cannot replace \"\(old)\" (\(String(cString: strerror(errno)))): the recording is in \"\(new)\"")
        }
        try OpenFolder(FileLocation(old).folder).synchronize()
    }

    /// Renames a file within its folder. Fails, without a race, if the new name is taken.
    package static func take(_ path: String, with new: String) throws(CassetteError) {
        guard link(new, path) == 0 else {
            throw CassetteError(
                .unwritable, "\"\(path)\" cannot be created (\(String(cString: strerror(errno)))): name a file that does not exist yet.")
        }
        try self.remove(new)
        try OpenFolder(FileLocation(path).folder).synchronize()
    }

    /// The longest name of a cassette in bytes. Most systems allow 255 bytes, and the longest name next to `pets.json` is
    /// `.pets.new-100.json.rewrite`.
    static let nameLimit = 238

    /// Commands that write a cassette under a hidden name next to its own until it is complete.
    package enum StagingCommand: String, Sendable, CaseIterable {
        case `import`, merge
    }

    /// The hidden name next to a cassette that is about to be written. Removes what a killed command has left under such names.
    ///
    /// - Throws: `inUse` if another process is writing it.
    package static func stagedPath(of path: String, by command: StagingCommand) throws(CassetteError) -> String {
        try self.removeStaged(beside: path)
        let staged = self.hiddenPath(of: path, by: command)
        guard !self.exists(staged) else {
            throw CassetteError(
                .inUse, "another \"wiretape \(command.rawValue)\" is writing \"\(path)\": wait until it has ended, or name another file")
        }
        return staged
    }

    private static func hiddenPath(of path: String, by command: StagingCommand) -> String {
        let location = FileLocation(self.followed(path))
        return location.sibling(".\(location.name).\(command.rawValue)")
    }

    /// Cassettes that are being written under hidden names right now.
    static func stagedNow(beside path: String) -> [String] {
        StagingCommand.allCases.map { self.hiddenPath(of: path, by: $0) }.filter(self.isLocked)
    }

    /// The hidden name under which a cassette is rewritten before it replaces the old one.
    static func rewritePath(of path: String) -> String {
        let location = FileLocation(path)
        return location.sibling(".\(location.name).rewrite")
    }

    /// Removes cassettes that killed commands have left under hidden names. Those being written are not touched.
    static func removeStaged(beside path: String) throws(CassetteError) {
        let hidden = StagingCommand.allCases.map { self.hiddenPath(of: path, by: $0) } + [self.rewritePath(of: self.followed(path))]
        for staged in hidden where self.exists(staged) {
            guard let file = try? OpenFile(staged, for: .read), (try? file.lock()) != nil else { continue }
            try self.remove(staged)
        }
    }

    private static func isLocked(_ path: String) -> Bool {
        guard let file = try? OpenFile(path, for: .read) else { return false }
        return (try? file.lock()) == nil
    }

    /// Rejects a name that leaves no room for the names of bodies and new recordings next to it, before anything is written.
    public static func checkName(_ path: String) throws(CassetteError) {
        guard !path.hasSuffix("/") else {
            throw CassetteError(.unsafePath, "\"\(path)\" names a folder; name a file in it, such as \"\(path)cassette.json\"")
        }
        let path = self.followed(path)
        let location = FileLocation(path)
        guard location.name.utf8.count <= self.nameLimit else {
            throw CassetteError(
                .unsafePath,
                "\"\(path)\" cannot name a cassette: its name has \(location.name.utf8.count) bytes, and at most \(self.nameLimit) leave room for the names of the files next to it; choose a shorter one"
            )
        }
        guard FileLocation.isPlainName(location.bodiesName) else {
            throw CassetteError(
                .unsafePath,
                "\"\(path)\" cannot name a cassette: it contains a backslash or a control character, so the folder next to it could not be opened on every system; choose another name"
            )
        }
    }

    /// The permissions of a file; nil if there is none.
    static func mode(of path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt32(status.st_mode & 0o777) : nil
    }

    /// The mode of a file that is made from a cassette: readable by nobody who may not read the cassette. Its owner can always write it.
    ///
    /// - Parameter cassette: if it is nil or missing, nothing limits the mode.
    package static func limited(_ mode: UInt32, to cassette: String?) -> UInt32 {
        guard let limit = cassette.flatMap(self.mode) else { return mode }
        // Whoever may read a folder's files may look for them in it.
        return mode & (limit | (limit & 0o444) >> 2 | 0o700)
    }

    /// Makes a file inaccessible to everyone but its owner.
    public static func keepPrivate(_ path: String) { chmod(path, 0o600) }

    /// Takes permissions away from a file that any of the others does not give.
    public static func withhold(_ path: String, fromAnyOf models: [String]) {
        guard let own = self.mode(of: path) else { return }
        let common = models.reduce(own) { $0 & (self.mode(of: $1) ?? 0) }
        if common != own { chmod(path, mode_t(common | 0o600)) }
    }

    /// Gives a file the mode of another, if that can be read; its owner can always write it.
    public static func copyMode(of model: String, to path: String) {
        var status = stat()
        guard stat(model, &status) == 0 else { return }
        chmod(path, status.st_mode & 0o777 | 0o600)
    }

    /// Removes a cassette that never contained anything.
    public static func remove(_ path: String) throws(CassetteError) {
        let location = FileLocation(path)
        try OpenFolder(location.folder).remove(location.name)
    }

    /// Removes the folder of a cassette's bodies if it is empty.
    public static func removeEmptyBodies(of path: String) {
        let location = FileLocation(self.followed(path))
        rmdir(location.sibling(location.bodiesName))
    }

    /// The other cassettes that may refer to bodies in the folder of this one: recordings next to it that did not replace it, and the one
    /// whose name differs only by `.json`.
    public static func sharingBodies(with path: String) -> [String] {
        let path = self.followed(path)
        let stem = path.hasSuffix(".json") ? String(path.dropLast(5)) : path
        let names = [stem, "\(stem).json"] + (1...self.freeNames).map { self.name(stem, $0) } + self.stagedNow(beside: path)
        return names.filter { name in
            // A folder of that name is not a cassette.
            var status = stat()
            return name != path && stat(name, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// The recordings next to a cassette that are newer than it and did not replace it, each with a notice for people. Closing one failed,
    /// its recorder was killed, or nobody has decided yet. Leaves out those that are being written.
    public static func leftRecordings(beside path: String) -> [(path: String, notice: String)] {
        let path = self.followed(path)
        let stem = path.hasSuffix(".json") ? String(path.dropLast(5)) : path
        let age = self.modified(path)
        return (1...self.freeNames).map { self.name(stem, $0) }.filter { name in
            guard name != path, let time = self.modified(name), !self.isEmptyFile(name) else { return false }
            guard age.map({ $0 < time }) ?? true, let file = try? OpenFile(name, for: .read) else { return false }
            return (try? file.lock()) != nil
        }.map { name in
            let notice =
                "a recording that did not replace \"\(path)\" is in \"\(name)\": look at it with \"wiretape diff \(path) \(name)\", then rename or remove it."
            return (path: name, notice: notice)
        }
    }

    /// When a regular file was last written, in nanoseconds; nil if there is none.
    private static func modified(_ path: String) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }

    private static let freeNames = 100

    private static func name(_ stem: String, _ number: Int) -> String {
        number == 1 ? "\(stem).new.json" : "\(stem).new-\(number).json"
    }

    /// A free name next to a cassette: `pets.new.json`, then `pets.new-2.json`.
    public static func freeName(beside path: String) throws(CassetteError) -> String {
        let path = self.followed(path)
        let stem = path.hasSuffix(".json") ? String(path.dropLast(5)) : path
        for number in 1...self.freeNames {
            let name = self.name(stem, number)
            if !self.exists(name) { return name }
        }
        throw CassetteError(
            .unwritable, "there are 100 recordings next to \"\(path)\" that never replaced it: check them and remove them.")
    }
}

/// Excludes other recorders from a cassette that will be replaced by a new file rather than written itself.
///
/// Released with its last reference. Does not change the file, which need not be writable.
public final class CassetteLock: Sendable {
    /// How often a cassette may be replaced while its lock is being taken.
    private static let tries = 10

    private let file: SharedFile
    /// The target of links when the lock was taken.
    let followed: String

    /// Whether the locked file still has the name that it had.
    var isAtItsName: Bool { self.file.file.isStill(at: self.followed) }

    /// - Throws: `inUse` if another recorder has the cassette.
    public init(_ path: String) throws(CassetteError) {
        for _ in 0..<Self.tries {
            let shared = SharedFile(try OpenFile(path, for: .read))
            try shared.file.lock()
            // Between opening and locking, another recorder may have replaced the file.
            if shared.file.isStill(at: path, followsLinks: true) {
                self.file = shared
                self.followed = CassettePlace.followed(path)
                return
            }
        }
        throw CassetteError(.inUse, "\"\(path)\" is being replaced again and again; stop the other recorders, or choose another cassette")
    }
}

/// The files that a cassette, the recordings kept next to it, and their open conversations refer to. They share one folder.
public struct CassetteReferences: Sendable {
    /// Paths as in the cassettes.
    public private(set) var sidecars: Set<String> = []
    public private(set) var usesRawSpool = false

    /// - Parameters:
    ///   - path: the cassette's path; `pets.new.json` and the like next to `pets.json` are included.
    ///   - removed: one of these that is about to be removed.
    ///   - mayBeMissing: whether the cassette may not exist, because it was never written.
    /// - Throws: if one of them cannot be read, or the cassette is gone, since it is then unknown which files may be removed. A cassette that
    ///   was renamed still refers to its files.
    public init(familyOf path: String, without removed: String? = nil, mayBeMissing: Bool = false) throws(CassetteError) {
        let path = CassettePlace.followed(path)
        if path != removed {
            if CassettePlace.exists(path) {
                try self.add(path)
            } else if !mayBeMissing {
                throw CassetteError(.notFound, "\"\(path)\" is gone; its bodies are kept")
            }
        }
        for other in CassettePlace.sharingBodies(with: path) where other != removed { try self.add(other) }
        for owner in OpenConversations.owners(of: path) { try self.addJournals(FileLocation(owner)) }
    }

    /// Adds the files that messages of open conversations refer to, whatever cassette they will be in.
    private mutating func addJournals(_ owner: FileLocation) throws(CassetteError) {
        do throws(CassetteError) {
            let folder = try OpenFolder(owner.bodiesName, in: OpenFolder(owner.folder))
            for journal in try OpenConversations.names(in: folder) {
                for name in [journal.head, journal.messages] where folder.contains(name) {
                    try self.addPaths(in: OpenFile(name, in: folder, for: .read))
                }
            }
        } catch {
            guard error.code == .notFound else { throw error }
        }
    }

    /// Adds every string in the form of a sidecar's path. A false match only keeps a file that nobody needs.
    private mutating func addPaths(in file: borrowing OpenFile) throws(CassetteError) {
        var found: Set<String> = []
        try file.forEachPiece(in: 0..<file.size(), overlap: SidecarPath.longest) { bytes, _ in
            SidecarPath.collect(in: bytes, into: &found)
            return true
        }
        self.sidecars.formUnion(found)
    }

    private mutating func add(_ path: String) throws(CassetteError) {
        // Left by a recorder that was killed at once; refers to nothing.
        guard !CassettePlace.isEmptyFile(path) else { return }
        let reader = try CassetteReader(path: path)
        for position in 0..<reader.count {
            let bytes = try reader.bytes(at: position)
            // Every path of a sidecar or raw slice contains these characters.
            guard bytes.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }) else { continue }
            let interaction = try reader.interaction(at: position)
            for body in [interaction.request.body, interaction.response?.body] { self.add(body) }
            switch interaction.webSocket {
            case .file(let messages, _)?: try self.add(messages, of: reader.path)
            case .inline?, nil: self.sidecars.formUnion(interaction.webSocket?.sidecars.map(\.path) ?? [])
            }
            for member in interaction.unknown { member.json.withUnsafeBytes { SidecarPath.collect(in: $0, into: &self.sidecars) } }
        }
    }

    /// Adds the messages of a long conversation, which may refer to files themselves.
    private mutating func add(_ messages: Sidecar, of cassette: String) throws(CassetteError) {
        guard self.sidecars.insert(messages.path).inserted else { return }
        do throws(CassetteError) {
            try BodyReader(cassettePath: cassette).withFile(messages.path) { file throws(CassetteError) in try self.addPaths(in: file) }
        } catch {
            // A reader that needs the file will report that it is missing.
            guard error.code == .notFound else { throw error }
        }
    }

    private mutating func add(_ body: Body?) {
        guard let body else { return }
        if case .raw = body.content { self.usesRawSpool = true }
        self.sidecars.formUnion(body.content.sidecars.map(\.path))
        if let original = body.original { self.sidecars.insert(original.path) }
    }

    /// Removes files that no cassette refers to any more. Removes none if the store's folder was moved: the cassettes in its new place are
    /// unknown.
    ///
    /// - Returns: how many sidecars were removed.
    @discardableResult
    public func tidy(_ store: BodyStore) throws(CassetteError) -> Int {
        guard store.isInPlace else { return 0 }
        if !self.usesRawSpool { try store.removeRawSpool() }
        return try store.removeSidecars(keeping: self.sidecars)
    }
}

/// Finds the paths of sidecars in JSON text, without reading its structure.
private enum SidecarPath {
    /// The longest path within its quotes in bytes: a folder name of at most 255 bytes, each possibly escaped, and a digest with its
    /// extension.
    static let longest = 2048
    private static let mark = Array(".bodies/".utf8)

    static func collect(in text: UnsafeRawBufferPointer, into paths: inout Set<String>) {
        var offset = 0
        while true {
            let dot = ByteScan.index(of: Self.mark[0], in: text, from: offset)
            guard dot + Self.mark.count < text.count else { return }
            offset = dot + 1
            guard text[dot..<dot + Self.mark.count].elementsEqual(Self.mark), let path = self.path(in: text, around: dot) else { continue }
            paths.insert(path)
        }
    }

    private static func path(in text: UnsafeRawBufferPointer, around dot: Int) -> String? {
        let quote = UInt8(ascii: "\"")
        var start = dot
        while start > 0, text[start - 1] != quote || (start > 1 && text[start - 2] == UInt8(ascii: "\\")) {
            guard dot - start < self.longest else { return nil }
            start -= 1
        }
        let end = ByteScan.index(of: quote, in: text, from: dot)
        guard start > 0, end < text.count, end - start < self.longest else { return nil }
        let inner = Array(text[start..<end])
        guard let path = JSONStringDecoder.decode(inner[...]).map({ String(decoding: $0, as: UTF8.self) }),
            path.split(separator: "/").last.flatMap({ SidecarName(String($0)) }) != nil
        else { return nil }
        return path
    }
}
