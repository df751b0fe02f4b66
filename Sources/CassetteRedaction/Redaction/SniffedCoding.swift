internal import CassetteModel
internal import TapeBytes

/// The content coding that the first bytes indicate, whatever the fields declare.
enum SniffedCoding {
    /// How deeply codings may be nested. A body that was compressed twice by mistake has two.
    static let depthLimit = 3

    private static let gzip: [UInt8] = [0x1F, 0x8B, 0x08]
    private static let zstandard: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    /// Nil for bytes that begin differently, and for a coding that this build does not support. `br` cannot be recognised, and raw
    /// `deflate` only by decoding it.
    static func name(_ bytes: some Collection<UInt8>) -> ContentEncoding.Name? {
        guard bytes.count > 8 else { return nil }
        if bytes.starts(with: self.gzip) { return .gzip }
        if bytes.starts(with: self.zstandard), ContentEncoding.Name.zstd.isSupported { return .zstd }
        return self.mayBeZlib(bytes) ? .deflate : nil
    }

    /// Whether bytes begin like a zlib stream (RFC 1950, 2.2) as compressors write it: a window of 32 KiB, no dictionary, and a valid check
    /// of the first two bytes. A text may begin like this, too.
    private static func mayBeZlib(_ bytes: some Collection<UInt8>) -> Bool {
        var iterator = bytes.makeIterator()
        guard iterator.next() == 0x78, let flags = iterator.next() else { return false }
        return [0x01, 0x5E, 0x9C, 0xDA].contains(flags)
    }

    /// Whether bytes begin like a deflate stream without a wrapper, with a compressed block whose tables may have these sizes (RFC 1951,
    /// 3.2.3 and 3.2.7).
    static func mayBeRawDeflate(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 8 else { return false }
        switch bytes[0] >> 1 & 3 {
        case 1: return true
        case 2: return bytes[0] >> 3 <= 29 && bytes[1] & 31 <= 29
        default: return false
        }
    }

    /// The actual codings of a body, in the order applied, as far as its first bytes show.
    static func names(_ declared: [ContentEncoding.Name], beginning: some Collection<UInt8>) -> [ContentEncoding.Name] {
        let sniffed = self.name(beginning)
        guard let last = declared.last else { return sniffed.map { [$0] } ?? [] }
        guard sniffed != last, last == .gzip || last == .zstd || sniffed != nil else { return declared }
        if let sniffed { return [sniffed] }
        return Array(declared.dropLast())
    }
}
