/// A set of characters, as ranges of Unicode scalars.
///
/// An octet that is no UTF-8 counts as a character of its own behind all others: in `.` and in what is written with `^`, and nowhere else.
struct PatternCharacters: Sendable, Hashable {
    /// Stands for every octet that is no UTF-8; one past the last scalar.
    static let notUTF8: UInt32 = 0x11_0000

    static let digits = Self(["0"..."9"])
    /// As in `\w`: of ASCII only, so that a pattern means the same under every version of Unicode.
    static let word = Self(["0"..."9", "A"..."Z", "_"..."_", "a"..."z"])
    static let space = Self(["\t"..."\r", " "..." "])
    static let lineFeed = Self(["\n"..."\n"])

    /// Ascending, without overlap, and with a gap between any two.
    private(set) var ranges: [ClosedRange<UInt32>] = []

    init(_ ranges: [ClosedRange<Unicode.Scalar>] = []) {
        for range in ranges { self.insert(range.lowerBound.value...range.upperBound.value) }
    }

    func contains(_ value: UInt32) -> Bool {
        var (low, high) = (0, self.ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if self.ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < self.ranges.count && self.ranges[low].contains(value)
    }

    /// The one character in it; nil where there are others or none.
    var only: UInt32? {
        guard self.ranges.count == 1, self.ranges[0].lowerBound == self.ranges[0].upperBound else { return nil }
        return self.ranges[0].lowerBound
    }

    mutating func insert(_ range: ClosedRange<UInt32>) {
        let first = self.ranges.firstIndex { $0.upperBound &+ 1 >= range.lowerBound } ?? self.ranges.count
        var (end, merged) = (first, range)
        while end < self.ranges.count, self.ranges[end].lowerBound <= range.upperBound &+ 1 {
            merged = min(merged.lowerBound, self.ranges[end].lowerBound)...max(merged.upperBound, self.ranges[end].upperBound)
            end += 1
        }
        self.ranges.replaceSubrange(first..<end, with: [merged])
    }

    mutating func formUnion(_ other: Self) {
        for range in other.ranges { self.insert(range) }
    }

    var inverted: Self {
        var result = Self()
        var next: UInt32 = 0
        for range in self.ranges {
            if range.lowerBound > next { result.insert(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= Self.notUTF8 { result.insert(next...Self.notUTF8) }
        return result
    }

    /// With the other case of each letter of ASCII.
    var withoutCase: Self {
        var result = self
        for (letters, other) in [(UInt32(65)...90, UInt32(97)), (97...122, 65)] {
            for range in self.ranges where range.overlaps(letters) {
                let common = range.clamped(to: letters)
                let shift = { (value: UInt32) in value - letters.lowerBound + other }
                result.insert(shift(common.lowerBound)...shift(common.upperBound))
            }
        }
        return result
    }
}
