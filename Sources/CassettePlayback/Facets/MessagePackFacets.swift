internal import TapeBytes

/// The values of a MessagePack body as facets (https://github.com/msgpack/msgpack/blob/master/spec.md).
///
/// Members come in any order, and lengths and integers in any width. An integer never equals a float, nor a string bytes.
struct MessagePackFacets {
    private let bytes: UnsafeRawBufferPointer
    private var tree: TreeFacets

    /// Adds the facets of one value; false, with nothing added, if the bytes are anything else, or nested too deep.
    static func read(_ bytes: UnsafeRawBufferPointer, _ pointers: PointerSet, into collector: inout FacetCollector) -> Bool {
        var reader = MessagePackFacets(bytes: bytes, tree: TreeFacets(pointers, collector.empty))
        guard reader.value(at: 0, reader.tree.root, isKept: !reader.tree.isIgnored(reader.tree.root)) == bytes.count else { return false }
        collector.add(reader.tree.collector)
        return true
    }

    /// Where the value ends that begins at an offset; nil if it is malformed.
    ///
    /// - Parameter isKept: whether it is compared.
    private mutating func value(at offset: Int, _ place: TreeFacets.Place, isKept: Bool) -> Int? {
        guard offset < self.bytes.count, place.depth < TreeFacets.depthLimit else { return nil }
        let marker = self.bytes[offset]
        switch marker {
        case 0x00...0x7F:
            if isKept { self.tree.number("\(marker)", place) }
            return offset + 1
        case 0xE0...0xFF:
            if isKept { self.tree.number("\(Int8(bitPattern: marker))", place) }
            return offset + 1
        case 0xC0, 0xC2, 0xC3:
            if isKept {
                let (tag, word): (FacetHash.Tag, String) =
                    marker == 0xC0 ? (.null, "null") : marker == 0xC2 ? (.no, "false") : (.yes, "true")
                Array(word.utf8).withUnsafeBytes { self.tree.scalar(tag, $0, type: "word", place) }
            }
            return offset + 1
        case 0xCA:
            guard let bits = self.number(offset + 1, 4) else { return nil }
            if isKept { self.tree.float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))), place) }
            return offset + 5
        case 0xCB:
            guard let bits = self.number(offset + 1, 8) else { return nil }
            if isKept { self.tree.float(Double(bitPattern: bits), place) }
            return offset + 9
        case 0xCC...0xCF, 0xD0...0xD3:
            let size = 1 << Int((marker - 0xCC) & 3)
            guard let bits = self.number(offset + 1, size) else { return nil }
            let shift = UInt64(64 - 8 * size)
            if isKept { self.tree.number(marker < 0xD0 ? "\(bits)" : "\(Int64(bitPattern: bits << shift) >> Int64(shift))", place) }
            return offset + 1 + size
        case 0x80...0x8F: return self.map(offset + 1, Int(marker & 15), place, isKept)
        case 0x90...0x9F: return self.array(offset + 1, Int(marker & 15), place, isKept)
        case 0xDC, 0xDD, 0xDE, 0xDF:
            let size = marker & 1 == 0 ? 2 : 4
            guard let count = self.length(offset + 1, size) else { return nil }
            return marker < 0xDE ? self.array(offset + 1 + size, count, place, isKept) : self.map(offset + 1 + size, count, place, isKept)
        case 0xC1: return nil
        case _:
            guard let (range, isText) = self.string(at: offset) else { return self.extension(at: offset, place, isKept) }
            guard isKept else { return range.upperBound }
            let value = UnsafeRawBufferPointer(rebasing: self.bytes[range])
            if isText { self.tree.scalar(.string, value, type: "string", place) } else { self.tree.bytes(value, place) }
            return range.upperBound
        }
    }

    private mutating func array(_ start: Int, _ count: Int, _ place: TreeFacets.Place, _ isKept: Bool) -> Int? {
        guard count <= self.bytes.count - start else { return nil }
        if isKept { self.tree.container(.array, place, shown: "[…]") }
        var offset = start
        for index in 0..<count {
            let element = isKept ? self.tree.element(index, in: place) : TreeFacets.Place(within: place)
            guard let end = self.value(at: offset, element, isKept: isKept && !self.tree.isIgnored(element)) else { return nil }
            offset = end
        }
        return offset
    }

    private mutating func map(_ start: Int, _ count: Int, _ place: TreeFacets.Place, _ isKept: Bool) -> Int? {
        guard count <= (self.bytes.count - start) / 2 else { return nil }
        if isKept { self.tree.container(.object, place, shown: "{…}") }
        var counts: [UInt64: Int] = [:]
        var offset = start
        for _ in 0..<count {
            guard let afterName = self.value(at: offset, TreeFacets.Place(within: place), isKept: false) else { return nil }
            let member = isKept ? self.member(offset..<afterName, place, &counts) : TreeFacets.Place(within: place)
            guard let end = self.value(at: afterName, member, isKept: isKept && !self.tree.isIgnored(member)) else { return nil }
            offset = end
        }
        return offset
    }

    /// A name that is neither a string nor a number is its bytes in hex.
    private func member(_ name: Range<Int>, _ place: TreeFacets.Place, _ counts: inout [UInt64: Int]) -> TreeFacets.Place {
        if let (range, isText) = self.string(at: name.lowerBound), isText {
            return self.tree.member(UnsafeRawBufferPointer(rebasing: self.bytes[range]), .text, in: place, &counts)
        }
        let marker = self.bytes[name.lowerBound]
        var digits: String?
        switch marker {
        case 0x00...0x7F: digits = "\(marker)"
        case 0xE0...0xFF: digits = "\(Int8(bitPattern: marker))"
        case 0xCC...0xCF, 0xD0...0xD3:
            if let bits = self.number(name.lowerBound + 1, name.count - 1) {
                let shift = UInt64(64 - 8 * (name.count - 1))
                digits = marker < 0xD0 ? "\(bits)" : "\(Int64(bitPattern: bits << shift) >> Int64(shift))"
            }
        case _: break
        }
        if let digits { return Array(digits.utf8).withUnsafeBytes { self.tree.member($0, .number, in: place, &counts) } }
        return Array(("0x" + Hex.encode(self.bytes[name])).utf8).withUnsafeBytes { self.tree.member($0, .other, in: place, &counts) }
    }

    /// The bytes of a string or binary; nil if the value is neither.
    private func string(at offset: Int) -> (range: Range<Int>, isText: Bool)? {
        let marker = self.bytes[offset]
        let start: Int
        let count: Int?
        switch marker {
        case 0xA0...0xBF: (start, count) = (offset + 1, Int(marker & 31))
        case 0xC4, 0xC5, 0xC6:
            let size = 1 << Int(marker - 0xC4)
            (start, count) = (offset + 1 + size, self.length(offset + 1, size))
        case 0xD9, 0xDA, 0xDB:
            let size = 1 << Int(marker - 0xD9)
            (start, count) = (offset + 1 + size, self.length(offset + 1, size))
        case _: return nil
        }
        guard let count, count <= self.bytes.count - start else { return nil }
        return (start..<start + count, marker < 0xC0 || marker >= 0xD9)
    }

    private mutating func `extension`(at offset: Int, _ place: TreeFacets.Place, _ isKept: Bool) -> Int? {
        let marker = self.bytes[offset]
        let start: Int
        let count: Int?
        switch marker {
        case 0xC7, 0xC8, 0xC9:
            let size = 1 << Int(marker - 0xC7)
            (start, count) = (offset + 2 + size, self.length(offset + 1, size))
        case 0xD4...0xD8: (start, count) = (offset + 2, 1 << Int(marker - 0xD4))
        case _: return nil
        }
        guard let count, start <= self.bytes.count, count <= self.bytes.count - start else { return nil }
        if isKept {
            let value = UnsafeRawBufferPointer(rebasing: self.bytes[start..<start + count])
            self.tree.bytes(value, place, type: "extension \(Int8(bitPattern: self.bytes[start - 1]))")
        }
        return start + count
    }

    /// An unsigned number of so many bytes, the highest first.
    private func number(_ offset: Int, _ size: Int) -> UInt64? {
        guard size <= self.bytes.count - offset else { return nil }
        return self.bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func length(_ offset: Int, _ size: Int) -> Int? { self.number(offset, size).flatMap { Int(exactly: $0) } }
}
