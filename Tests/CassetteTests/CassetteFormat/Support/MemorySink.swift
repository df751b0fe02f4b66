@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes

/// Sidecars in a dictionary, named by a digest of their bytes.
struct MemorySink: SidecarSink {
    struct Full: Error {}

    var files: [String: [UInt8]] = [:]
    var largestPiece = 0
    /// Throws once this many bytes have been written in total.
    var room = Int.max
    /// Counts bytes without keeping them, for bodies of a GiB.
    var keepsBytes = true
    /// Computing the digest of a GiB takes long in a debug build.
    var isDigested = true

    mutating func store(
        fileExtension: String, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Sidecar {
        var bytes: [UInt8] = []
        var size = 0
        var digest = TestDigest()
        var largest = self.largestPiece
        let (keeps, digests, room) = (self.keepsBytes, self.isDigested, self.room)
        try write { piece in
            size += piece.count
            guard size <= room else { throw Full() }
            largest = max(largest, piece.count)
            if digests { digest.update(piece) }
            if keeps { bytes += piece }
        }
        self.largestPiece = largest
        let name = Hex.encode(digest.finalize())
        let sidecar = Sidecar(path: "tape.bodies/\(name).\(fileExtension)", size: size, sha256: name)
        self.files[sidecar.path] = bytes
        return sidecar
    }

    func read(_ sidecar: Sidecar) throws -> [UInt8] {
        guard let bytes = self.files[sidecar.path] else { throw CassetteError(.notFound, "no \"\(sidecar.path)\"") }
        return bytes
    }
}

/// 32 bytes that depend on all input bytes (FNV-1a, four times): enough to distinguish test bodies.
struct TestDigest: ContentDigest {
    private var state: [UInt64] = [1, 2, 3, 4].map { 0xcbf2_9ce4_8422_2325 &* $0 }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var (a, b) = (self.state[0], self.state[1])
        for byte in bytes {
            a = (a ^ UInt64(byte)) &* 0x100_0000_01b3
            b = (b &+ a) &* 0x9e37_79b9_7f4a_7c15
        }
        (self.state[0], self.state[1]) = (a, b)
    }

    mutating func finalize() -> [UInt8] {
        self.state.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    }
}
