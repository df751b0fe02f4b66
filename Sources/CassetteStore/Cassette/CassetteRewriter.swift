internal import CassetteModel
internal import TapeBytes

/// Rewrites a closed cassette: reorders its interactions, leaves some out, or replaces their text.
///
/// Writes a new file, and replaces the old one once the new one is on disk; a crash leaves one or the other. Holds the locks of the
/// cassette and the new file for its lifetime, and one interaction in memory at a time. Does not remove sidecars. A caller that does must
/// keep the rewriter until then, since otherwise a recorder that starts in between would lose what it has just written.
public final class CassetteRewriter {
    public let path: String
    /// The cassette as it is before the rewrite.
    public let reader: CassetteReader
    /// Called once when the new file is written. Everything it refers to must be on disk before it replaces the old one.
    package var beforeReplacing: () throws -> Void = {}
    private let shared: SharedFile
    /// The new file, with its lock.
    private var replacement: SharedFile?
    private let index: CassetteIndex
    private let disk: DiskCalls

    convenience init(_ shared: SharedFile, disk: DiskCalls) throws(CassetteError) {
        let index = try CassetteScanner.scan(shared.file)
        guard index.damage.isEmpty else {
            throw CassetteError(.damaged, "\"\(shared.file.path)\" was torn while it was recorded; open it again to repair it")
        }
        self.init(shared, index: index, disk: disk)
    }

    /// - Parameter index: if it has damage, the damaged ranges are left out.
    init(_ shared: SharedFile, index: CassetteIndex, disk: DiskCalls) {
        self.path = shared.file.path
        self.shared = shared
        self.index = index
        self.disk = disk
        self.reader = CassetteReader(shared, index: index)
    }

    /// Rewrites the cassette, unless nothing would change.
    ///
    /// - Parameters:
    ///   - order: for each interaction of the new file, its index in the old one; each at most once.
    ///   - head: everything before the first interaction, if it is to change.
    ///   - transform: receives the index in the new file and the text. Returns the new text, or nil to keep it.
    ///   - Returns: whether the file was written.
    @discardableResult
    public func rewrite(
        order: [Int], head: [UInt8]? = nil, transform: (_ place: Int, _ bytes: [UInt8]) throws -> [UInt8]? = { _, _ in nil }
    ) throws -> Bool {
        var place = 0
        var changed: [UInt8]?
        if self.index.damage.isEmpty, head == nil {
            while place < order.count, order[place] == place, place < self.reader.count, changed == nil {
                changed = try transform(place, self.reader.bytes(at: place))
                if changed == nil { place += 1 }
            }
            if changed == nil, place == self.reader.count, place == order.count { return false }
        }
        try self.writeNew { file throws in
            var writer = BufferedWriter()
            if let head {
                try writer.append(CassetteLayout.raised(head), to: file)
            } else {
                try self.writeUnchanged(place, to: &writer, of: file)
            }
            while place < order.count {
                let old = try self.reader.bytes(at: order[place])
                let bytes = try changed ?? transform(place, old) ?? old
                changed = nil
                try writer.append(place == 0 ? [0x0a] : [UInt8(ascii: ","), 0x0a], to: file)
                try writer.append(CassetteLayout.indentation, to: file)
                try writer.append(bytes.drop { $0 == 0x20 }, to: file)
                place += 1
            }
            try writer.append(self.closing(isEmpty: order.isEmpty), to: file)
            try writer.flush(to: file)
        }
        return true
    }

    /// Releases the lock on the new file, so that it can be opened again.
    package func release() { self.replacement = nil }

    /// Writes the beginning of the file, up to where it differs.
    private func writeUnchanged(_ count: Int, to writer: inout BufferedWriter, of file: borrowing OpenFile) throws(CassetteError) {
        let end = count == 0 ? self.index.headEnd : self.index.interactions[count - 1].upperBound
        guard let end else {
            // Only a damaged file has no head; it gets a minimal one.
            return try writer.append(CassetteLayout.head(recorder: "wiretape", members: []), to: file)
        }
        guard let digit = self.index.oldVersion, digit < end else { return try writer.append(0..<end, of: self.shared.file, to: file) }
        // The rest may use features of the current version.
        try writer.append(0..<digit, of: self.shared.file, to: file)
        try writer.append([CassetteLayout.versionDigit], to: file)
        try writer.append(digit + 1..<end, of: self.shared.file, to: file)
    }

    private func closing(isEmpty: Bool) throws(CassetteError) -> [UInt8] {
        guard self.index.damage.isEmpty, let arrayEnd = self.index.arrayEnd, let last = self.index.interactions.last else {
            return isEmpty ? CassetteLayout.emptyClosing : CassetteLayout.closing
        }
        let start = isEmpty ? arrayEnd : last.upperBound
        var bytes = try self.shared.file.read(start..<self.index.size)
        if let digit = self.index.oldVersion, digit >= start { bytes[digit - start] = CassetteLayout.versionDigit }
        return bytes
    }

    private func writeNew(_ write: (borrowing OpenFile) throws -> Void) throws {
        let location = FileLocation(self.path)
        let folder = try OpenFolder(location.folder)
        // The cassette is locked, so a file of this name was left by a killed rewrite.
        let name = FileLocation(CassettePlace.rewritePath(of: self.path)).name
        try folder.remove(name)
        let new = SharedFile(try OpenFile(name, in: folder, for: .create, disk: self.disk))
        do {
            // Locked before it gets its name, so that the cassette is locked at every moment.
            try new.file.lock()
            try new.file.adoptMode(of: self.shared.file)
            try write(new.file)
            try new.file.synchronize()
            try self.beforeReplacing()
            guard (self.replacement ?? self.shared).file.isStill(at: self.path) else { throw CassettePlace.misplacedError(self.path) }
            try folder.rename(name, to: location.name)
            self.replacement = new
        } catch {
            try? folder.remove(name)
            throw error
        }
        try folder.synchronize()
    }
}

/// Collects small writes into large consecutive ones.
struct BufferedWriter {
    private static let capacity = 262_144

    /// The offset of the next byte in the file.
    private(set) var offset = 0
    private var buffer: [UInt8] = []

    mutating func append(_ bytes: some Collection<UInt8>, to file: borrowing OpenFile) throws(CassetteError) {
        self.buffer += bytes
        self.offset += bytes.count
        if self.buffer.count >= Self.capacity { try self.flush(to: file) }
    }

    /// Copies a range of another file.
    mutating func append(_ range: Range<Int>, of source: borrowing OpenFile, to file: borrowing OpenFile) throws(CassetteError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let end = min(offset + OpenFile.pieceSize, range.upperBound)
            try self.append(source.read(offset..<end), to: file)
            offset = end
        }
    }

    mutating func flush(to file: borrowing OpenFile) throws(CassetteError) {
        try file.write(self.buffer, at: self.offset - self.buffer.count)
        self.buffer.removeAll(keepingCapacity: self.buffer.capacity <= 4 * Self.capacity)
    }
}
