internal import TapeBytes

/// The values of CBOR (RFC 8949): each says its own length only, so that a string can be replaced where it stands. Several
/// values one after the other are a sequence (RFC 8742).
struct CBORTree: ValueTree {
    let bytes: UnsafeRawBufferPointer
    var found: [Edit] = []

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The argument of a head, and where the head ends. The argument is nil for an indefinite length.
    private func head(_ offset: Int) -> (major: UInt8, argument: Int?, end: Int)? {
        guard offset < self.bytes.count else { return nil }
        let (major, info) = (self.bytes[offset] >> 5, self.bytes[offset] & 31)
        switch info {
        case 0..<24: return (major, Int(info), offset + 1)
        case 24...27:
            let size = 1 << Int(info - 24)
            guard size <= self.bytes.count - offset - 1 else { return nil }
            var value: UInt64 = 0
            for index in offset + 1..<offset + 1 + size { value = value << 8 | UInt64(self.bytes[index]) }
            // Integers may be larger than lengths.
            return (major, major < 2 || major == 7 ? Int(clamping: value) : Int(exactly: value) ?? .max, offset + 1 + size)
        case 31 where major >= 2 && major != 6: return (major, nil, offset + 1)
        default: return nil
        }
    }

    private func isBreak(_ offset: Int) -> Bool { offset < self.bytes.count && self.bytes[offset] == 0xFF }

    mutating func value(at offset: Int, _ place: TreeRedaction.Place, depth: Int, _ redaction: inout TreeRedaction) -> Int? {
        guard depth < TreeRedaction.depthLimit, let head = self.head(offset) else { return nil }
        switch head.major {
        case 0, 1:
            if redaction.hidesNumber(place, head.argument ?? 0) {
                self.found.append(Edit(range: offset..<head.end, bytes: [0]))
            }
            return head.end
        case 2, 3: return self.string(offset, head, place, &redaction)
        case 4:
            var end = head.end
            let element = redaction.element(of: place)
            var count = head.argument ?? .max
            guard head.argument == nil || count <= self.bytes.count else { return nil }
            while count > 0, head.argument != nil || !self.isBreak(end) {
                guard let next = self.value(at: end, element, depth: depth + 1, &redaction) else { return nil }
                end = next
                count -= 1
            }
            return head.argument == nil ? end + 1 : end
        case 5:
            var end = head.end
            var count = head.argument ?? .max
            guard head.argument == nil || count <= self.bytes.count else { return nil }
            while count > 0, head.argument != nil || !self.isBreak(end) {
                var inner = TreeRedaction.Place.top
                if let name = self.head(end), name.major == 3, let length = name.argument, length <= self.bytes.count - name.end {
                    inner = redaction.place(named: self.bytes[name.end..<name.end + length], in: place)
                    end = name.end + length
                } else {
                    guard let next = self.value(at: end, .top, depth: depth + 1, &redaction) else { return nil }
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

    private mutating func string(
        _ offset: Int, _ head: (major: UInt8, argument: Int?, end: Int), _ place: TreeRedaction.Place, _ redaction: inout TreeRedaction
    ) -> Int? {
        var content: [UInt8] = []
        var end = head.end
        if let count = head.argument {
            guard count <= self.bytes.count - end else { return nil }
            end += count
        } else {
            // Chunks of definite lengths (RFC 8949, 3.2.3).
            while !self.isBreak(end) {
                guard let chunk = self.head(end), chunk.major == head.major, let count = chunk.argument,
                    count <= self.bytes.count - chunk.end
                else { return nil }
                content += self.bytes[chunk.end..<chunk.end + count]
                end = chunk.end + count
            }
            end += 1
        }
        func redacted(_ value: UnsafeRawBufferPointer) -> [UInt8]? {
            head.major == 3 ? redaction.string(value, place) : redaction.bytes(value, place)
        }
        let new =
            head.argument == nil
            ? content.withUnsafeBytes(redacted) : redacted(self.slice(head.end..<end))
        if let new { self.found.append(Edit(range: offset..<end, bytes: Self.header(head.major, new.count) + new)) }
        return end
    }

    private static func header(_ major: UInt8, _ count: Int) -> [UInt8] {
        if count < 24 { return [major << 5 | UInt8(count)] }
        let info = count < 1 << 8 ? 0 : count < 1 << 16 ? 1 : 2
        return [major << 5 | UInt8(24 + info)] + Self.spelled(count, 1 << info)
    }
}
