/// How many bytes of one body may arrive before they are taken (RFC 9113, 5.2). The window grows for a reader that keeps up.
///
/// Begins at 64 KiB, which is what a stream may cost while nothing reads it. Doubles up to 1 MiB whenever a full window of bytes arrived
/// and was taken at once: 64 KiB in 20 ms are 3 MB/s, and 1 MiB is 50 MB/s. `HTTP2Connection.growWindow` bounds the sum for a connection.
public struct StreamWindow: Sendable {
    public static let largest = 16 * 65_535

    public private(set) var size = 65_535
    private var taken = 0

    public init() {}

    /// Bytes were taken as they arrived.
    ///
    /// - Returns: the larger window, if it grows.
    public mutating func took(_ count: Int) -> Int? {
        self.taken += count
        guard self.taken >= self.size, self.size < Self.largest else { return nil }
        self.taken = 0
        self.size = min(2 * self.size, Self.largest)
        return self.size
    }

    /// Bytes have arrived, but nothing takes them.
    public mutating func stalled() { self.taken = 0 }
}
