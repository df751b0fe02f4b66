/// One stretch of a multipart body and what it is. The stretches of all events, put together, are the body.
public struct MultipartEvent {
    public enum Kind: Sendable, Hashable {
        /// Octets in front of the first delimiter, without its line end.
        case preamble
        case delimiter(MultipartDelimiter)
        /// A part's header section as a whole, with the empty line that ends it where there is one.
        case headers
        /// Data of the part. `resemblesDelimiter` is true for octets that hold the boundary but are no delimiter.
        case data(resemblesDelimiter: Bool)
        /// Octets behind the closing delimiter.
        case epilogue
        /// The rest of a body that has passed a limit.
        case opaque(MultipartLimit)
    }

    public let kind: Kind
    /// Octets of the body in front of these.
    public let offset: Int
    /// Valid until the receiver returns.
    public let octets: UnsafeRawBufferPointer
}
