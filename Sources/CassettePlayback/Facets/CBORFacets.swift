internal import TapeBytes

/// The values of a CBOR body as facets (RFC 8949).
///
/// Members come in any order, lengths and integers in any width, and strings whole or in chunks. An integer never equals a float, nor a
/// string bytes; tags count.
struct CBORFacets {
    private let bytes: UnsafeRawBufferPointer
    private var tree: TreeFacets

    /// Adds the facets of one value; false, with nothing added, if the bytes are anything else, or nested too deep.
    static func read(_ bytes: UnsafeRawBufferPointer, _ pointers: PointerSet, into collector: inout FacetCollector) -> Bool {
        var reader = CBORFacets(bytes: bytes, tree: TreeFacets(pointers, collector.empty))
        guard reader.value(at: 0, reader.tree.root, isKept: !reader.tree.isIgnored(reader.tree.root)) == bytes.count else { return false }
        collector.add(reader.tree.collector)
        return true
    }

    /// The initial byte with its argument (RFC 8949, 3).
    private struct Head {
        var major: UInt8
        var info: UInt8
        /// Nil for an indefinite length.
        var argument: UInt64?
        var end: Int

        /// As a length; nil if no body is as long.
        var count: Int? { self.argument.flatMap { Int(exactly: $0) } }
    }

    private func head(_ offset: Int) -> Head? {
        guard offset < self.bytes.count else { return nil }
        let (major, info) = (self.bytes[offset] >> 5, self.bytes[offset] & 31)
        switch info {
        case 0..<24: return Head(major: major, info: info, argument: UInt64(info), end: offset + 1)
        case 24...27:
            let size = 1 << Int(info - 24)
            guard size <= self.bytes.count - offset - 1 else { return nil }
            let argument = self.bytes[offset + 1..<offset + 1 + size].reduce(0) { $0 << 8 | UInt64($1) }
            return Head(major: major, info: info, argument: argument, end: offset + 1 + size)
        case 31 where (2...5).contains(major): return Head(major: major, info: info, argument: nil, end: offset + 1)
        case _: return nil
        }
    }

    private func isBreak(_ offset: Int) -> Bool { offset < self.bytes.count && self.bytes[offset] == 0xFF }

    /// Where the value ends that begins at an offset; nil if it is malformed.
    ///
    /// - Parameters:
    ///   - isKept: whether it is compared.
    ///   - tags: around it, as `0 ` for a time.
    private mutating func value(at offset: Int, _ place: TreeFacets.Place, isKept: Bool, tags: String = "", tagCount: Int = 0) -> Int? {
        guard place.depth + tagCount < TreeFacets.depthLimit, let head = self.head(offset) else { return nil }
        switch head.major {
        case 0, 1:
            if isKept { self.tree.number(Self.digits(head), place, type: tags + "number") }
            return head.end
        case 2, 3:
            guard let (chunks, end) = self.chunks(head) else { return nil }
            guard isKept else { return end }
            let isText = head.major == 3
            if chunks.count == 1 {
                self.string(UnsafeRawBufferPointer(rebasing: self.bytes[chunks[0]]), isText: isText, tags, place)
            } else {
                let whole = chunks.reduce(into: [UInt8]()) { $0 += self.bytes[$1] }
                whole.withUnsafeBytes { self.string($0, isText: isText, tags, place) }
            }
            return end
        case 4, 5: return self.container(head, place, isKept, tags)
        case 6:
            return self.value(at: head.end, place, isKept: isKept, tags: tags + "\(head.argument ?? 0) ", tagCount: tagCount + 1)
        case _:
            if isKept { self.simple(head, tags, place) }
            return head.info == 24 && (head.argument ?? 0) < 32 ? nil : head.end
        }
    }

    /// A negative number is minus one minus its argument.
    private static func digits(_ head: Head) -> String {
        let argument = head.argument ?? 0
        guard head.major == 1 else { return "\(argument)" }
        return argument == .max ? "-18446744073709551616" : "-\(argument + 1)"
    }

    private mutating func string(_ value: UnsafeRawBufferPointer, isText: Bool, _ tags: String, _ place: TreeFacets.Place) {
        if isText {
            self.tree.scalar(.string, value, type: tags + "string", place)
        } else {
            self.tree.bytes(value, place, type: tags + "bytes")
        }
    }

    /// The pieces of a string: one, or definite chunks up to a break (3.2.3).
    private func chunks(_ head: Head) -> (chunks: [Range<Int>], end: Int)? {
        guard head.argument == nil else {
            guard let count = head.count, count <= self.bytes.count - head.end else { return nil }
            return ([head.end..<head.end + count], head.end + count)
        }
        var chunks: [Range<Int>] = []
        var offset = head.end
        while !self.isBreak(offset) {
            guard let chunk = self.head(offset), chunk.major == head.major, let count = chunk.count, count <= self.bytes.count - chunk.end
            else { return nil }
            chunks.append(chunk.end..<chunk.end + count)
            offset = chunk.end + count
        }
        return (chunks, offset + 1)
    }

    private mutating func container(_ head: Head, _ place: TreeFacets.Place, _ isKept: Bool, _ tags: String) -> Int? {
        let isMap = head.major == 5
        if let argument = head.argument { guard argument <= UInt64(self.bytes.count) else { return nil } }
        if isKept {
            self.tree.container(isMap ? .object : .array, place, shown: isMap ? "{…}" : "[…]")
            if !tags.isEmpty { self.tree.number(tags, place, type: "tags") }
        }
        var counts: [UInt64: Int] = [:]
        var offset = head.end
        var index = 0
        while head.argument.map({ UInt64(index) < $0 }) ?? !self.isBreak(offset) {
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

    /// A name that is neither a string nor a number is its bytes in hex.
    private func member(_ name: Range<Int>, _ place: TreeFacets.Place, _ counts: inout [UInt64: Int]) -> TreeFacets.Place {
        if let head = self.head(name.lowerBound) {
            if head.major == 3, let (chunks, _) = self.chunks(head) {
                let text = chunks.reduce(into: [UInt8]()) { $0 += self.bytes[$1] }
                return text.withUnsafeBytes { self.tree.member($0, .text, in: place, &counts) }
            }
            if head.major < 2 { return Array(Self.digits(head).utf8).withUnsafeBytes { self.tree.member($0, .number, in: place, &counts) } }
        }
        return Array(("0x" + Hex.encode(self.bytes[name])).utf8).withUnsafeBytes { self.tree.member($0, .other, in: place, &counts) }
    }

    /// Words, floats and simple values (3.3).
    private mutating func simple(_ head: Head, _ tags: String, _ place: TreeFacets.Place) {
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

    /// Half a precision (IEEE 754 binary16; RFC 8949, appendix D), since not every platform has the type.
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
