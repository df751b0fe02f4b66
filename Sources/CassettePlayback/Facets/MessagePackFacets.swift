internal import TapeBytes

/// The values of a MessagePack body as facets.
///
/// Members may come in any order, and lengths and integers in any width. An integer never equals a float, and a text string never equals
/// bytes.
struct MessagePackFacets {
    private let reader: MessagePackReader
    private var tree: TreeFacets

    /// Adds the facets of one value; false, with nothing added, if the bytes are not exactly one value, or are nested too deeply.
    static func read(_ bytes: UnsafeRawBufferPointer, _ pointers: PointerSet, into collector: inout FacetCollector) -> Bool {
        var reader = MessagePackFacets(
            reader: MessagePackReader(bytes), tree: TreeFacets(pointers, collector.empty))
        guard reader.value(at: 0, reader.tree.root, isKept: !reader.tree.isIgnored(reader.tree.root)) == bytes.count else { return false }
        collector.add(reader.tree.collector)
        return true
    }

    private func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self.reader.bytes[range])
    }

    /// The end of the value that begins at an offset; nil if it is malformed.
    ///
    /// - Parameter isKept: whether it is compared.
    private mutating func value(at offset: Int, _ place: TreeFacets.Place, isKept: Bool) -> Int? {
        guard place.depth < TreeFacets.depthLimit, let (value, end) = self.reader.value(at: offset)
        else { return nil }
        switch value {
        case .array(let count): return self.array(end, count, place, isKept)
        case .map(let count): return self.map(end, count, place, isKept)
        case _ where !isKept: break
        case .unsigned(let number): self.tree.number("\(number)", place)
        case .signed(let number): self.tree.number("\(number)", place)
        case .null: self.word("null", .null, place)
        case .bool(let isTrue): self.word(isTrue ? "true" : "false", isTrue ? .yes : .no, place)
        case .float(let number): self.tree.float(number, place)
        case .text(let range): self.tree.scalar(.string, self.slice(range), type: "string", place)
        case .bytes(let range): self.tree.bytes(self.slice(range), place)
        case .extension(let type, let range):
            self.tree.bytes(self.slice(range), place, type: "extension \(type)")
        }
        return end
    }

    private mutating func word(_ word: String, _ tag: FacetHash.Tag, _ place: TreeFacets.Place) {
        Array(word.utf8).withUnsafeBytes { self.tree.scalar(tag, $0, type: "word", place) }
    }

    private mutating func array(_ start: Int, _ count: Int, _ place: TreeFacets.Place, _ isKept: Bool) -> Int? {
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

    /// A name that is neither a string nor a number is represented by its bytes in hex.
    private func member(_ name: Range<Int>, _ place: TreeFacets.Place, _ counts: inout [UInt64: Int]) -> TreeFacets.Place {
        let digits: String
        switch self.reader.value(at: name.lowerBound)?.value {
        case .text(let range): return self.tree.member(self.slice(range), .text, in: place, &counts)
        case .unsigned(let number): digits = "\(number)"
        case .signed(let number): digits = "\(number)"
        case _:
            return Array(("0x" + Hex.encode(self.reader.bytes[name])).utf8).withUnsafeBytes {
                self.tree.member($0, .other, in: place, &counts)
            }
        }
        return Array(digits.utf8).withUnsafeBytes { self.tree.member($0, .number, in: place, &counts) }
    }
}
