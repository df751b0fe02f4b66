/// Seeded bytes (splitmix64), the same in each run.
struct Noise {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in stride(from: 0, to: count, by: 8) {
                var word = self.next()
                for offset in index..<min(count, index + 8) {
                    buffer[offset] = UInt8(truncatingIfNeeded: word)
                    word >>= 8
                }
            }
            initialized = count
        }
    }
}
