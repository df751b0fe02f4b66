internal import CZlib
public import CassetteModel

extension GzipHeader {
    public enum Parse: Sendable, Hashable {
        /// The header is the first `length` bytes.
        case complete(length: Int)
        case needsMore
        case invalid(InflateProblem)
    }

    /// The longest accepted header: it is written in hex next to a readable body, and filenames have at most 255 bytes.
    public static let sizeLimit = 4096

    /// XFL (RFC 1952, 2.3.1): zlib writes 2 for level 9 and 4 for level 1; others write any value.
    public var extraFlags: UInt8 { self.bytes.count > 8 ? self.bytes[8] : 0 }

    private static let headerChecksum: UInt8 = 2
    private static let extraField: UInt8 = 4
    private static let name: UInt8 = 8
    private static let comment: UInt8 = 16
    private static let reserved: UInt8 = 0xe0

    /// Finds the end of the header at the start of some bytes (RFC 1952, 2.3).
    public static func parse(_ bytes: UnsafeRawBufferPointer) -> Parse {
        let result = Self.parseUnlimited(bytes)
        switch result {
        case .complete(let length) where length > Self.sizeLimit: return .invalid(Self.tooLong)
        case .needsMore where bytes.count >= Self.sizeLimit: return .invalid(Self.tooLong)
        case .complete, .needsMore, .invalid: return result
        }
    }

    private static let tooLong = InflateProblem(
        .unsupported, offset: GzipHeader.sizeLimit, reason: "gzip header longer than \(GzipHeader.sizeLimit) bytes")

    private static func parseUnlimited(_ bytes: UnsafeRawBufferPointer) -> Parse {
        let fixed: [UInt8] = [0x1f, 0x8b, 8]
        for (offset, expected) in fixed.enumerated() {
            guard offset < bytes.count else { return .needsMore }
            guard bytes[offset] == expected else {
                let reason = offset < 2 ? "no gzip header" : "unknown gzip compression method"
                return .invalid(InflateProblem(.corrupt, offset: offset, reason: reason))
            }
        }
        guard bytes.count > 3 else { return .needsMore }
        let flags = bytes[3]
        // RFC 1952, 2.3.1.2: a set reserved bit may indicate a field that would be mistaken for compressed data.
        guard flags & Self.reserved == 0 else {
            return .invalid(InflateProblem(.corrupt, offset: 3, reason: "reserved gzip flag set"))
        }
        var end = 10
        if flags & Self.extraField != 0 {
            guard bytes.count >= end + 2 else { return .needsMore }
            end += 2 + Int(bytes[end]) + Int(bytes[end + 1]) << 8
        }
        for field in [Self.name, Self.comment] where flags & field != 0 {
            guard end < bytes.count, let zero = bytes[end...].firstIndex(of: 0) else { return .needsMore }
            end = zero + 1
        }
        if flags & Self.headerChecksum != 0 {
            guard bytes.count >= end + 2 else { return .needsMore }
            let stored = UInt(bytes[end]) | UInt(bytes[end + 1]) << 8
            // Both lengths are far below 32 bits here: the caller rejects a header of more than `sizeLimit` bytes.
            let found = crc32(0, bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(truncatingIfNeeded: end)) & 0xffff
            guard stored == found else {
                return .invalid(InflateProblem(.wrongChecksum, offset: end, reason: "wrong checksum of the gzip header"))
            }
            end += 2
        }
        return bytes.count >= end ? .complete(length: end) : .needsMore
    }
}
