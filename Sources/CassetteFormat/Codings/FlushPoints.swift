internal import CassetteModel

/// Finds where a producer flushed its compressor: a flush leaves an empty stored block (RFC 1951, 3.2.4), which ends in 00 00 FF FF.
///
/// A value: looks at a stream that is known to be whole, and does not know which compressor it was.
enum FlushPoints {
    /// `0000ffff`, LEN and NLEN of an empty block
    private static let mark: [UInt8] = [0x00, 0x00, 0xff, 0xff]

    /// Content octets from each flush to the next, for `DeflateParameters.flushes`; nil where there are more than its limit.
    static func find(in wire: UnsafeRawBufferPointer, format: DeflateFormat) -> [Int]? {
        var flushes: [Int] = []
        guard var next = self.endOfMark(in: wire, from: 0) else { return flushes }
        // The limits were kept when the body was inflated first.
        var inflater = Inflater(format: format, limits: InflateLimits(output: .max, ratio: .max))
        var position = 0
        var before = 0
        while inflater.push(UnsafeRawBufferPointer(rebasing: wire[position..<next]), deliver: { _ in }) == .needsMore {
            position = next
            // The four octets can be there by chance.
            if inflater.isBehindBlock {
                guard flushes.count < DeflateParameters.flushLimit else { return nil }
                flushes.append(inflater.produced - before)
                before = inflater.produced
            }
            guard let end = self.endOfMark(in: wire, from: position) else { break }
            next = end
        }
        return flushes
    }

    private static func endOfMark(in wire: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var offset = start
        while wire.count - offset >= self.mark.count {
            // How far the mark can begin behind here: with FF as its third octet, with 00 as its second, with any other not at all.
            switch wire[offset + 3] {
            case 0xff:
                if wire[offset..<offset + 4].elementsEqual(self.mark) { return offset + 4 }
                offset += 1
            case 0: offset += 2
            default: offset += 4
            }
        }
        return nil
    }
}
