/// Maps numbers to byte strings and back, in as little memory as possible.
///
/// In layers, like `NeedleLayers`: adding a string to a copy copies only the newest layer.
struct SecretList: Sendable {
    /// The oldest first, so that their numbers follow one another.
    private(set) var layers = [SecretLayer(), SecretLayer(), SecretLayer()]

    var count: Int { self.layers.reduce(0) { $0 + $1.count } }

    func number(of string: [UInt8]) -> Int? {
        let hash = SecretLayer.hash(string)
        var first = 0
        for layer in self.layers {
            if let number = layer.number(of: string, hash: hash) { return first + number }
            first += layer.count
        }
        return nil
    }

    /// Returns the new string's number. The vault's limits keep all strings within 32 bits.
    mutating func append(_ string: [UInt8]) -> Int {
        let number = self.count
        let last = self.layers.count - 1
        self.layers[last].append(string)
        for (depth, size) in NeedleLayers.sizes.enumerated() where self.layers[last - depth].count >= size {
            let full = self.layers[last - depth]
            self.layers[last - depth] = SecretLayer()
            self.layers[last - depth - 1].append(contentsOf: full)
        }
        return number
    }
}

/// Some of the strings of a `SecretList`, with numbers from 0.
struct SecretLayer: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The end of each string in `bytes`.
    private var ends: [UInt32] = []
    /// Numbers by hash. Strings whose hash is taken use the following ones.
    private var numbers: [UInt64: UInt32] = [:]

    var count: Int { self.ends.count }

    func number(of string: [UInt8], hash: UInt64) -> Int? {
        var hash = hash
        while let number = self.numbers[hash] {
            if self.bytes[self.range(of: Int(number))].elementsEqual(string) { return Int(number) }
            hash &+= 1
        }
        return nil
    }

    private func range(of number: Int) -> Range<Int> {
        (number > 0 ? Int(self.ends[number - 1]) : 0)..<Int(self.ends[number])
    }

    mutating func append(_ string: some Collection<UInt8>) {
        var hash = Self.hash(string)
        while self.numbers[hash] != nil { hash &+= 1 }
        self.numbers[hash] = UInt32(self.ends.count)
        self.bytes.append(contentsOf: string)
        self.ends.append(UInt32(self.bytes.count))
    }

    mutating func append(contentsOf other: SecretLayer) {
        for number in 0..<other.count { self.append(other.bytes[other.range(of: number)]) }
    }

    /// Uses a new seed in each process.
    static func hash(_ string: some Collection<UInt8>) -> UInt64 {
        var hasher = Hasher()
        // Both collection types used for strings are contiguous.
        _ = string.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
