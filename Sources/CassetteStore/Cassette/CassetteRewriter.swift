internal import CassetteModel

/// Rewrites a closed cassette: puts its interactions in another order, leaves some out, or exchanges their text.
///
/// Writes a new file and puts it in the place of the old one when it is on the disk, so that a crash leaves the one or the other.
/// Holds the cassette's lock as long as it lives, that of the new file too, and one interaction in memory at a time. Removes no sidecars:
/// who does keeps the rewriter until then, or a recorder that comes in between loses what it has just written.
public final class CassetteRewriter {
    public let path: String
    /// The cassette as it is before the rewrite.
    public let reader: CassetteReader
    /// Called once, when the new file is written: what it names has to be on the disk before it takes the place.
    package var beforeReplacing: () throws -> Void = {}
    private let shared: SharedFile
    /// The new file, with its lock.
    private var replacement: SharedFile?
    private let index: CassetteIndex
    private let disk: DiskCalls

    convenience init(_ shared: SharedFile, disk: DiskCalls) throws(CassetteError) {
        let index = try CassetteScanner.scan(shared.file)
        guard index.damage.isEmpty else {
            throw CassetteError(.damaged, "\"\(shared.file.path)\" was torn while it was recorded; open it again to mend it")
        }
        self.init(shared, index: index, disk: disk)
    }

    /// An index with damage is of a file whose bad stretches are to be left out.
    init(_ shared: SharedFile, index: CassetteIndex, disk: DiskCalls) {
        self.path = shared.file.path
        self.shared = shared
        self.index = index
        self.disk = disk
        self.reader = CassetteReader(shared, index: index)
    }

    /// Writes the cassette anew, unless nothing would change.
    ///
    /// - Parameters:
    ///   - order: for each interaction of the new file its index in the old one; each at most once.
    ///   - head: all that stands before the first interaction, where it is to change.
    ///   - transform: gets the place in the new file and the text, and returns the new text, or nil to keep it.
    /// - Returns: whether the file was written.
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
                try writer.append(head, to: file)
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

    /// Gives up the lock on the new file, for who opens it again.
    package func release() { self.replacement = nil }

    /// The file's beginning, up to where it differs.
    private func writeUnchanged(_ count: Int, to writer: inout BufferedWriter, of file: borrowing OpenFile) throws(CassetteError) {
        let end = count == 0 ? self.index.headEnd : self.index.interactions[count - 1].upperBound
        guard let end else {
            // Only a damaged file has no head: it gets one that says no more than it must.
            return try writer.append(CassetteLayout.head(recorder: "wiretape", members: []), to: file)
        }
        try writer.append(0..<end, of: self.shared.file, to: file)
    }

    private func closing(isEmpty: Bool) throws(CassetteError) -> [UInt8] {
        guard self.index.damage.isEmpty, let arrayEnd = self.index.arrayEnd, let last = self.index.interactions.last else {
            return isEmpty ? CassetteLayout.emptyClosing : CassetteLayout.closing
        }
        return try self.shared.file.read((isEmpty ? arrayEnd : last.upperBound)..<self.index.size)
    }

    private func writeNew(_ write: (borrowing OpenFile) throws -> Void) throws {
        let location = FileLocation(self.path)
        let folder = try OpenFolder(location.folder)
        // Under the cassette's lock: a file of this name is what a killed rewrite has left.
        let name = ".\(location.name).rewrite"
        try folder.remove(name)
        let new = SharedFile(try OpenFile(name, in: folder, for: .create, disk: self.disk))
        do {
            // Before it has its name, so that there is no moment at which the cassette has no lock.
            try new.file.lock()
            try new.file.adoptMode(of: self.shared.file)
            try write(new.file)
            try new.file.synchronize()
            try self.beforeReplacing()
            try folder.rename(name, to: location.name)
            self.replacement = new
        } catch {
            try? folder.remove(name)
            throw error
        }
        try folder.synchronize()
    }
}
