internal import CassetteFormat
public import CassetteModel
public import TapeBytes

/// A temporary file that one body is written to while it arrives.
///
/// Without `finish`, the file is removed; only its owner can read it until then. Does not compute the digest: the caller does, in the
/// same pass.
public final class BodySpool {
    /// Bytes written so far.
    public private(set) var size: Int
    let file: OpenFile
    let name: String
    private(set) var isNamed: Bool
    let box: BodyStore.FolderBox
    private let store: BodyStore
    /// The file's mode, once it has its name; nil for the one it has.
    private let mode: UInt32?
    private var isOpen = true

    /// - Parameters:
    ///   - size: of what is in the file already.
    ///   - mode: the final one, which the file does not have while it may hold unredacted bytes.
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
        // A piece that failed may have left bytes after the last good one.
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
        // Left by a process of the same number that was killed.
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

/// The file of bodies that are not decoded yet, one after the other: `NAME.bodies/undeveloped.raw`.
public final class RawSpool {
    package static let fileName = "undeveloped.raw"

    /// As a `RawSlice` names it.
    public let path: String
    /// Where the next slice begins.
    public private(set) var size: Int
    var needsSync: Bool { self.syncedSize != self.size }
    private let shared: SharedFile
    private var syncedSize: Int

    init(file: consuming OpenFile, path: String) throws(CassetteError) {
        self.path = path
        // Bytes of a killed recorder stay: slices of synced exchanges may be among them.
        self.size = try file.size()
        self.syncedSize = self.size
        self.shared = SharedFile(file)
    }

    /// Appends one body that is in memory as a whole.
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

    /// Appends a further piece to the slice that was appended last; after an error both are as before.
    public func append(_ bytes: UnsafeRawBufferPointer, to slice: inout RawSlice) throws(CassetteError) {
        precondition(slice.offset + slice.size == self.size, "only the last slice of a raw spool can grow")
        try self.shared.file.write(bytes, at: self.size)
        self.size += bytes.count
        slice.size += bytes.count
        slice.crc32 = CRC32.value(of: bytes, after: slice.crc32)
    }

    /// What has to be synced for all slices to be on the disk; nil if there is nothing to sync.
    func beginSync() -> SharedFile? {
        guard self.needsSync else { return nil }
        self.syncedSize = self.size
        return self.shared
    }

    /// How much is synced is not known any more: all of it has to be synced again.
    func syncFailed() {
        self.syncedSize = -1
    }
}
