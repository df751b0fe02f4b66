internal import TapeBytes

/// The values of MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md): each says its own length only, so that a string can
/// be replaced where it stands.
struct MessagePackTree: ValueTree {
    let bytes: UnsafeRawBufferPointer
    var found: [Edit] = []

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func value(at offset: Int, _ place: TreeRedaction.Place, depth: Int, _ redaction: inout TreeRedaction) -> Int? {
        guard offset < self.bytes.count, depth < TreeRedaction.depthLimit else { return nil }
        let marker = self.bytes[offset]
        switch marker {
        case 0x00...0x7F, 0xE0...0xFF, 0xC0, 0xC2, 0xC3: return offset + 1
        case 0x80...0x8F: return self.map(offset + 1, Int(marker & 15), place, depth, &redaction)
        case 0x90...0x9F: return self.array(offset + 1, Int(marker & 15), place, depth, &redaction)
        case 0xA0...0xBF: return self.string(offset, offset + 1, Int(marker & 31), place, isText: true, &redaction)
        case 0xC4, 0xC5, 0xC6:
            let size = 1 << Int(marker - 0xC4)
            guard let count = self.number(offset + 1, size) else { return nil }
            return self.string(offset, offset + 1 + size, count, place, isText: false, &redaction)
        case 0xC7, 0xC8, 0xC9:
            let size = 1 << Int(marker - 0xC7)
            guard let count = self.number(offset + 1, size) else { return nil }
            return self.end(offset + 2 + size, count)
        case 0xCA: return self.end(offset + 1, 4)
        case 0xCB: return self.end(offset + 1, 8)
        case 0xCC...0xCF, 0xD0...0xD3:
            let size = 1 << Int((marker - 0xCC) & 3)
            guard let end = self.end(offset + 1, size) else { return nil }
            let number = marker == 0xD0 || marker == 0xCC ? 0 : self.number(offset + 1, size) ?? .max
            if redaction.hidesNumber(place, number) { self.found.append(Edit(range: offset..<end, bytes: [0])) }
            return end
        case 0xD4...0xD8: return self.end(offset + 2, 1 << Int(marker - 0xD4))
        case 0xD9, 0xDA, 0xDB:
            let size = 1 << Int(marker - 0xD9)
            guard let count = self.number(offset + 1, size) else { return nil }
            return self.string(offset, offset + 1 + size, count, place, isText: true, &redaction)
        case 0xDC, 0xDD:
            let size = marker == 0xDC ? 2 : 4
            guard let count = self.number(offset + 1, size) else { return nil }
            return self.array(offset + 1 + size, count, place, depth, &redaction)
        case 0xDE, 0xDF:
            let size = marker == 0xDE ? 2 : 4
            guard let count = self.number(offset + 1, size) else { return nil }
            return self.map(offset + 1 + size, count, place, depth, &redaction)
        // Never used.
        default: return nil
        }
    }

    private mutating func array(_ start: Int, _ count: Int, _ place: TreeRedaction.Place, _ depth: Int, _ redaction: inout TreeRedaction)
        -> Int?
    {
        guard count <= self.bytes.count - start else { return nil }
        var offset = start
        let element = redaction.element(of: place)
        for _ in 0..<count {
            guard let end = self.value(at: offset, element, depth: depth + 1, &redaction) else { return nil }
            offset = end
        }
        return offset
    }

    private mutating func map(_ start: Int, _ count: Int, _ place: TreeRedaction.Place, _ depth: Int, _ redaction: inout TreeRedaction)
        -> Int?
    {
        guard count <= (self.bytes.count - start) / 2 else { return nil }
        var offset = start
        for _ in 0..<count {
            let name = self.name(at: offset)
            var inner = TreeRedaction.Place.top
            if let name { inner = redaction.place(named: self.bytes[name], in: place) }
            let afterName = name?.upperBound ?? self.value(at: offset, .top, depth: depth + 1, &redaction)
            guard let afterName, let end = self.value(at: afterName, inner, depth: depth + 1, &redaction) else { return nil }
            offset = end
        }
        return offset
    }

    /// The bytes of a string.
    private func name(at offset: Int) -> Range<Int>? {
        guard offset < self.bytes.count else { return nil }
        let marker = self.bytes[offset]
        let start: Int
        let count: Int?
        switch marker {
        case 0xA0...0xBF: (start, count) = (offset + 1, Int(marker & 31))
        case 0xD9, 0xDA: (start, count) = (offset + 1 + (1 << Int(marker - 0xD9)), self.number(offset + 1, 1 << Int(marker - 0xD9)))
        default: return nil
        }
        guard let count, let end = self.end(start, count) else { return nil }
        return start..<end
    }

    private mutating func string(
        _ offset: Int, _ start: Int, _ count: Int, _ place: TreeRedaction.Place, isText: Bool, _ redaction: inout TreeRedaction
    ) -> Int? {
        guard let end = self.end(start, count) else { return nil }
        let value = self.slice(start..<end)
        guard let new = isText ? redaction.string(value, place) : redaction.bytes(value, place) else { return end }
        self.found.append(Edit(range: offset..<end, bytes: Self.header(new.count, isText: isText) + new))
        return end
    }

    private static func header(_ count: Int, isText: Bool) -> [UInt8] {
        if isText, count < 32 { return [0xA0 | UInt8(count)] }
        let base: UInt8 = isText ? 0xD9 : 0xC4
        if count < 1 << 8 { return [base, UInt8(count)] }
        if count < 1 << 16 { return [base + 1] + Self.spelled(count, 2) }
        return [base + 2] + Self.spelled(count, 4)
    }
}
