internal import CassetteFormat
public import CassetteModel

/// A temporary file that one body is written to while it arrives.
///
/// Left without `finish`, the file is removed; only its owner can read it until then. Does not compute the digest: whoever feeds it does, in the same pass.
public final class BodySpool {
    /// Bytes written so far.
    public private(set) var size = 0
    let file: OpenFile
    let name: String
    private(set) var isNamed: Bool
    let box: BodyStore.FolderBox
    private let store: BodyStore
    /// What the file gets with its name.
    private let mode: UInt32
    private var isOpen = true

    /// - Parameter mode: the file's own, which it has not while it may hold what nobody has redacted.
    init(file: consuming OpenFile, name: String, isNamed: Bool, mode: UInt32, store: BodyStore, box: BodyStore.FolderBox) {
        self.file = file
        self.isNamed = isNamed
        self.mode = mode
        self.name = name
        self.store = store
        self.box = box
    }

    deinit { self.discard() }

    /// Appends a piece, whole or not at all: after an error the next piece goes where this one should have gone.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(CassetteError) {
        precondition(self.isOpen, "a finished spool takes no more bytes")
        try self.file.write(bytes, at: self.size)
        self.size += bytes.count
    }

    public func write(_ bytes: [UInt8]) throws(CassetteError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(CassetteError) in
            try self.write(UnsafeRawBufferPointer(buffer))
        }
    }

    /// Reads back what was written; fewer bytes than asked for only at the end.
    public func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(CassetteError) -> Int {
        let count = min(bytes.count, max(0, self.size - offset))
        return try self.file.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]), at: offset)
    }

    /// Names the file by its content. The sidecar reaches the disk with the store's `syncAll`.
    ///
    /// - Parameter sha256: of all bytes written, 64 lower-case hex digits.
    public func finish(sha256: String, ext: String) throws(CassetteError) -> Sidecar {
        precondition(self.isOpen, "a spool is finished once")
        guard let sidecar = SidecarName(sha256: sha256, fileExtension: ext) else {
            throw CassetteError(.unsafePath, "\"\(sha256)\" is not a SHA-256 in lower-case hex; a sidecar is named by one")
        }
        // A piece that failed may have left bytes behind the last good one.
        if try self.file.size() != self.size { try self.file.truncate(to: self.size) }
        try self.file.setMode(self.mode)
        let result = try self.store.adopt(self, as: sidecar)
        self.isOpen = false
        return result
    }

    /// Puts the file into the folder, where it has no name yet.
    func giveName() throws(CassetteError) {
        guard !self.isNamed else { return }
        #if os(Linux)
        // Of a process of the same number that was killed in between.
        try self.box.folder.remove(self.name)
        try self.file.link(as: self.name, in: self.box.folder)
        #endif
        self.isNamed = true
    }

    /// Removes the file.
    public func discard() {
        guard self.isOpen else { return }
        self.isOpen = false
        guard self.isNamed else { return }
        // What cannot be removed now is removed as a leftover at the next start.
        try? self.box.folder.remove(self.name)
    }
}
