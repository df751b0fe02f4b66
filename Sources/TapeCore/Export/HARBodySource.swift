/// Reads bodies that lie beside a cassette, for an export.
public protocol HARBodySource {
    /// Hands out the content of a body whose `content` is `.file` or `.raw`, with codings taken off, piece by piece and in order.
    ///
    /// May be asked for the same body twice: once to see whether it is text, once to write it.
    func read(_ body: Body, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws
}
