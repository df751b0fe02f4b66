internal import CassetteModel
internal import CassetteStore
internal import LocalHTTP
internal import Platform
internal import TapeBytes

/// Files that were dropped on the page, in a private folder.
///
/// The page sends their names and their bytes, never a path of this machine: a name with anything but plain parts is refused, and the folder
/// contains nothing but what was sent.
final class DroppedFiles: Sendable {
    /// The most bytes of one drop.
    private static let sizeLimit = 1 << 30
    private static let fileLimit = 4000
    private static let depthLimit = 12
    /// How much of a file tells whether it is a cassette.
    private static let beginning = 512

    private struct Drop {
        var folder: String
        /// The sizes so far, by name.
        var sizes: [String: Int] = [:]
        var isOpening = false
    }

    private let folder: String
    private let drops = Guarded<(last: Int, all: [Int: Drop])>((0, [:]))

    init(folder: String) { self.folder = folder }

    /// Appends a piece to a file.
    ///
    /// - Parameter drop: the number of the drop that the file belongs to; nil begins one.
    /// - Returns: the number of the drop.
    func take(_ bytes: [UInt8], of name: String, at offset: Int, drop number: Int?) throws -> Int {
        let parts = try Self.parts(name)
        let number = try number ?? self.begin()
        guard let drop = self.drops.withLock({ $0.all[number] }), !drop.isOpening else {
            throw InspectorService.bad("drop", "there is no such drop: drop the files again")
        }
        let size = drop.sizes[name] ?? 0
        guard offset == size else { throw InspectorService.bad("offset", "\"offset\" is \(offset), and \(size) bytes have come") }
        guard drop.sizes.count < Self.fileLimit else { throw Self.tooMany }
        guard drop.sizes.values.reduce(bytes.count, +) <= Self.sizeLimit else { throw Self.tooLarge }
        var folder = drop.folder
        for part in parts.dropLast() {
            folder += "/\(part)"
            try Self.makeFolder(folder)
        }
        let path = "\(folder)/\(parts[parts.count - 1])"
        let flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_CREAT | (size == 0 ? O_EXCL : O_APPEND)
        // An empty first piece has created it already.
        let descriptor = Platform.open(path, drop.sizes[name] == nil ? flags : flags & ~O_EXCL, 0o600)
        guard descriptor >= 0 else { throw Self.failed(errno) }
        defer { Platform.close(descriptor) }
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { Platform.write(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done) }
            guard written > 0 else { throw Self.failed(errno) }
            done += written
        }
        self.drops.withLock { $0.all[number]?.sizes[name] = size + bytes.count }
        return number
    }

    private func begin() throws -> Int {
        let number = self.drops.withLock { drops in
            drops.last += 1
            return drops.last
        }
        let folder = "\(self.folder)/d\(number)"
        try Self.makeFolder(folder)
        self.drops.withLock { $0.all[number] = Drop(folder: folder) }
        return number
    }

    /// The folders and the name of a file, of which none leads out of the drop's folder.
    static func parts(_ name: String) throws(LocalAnswer) -> [String] {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let isPlain = parts.allSatisfy { part in
            !part.isEmpty && part != "." && part != ".." && part.utf8.count <= 200
                && part.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x5C }
        }
        guard isPlain, parts.count <= Self.depthLimit else {
            throw InspectorService.bad("name", "\"\(PlainText.escape(name.utf8, limit: 80))\" is not the name of a file that can be opened")
        }
        return parts
    }

    static func makeFolder(_ path: String) throws {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw self.failed(errno) }
    }

    private static func failed(_ number: Int32) -> LocalAnswer {
        let words = number == ENOSPC ? "there is no space left for it" : String(cString: strerror(number))
        return LocalAnswer(
            status: 422, reason: "Unprocessable Content", code: "open",
            message: "the file cannot be held (\(words)): open it with \"wiretape inspect\", or import it with \"wiretape import\".")
    }

    private static var tooMany: LocalAnswer {
        LocalAnswer(
            status: 413, reason: "Content Too Large", code: "too-large",
            message: "a page opens at most \(self.fileLimit) files at once: open fewer.")
    }

    private static var tooLarge: LocalAnswer {
        LocalAnswer(
            status: 413, reason: "Content Too Large", code: "too-large",
            message: "a page opens at most 1 GiB at once: use \"wiretape inspect\" or \"wiretape import\".")
    }

    /// Removes a folder of files and of such folders.
    static func remove(_ path: String) {
        guard let folder = try? OpenFolder(path, followsLinks: false) else { return }
        try? folder.forEachName { name in
            let inner = "\(path)/\(name)"
            if unlink(inner) != 0 { self.remove(inner) }
        }
        rmdir(path)
    }

    // MARK: Opening

    /// A drop that is complete, and that nobody else opens.
    struct Claim: Sendable {
        fileprivate var folder: String
        fileprivate var names: [String]
    }

    func claim(_ number: Int) throws -> Claim {
        let drop = self.drops.withLock { drops -> Drop? in
            guard let drop = drops.all[number], !drop.isOpening, !drop.sizes.isEmpty else { return nil }
            return drops.all.removeValue(forKey: number)
        }
        guard let drop else { throw InspectorService.bad("drop", "there is no such drop: drop the files again") }
        return Claim(folder: drop.folder, names: drop.sizes.keys.sorted())
    }

    /// Turns one drop into cassettes.
    ///
    /// Not Sendable: used by one thread.
    final class Opening {
        struct Cassette {
            var name: String
            var path: String
            var folder: String
            var notes: [String]
        }

        private let folder: String
        private let names: [String]
        private var isKept = false
        /// What people should know although something was opened.
        private(set) var notes: [String] = []

        init(_ claim: Claim) {
            self.folder = claim.folder
            self.names = claim.names
        }

        /// - Parameters:
        ///   - name: of what was dropped.
        ///   - importRecordings: makes a cassette of recordings of other tools, and returns what it could not keep.
        ///   - progress: of the imports.
        func cassettes(
            named name: String,
            importing importRecordings: (@Sendable (_ files: [String], _ path: String, _ progress: ImportProgress) throws -> [String])?,
            _ progress: ImportProgress
        ) throws -> [Cassette] {
            var found: [Cassette] = []
            var others: [String] = []
            for file in self.names {
                let path = "\(self.folder)/\(file)"
                let parts = file.split(separator: "/").map(String.init)
                // The bodies of a cassette are not recordings.
                if parts.dropLast().contains(where: { $0.hasSuffix(".bodies") || $0 == "__files" }) || parts.last?.hasPrefix(".") == true {
                    continue
                }
                if Self.isCassette(path) {
                    found.append(Cassette(name: parts.last ?? file, path: path, folder: self.folder, notes: []))
                } else {
                    others.append(file)
                }
            }
            // A folder of stubs is one recording.
            var sources: [String] = []
            for file in others {
                let parts = file.split(separator: "/")
                if let place = parts.firstIndex(of: "mappings"), place < parts.count - 1 {
                    let root = ([self.folder[...]] + parts[..<place]).joined(separator: "/")
                    if !sources.contains(root) { sources.append(root) }
                } else {
                    sources.append("\(self.folder)/\(file)")
                }
            }
            guard let importRecordings, !sources.isEmpty else { return found }
            // A folder may also contain files that are no recordings.
            let isFolder = self.names.contains { $0.contains("/") }
            let groups = isFolder ? [sources] : sources.map { [$0] }
            for (number, group) in groups.enumerated() {
                // Two recordings may have the same name.
                let target = "\(self.folder)/.imported\(number)"
                try DroppedFiles.makeFolder(target)
                let title = isFolder ? name : group[0].split(separator: "/").last.map(String.init) ?? name
                let path = "\(target)/\(Self.stem(title)).json"
                do {
                    let notes = try importRecordings(group, path, progress)
                    found.append(Cassette(name: title, path: path, folder: self.folder, notes: notes.map(self.shown)))
                } catch let error as CassetteError {
                    if progress.isCancelled { throw error }
                    self.note(error.message)
                }
            }
            return found
        }

        /// A file could not be opened.
        func note(_ message: String) { self.notes.append(self.shown(message)) }

        /// A message without the folder, which nobody knows, and without an option that a page does not have.
        private func shown(_ text: String) -> String {
            let text = text.replacing("\(self.folder)/", with: "")
            guard let advice = text.firstRange(of: ": if it is one, name its kind with --from") else { return text }
            return text[..<advice.lowerBound] + "."
        }

        func problem(_ name: String) -> String {
            guard self.notes.isEmpty else { return self.notes.prefix(3).joined(separator: " ") }
            return "\"\(PlainText.escape(name.utf8, limit: 80))\" contains no cassette, and no recording of a tool that is known here."
        }

        private static func isCassette(_ path: String) -> Bool {
            let descriptor = Platform.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { return false }
            defer { Platform.close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: DroppedFiles.beginning)
            let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return false }
            let text = bytes.prefix(count).drop { $0 == 32 || $0 == 9 || $0 == 10 || $0 == 13 }
            guard text.first == UInt8(ascii: "{") else { return false }
            let member = text.dropFirst().drop { $0 == 32 || $0 == 9 || $0 == 10 || $0 == 13 }
            return member.starts(with: "\"wiretape\"".utf8)
        }

        /// A name for the imported cassette, in ASCII.
        private static func stem(_ name: String) -> String {
            let base = name.split(separator: ".").dropLast(name.contains(".") ? 1 : 0).joined(separator: ".")
            let plain = String(
                base.unicodeScalars.map {
                    $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "-") ? Character($0) : "_"
                })
            return plain.isEmpty ? "imported" : String(plain.prefix(80))
        }

        /// The cassettes are open: their folder stays.
        func keep() { self.isKept = true }

        /// Removes what was dropped if nothing of it was opened.
        func end() { if !self.isKept { DroppedFiles.remove(self.folder) } }
    }
}
