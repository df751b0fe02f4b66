public import CassetteModel
internal import TapeBytes

/// The file of bodies that nobody has looked at yet, one behind the other: `NAME.bodies/undeveloped.raw`.
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
        // Bytes of a killed recorder stay: slices of synced exchanges may lie among them.
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

    /// What has to be synced for all slices to be on the disk; nil where nothing has.
    func beginSync() -> SharedFile? {
        guard self.needsSync else { return nil }
        self.syncedSize = self.size
        return self.shared
    }

    /// Octets synced are not known any more: all of it is to be synced again.
    func syncFailed() {
        self.syncedSize = -1
    }
}
