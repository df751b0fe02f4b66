internal import TapeCore

/// Puts bodies that are too large for the cassette into the folder beside it.
struct BodyStoreSink: SidecarSink {
    let store: BodyStore
    /// Makes a SHA-256.
    let digest: () -> any ContentDigest

    mutating func store(
        fileExtension: String, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Sidecar {
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
