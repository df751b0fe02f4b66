internal import Platform
internal import TapeBytes

/// A boundary that can be searched for: one to 256 octets, no line end and no NUL among them.
///
/// Wider than RFC 2046 allows, since real clients are; `MultipartLint` tells where it is too wide.
public struct MultipartBoundary: Sendable, Hashable {
    /// RFC 2046, 5.1.1 allows 70; python-multipart (`MAX_BOUNDARY_LENGTH`) takes as many as this.
    public static let longest = 256

    /// Two hyphens and the boundary: what a delimiter consists of besides line ends.
    let dashed: [UInt8]
    /// The octet of `dashed` that ordinary data has least of, and where it stands.
    private let anchor: Int

    public init?(_ octets: some Collection<UInt8>) {
        guard (1...Self.longest).contains(octets.count), !octets.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else { return nil }
        self.dashed = [45, 45] + octets
        self.anchor = Self.rarest(self.dashed)
    }

    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// Without the two hyphens.
    public var octets: ArraySlice<UInt8> { self.dashed[2...] }
    public var count: Int { self.dashed.count - 2 }

    /// The octet that `find` looks for first. Capital letters and digits are rarer than small letters and hyphens in text, JSON and code;
    /// in random data all are alike.
    private static func rarest(_ dashed: [UInt8]) -> Int {
        func rank(_ octet: UInt8) -> Int {
            switch octet {
            case UInt8(ascii: "J"), UInt8(ascii: "K"), UInt8(ascii: "Q"), UInt8(ascii: "V")...UInt8(ascii: "Z"): 0
            case 0x80...0xFF: 1
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): 2
            case UInt8(ascii: "1")...UInt8(ascii: "9"): 3
            case UInt8(ascii: "j"), UInt8(ascii: "k"), UInt8(ascii: "q"), UInt8(ascii: "v")...UInt8(ascii: "z"): 4
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0"): 5
            default: 6
            }
        }
        var best = dashed.count - 1
        for index in dashed.indices.reversed() where rank(dashed[index]) < rank(dashed[best]) { best = index }
        return best
    }

    /// The first offset from `start` where the two hyphens and the boundary stand.
    func find(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let length = self.dashed.count
        return self.dashed.withUnsafeBytes { dashed in
            guard let pattern = dashed.baseAddress else { return nil }
            var offset = start + self.anchor
            let end = bytes.count - length + self.anchor
            while offset <= end, let hit = memchr(base + offset, Int32(dashed[self.anchor]), end - offset + 1) {
                let candidate = UnsafeRawPointer(hit) - self.anchor
                if memcmp(candidate, pattern, length) == 0 { return candidate - base }
                offset = candidate - base + self.anchor + 1
            }
            return nil
        }
    }

    func stands(at offset: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count - offset >= self.dashed.count
            && self.dashed.withUnsafeBytes { $0.elementsEqualFast(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + $0.count])) }
    }

    /// The first offset from `start` behind which everything, up to the end, may be the beginning of a delimiter; the end where nothing is.
    func beginning(atEndOf bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let end = bytes.count
        var found = end
        self.dashed.withUnsafeBytes { dashed in
            for offset in max(start, end - dashed.count + 1)..<max(end, start) where bytes[offset] == 45 {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                guard rest.elementsEqualFast(UnsafeRawBufferPointer(rebasing: dashed[..<rest.count])) else { continue }
                found = offset
                break
            }
        }
        if found == end, end > start, bytes[end - 1] == 13 { return end - 1 }
        return found - LineEnd.before(found, from: start, in: bytes).count
    }
}
