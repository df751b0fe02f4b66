internal import TapeBytes

/// The values of BSON (https://bsonspec.org/spec.html). Each document starts with its length, which is updated around changed values.
struct BSONTree {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Whether the bytes begin with their own length and end like a document.
    static func mayBegin(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 8 && bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self).littleEndian == bytes.count
            && bytes[bytes.count - 1] == 0
    }

    /// Nil if the bytes are something else.
    func edits(_ redaction: inout TreeRedaction) -> [Edit]? {
        var edits: [Edit] = []
        var offset = 0
        while offset < self.bytes.count {
            guard let end = self.document(at: offset, isArray: false, .top, depth: 0, &edits, &redaction) else { return nil }
            offset = end
        }
        // Edits of lengths do not overlap those of values.
        return edits
    }

    private func length(_ offset: Int) -> Int? {
        guard offset >= 0, self.bytes.count - offset >= 4 else { return nil }
        let length = self.bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self).littleEndian
        return length < 0 ? nil : Int(length)
    }

    private static func bytes(of length: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) } }

    /// Returns the end of the document.
    private func document(
        at start: Int, isArray: Bool, _ place: TreeRedaction.Place, depth: Int, _ edits: inout [Edit], _ redaction: inout TreeRedaction
    ) -> Int? {
        guard depth < TreeRedaction.depthLimit, let length = self.length(start), length >= 5, length <= self.bytes.count - start,
            self.bytes[start + length - 1] == 0
        else { return nil }
        let end = start + length - 1
        var offset = start + 4
        let before = edits.count
        while offset < end {
            let kind = self.bytes[offset]
            guard let nul = (offset + 1..<end).first(where: { self.bytes[$0] == 0 }) else { return nil }
            let name = self.bytes[offset + 1..<nul]
            let inner =
                isArray
                ? redaction.element(Int(String(decoding: name, as: UTF8.self)) ?? 0, of: place) : redaction.place(named: name, in: place)
            guard let next = self.value(kind, at: nul + 1, inner, depth, &edits, &redaction), next <= end else { return nil }
            offset = next
        }
        let growth = edits[before...].reduce(0) { $0 + $1.bytes.count - $1.range.count }
        if growth != 0 { edits.append(Edit(range: start..<start + 4, bytes: Self.bytes(of: length + growth))) }
        return end + 1
    }

    private func value(
        _ kind: UInt8, at offset: Int, _ place: TreeRedaction.Place, _ depth: Int, _ edits: inout [Edit], _ redaction: inout TreeRedaction
    ) -> Int? {
        func fixed(_ size: Int) -> Int? { size <= self.bytes.count - offset ? offset + size : nil }
        switch kind {
        case 0x01, 0x11, 0x09, 0x12, 0x10:
            guard let end = fixed(kind == 0x10 ? 4 : 8) else { return nil }
            // Dates and timestamps are kept.
            var number = 0
            if kind == 0x10 {
                number = Int(self.bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self).littleEndian.magnitude)
            } else if kind == 0x12 {
                number = Int(clamping: self.bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self).littleEndian.magnitude)
            } else if kind == 0x01 {
                let bits = self.bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
                number = Int(exactly: Double(bitPattern: bits).magnitude.rounded(.down)) ?? .max
            }
            if redaction.hidesNumber(place, number) {
                edits.append(Edit(range: offset..<end, bytes: Array(repeating: 0, count: end - offset)))
            }
            return end
        case 0x02, 0x0D, 0x0E:
            guard let length = self.length(offset), length >= 1, length <= self.bytes.count - offset - 4 else { return nil }
            let end = offset + 4 + length
            guard self.bytes[end - 1] == 0 else { return nil }
            let value = UnsafeRawBufferPointer(rebasing: self.bytes[offset + 4..<end - 1])
            if let new = redaction.string(value, place) {
                edits.append(Edit(range: offset..<end, bytes: Self.bytes(of: new.count + 1) + new + [0]))
            }
            return end
        case 0x03: return self.document(at: offset, isArray: false, place, depth: depth + 1, &edits, &redaction)
        case 0x04: return self.document(at: offset, isArray: true, place, depth: depth + 1, &edits, &redaction)
        case 0x05:
            guard let length = self.length(offset), length <= self.bytes.count - offset - 5 else { return nil }
            let end = offset + 5 + length
            let value = UnsafeRawBufferPointer(rebasing: self.bytes[offset + 5..<end])
            if self.bytes[offset + 4] != 2, let new = redaction.bytes(value, place) {
                edits.append(Edit(range: offset..<end, bytes: Self.bytes(of: new.count) + [self.bytes[offset + 4]] + new))
            }
            return end
        case 0x06, 0x0A, 0x7F, 0xFF: return offset
        case 0x07: return fixed(12)
        case 0x08: return fixed(1)
        case 0x0B:
            var end = offset
            for _ in 0..<2 {
                guard let nul = (end..<self.bytes.count).first(where: { self.bytes[$0] == 0 }) else { return nil }
                end = nul + 1
            }
            return end
        case 0x0C:
            guard let length = self.length(offset), length <= self.bytes.count - offset - 16 else { return nil }
            return offset + 4 + length + 12
        case 0x0F: return self.length(offset).flatMap { $0 >= 4 ? fixed($0) : nil }
        case 0x13: return fixed(16)
        default: return nil
        }
    }
}
