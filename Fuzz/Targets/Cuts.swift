/// Cuts bytes into pieces, so that an input also says how it arrives.
///
/// Each piece lies in memory of its own: AddressSanitizer then sees a read past its end.
struct Cuts {
    private let seed: UInt8
    private var state: UInt64

    init(seed: UInt8) {
        self.seed = seed
        self.state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    /// Of a seed's last two bits, both set cut behind each byte, and the upper one alone makes long pieces.
    func pieces(of bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
        var cuts = self
        var pieces: [[UInt8]] = []
        var position = 0
        while position < bytes.count {
            let length = self.seed & 3 == 3 ? 1 : cuts.next(upTo: self.seed & 3 == 2 ? 600 : 9)
            let end = min(bytes.count, position + length)
            pieces.append(Array(bytes[position..<end]))
            position = end
        }
        return pieces
    }

    private mutating func next(upTo limit: Int) -> Int {
        // xorshift64 (Marsaglia, Xorshift RNGs, 2003).
        self.state ^= self.state << 13
        self.state ^= self.state >> 7
        self.state ^= self.state << 17
        return 1 + Int(self.state % UInt64(limit))
    }
}
