internal import TapeBytes

/// Sorts the items of a query bytewise, so that queries with the same items have the same bytes.
///
/// Does not decode: normalisation already gives equal items the same spelling.
enum QuerySorter {
    /// Up to this many items are sorted on the stack; more are sorted on the heap.
    private static let inPlaceLimit = 32

    /// `query` is without its question mark.
    static func sort(_ query: UnsafeMutableRawBufferPointer) {
        let bytes = UnsafeRawBufferPointer(query)
        guard let count = self.countUnlessSorted(bytes) else { return }
        if count <= self.inPlaceLimit {
            withUnsafeTemporaryAllocation(of: Range<UInt32>.self, capacity: count) { items in
                items.initialize(repeating: 0..<0)
                self.fill(items, bytes)
                // Insertion sort: the items are few, and usually nearly sorted.
                for index in 1..<count {
                    let item = items[index]
                    var place = index
                    while place > 0, self.precedes(item, items[place - 1], bytes) {
                        items[place] = items[place - 1]
                        place -= 1
                    }
                    items[place] = item
                }
                self.rewrite(query, items)
            }
        } else {
            var items = [Range<UInt32>](repeating: 0..<0, count: count)
            items.withUnsafeMutableBufferPointer { items in
                self.fill(items, bytes)
                items.sort { self.precedes($0, $1, bytes) }
                self.rewrite(query, items)
            }
        }
    }

    /// The number of items; nil if they are already sorted, or the query is too long for 32-bit offsets.
    private static func countUnlessSorted(_ bytes: UnsafeRawBufferPointer) -> Int? {
        // The offsets of items have 32 bits.
        guard bytes.count < Int(UInt32.max) else { return nil }
        var count = 0
        var isSorted = true
        var previous: Range<UInt32>?
        self.forEachItem(bytes) { item in
            if isSorted, let previous, self.precedes(item, previous, bytes) { isSorted = false }
            previous = item
            count += 1
        }
        return isSorted ? nil : count
    }

    @inline(__always)
    private static func forEachItem(_ bytes: UnsafeRawBufferPointer, _ body: (Range<UInt32>) -> Void) {
        var start = 0
        while true {
            let end = ByteScan.index(of: UInt8(ascii: "&"), in: bytes, from: start)
            body(UInt32(start)..<UInt32(end))
            guard end < bytes.count else { return }
            start = end + 1
        }
    }

    private static func fill(_ items: UnsafeMutableBufferPointer<Range<UInt32>>, _ bytes: UnsafeRawBufferPointer) {
        var index = 0
        self.forEachItem(bytes) { item in
            items[index] = item
            index += 1
        }
    }

    private static func precedes(_ left: Range<UInt32>, _ right: Range<UInt32>, _ bytes: UnsafeRawBufferPointer) -> Bool {
        // SAFETY: both ranges are items of `bytes`, and the loop stays within the shorter one.
        let (leftStart, rightStart) = (Int(left.lowerBound), Int(right.lowerBound))
        for offset in 0..<min(left.count, right.count) {
            let (byte, other) = (bytes[leftStart + offset], bytes[rightStart + offset])
            if byte != other { return byte < other }
        }
        return left.count < right.count
    }

    private static func rewrite(_ query: UnsafeMutableRawBufferPointer, _ items: UnsafeMutableBufferPointer<Range<UInt32>>) {
        withUnsafeTemporaryAllocation(byteCount: query.count, alignment: 1) { copy in
            copy.copyMemory(from: UnsafeRawBufferPointer(query))
            var position = 0
            for (index, item) in items.enumerated() {
                if index > 0 {
                    query[position] = UInt8(ascii: "&")
                    position += 1
                }
                let bytes = UnsafeRawBufferPointer(rebasing: copy[Int(item.lowerBound)..<Int(item.upperBound)])
                UnsafeMutableRawBufferPointer(rebasing: query[position...]).copyMemory(from: bytes)
                position += bytes.count
            }
        }
    }
}
