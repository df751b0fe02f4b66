/// The numbers of the streams that a client has opened, which only grow (RFC 9113, 5.1.1).
///
/// nghttp2 takes a number below the last one for a stream that was closed, and ignores what comes on it. One that was skipped was never open.
struct StreamNumbers {
    /// A client that skips more often gets no more than nghttp2's own judgement.
    private static let limit = 64

    private var last = -1
    /// The numbers that were skipped, ascending.
    private var skipped: [Range<Int>] = []
    /// The number of a stream that was opened after a later one.
    private(set) var refused: Int?

    /// Takes the number of a header section that begins: of a new stream, or of the trailers of an open one.
    mutating func begins(_ number: Int) {
        guard number <= self.last else {
            if number - self.last > 2, self.skipped.count < Self.limit { self.skipped.append(self.last + 1..<number) }
            self.last = number
            return
        }
        if self.skipped.contains(where: { $0.contains(number) }) { self.refused = number }
    }
}
