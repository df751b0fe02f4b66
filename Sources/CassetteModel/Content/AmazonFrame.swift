internal import TapeBytes

/// One frame of `application/vnd.amazon.eventstream` (AWS SDKs, "Event stream encoding").
///
/// It consists of its length, the length of its headers, a CRC-32 of both, the headers, the payload, and a CRC-32 of everything before it.
/// Numbers are big-endian.
package struct AmazonFrame: Sendable, Hashable {
    /// A header's value, as text for people and for comparison.
    package struct Header: Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package static let preludeSize = 12
    package static let checksumSize = 4

    package let headers: [Header]
    /// Offsets in the frame.
    package let payload: Range<Int>
    package let size: Int

    /// The frame at the beginning of the bytes; nil if its checksums are wrong, or if it is cut.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let size = Self.size(ofFrameIn: bytes), size <= bytes.count else { return nil }
        let headers = Self.number(bytes, at: 4)
        let start = Self.preludeSize + headers
        let end = size - Self.checksumSize
        guard start <= end, Self.checksum(bytes[..<end]).elementsEqual(bytes[end..<size]),
            let list = Self.headers(UnsafeRawBufferPointer(rebasing: bytes[Self.preludeSize..<start]))
        else { return nil }
        self.headers = list
        self.payload = start..<end
        self.size = size
    }

    /// The size that the bytes begin to declare; nil if they do not begin with the prelude of a frame.
    package static func size(ofFrameIn bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= self.preludeSize, self.checksum(bytes[..<8]).elementsEqual(bytes[8..<self.preludeSize]) else { return nil }
        let size = self.number(bytes, at: 0)
        return size >= self.preludeSize + self.checksumSize ? size : nil
    }

    package func header(_ name: String) -> String? { self.headers.first { $0.name == name }?.value }

    /// The frame with another payload, and the lengths and checksums that belong to it. The headers stay as they are.
    ///
    /// - Parameter head: the bytes of the headers.
    package static func encoded(headers head: some Collection<UInt8>, payload: [UInt8]) -> [UInt8] {
        let size = self.preludeSize + head.count + payload.count + self.checksumSize
        var frame = self.bytes(size) + self.bytes(head.count)
        frame += BodyChecksum.crc32.value(of: frame)
        frame += head
        frame += payload
        return frame + BodyChecksum.crc32.value(of: frame)
    }

    private static func headers(_ bytes: UnsafeRawBufferPointer) -> [Header]? {
        var headers: [Header] = []
        var offset = 0
        func take(_ count: Int) -> UnsafeRawBufferPointer? {
            guard bytes.count - offset >= count else { return nil }
            defer { offset += count }
            return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
        }
        while offset < bytes.count {
            guard let length = take(1), let name = take(Int(length[0])), let type = take(1)?[0] else { return nil }
            let value: String
            switch type {
            case 0: value = "true"
            case 1: value = "false"
            case 2, 3, 4, 5, 8:
                let size = [2: 1, 3: 2, 4: 4, 5: 8, 8: 8][type] ?? 8
                guard let number = take(size) else { return nil }
                let bits = number.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                value = "\(Int64(truncatingIfNeeded: bits << UInt64(64 - 8 * size)) >> Int64(64 - 8 * size))"
            case 6, 7:
                guard let size = take(2), let text = take(Int(size[0]) << 8 | Int(size[1])) else { return nil }
                value = type == 7 ? String(decoding: text, as: UTF8.self) : Hex.encode(Array(text))
            case 9:
                guard let uuid = take(16) else { return nil }
                value = Hex.encode(Array(uuid))
            case _: return nil
            }
            headers.append(Header(name: String(decoding: name, as: UTF8.self), value: value))
        }
        return headers
    }

    private static func checksum(_ bytes: Slice<UnsafeRawBufferPointer>) -> [UInt8] { BodyChecksum.crc32.value(of: Array(bytes)) }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func bytes(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { Array($0) }
    }
}
