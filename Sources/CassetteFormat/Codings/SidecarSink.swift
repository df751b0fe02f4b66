public import CassetteModel

/// Where bodies go that are too large for the cassette itself.
public protocol SidecarSink {
    /// Stores what `write` passes to its argument, piece by piece, and names it by its digest.
    ///
    /// When `write` throws, nothing is kept and the error is passed on.
    mutating func store(
        fileExtension: String, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Sidecar
}
