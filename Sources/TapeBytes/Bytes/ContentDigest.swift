/// A digest that is fed piece by piece.
///
/// Does not say which one: whoever makes it chooses. Cassettes use SHA-256.
public protocol ContentDigest {
    mutating func update(_ bytes: UnsafeRawBufferPointer)
    /// The digest of all bytes seen; nothing may be fed after it.
    mutating func finalize() -> [UInt8]
}
