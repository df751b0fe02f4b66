internal import TapeBytes

/// The values of a binary property list (Apple, CFBinaryPList.c): objects that refer to each other by number, and a table of their offsets,
/// which is updated after changes.
struct PropertyListTree {
    private static let trailerSize = 32
    private static let headerSize = 8
    /// The most visits. An object is visited once for each container that refers to it.
    private static let objectLimit = 1 << 20

    private let bytes: UnsafeRawBufferPointer
    private let offsets: [Int]
    private let referenceSize: Int
    private let offsetSize: Int
    private let top: Int
    private let table: Int

    /// Nil if the bytes are something else.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize + Self.trailerSize else { return nil }
        func number(_ offset: Int, _ size: Int) -> Int? {
            var value: UInt64 = 0
            for index in offset..<offset + size { value = value << 8 | UInt64(bytes[index]) }
            return Int(exactly: value)
        }
        let trailer = bytes.count - Self.trailerSize
        self.offsetSize = Int(bytes[trailer + 6])
        self.referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(self.offsetSize), (1...8).contains(self.referenceSize), let count = number(trailer + 8, 8),
            let top = number(trailer + 16, 8), let table = number(trailer + 24, 8), count > 0, count <= Self.objectLimit, top < count,
            table >= Self.headerSize, table <= trailer, count <= (trailer - table) / self.offsetSize
        else { return nil }
        self.bytes = bytes
        self.top = top
        self.table = table
        var offsets: [Int] = []
        for index in 0..<count {
            guard let offset = number(table + index * self.offsetSize, self.offsetSize), offset >= Self.headerSize, offset < table else {
                return nil
            }
            offsets.append(offset)
        }
        self.offsets = offsets
    }

    func edits(_ redaction: inout TreeRedaction) -> [Edit]? {
        var walk = Walk()
        guard self.object(self.top, .top, depth: 0, &walk, &redaction) else { return nil }
        // A string that is used as a name anywhere is not changed.
        let values = walk.edits.filter { !walk.names.contains($0.key) }.map(\.value)
        guard !values.isEmpty else { return [] }
        let list = EditList(values)
        guard list.count == values.count else { return nil }
        let order = self.offsets.indices.sorted { self.offsets[$0] < self.offsets[$1] }
        let moved = list.moved(order.map { self.offsets[$0] })
        var new = self.offsets
        for (place, index) in order.enumerated() { new[index] = moved[place] }
        let bits = Int.bitWidth - (new.max() ?? 0).leadingZeroBitCount
        let size = max(self.offsetSize, (bits + 7) / 8)
        let trailer = self.bytes.count - Self.trailerSize
        var end: [UInt8] = []
        for offset in new { end += Self.spelled(offset, size) }
        end.append(contentsOf: self.bytes[trailer..<trailer + 6])
        end.append(UInt8(size))
        end.append(contentsOf: self.bytes[(trailer + 7)..<(trailer + 24)])
        end += Self.spelled(self.table + list.growth, 8)
        return list.edits + [Edit(range: self.table..<self.bytes.count, bytes: end)]
    }

    /// A big-endian number of this size.
    private static func spelled(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: UInt64(number) >> UInt64($0 * 8)) }
    }

    private struct Walk {
        var edits: [Int: Edit] = [:]
        var names: Set<Int> = []
        var looked = 0
    }

    /// The count in or after a marker, and the beginning of the content.
    private func count(_ offset: Int) -> (count: Int, start: Int)? {
        let low = Int(self.bytes[offset] & 15)
        guard low == 15 else { return (low, offset + 1) }
        guard offset + 1 < self.table, self.bytes[offset + 1] & 0xF0 == 0x10, self.bytes[offset + 1] & 15 <= 3 else { return nil }
        let size = 1 << Int(self.bytes[offset + 1] & 15)
        guard size <= self.table - offset - 2 else { return nil }
        var value: UInt64 = 0
        for index in offset + 2..<offset + 2 + size { value = value << 8 | UInt64(self.bytes[index]) }
        guard let count = Int(exactly: value), count <= self.bytes.count else { return nil }
        return (count, offset + 2 + size)
    }

    private func reference(_ offset: Int) -> Int? {
        var value: UInt64 = 0
        for index in offset..<offset + self.referenceSize { value = value << 8 | UInt64(self.bytes[index]) }
        guard value < self.offsets.count else { return nil }
        return Int(value)
    }

    /// Returns whether the bytes are a valid object.
    private func object(
        _ index: Int, _ place: TreeRedaction.Place, depth: Int, _ walk: inout Walk, _ redaction: inout TreeRedaction
    ) -> Bool {
        walk.looked += 1
        guard depth < TreeRedaction.depthLimit, walk.looked <= Self.objectLimit else { return false }
        let offset = self.offsets[index]
        switch self.bytes[offset] >> 4 {
        case 1:
            let size = 1 << Int(self.bytes[offset] & 15)
            guard size <= 16, size <= self.table - offset - 1 else { return false }
            let digits = self.bytes[offset + 1..<offset + 1 + size]
            let number = size > 8 ? .max : digits.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if redaction.hidesNumber(place, Int(clamping: number)) {
                walk.edits[index] = Edit(range: offset + 1..<offset + 1 + size, bytes: Array(repeating: 0, count: size))
            }
            return true
        case 4, 5, 6, 7: return self.string(index, place, &walk, &redaction)
        case 0xA, 0xB, 0xC:
            guard let (count, start) = self.count(offset), count <= (self.table - start) / self.referenceSize else { return false }
            for position in 0..<count {
                guard let next = self.reference(start + position * self.referenceSize),
                    self.object(next, redaction.element(position, of: place), depth: depth + 1, &walk, &redaction)
                else { return false }
            }
            return true
        case 0xD:
            guard let (count, start) = self.count(offset), count <= (self.table - start) / self.referenceSize / 2 else { return false }
            for position in 0..<count {
                guard let key = self.reference(start + position * self.referenceSize),
                    let value = self.reference(start + (count + position) * self.referenceSize)
                else { return false }
                walk.names.insert(key)
                var inner = redaction.unnamed(in: place)
                if let name = self.text(key) { inner = name.withUnsafeBytes { redaction.place(named: $0[...], in: place) } }
                guard self.object(value, inner, depth: depth + 1, &walk, &redaction) else { return false }
            }
            return true
        default: return true
        }
    }

    /// A string in UTF-8.
    private func text(_ index: Int) -> [UInt8]? {
        let offset = self.offsets[index]
        guard let (count, start) = self.count(offset) else { return nil }
        switch self.bytes[offset] >> 4 {
        case 5, 7: return count <= self.table - start ? Array(self.bytes[start..<start + count]) : nil
        case 6:
            guard count <= (self.table - start) / 2 else { return nil }
            let units = (0..<count).map { UInt16(self.bytes[start + 2 * $0]) << 8 | UInt16(self.bytes[start + 2 * $0 + 1]) }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        default: return nil
        }
    }

    private func string(_ index: Int, _ place: TreeRedaction.Place, _ walk: inout Walk, _ redaction: inout TreeRedaction) -> Bool {
        let offset = self.offsets[index]
        let kind = self.bytes[offset] >> 4
        guard let (count, start) = self.count(offset) else { return false }
        let size = kind == 6 ? count * 2 : count
        guard size <= self.table - start else { return false }
        if walk.edits[index] != nil { return true }
        let new: [UInt8]?
        if kind == 4 {
            new = redaction.bytes(UnsafeRawBufferPointer(rebasing: self.bytes[start..<start + size]), place)
        } else {
            new = self.text(index)?.withUnsafeBytes { redaction.string($0, place) }
        }
        guard let new else { return true }
        var object: [UInt8]
        if kind == 4 {
            object = Self.header(4, new.count) + new
        } else if kind == 7 || new.allSatisfy({ $0 < 128 }) {
            object = Self.header(kind == 7 ? 7 : 5, new.count) + new
        } else {
            let units = Array(String(decoding: new, as: UTF8.self).utf16)
            object = Self.header(6, units.count)
            for unit in units { object += [UInt8(unit >> 8), UInt8(unit & 255)] }
        }
        walk.edits[index] = Edit(range: offset..<start + size, bytes: object)
        return true
    }

    private static func header(_ kind: UInt8, _ count: Int) -> [UInt8] {
        if count < 15 { return [kind << 4 | UInt8(count)] }
        let power = count < 1 << 8 ? 0 : count < 1 << 16 ? 1 : 2
        return [kind << 4 | 15, 0x10 | UInt8(power)] + Self.spelled(count, 1 << power)
    }
}
