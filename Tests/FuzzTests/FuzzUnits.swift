import TapeTestSupport

/// The inputs of one fuzz target: first its seeds, then mutations of them. The same seed generates the same inputs everywhere.
///
/// Unlike libFuzzer, it does not know which code an input reaches.
struct FuzzUnits: Sequence, IteratorProtocol {
    /// In bytes. Short inputs reach as much code, and run faster.
    private static let longest = 1024

    private let seeds: [[UInt8]]
    private let words: [[UInt8]]
    private var random: SeededGenerator
    private var count = 0

    /// - Parameter words: words of the format to insert.
    init(seeds: [[UInt8]], words: [[UInt8]], random seed: UInt64) {
        self.seeds = seeds
        self.words = words
        self.random = SeededGenerator(seed: seed)
    }

    mutating func next() -> [UInt8]? {
        defer { self.count += 1 }
        guard self.count >= self.seeds.count else { return self.seeds[self.count] }
        var unit = self.seeds[self.number(below: self.seeds.count)]
        for _ in 0...self.number(below: 4) { self.mutate(&unit) }
        return Array(unit.prefix(Self.longest))
    }

    private mutating func mutate(_ unit: inout [UInt8]) {
        let place = self.number(below: unit.count + 1)
        let end = Swift.min(unit.count, place + 1 + self.number(below: 16))
        switch self.number(below: 9) {
        case 0 where place < unit.count: unit[place] ^= 1 << self.number(below: 8)
        case 1 where place < unit.count: unit[place] = self.byte()
        case 2: unit.insert(self.byte(), at: place)
        case 3: unit.removeSubrange(place..<end)
        case 4:
            let copy = unit[place..<end]
            unit.insert(contentsOf: copy, at: self.number(below: unit.count + 1))
        case 5: unit.removeSubrange(place...)
        case 6:
            // The beginning of one seed and the end of another.
            let other = self.seeds[self.number(below: self.seeds.count)]
            unit.replaceSubrange(place..., with: other[self.number(below: other.count + 1)...])
        case 7 where !unit.isEmpty: unit[0] = self.byte()
        default: if !self.words.isEmpty { unit.insert(contentsOf: self.words[self.number(below: self.words.count)], at: place) }
        }
    }

    private mutating func byte() -> UInt8 {
        let special: [UInt8] = [0, 10, 13, 32, 45, 58, 127, 128, 255]
        return self.number(below: 2) == 0 ? special[self.number(below: special.count)] : UInt8(self.number(below: 256))
    }

    private mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &self.random) }
}
