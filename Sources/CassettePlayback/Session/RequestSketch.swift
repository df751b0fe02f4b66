/// A few words about a request, enough to guess how far it is from another without looking at its bytes.
///
/// Path segments and query items are sets of 64 bits: what two requests share cancels out.
struct RequestSketch: Sendable, Hashable {
    private var path: UInt64 = 0
    private var query: UInt64 = 0
    private var origin: UInt32
    private var method: UInt32

    init(_ bytes: UnsafeRawBufferPointer) {
        let layout = RequestLayout(bytes)
        self.method = Self.hash(bytes, layout.method)
        self.origin = Self.hash(bytes, layout.scheme.lowerBound..<layout.path.lowerBound)
        self.path = Self.bits(bytes, layout.path, separator: UInt8(ascii: "/"))
        if let query = layout.query { self.query = Self.bits(bytes, query, separator: UInt8(ascii: "&")) }
    }

    /// A guess at `RequestComparison.distance`, for a few nanoseconds: it sees neither order nor, past some twenty, number.
    func distance(to other: RequestSketch) -> Int {
        (self.path ^ other.path).nonzeroBitCount * 2 + (self.query ^ other.query).nonzeroBitCount
            + (self.origin == other.origin ? 0 : 6) + (self.method == other.method ? 0 : 3)
    }

    private static func bits(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, separator: UInt8) -> UInt64 {
        var bits: UInt64 = 0
        var start = range.lowerBound
        for index in range where bytes[index] == separator {
            bits |= 1 << UInt64(Self.hash(bytes, start..<index) >> 26)
            start = index + 1
        }
        return bits | 1 << UInt64(Self.hash(bytes, start..<range.upperBound) >> 26)
    }

    /// FNV-1a with a multiplicative finish; not seeded, since a collision costs no more than a worse guess.
    private static func hash(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for index in range { hash = (hash ^ UInt32(bytes[index])) &* 16_777_619 }
        return (hash ^ hash >> 15) &* 0x9E37_79B1
    }
}
