internal import TapeBytes

/// The values of Universal Binary JSON (https://ubjson.org, draft 12): a marker, with a length for strings and containers.
struct UBJSONTree: ValueTree {
    let bytes: UnsafeRawBufferPointer
    var found: [Edit] = []

    /// The most elements of one container that take no bytes of their own (`null`, `true`).
    private static let emptyLimit = 1 << 16

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Whether bytes without a media type begin with an object: with a short length, which does not occur in text, or with a type or a
    /// count.
    static func mayBegin(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > 3, bytes[0] == UInt8(ascii: "{") else { return false }
        return (bytes[1] == UInt8(ascii: "i") || bytes[1] == UInt8(ascii: "U")) && bytes[2] > 0 && bytes[2] < 32
            || bytes[1] == UInt8(ascii: "#") && "iU".utf8.contains(bytes[2])
            || bytes[1] == UInt8(ascii: "$") && bytes[3] == UInt8(ascii: "#")
    }

    mutating func value(at offset: Int, _ place: TreeRedaction.Place, depth: Int, _ redaction: inout TreeRedaction) -> Int? {
        guard offset < self.bytes.count else { return nil }
        return self.value(self.bytes[offset], at: offset + 1, place, depth, &redaction)
    }

    /// Reads a value of a given type.
    ///
    /// - Parameter start: the offset after the marker, which may be the container's.
    private mutating func value(
        _ marker: UInt8, at start: Int, _ place: TreeRedaction.Place, _ depth: Int, _ redaction: inout TreeRedaction
    ) -> Int? {
        guard depth < TreeRedaction.depthLimit else { return nil }
        switch marker {
        case UInt8(ascii: "Z"), UInt8(ascii: "N"), UInt8(ascii: "T"), UInt8(ascii: "F"): return start
        case UInt8(ascii: "i"), UInt8(ascii: "U"), UInt8(ascii: "C"): return self.end(start, 1)
        case UInt8(ascii: "I"), UInt8(ascii: "l"), UInt8(ascii: "L"):
            let size = marker == UInt8(ascii: "I") ? 2 : marker == UInt8(ascii: "l") ? 4 : 8
            guard let end = self.end(start, size) else { return nil }
            if redaction.hidesNumber(place, self.number(start, size) ?? .max) {
                self.found.append(Edit(range: start..<end, bytes: [UInt8](repeating: 0, count: size)))
            }
            return end
        case UInt8(ascii: "d"): return self.end(start, 4)
        case UInt8(ascii: "D"): return self.end(start, 8)
        case UInt8(ascii: "S"), UInt8(ascii: "H"): return self.string(start, place, isNumber: marker == UInt8(ascii: "H"), &redaction)
        case UInt8(ascii: "["): return self.container(start, isObject: false, place, depth, &redaction)
        case UInt8(ascii: "{"): return self.container(start, isObject: true, place, depth, &redaction)
        default: return nil
        }
    }

    /// A length with its marker, and the offset after it.
    private func length(_ offset: Int) -> (count: Int, end: Int)? {
        guard offset < self.bytes.count else { return nil }
        let size: Int
        switch self.bytes[offset] {
        case UInt8(ascii: "i"), UInt8(ascii: "U"): size = 1
        case UInt8(ascii: "I"): size = 2
        case UInt8(ascii: "l"): size = 4
        case UInt8(ascii: "L"): size = 8
        default: return nil
        }
        // Negative lengths, read as unsigned, exceed the bytes.
        guard let count = self.number(offset + 1, size), count <= self.bytes.count else { return nil }
        return (count, offset + 1 + size)
    }

    private mutating func string(
        _ start: Int, _ place: TreeRedaction.Place, isNumber: Bool, _ redaction: inout TreeRedaction
    ) -> Int? {
        guard let (count, from) = self.length(start), let end = self.end(from, count) else { return nil }
        if isNumber {
            if redaction.hidesNumber(place, Int(String(decoding: self.slice(from..<end), as: UTF8.self)) ?? .max) {
                self.found.append(Edit(range: start..<end, bytes: Self.length(of: 1) + [UInt8(ascii: "0")]))
            }
        } else if let new = redaction.string(self.slice(from..<end), place) {
            self.found.append(Edit(range: start..<end, bytes: Self.length(of: new.count) + new))
        }
        return end
    }

    private static func length(of count: Int) -> [UInt8] {
        if count < 1 << 7 { return [UInt8(ascii: "i"), UInt8(count)] }
        if count < 1 << 15 { return [UInt8(ascii: "I")] + Self.spelled(count, 2) }
        return [UInt8(ascii: "l")] + Self.spelled(count, 4)
    }

    /// Reads an array or object, with or without a type and count of its elements before them.
    private mutating func container(
        _ start: Int, isObject: Bool, _ place: TreeRedaction.Place, _ depth: Int, _ redaction: inout TreeRedaction
    ) -> Int? {
        var offset = start
        var type: UInt8?
        if offset + 1 < self.bytes.count, self.bytes[offset] == UInt8(ascii: "$") {
            type = self.bytes[offset + 1]
            offset += 2
        }
        var count: Int?
        if offset < self.bytes.count, self.bytes[offset] == UInt8(ascii: "#") {
            guard let length = self.length(offset + 1) else { return nil }
            (count, offset) = (length.count, length.end)
        }
        guard type == nil || count != nil else { return nil }
        // Bytes under one name are one value.
        if !isObject, type == UInt8(ascii: "U") || type == UInt8(ascii: "i"), let count {
            return self.data(offset, count, place, &redaction)
        }
        if let type, "ZNTF".utf8.contains(type), !isObject { return (count ?? 0) <= Self.emptyLimit ? offset : nil }
        var index = 0
        let close = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        var left = count ?? .max
        while left > 0 {
            guard offset < self.bytes.count else { return nil }
            if count == nil, self.bytes[offset] == close { return offset + 1 }
            var inner = redaction.element(index, of: place)
            index += 1
            if isObject {
                guard let (length, from) = self.length(offset), let end = self.end(from, length) else { return nil }
                inner = redaction.place(named: self.bytes[from..<end], in: place)
                offset = end
            }
            let next: Int?
            if let type {
                next = self.value(type, at: offset, inner, depth + 1, &redaction)
            } else {
                guard offset < self.bytes.count else { return nil }
                next = self.value(self.bytes[offset], at: offset + 1, inner, depth + 1, &redaction)
            }
            guard let next else { return nil }
            offset = next
            left -= 1
        }
        return offset
    }

    /// Handles an array of bytes, whose length is kept.
    private mutating func data(_ start: Int, _ count: Int, _ place: TreeRedaction.Place, _ redaction: inout TreeRedaction) -> Int? {
        guard let end = self.end(start, count) else { return nil }
        if let new = redaction.bytes(self.slice(start..<end), place) {
            let fitted = new.prefix(count) + Array(repeating: UInt8(ascii: "*"), count: max(0, count - new.count))
            self.found.append(Edit(range: start..<end, bytes: Array(fitted)))
        }
        return end
    }
}
