public import CassetteModel

/// Reads bodies that lie beside a cassette, for an export.
public protocol HARBodySource {
    /// Hands out the content of a body whose `content` has files or a raw slice, piece by piece and in order: with the codings taken off
    /// that `headers` name, also where the body is not decoded yet. What cannot be taken off stays on.
    ///
    /// May be asked for the same body twice: once to see whether it is text, once to write it.
    func read(_ body: Body, headers: HeaderFields, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws
}
