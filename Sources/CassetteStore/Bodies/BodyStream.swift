public import CassetteModel
internal import TapeBytes

/// A body on the disk, read piece by piece.
///
/// The last piece is handed out only when the whole has proven right, so that nobody takes a wrong body for a complete one.
public final class BodyStream {
    enum Check {
        case digest(any ContentDigest, expected: String)
        case crc32(UInt32, expected: UInt32)
    }

    /// Bytes not handed out yet.
    public private(set) var remaining: Int
    var path: String { self.file.path }
    private let file: OpenFile
    private var offset: Int
    private var check: Check
    private var isProven = false

    init(file: consuming OpenFile, range: Range<Int>, check: Check) {
        self.file = file
        self.offset = range.lowerBound
        self.remaining = range.count
        self.check = check
    }

    /// The next bytes, as many as fit; 0 at the end. Throws in place of the last ones when digest or checksum are not as recorded.
    public func read(into bytes: UnsafeMutableRawBufferPointer) throws(CassetteError) -> Int {
        let count = min(bytes.count, self.remaining)
        let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
        guard try self.file.read(into: piece, at: self.offset) == count else {
            throw CassetteError(.damaged, "\"\(self.path)\" ended while it was read; record the exchange again")
        }
        self.feed(UnsafeRawBufferPointer(piece))
        if self.remaining == count { try self.prove() }
        self.offset += count
        self.remaining -= count
        return count
    }

    private func feed(_ bytes: UnsafeRawBufferPointer) {
        switch self.check {
        case .digest(var digest, let expected):
            digest.update(bytes)
            self.check = .digest(digest, expected: expected)
        case .crc32(let value, let expected):
            self.check = .crc32(CRC32.value(of: bytes, after: value), expected: expected)
        }
    }

    private func prove() throws(CassetteError) {
        guard !self.isProven else { return }
        switch self.check {
        case .digest(var digest, let expected):
            guard Hex.encode(digest.finalize()) == expected else {
                throw CassetteError(
                    .damaged, "\"\(self.path)\" does not have the SHA-256 that the cassette names; restore it, or record the exchange again"
                )
            }
        case .crc32(let value, let expected):
            guard value == expected else {
                throw CassetteError(
                    .damaged,
                    "\"\(self.path)\" does not have the CRC-32 that the cassette names at byte \(self.offset); record the exchange again")
            }
        }
        self.isProven = true
    }
}
