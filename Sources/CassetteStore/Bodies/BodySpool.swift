internal import CassetteFormat
public import CassetteModel
public import TapeBytes

/// A temporary file to which one body is written while it arrives.
///
/// Without `finish`, the file is removed; until then, only its owner can read it. Does not compute the digest: the caller does so in the
/// same pass.
public final class BodySpool {
    /// Bytes written so far.
    public private(set) var size: Int
    let file: OpenFile
    let name: String
    private(set) var isNamed: Bool
    let box: BodyStore.FolderBox
    private let store: BodyStore
    /// The file's mode once it has its name; nil to leave it unchanged.
    private let mode: UInt32?
    private var isOpen = true

    /// - Parameters:
    ///   - size: the size of the file's existing content.
    ///   - mode: the final mode, which the file does not have while it may contain unredacted bytes.
    init(
        file: consuming OpenFile, size: Int = 0, name: String, isNamed: Bool, mode: UInt32?, store: BodyStore, box: BodyStore.FolderBox
    ) {
        self.size = size
        self.file = file
        self.isNamed = isNamed
        self.mode = mode
        self.name = name
        self.store = store
        self.box = box
    }

    deinit { self.discard() }

    /// Appends a piece completely or not at all: after an error, the next piece is written in its place.
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

    /// Reads what was written; returns fewer bytes than requested only at the end.
    public func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(CassetteError) -> Int {
        let count = min(bytes.count, max(0, self.size - offset))
        return try self.file.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]), at: offset)
    }

    /// Names the file by its content. The sidecar is synced to disk by the store's `syncAll`.
    ///
    /// - Parameter sha256: the digest of all bytes written, as 64 lower-case hex digits.
    public func finish(sha256: String, ext: String) throws(CassetteError) -> Sidecar {
        precondition(self.isOpen, "a spool is finished once")
        guard let sidecar = SidecarName(sha256: sha256, fileExtension: ext) else {
            throw CassetteError(.unsafePath, "\"\(sha256)\" is not a SHA-256 in lower-case hex; a sidecar is named by one")
        }
        // A failed write may have left bytes after the last complete piece.
        if try self.file.size() != self.size { try self.file.truncate(to: self.size) }
        if let mode { try self.file.setMode(mode) }
        let result = try self.store.adopt(self, as: sidecar)
        self.isOpen = false
        return result
    }

    /// Gives the file its name in the folder.
    func giveName() throws(CassetteError) {
        guard !self.isNamed else { return }
        #if os(Linux)
        // Left by a killed process that had the same process id.
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
        // A file that cannot be removed now is removed as a leftover at the next start.
        try? self.box.folder.remove(self.name)
    }
}

/// The file of bodies that are not decoded yet, one after another: `NAME.bodies/undeveloped.raw`.
public final class RawSpool {
    package static let fileName = "undeveloped.raw"

    /// The path as in a `RawSlice`.
    public let path: String
    /// The offset of the next slice.
    public private(set) var size: Int
    var needsSync: Bool { self.syncedSize != self.size }
    private let shared: SharedFile
    private var syncedSize: Int

    init(file: consuming OpenFile, path: String) throws(CassetteError) {
        self.path = path
        // Bytes of a killed recorder are kept, since they may contain slices of synced exchanges.
        self.size = try file.size()
        self.syncedSize = self.size
        self.shared = SharedFile(file)
    }

    /// Appends one body that is completely in memory.
    public func append(_ bytes: UnsafeRawBufferPointer) throws(CassetteError) -> RawSlice {
        var slice = RawSlice(path: self.path, offset: self.size, size: 0, crc32: 0)
        try self.append(bytes, to: &slice)
        return slice
    }

    public func append(_ bytes: [UInt8]) throws(CassetteError) -> RawSlice {
        try bytes.withUnsafeBufferPointer { (buffer) throws(CassetteError) in
            try self.append(UnsafeRawBufferPointer(buffer))
        }
    }

    /// Appends another piece to the last slice. After an error, both are unchanged.
    public func append(_ bytes: UnsafeRawBufferPointer, to slice: inout RawSlice) throws(CassetteError) {
        precondition(slice.offset + slice.size == self.size, "only the last slice of a raw spool can grow")
        try self.shared.file.write(bytes, at: self.size)
        self.size += bytes.count
        slice.size += bytes.count
        slice.crc32 = CRC32.value(of: bytes, after: slice.crc32)
    }

    /// The file that has to be synced so that all slices are on disk; nil if there is nothing to sync.
    func beginSync() -> SharedFile? {
        guard self.needsSync else { return nil }
        self.syncedSize = self.size
        return self.shared
    }

    /// It is unknown how much was synced, so everything has to be synced again.
    func syncFailed() {
        self.syncedSize = -1
    }
}
