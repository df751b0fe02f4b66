internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// A large body on its way to the disk.
///
/// Not Sendable: one thread has it at a time. The recorder thread writes it and gives it away with its exchange, to be searched on the
/// thread of a `PostponedSearch`, and gets it back from there. Copies of a `LooseBody` share it: whoever has given one away may keep no
/// other.
final class OpenSpool {
    private let spool: BodySpool
    private var digest: any ContentDigest
    /// Of all bytes, once it was asked for.
    private var finished: [UInt8]?
    /// The first bytes, by which a type is guessed where none is given.
    private(set) var beginning: [UInt8] = []

    /// - Parameter digest: a SHA-256 of nothing yet.
    init(_ spool: BodySpool, digest: any ContentDigest) {
        self.spool = spool
        self.digest = digest
    }

    var size: Int { self.spool.size }

    func write(_ bytes: [UInt8]) throws(CassetteError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(CassetteError) in try self.write(UnsafeRawBufferPointer(buffer)) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(CassetteError) {
        if self.beginning.isEmpty { self.beginning = Array(bytes.prefix(512)) }
        assert(self.finished == nil, "its digest was asked for: nothing may follow")
        try self.spool.write(bytes)
        self.digest.update(bytes)
    }

    func finish(fileExtension: String) throws(CassetteError) -> Sidecar {
        try self.spool.finish(sha256: Hex.encode(self.sha256()), ext: fileExtension)
    }

    /// The digest of its bytes; nothing may be written after it.
    func sha256() -> [UInt8] {
        if let finished { return finished }
        let digest = self.digest.finalize()
        self.finished = digest
        return digest
    }

    func discard() {
        self.spool.discard()
    }

    /// What was written, to be read again.
    var source: OctetSource {
        OctetSource(size: self.spool.size) { [spool] offset, buffer in try spool.read(into: buffer, at: offset) }
    }
}
