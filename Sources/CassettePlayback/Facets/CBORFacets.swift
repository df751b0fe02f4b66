internal import TapeBytes

/// The values of a CBOR body as facets (RFC 8949).
///
/// Members may come in any order, lengths and integers in any width, and strings whole or in chunks. An integer never equals a float, and a
/// text string never equals a byte string. Tags are compared, except for the one that only says that a value is CBOR.
struct CBORFacets {
    /// The tag of self-described CBOR, which has no meaning of its own (RFC 8949, 3.4.6).
    private static let selfDescribed: UInt64 = 55_799

    private let reader: CBORReader
    private var tree: TreeFacets

    private var bytes: UnsafeRawBufferPointer { self.reader.bytes }

    /// Adds the facets of one value; false, with nothing added, if the bytes are not exactly one value, or are nested too deeply.
    ///
    /// - Parameter isSequence: the bytes are the values of a sequence (RFC 8742). Each value is at its number from 0, as lines of JSON are.
    static func read(
        _ bytes: UnsafeRawBufferPointer, _ pointers: PointerSet, isSequence: Bool = false,
        into collector: inout FacetCollector
    ) -> Bool {
        var facets = CBORFacets(reader: CBORReader(bytes), tree: TreeFacets(pointers, collector.empty))
        let root = facets.tree.root
        let isRead =
            isSequence
            ? facets.sequence(root)
            : facets.value(at: 0, root, isKept: !facets.tree.isIgnored(root)) == bytes.count
        guard isRead else { return false }
        collector.add(facets.tree.collector)
        return true
    }

    private mutating func sequence(_ root: TreeFacets.Place) -> Bool {
        var (offset, index) = (0, 0)
        while offset < self.bytes.count {
            let place = self.tree.element(index, in: root)
            guard
                let end = self.value(
                    at: offset, place, isKept: !self.tree.isIgnored(root) && !self.tree.isIgnored(place))
            else {
                return false
            }
            (offset, index) = (end, index + 1)
        }
        return true
    }

    /// The end of the value that begins at an offset; nil if it is malformed.
    ///
    /// - Parameters:
    ///   - isKept: whether it is compared.
    ///   - tags: the tags around it, as `0 ` for a time.
    private mutating func value(at offset: Int, _ place: TreeFacets.Place, isKept: Bool, tags: String = "", tagCount: Int = 0) -> Int? {
        guard place.depth + tagCount < TreeFacets.depthLimit, let head = self.reader.head(at: offset) else { return nil }
        switch head.major {
        case 0, 1:
            if isKept { self.tree.number(head.digits, place, type: tags + "number") }
            return head.end
        case 2, 3:
            guard let (chunks, end) = self.reader.chunks(of: head) else { return nil }
            guard isKept else { return end }
            let isText = head.major == 3
            if chunks.count == 1 {
                self.string(UnsafeRawBufferPointer(rebasing: self.bytes[chunks[0]]), isText: isText, tags, place)
            } else {
                self.reader.joined(chunks).withUnsafeBytes { self.string($0, isText: isText, tags, place) }
            }
            return end
        case 4, 5: return self.container(head, place, isKept, tags)
        case 6:
            let tag = head.argument == Self.selfDescribed ? "" : "\(head.argument ?? 0) "
            return self.value(at: head.end, place, isKept: isKept, tags: tags + tag, tagCount: tagCount + 1)
        case _:
            if isKept { self.simple(head, tags, place) }
            return head.info == 24 && (head.argument ?? 0) < 32 ? nil : head.end
        }
    }

    private mutating func string(_ value: UnsafeRawBufferPointer, isText: Bool, _ tags: String, _ place: TreeFacets.Place) {
        if isText {
            self.tree.scalar(.string, value, type: tags + "string", place)
        } else {
            self.tree.bytes(value, place, type: tags + "bytes")
        }
    }

    private mutating func container(_ head: CBORReader.Head, _ place: TreeFacets.Place, _ isKept: Bool, _ tags: String) -> Int? {
        let isMap = head.major == 5
        if let argument = head.argument { guard argument <= UInt64(self.bytes.count) else { return nil } }
        if isKept {
            self.tree.container(isMap ? .object : .array, place, shown: isMap ? "{…}" : "[…]")
            if !tags.isEmpty { self.tree.number(tags, place, type: "tags") }
        }
        var counts: [UInt64: Int] = [:]
        var offset = head.end
        var index = 0
        while head.argument.map({ UInt64(index) < $0 }) ?? !self.reader.isBreak(at: offset) {
            var inner = TreeFacets.Place(within: place)
            if isMap {
                guard let afterName = self.value(at: offset, inner, isKept: false) else { return nil }
                if isKept { inner = self.member(offset..<afterName, place, &counts) }
                offset = afterName
            } else if isKept {
                inner = self.tree.element(index, in: place)
            }
            guard let end = self.value(at: offset, inner, isKept: isKept && !self.tree.isIgnored(inner)) else { return nil }
            offset = end
            index += 1
        }
        return head.argument == nil ? offset + 1 : offset
    }

    /// A name that is neither a string nor a number is represented by its bytes in hex.
    private func member(_ name: Range<Int>, _ place: TreeFacets.Place, _ counts: inout [UInt64: Int]) -> TreeFacets.Place {
        if let head = self.reader.head(at: name.lowerBound) {
            if head.major == 3, let (chunks, _) = self.reader.chunks(of: head) {
                return self.reader.joined(chunks).withUnsafeBytes { self.tree.member($0, .text, in: place, &counts) }
            }
            if head.major < 2 { return Array(head.digits.utf8).withUnsafeBytes { self.tree.member($0, .number, in: place, &counts) } }
        }
        return Array(("0x" + Hex.encode(self.bytes[name])).utf8).withUnsafeBytes { self.tree.member($0, .other, in: place, &counts) }
    }

    /// Keywords, floats and simple values (3.3).
    private mutating func simple(_ head: CBORReader.Head, _ tags: String, _ place: TreeFacets.Place) {
        let bits = head.argument ?? 0
        switch head.info {
        case 25: self.tree.float(Self.half(UInt16(truncatingIfNeeded: bits)), place, type: tags + "float")
        case 26: self.tree.float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))), place, type: tags + "float")
        case 27: self.tree.float(Double(bitPattern: bits), place, type: tags + "float")
        case _:
            let word = ["false", "true", "null", "undefined"]
            let shown = (20...23).contains(bits) ? word[Int(bits - 20)] : "simple(\(bits))"
            Array(shown.utf8).withUnsafeBytes { self.tree.scalar(.yes, $0, type: tags + "word", place) }
        }
    }

    /// Converts a half-precision float (IEEE 754 binary16; RFC 8949, appendix D), as not every platform has the type.
    private static func half(_ bits: UInt16) -> Double {
        let (exponent, fraction) = (Int(bits >> 10 & 31), Double(bits & 1023))
        let sign: Double = bits >> 15 == 1 ? -1 : 1
        switch exponent {
        case 0: return sign * fraction / 16_777_216
        case 31: return fraction == 0 ? sign * .infinity : Double(nan: UInt64(bits & 511), signaling: false)
        case _: return sign * (1 + fraction / 1024) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
        }
    }
}
