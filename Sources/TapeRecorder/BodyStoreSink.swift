internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Puts bodies that are too large for the cassette into the folder beside it.
struct BodyStoreSink: SidecarSink {
    let store: BodyStore
    /// Makes a SHA-256.
    let digest: () -> any ContentDigest
    /// Why no file is begun at present; nil if one may be.
    var obstacle: RecorderProblem?
    /// Files that were begun.
    private(set) var begun = 0

    init(store: BodyStore, digest: @escaping () -> any ContentDigest, obstacle: RecorderProblem? = nil) {
        self.store = store
        self.digest = digest
        self.obstacle = obstacle
    }

    mutating func store(
        fileExtension: String, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Sidecar {
        if let obstacle { throw InteractionMaker.NotTried(problem: obstacle) }
        self.begun += 1
        let spool = try self.store.makeSpool()
        var digest = self.digest()
        do {
            try write { piece in
                try spool.write(piece)
                digest.update(piece)
            }
        } catch {
            spool.discard()
            throw error
        }
        return try spool.finish(sha256: Hex.encode(digest.finalize()), ext: fileExtension)
    }
}
