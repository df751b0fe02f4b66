internal import TapeBytes

/// The values of CBOR (RFC 8949). Each contains only its own length, so that a string can be replaced in place. Several consecutive values
/// form a sequence (RFC 8742).
struct CBORTree: ValueTree {
    let bytes: UnsafeRawBufferPointer
    var found: [Edit] = []

    let isSequence: Bool

    init(_ bytes: UnsafeRawBufferPointer, isSequence: Bool = false) {
        self.bytes = bytes
        self.isSequence = isSequence
    }

    private var reader: CBORReader { CBORReader(self.bytes) }

    mutating func value(at offset: Int, _ place: TreeRedaction.Place, depth: Int, _ redaction: inout TreeRedaction) -> Int? {
        guard depth < TreeRedaction.depthLimit, let head = self.reader.head(at: offset) else { return nil }
        switch head.major {
        case 0, 1:
            if redaction.hidesNumber(place, Int(clamping: head.argument ?? 0)) {
                self.found.append(Edit(range: offset..<head.end, bytes: [0]))
            }
            return head.end
        case 2, 3: return self.string(offset, head, place, &redaction)
        case 4:
            var end = head.end
            var index = 0
            var count = head.count ?? .max
            guard head.argument == nil || count <= self.bytes.count else { return nil }
            var last: Range<Int>?
            while count > 0, head.argument != nil || !self.reader.isBreak(at: end) {
                let inner = redaction.element(index, of: place, after: last.map { self.bytes[$0] })
                last = self.name(at: end)
                guard let next = self.value(at: end, inner, depth: depth + 1, &redaction) else { return nil }
                end = next
                index += 1
                count -= 1
            }
            return head.argument == nil ? end + 1 : end
        case 5:
            var end = head.end
            var count = head.count ?? .max
            guard head.argument == nil || count <= self.bytes.count else { return nil }
            while count > 0, head.argument != nil || !self.reader.isBreak(at: end) {
                let digits = self.reader.head(at: end).flatMap { $0.major < 2 ? $0.digits : nil }
                var inner = redaction.unnamed(digits, in: place)
                if let name = self.name(at: end) {
                    inner = redaction.place(named: self.bytes[name], in: place)
                    end = name.upperBound
                } else {
                    guard let next = self.value(at: end, .name, depth: depth + 1, &redaction) else { return nil }
                    end = next
                }
                guard let next = self.value(at: end, inner, depth: depth + 1, &redaction) else { return nil }
                end = next
                count -= 1
            }
            return head.argument == nil ? end + 1 : end
        case 6: return self.value(at: head.end, place, depth: depth + 1, &redaction)
        default: return head.argument == nil ? nil : head.end
        }
    }

    /// A string of a known length, of text or of bytes.
    private func name(at offset: Int) -> Range<Int>? {
        guard let head = self.reader.head(at: offset), head.major == 2 || head.major == 3, let length = head.count,
            length <= self.bytes.count - head.end
        else { return nil }
        return head.end..<head.end + length
    }

    private mutating func string(
        _ offset: Int, _ head: CBORReader.Head, _ place: TreeRedaction.Place, _ redaction: inout TreeRedaction
    ) -> Int? {
        guard let (chunks, end) = self.reader.chunks(of: head) else { return nil }
        func redacted(_ value: UnsafeRawBufferPointer) -> [UInt8]? {
            head.major == 3 ? redaction.string(value, place) : redaction.bytes(value, place)
        }
        let new =
            head.argument == nil
            ? self.reader.joined(chunks).withUnsafeBytes(redacted) : redacted(self.slice(head.end..<end))
        if let new { self.found.append(Edit(range: offset..<end, bytes: Self.header(head.major, new.count) + new)) }
        return end
    }

    private static func header(_ major: UInt8, _ count: Int) -> [UInt8] {
        if count < 24 { return [major << 5 | UInt8(count)] }
        let info = count < 1 << 8 ? 0 : count < 1 << 16 ? 1 : 2
        return [major << 5 | UInt8(24 + info)] + Self.spelled(count, 1 << info)
    }
}
