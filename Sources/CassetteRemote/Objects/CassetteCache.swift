internal import Platform
internal import TapeBytes

/// The cassettes and bodies that were pulled, on this machine.
///
/// Objects are in `objects`, by digest; a cassette that is complete is a folder in `cassettes`, with its text and hard links to its
/// bodies. Everything gets its name when it is complete and has its digest. Any number of processes may use it.
package struct CassetteCache: Sendable {
    /// In bytes.
    package static let standardLimit = 10 << 30

    package let folder: String
    package let limit: Int

    package init(folder: String, limit: Int = CassetteCache.standardLimit) {
        self.folder = folder
        self.limit = limit
    }

    /// `$WIRETAPE_CACHE`, or `wiretape` in `$XDG_CACHE_HOME` or `~/.cache`.
    ///
    /// - Parameter variables: the environment.
    package init(variables: (String) -> String?) throws(StoreError) {
        func path(_ name: String) -> String? { variables(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        if let own = path("WIRETAPE_CACHE") {
            self.folder = own
        } else if let caches = path("XDG_CACHE_HOME") ?? path("HOME").map({ "\($0)/.cache" }) {
            self.folder = "\(caches)/wiretape"
        } else {
            throw StoreError(.settings, "there is no folder for the cache: set HOME, or WIRETAPE_CACHE to an absolute path.")
        }
        guard let text = variables("WIRETAPE_CACHE_LIMIT") else {
            self.limit = Self.standardLimit
            return
        }
        guard let limit = Self.bytes(text) else {
            throw StoreError(.settings, "WIRETAPE_CACHE_LIMIT is \"\(text.prefix(40))\": write a size, for example 500MB or 20GB.")
        }
        self.limit = limit
    }

    /// `500MB`, `20GB`, or a number of bytes.
    static func bytes(_ text: String) -> Int? {
        for (unit, factor) in [("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000), ("", 1)]
        where text.hasSuffix(unit) {
            guard let number = Int(text.dropLast(unit.count)), number >= 0 else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: factor)
            return isTooLarge ? nil : product
        }
        return nil
    }

    // MARK: Paths

    private func folder(of digest: String) -> String { "\(self.folder)/cassettes/\(digest)" }

    package func path(of object: ObjectName) -> String { "\(self.folder)/\(object.path)" }

    /// The manifest of a complete cassette; nil if it is not here.
    package func manifest(_ digest: String) -> Manifest? {
        guard ObjectName.isDigest(digest),
            let bytes = try? LocalFile.open("\(self.folder(of: digest))/manifest").readAll(limit: Manifest.sizeLimit),
            MemoryDigest.hex(bytes) == digest
        else { return nil }
        return Manifest(bytes)
    }

    /// Whether an object is here, by its size.
    package func contains(_ object: ObjectName, size: Int) -> Bool {
        LocalFolder.file(self.path(of: object)).map { Int($0.st_size) == size } ?? false
    }

    // MARK: Use

    /// A cassette that a command reads. It is not removed from the cache meanwhile.
    package struct Use: Sendable {
        package let path: String
        fileprivate let lock: LocalFile
    }

    /// A complete cassette; nil if it is not here.
    ///
    /// Compares the text with its digest, and the bodies with their sizes; a body's digest is compared by whoever reads it.
    ///
    /// - Parameter checksAll: compares the digest of every body too.
    /// - Throws: `damaged` if it is here and is not what it should be.
    package func use(_ digest: String, checksAll: Bool = false) throws(StoreError) -> Use? {
        guard ObjectName.isDigest(digest) else { return nil }
        let folder = self.folder(of: digest)
        guard let lock = try? LocalFile.open("\(folder)/used") else { return nil }
        try lock.lock(isShared: true)
        // Between opening and locking, it may have been removed.
        guard lock.isStillThere else { return nil }
        // The time of the last use.
        futimens(lock.descriptor, nil)
        guard let manifest = self.manifest(digest) else { throw self.damaged(folder, "its manifest is damaged") }
        let path = "\(folder)/\(manifest.name)"
        let text = try? Payload(file: LocalFile.open(path))
        guard text?.sha256 == manifest.textDigest else { throw self.damaged(folder, "\"\(manifest.name)\" does not have its digest") }
        for body in manifest.bodies {
            let path = "\(folder)/\(body.path)"
            guard let file = LocalFolder.file(path), Int(file.st_size) == body.size else {
                throw self.damaged(folder, "\"\(body.path)\" is missing, or does not have its size")
            }
            guard !checksAll || (try? Payload(file: LocalFile.open(path)))?.sha256 == body.object.digest else {
                throw self.damaged(folder, "\"\(body.path)\" does not have its digest")
            }
        }
        return Use(path: path, lock: lock)
    }

    private func damaged(_ folder: String, _ problem: String) -> StoreError {
        StoreError(.damaged, "the cache is damaged in \"\(folder)\": \(problem).")
    }

    /// Removes a cassette that is damaged, and those of its objects that are, so that the next pull gets them again.
    package func discard(_ digest: String) {
        if let manifest = self.manifest(digest) {
            for (object, size) in manifest.objects {
                let path = self.path(of: object)
                guard LocalFolder.file(path) != nil else { continue }
                if !self.contains(object, size: size) || (try? Payload(file: LocalFile.open(path)))?.sha256 != object.digest {
                    unlink(path)
                }
            }
        } else {
            // Without it, any object may be meant.
            self.removeDamagedObjects()
        }
        LocalFolder.remove(self.folder(of: digest))
    }

    private func removeDamagedObjects() {
        for part in LocalFolder.names("\(self.folder)/objects") {
            for name in LocalFolder.names("\(self.folder)/objects/\(part)") {
                guard let object = ObjectName(path: "objects/\(part)/\(name)") else { continue }
                let path = self.path(of: object)
                if (try? Payload(file: LocalFile.open(path)))?.sha256 != object.digest { unlink(path) }
            }
        }
    }

    // MARK: Writing

    /// Excludes a cleanup while objects have no cassette yet. Released with its last reference.
    func session() throws(StoreError) -> LocalFile {
        try LocalFolder.create(self.folder)
        let lock = try LocalFile.update("\(self.folder)/lock")
        try lock.lock(isShared: true)
        return lock
    }

    /// Downloads an object unless it is here. Several processes that want the same one wait for the first.
    ///
    /// - Parameter load: writes the bytes to the file, which is empty.
    func store(_ object: ObjectName, size: Int, _ load: (LocalFile) throws(StoreError) -> Void) throws(StoreError) {
        let path = self.path(of: object)
        guard !self.contains(object, size: size) else { return }
        try LocalFolder.create(String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex)))
        while true {
            let file = try LocalFile.update("\(path).part")
            try file.lock()
            // Somebody else has completed it, and it has its name now.
            guard file.isStillThere else { continue }
            if self.contains(object, size: size) {
                unlink(file.path)
                return
            }
            try file.truncate()
            try load(file)
            let payload = try Payload(file: file)
            guard payload.size == size, payload.sha256 == object.digest else {
                unlink(file.path)
                throw StoreError(
                    .damaged,
                    "\"\(object.path)\" came with other bytes than its name says (\(payload.size) bytes where \(size) were expected): nothing of it is used. Check the server with \"wiretape store check\"."
                )
            }
            try file.finish(as: path, mode: 0o444)
            return
        }
    }

    /// Makes a cassette of its objects, all of which must be here.
    func assemble(_ manifest: Manifest, _ bytes: [UInt8], digest: String) throws(StoreError) {
        let target = self.folder(of: digest)
        let fresh = "\(self.folder)/cassettes/.\(digest.prefix(16)).\(getpid()).\(UInt32.random(in: 0 ... .max))"
        try LocalFolder.create(fresh)
        do throws(StoreError) {
            let lock = try LocalFile.update("\(fresh)/used")
            try lock.lock(isShared: true)
            let text = try LocalFile.update("\(fresh)/\(manifest.name).part", isNew: true)
            let unpacked = try Zstandard.unpack(LocalFile.open(self.path(of: manifest.cassette)), into: text, limit: manifest.textSize)
            guard unpacked.size == manifest.textSize, Hex.encode(unpacked.digest) == manifest.textDigest else {
                throw StoreError(
                    .damaged, "\"\(manifest.cassette.path)\" does not unpack to the cassette that its manifest names: push it again.")
            }
            try text.finish(as: "\(fresh)/\(manifest.name)", mode: 0o444)
            var folders: Set<Substring> = []
            for body in manifest.bodies {
                let folder = body.path.prefix { $0 != "/" }
                if folders.insert(folder).inserted { try LocalFolder.create("\(fresh)/\(folder)") }
                try self.link(self.path(of: body.object), as: "\(fresh)/\(body.path)")
            }
            try LocalFolder.replace("\(fresh)/manifest", with: bytes)
            guard rename(fresh, target) == 0 else {
                // Another process was first, with the same bytes.
                guard [EEXIST, ENOTEMPTY].contains(errno), self.manifest(digest) != nil else {
                    throw StoreError(errno: errno, .rename, fresh)
                }
                LocalFolder.remove(fresh)
                return
            }
        } catch {
            LocalFolder.remove(fresh)
            throw error
        }
    }

    private func link(_ path: String, as second: String) throws(StoreError) {
        if Platform.link(path, second) == 0 { return }
        guard [EPERM, EOPNOTSUPP, EMLINK, EXDEV].contains(errno) else { throw StoreError(errno: errno, .link, path) }
        let (source, target) = (try LocalFile.open(path), try LocalFile.update(second, isNew: true))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var offset = 0
        while true {
            let count = try source.read(into: buffer, at: offset)
            guard count > 0 else { return }
            try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            offset += count
        }
    }

    // MARK: Cleanup

    /// A file for work, which vanishes when it is closed.
    func temporaryFile() throws(StoreError) -> LocalFile {
        try LocalFolder.create("\(self.folder)/work")
        let file = try LocalFile.update("\(self.folder)/work/\(getpid()).\(UInt64.random(in: 0 ... .max))", isNew: true)
        unlink(file.path)
        return file
    }

    /// What is in the cache.
    package struct Contents: Sendable, Hashable {
        package var cassettes = 0
        package var objects = 0
        package var bytes = 0
        /// Removed to keep the limit.
        package var removed = 0
    }

    package func contents() -> Contents {
        var contents = Contents()
        self.forEachObject { _, status in
            contents.objects += 1
            contents.bytes += Int(status.st_size)
        }
        for cassette in self.cassettes() {
            contents.cassettes += 1
            contents.bytes += cassette.textSize
        }
        return contents
    }

    private func forEachObject(_ body: (String, stat) -> Void) {
        for part in LocalFolder.names("\(self.folder)/objects") {
            for name in LocalFolder.names("\(self.folder)/objects/\(part)") {
                let path = "\(self.folder)/objects/\(part)/\(name)"
                if let status = LocalFolder.file(path) { body(path, status) }
            }
        }
    }

    private func cassettes() -> [(folder: String, used: Int, textSize: Int)] {
        LocalFolder.names("\(self.folder)/cassettes").compactMap { name in
            let folder = "\(self.folder)/cassettes/\(name)"
            guard let used = LocalFolder.file("\(folder)/used") else { return nil }
            let sizes = LocalFolder.names(folder).map { LocalFolder.file("\(folder)/\($0)").map { Int($0.st_size) } ?? 0 }
            #if canImport(Darwin)
            let time = Int(used.st_mtimespec.tv_sec)
            #else
            let time = Int(used.st_mtim.tv_sec)
            #endif
            return (folder, time, sizes.reduce(0, +))
        }
    }

    /// Removes the cassettes whose last use is longest ago until the cache has its limit, and what killed processes left.
    ///
    /// Does nothing while another process pulls. Cassettes in use stay.
    @discardableResult
    package func tidy() -> Contents {
        var contents = self.contents()
        guard let lock = try? LocalFile.update("\(self.folder)/lock"), lock.tryLock() else { return contents }
        for name in LocalFolder.names("\(self.folder)/work") where !Self.isRunning(name.prefix { $0 != "." }) {
            unlink("\(self.folder)/work/\(name)")
        }
        for cassette in self.cassettes().sorted(by: { ($0.used, $0.folder) < ($1.used, $1.folder) }) {
            let isLeft = cassette.folder.split(separator: "/").last?.hasPrefix(".") == true
            guard isLeft || contents.bytes > self.limit else { continue }
            guard let use = try? LocalFile.open("\(cassette.folder)/used"), use.tryLock() else { continue }
            // Without this file, nobody takes it for complete.
            unlink("\(cassette.folder)/used")
            LocalFolder.remove(cassette.folder)
            contents.bytes -= cassette.textSize
            contents.cassettes -= 1
            contents.removed += 1
            // The compressed text has no link, so it goes with the last of its cassettes below.
            contents.bytes -= self.removeUnusedObjects(&contents)
        }
        return contents
    }

    /// Removes bodies that no cassette links to, and compressed texts of cassettes that are not here.
    private func removeUnusedObjects(_ contents: inout Contents) -> Int {
        var texts: Set<String> = []
        for name in LocalFolder.names("\(self.folder)/cassettes") {
            if let manifest = self.manifest(name) { texts.insert(self.path(of: manifest.cassette)) }
        }
        var removed = 0
        self.forEachObject { path, status in
            guard path.hasSuffix(".json.zst") ? !texts.contains(path) : status.st_nlink == 1 else { return }
            guard unlink(path) == 0 else { return }
            removed += Int(status.st_size)
            contents.objects -= 1
        }
        return removed
    }

    private static func isRunning(_ id: Substring) -> Bool { pid_t(id).map { kill($0, 0) == 0 || errno == EPERM } ?? false }
}
