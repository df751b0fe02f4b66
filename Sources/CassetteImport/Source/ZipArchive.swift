internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// The files of a ZIP archive (PKWARE, APPNOTE 6.3.10), stored or deflated, by name.
///
/// Supports neither ZIP64 nor encryption. Writes nothing to disk, so unsafe names do no harm.
final class ZipArchive {
    /// A file as the directory describes it.
    private struct Entry {
        var method: Int
        var crc32: UInt32
        var packedSize: Int
        var size: Int
        /// The offset of its local header.
        var offset: Int
    }

    /// In bytes: for a file, and for the directory.
    private static let limit = 256 << 20
    private static let directoryLimit = 64 << 20
    /// The last record, with the longest comment.
    private static let tailSize = 22 + 65_535

    private let path: String
    private let file: OpenFile
    private var entries: [String: Entry] = [:]
    private(set) var names: [String] = []

    init(_ path: String) throws(CassetteError) {
        self.path = path
        self.file = try OpenFile(path, for: .read)
        let size = try self.file.size()
        let tail = try self.bytes(max(0, size - Self.tailSize)..<size)
        guard
            let end = (0...max(0, tail.count - 22)).reversed().first(where: { tail.count >= 22 && Self.number(tail, $0, 4) == 0x0605_4B50 })
        else {
            throw self.damaged("it has no directory at its end, or was cut short")
        }
        let (length, start) = (Self.number(tail, end + 12, 4), Self.number(tail, end + 16, 4))
        guard length <= Self.directoryLimit, start + length <= size else {
            throw self.damaged("its directory is missing, or it is ZIP64")
        }
        try self.read(try self.bytes(start..<start + length))
    }

    private func read(_ directory: [UInt8]) throws(CassetteError) {
        var offset = 0
        while offset + 46 <= directory.count, Self.number(directory, offset, 4) == 0x0201_4B50 {
            let nameLength = Self.number(directory, offset + 28, 2)
            let next = offset + 46 + nameLength + Self.number(directory, offset + 30, 2) + Self.number(directory, offset + 32, 2)
            guard next <= directory.count else { throw self.damaged("its directory ends early") }
            let name = String(decoding: directory[offset + 46..<offset + 46 + nameLength], as: UTF8.self)
            self.names.append(name)
            self.entries[name] = Entry(
                method: Self.number(directory, offset + 10, 2), crc32: UInt32(Self.number(directory, offset + 16, 4)),
                packedSize: Self.number(directory, offset + 20, 4), size: Self.number(directory, offset + 24, 4),
                offset: Self.number(directory, offset + 42, 4))
            offset = next
        }
    }

    func read(_ name: String) throws(CassetteError) -> [UInt8] {
        guard let entry = self.entries[name] else {
            throw CassetteError(.notFound, "\"\(self.path)\" contains no file \"\(name)\": save the recording again.")
        }
        guard entry.size <= Self.limit, entry.packedSize <= Self.limit else {
            throw CassetteError(.tooLarge, "\"\(name)\" in \"\(self.path)\" has more than \(Self.limit >> 20) MiB: leave it out.")
        }
        let head = try self.bytes(entry.offset..<entry.offset + 30)
        guard Self.number(head, 0, 4) == 0x0403_4B50 else { throw self.damaged("\"\(name)\" is not where its directory says") }
        let start = entry.offset + 30 + Self.number(head, 26, 2) + Self.number(head, 28, 2)
        let packed = try self.bytes(start..<start + entry.packedSize)
        let bytes = try self.unpacked(packed, entry, name)
        guard bytes.count == entry.size, bytes.withUnsafeBytes({ CRC32.value(of: $0, after: 0) }) == entry.crc32 else {
            throw self.damaged("\"\(name)\" does not match its checksum")
        }
        return bytes
    }

    private func unpacked(_ packed: [UInt8], _ entry: Entry, _ name: String) throws(CassetteError) -> [UInt8] {
        switch entry.method {
        case 0: return packed
        case 8:
            var bytes: [UInt8] = []
            guard let chain = DecoderChain([(.deflate, .raw)], limits: .file(codedSize: packed.count)) else {
                throw self.damaged("it cannot be unpacked")
            }
            let goesOn = try? packed.withUnsafeBytes { packed in
                try chain.push(packed) { piece in
                    guard bytes.count + piece.count <= entry.size else { throw CassetteError(.damaged, "") }
                    bytes.append(contentsOf: piece)
                }
            }
            guard goesOn == true, chain.finish() else { throw self.damaged("\"\(name)\" cannot be unpacked") }
            return bytes
        default: throw self.damaged("\"\(name)\" uses a compression method that is not known here")
        }
    }

    // MARK: Bytes

    private func bytes(_ range: Range<Int>) throws(CassetteError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        var failure: CassetteError?
        let count = bytes.withUnsafeMutableBytes { buffer -> Int in
            do throws(CassetteError) {
                return try self.file.read(into: buffer, at: range.lowerBound)
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        guard count == range.count else { throw self.damaged("it ends early") }
        return bytes
    }

    /// Little-endian.
    private static func number(_ bytes: [UInt8], _ offset: Int, _ size: Int) -> Int {
        (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    private func damaged(_ reason: String) -> CassetteError {
        CassetteError(.damaged, "\"\(self.path)\" is not a complete ZIP archive (\(reason)): save it again.")
    }
}
