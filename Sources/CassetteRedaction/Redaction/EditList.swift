/// Edits of one text, in ascending order and without overlaps.
package struct EditList: Sendable, Hashable {
    package private(set) var edits: [Edit] = []

    init() {}

    /// Of nested edits, the outer ones are kept. Overlapping edits are merged.
    package init(_ edits: [Edit]) {
        guard edits.count > 1 else {
            self.edits = edits
            return
        }
        let sorted = edits.sorted { ($0.range.lowerBound, -$0.range.upperBound) < ($1.range.lowerBound, -$1.range.upperBound) }
        for edit in sorted {
            guard let last = self.edits.last, edit.range.lowerBound < last.range.upperBound else {
                self.edits.append(edit)
                continue
            }
            guard edit.range.upperBound > last.range.upperBound else { continue }
            self.edits[self.edits.count - 1] = Edit(
                range: last.range.lowerBound..<edit.range.upperBound,
                bytes: last.bytes == edit.bytes ? last.bytes : last.bytes + edit.bytes)
        }
    }

    /// Edits that keep the number of bytes. Of overlapping edits, the first one is used, and `*` fills the rest.
    init(keepingLengths edits: [Edit]) {
        self.init(edits)
        for index in self.edits.indices where self.edits[index].bytes.count != self.edits[index].range.count {
            let range = self.edits[index].range
            let first = edits.filter { $0.range.lowerBound == range.lowerBound }.map(\.bytes).max { $0.count < $1.count } ?? []
            self.edits[index].bytes =
                first.prefix(range.count) + Array(repeating: UInt8(ascii: "*"), count: max(0, range.count - first.count))
        }
    }

    package var isEmpty: Bool { self.edits.isEmpty }
    var count: Int { self.edits.count }

    /// How many bytes the text grows by.
    var growth: Int { self.edits.reduce(0) { $0 + $1.bytes.count - $1.range.count } }

    /// Whether an edit and a range share a byte.
    func touches(_ range: Range<Int>) -> Bool {
        var (low, high) = (0, self.edits.count)
        while low < high {
            let middle = (low + high) / 2
            if self.edits[middle].range.upperBound <= range.lowerBound { low = middle + 1 } else { high = middle }
        }
        return low < self.edits.count && self.edits[low].range.overlaps(range)
    }

    func applied(to text: UnsafeRawBufferPointer) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count + self.growth)
        var position = 0
        for edit in self.edits {
            result.append(contentsOf: text[position..<edit.range.lowerBound])
            result.append(contentsOf: edit.bytes)
            position = edit.range.upperBound
        }
        result.append(contentsOf: text[position...])
        return result
    }

    package func applied(to text: [UInt8]) -> [UInt8] {
        text.withUnsafeBytes { self.applied(to: $0) }
    }

    /// The positions in the new text of these offsets, which must be ascending. An offset within an edit moves to its end.
    func moved(_ offsets: [Int]) -> [Int] {
        var moved: [Int] = []
        moved.reserveCapacity(offsets.count)
        var shift = 0
        var next = 0
        for offset in offsets {
            while next < self.edits.count, self.edits[next].range.upperBound <= offset {
                shift += self.edits[next].bytes.count - self.edits[next].range.count
                next += 1
            }
            if next < self.edits.count, self.edits[next].range.lowerBound < offset {
                let edit = self.edits[next]
                moved.append(edit.range.lowerBound + shift + edit.bytes.count)
            } else {
                moved.append(offset + shift)
            }
        }
        return moved
    }
}

/// Bytes of a text that are replaced by others.
package struct Edit: Sendable, Hashable {
    package var range: Range<Int>
    package var bytes: [UInt8]

    package init(range: Range<Int>, bytes: [UInt8]) {
        self.range = range
        self.bytes = bytes
    }
}
