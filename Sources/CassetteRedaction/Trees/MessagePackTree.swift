internal import TapeBytes

/// The values of MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md). Each contains only its own length, so that a string
/// can be replaced in place.
struct MessagePackTree: ValueTree {
    let bytes: UnsafeRawBufferPointer
    var found: [Edit] = []

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    private var reader: MessagePackReader { MessagePackReader(self.bytes) }

    mutating func value(at offset: Int, _ place: TreeRedaction.Place, depth: Int, _ redaction: inout TreeRedaction) -> Int? {
        guard depth < TreeRedaction.depthLimit, let (value, end) = self.reader.value(at: offset) else { return nil }
        switch value {
        case .array(let count): return self.array(end, count, place, depth, &redaction)
        case .map(let count): return self.map(end, count, place, depth, &redaction)
        case .text(let range): self.string(offset, range, place, isText: true, &redaction)
        case .bytes(let range): self.string(offset, range, place, isText: false, &redaction)
        case .unsigned(let number): self.number(offset..<end, Int(clamping: number), place, &redaction)
        case .signed(let number):
            self.number(offset..<end, Int(clamping: number.magnitude), place, &redaction)
        case .extension(let type, let range):
            // A time (spec, "Timestamp extension type").
            guard type != -1, let new = redaction.bytes(self.slice(range), place) else { break }
            self.found.append(Edit(range: offset..<range.upperBound, bytes: Self.header(new.count, ofType: type) + new))
        case .null, .bool, .float: break
        }
        return end
    }

    private mutating func number(
        _ range: Range<Int>, _ number: Int, _ place: TreeRedaction.Place,
        _ redaction: inout TreeRedaction
    ) {
        // A number of one byte is too short for a secret, and cannot be shortened.
        if range.count > 1, redaction.hidesNumber(place, number) {
            self.found.append(Edit(range: range, bytes: [0]))
        }
    }

    private mutating func array(_ start: Int, _ count: Int, _ place: TreeRedaction.Place, _ depth: Int, _ redaction: inout TreeRedaction)
        -> Int?
    {
        var offset = start
        var last: Range<Int>?
        for index in 0..<count {
            let inner = redaction.element(index, of: place, after: last.map { self.bytes[$0] })
            last = self.name(at: offset)
            guard let end = self.value(at: offset, inner, depth: depth + 1, &redaction) else { return nil }
            offset = end
        }
        return offset
    }

    private mutating func map(_ start: Int, _ count: Int, _ place: TreeRedaction.Place, _ depth: Int, _ redaction: inout TreeRedaction)
        -> Int?
    {
        var offset = start
        for _ in 0..<count {
            let name = self.name(at: offset)
            var inner = redaction.unnamed(self.digits(at: offset), in: place)
            if let name { inner = redaction.place(named: self.bytes[name], in: place) }
            let afterName = name?.upperBound ?? self.value(at: offset, .name, depth: depth + 1, &redaction)
            guard let afterName, let end = self.value(at: afterName, inner, depth: depth + 1, &redaction) else { return nil }
            offset = end
        }
        return offset
    }

    /// An integer as a name.
    private func digits(at offset: Int) -> String? {
        switch self.reader.value(at: offset)?.value {
        case .unsigned(let number): "\(number)"
        case .signed(let number): "\(number)"
        case _: nil
        }
    }

    /// The bytes of a string. Old libraries write all strings as bytes.
    private func name(at offset: Int) -> Range<Int>? {
        switch self.reader.value(at: offset)?.value {
        case .text(let range), .bytes(let range): range
        case _: nil
        }
    }

    private mutating func string(
        _ offset: Int, _ range: Range<Int>, _ place: TreeRedaction.Place, isText: Bool, _ redaction: inout TreeRedaction
    ) {
        let value = self.slice(range)
        guard let new = isText ? redaction.string(value, place) : redaction.bytes(value, place) else {
            return
        }
        self.found.append(Edit(range: offset..<range.upperBound, bytes: Self.header(new.count, isText: isText) + new))
    }

    private static func header(_ count: Int, ofType type: Int8) -> [UInt8] {
        let end = [UInt8(bitPattern: type)]
        switch count {
        case 1: return [0xD4] + end
        case 2: return [0xD5] + end
        case 4: return [0xD6] + end
        case 8: return [0xD7] + end
        case 16: return [0xD8] + end
        case ..<(1 << 8): return [0xC7, UInt8(count)] + end
        case ..<(1 << 16): return [0xC8] + Self.spelled(count, 2) + end
        default: return [0xC9] + Self.spelled(count, 4) + end
        }
    }

    private static func header(_ count: Int, isText: Bool) -> [UInt8] {
        if isText, count < 32 { return [0xA0 | UInt8(count)] }
        let base: UInt8 = isText ? 0xD9 : 0xC4
        if count < 1 << 8 { return [base, UInt8(count)] }
        if count < 1 << 16 { return [base + 1] + Self.spelled(count, 2) }
        return [base + 2] + Self.spelled(count, 4)
    }
}
