internal import CassetteModel

/// Repairs a torn cassette before anything is appended to it.
///
/// First stores the bytes that it removes in a file next to the cassette. Throws for an invalid file, and leaves it unchanged.
struct CassetteRepair {
    /// A document with a longer text after its interactions would make every append too expensive.
    private static let tailLimit = 1 << 20

    /// The file to append to: the one that was opened, or the one that replaced it.
    private(set) var shared: SharedFile
    private(set) var index: CassetteIndex
    /// The text after the last interaction.
    private(set) var tail: [UInt8] = []
    /// The damage that was found and repaired.
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
                "\"\(shared.file.path)\" has \(self.index.size - insertion) bytes after its interactions; move other members before them")
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
        // The document is complete, but something follows it.
        try self.keep([documentEnd..<self.index.size], disk: disk)
        try self.replaceEnd(from: insertion, by: self.shared.file.read(insertion..<documentEnd) + [0x0a])
    }

    /// Truncates first: a crash afterwards leaves a file without an end, which the next repair recognises as torn.
    private mutating func replaceEnd(from offset: Int, by bytes: [UInt8]) throws(CassetteError) {
        try self.shared.file.truncate(to: offset)
        // The truncation is synced before new text is written. Otherwise a crash could mix old and new text so that they look like one
        // exchange.
        try self.shared.file.synchronize()
        try self.shared.file.write(bytes, at: offset)
        try self.shared.file.synchronize()
        self.index = try CassetteScanner.scan(self.shared.file)
    }

    /// For damaged ranges that are followed by intact interactions.
    private mutating func rewrite(disk: DiskCalls) throws(CassetteError) {
        let path = self.shared.file.path
        try self.keep(self.index.damage.map(\.bytes), disk: disk)
        let rewriter = CassetteRewriter(self.shared, index: self.index, disk: disk)
        do {
            try rewriter.rewrite(order: Array(self.index.interactions.indices))
        } catch {
            throw error as? CassetteError ?? CassetteError(.unwritable, "cannot repair \"\(path)\": \(error)", cause: error)
        }
        rewriter.release()
        self.shared = try SharedFile.locked(path, disk: disk)
        self.index = try CassetteScanner.scan(self.shared.file)
    }

    /// Writes bytes to `NAME.json.torn-N`, using the first free name.
    private mutating func keep(_ ranges: [Range<Int>], disk: DiskCalls) throws(CassetteError) {
        var isWorthless = true
        for range in ranges where isWorthless { isWorthless = try self.isWorthless(range) }
        guard !isWorthless else { return }
        let location = FileLocation(self.shared.file.path)
        let folder = try OpenFolder(location.folder)
        let name = try self.freeName(location, in: folder)
        let file = try OpenFile(name, in: folder, for: .create, disk: disk)
        do {
            try file.adoptMode(of: self.shared.file)
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

    /// Whether there are only brackets and white space, which are not worth keeping.
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
