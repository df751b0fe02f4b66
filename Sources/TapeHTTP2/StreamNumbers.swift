/// The numbers of the streams that a client has opened, which must increase (RFC 9113, 5.1.1).
///
/// nghttp2 treats any number below the last one as a closed stream and ignores its frames. However, a skipped number was never open.
struct StreamNumbers {
    /// If a client skips numbers more often than this, only nghttp2's own checks apply.
    private static let limit = 64

    private var last = -1
    /// The numbers that were skipped, in ascending order.
    private var skipped: [Range<Int>] = []
    /// The number of a stream that was opened after a later one.
    private(set) var refused: Int?

    /// Takes the number of a header section that begins: a new stream's, or the trailers of an open one.
    mutating func begins(_ number: Int) {
        guard number <= self.last else {
            if number - self.last > 2, self.skipped.count < Self.limit { self.skipped.append(self.last + 1..<number) }
            self.last = number
            return
        }
        if self.skipped.contains(where: { $0.contains(number) }) { self.refused = number }
    }
}
