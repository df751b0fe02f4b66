/// Octets of a part that are made or fetched while they are sent, of a length that is known before.
///
/// Whoever wraps a stream that can be read only once has `open` throw the second time.
public struct FormDataStream: Sendable {
    /// Fills the buffer with the next octets and answers how many; 0 at the end.
    public typealias Read = (_ buffer: UnsafeMutableRawBufferPointer) throws -> Int

    public let length: Int
    /// Begins at the first octet; called once for each encoding.
    public let open: @Sendable () throws -> Read

    public init(length: Int, open: @escaping @Sendable () throws -> Read) {
        self.length = length
        self.open = open
    }
}
