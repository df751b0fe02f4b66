internal import CassetteModel

/// The parameters worth trying to reproduce a deflate stream, the most likely first.
///
/// Knows common producers, but tries nothing itself.
struct DeflateCandidates {
    /// zlib's default level, `gzip -9` and Python, nginx and `gzip -1`; the rest by how often servers are configured with them.
    private static let levels = [6, 9, 1, 5, 4, 3, 2, 7, 8]

    let all: [DeflateParameters]

    init(contentSize: Int, format: DeflateFormat, wirePrefix: UnsafeRawBufferPointer) {
        var levels = Self.levels
        var window = 15
        switch format {
        case .gzip where wirePrefix.count > 8 && wirePrefix[8] == 2: levels.moveToFront { $0 == 9 }
        case .gzip where wirePrefix.count > 8 && wirePrefix[8] == 4: levels.moveToFront { $0 == 1 }
        case .zlib where wirePrefix.count > 1:
            // RFC 1950, 2.2: CINFO is the window. FLEVEL has to match too, since both bytes are compared.
            window = Int(wirePrefix[0] >> 4) + 8
            levels = levels.filter { Self.zlibLevelGroup($0) == wirePrefix[1] >> 6 }
        case .gzip, .zlib, .raw: break
        }
        let (shrunkMemory, shrunkWindow) = Self.shrunk(to: contentSize)

        var list: [DeflateParameters] = []
        func add(_ level: Int, _ memory: Int, _ window: Int, _ strategy: Int = 0) {
            let candidate = DeflateParameters(level: level, memoryLevel: memory, windowBits: window, strategy: strategy)
            if Deflater.accepts(candidate), !list.contains(candidate) { list.append(candidate) }
        }
        for level in levels.prefix(3) { add(level, 8, window) }
        for level in levels.prefix(3) { add(level, shrunkMemory, window) }
        add(6, 9, window)  // Apache's mod_deflate
        for memory in [8, shrunkMemory, 9] { for level in levels { add(level, memory, window) } }
        if format != .zlib { for level in levels { add(level, shrunkMemory, shrunkWindow) } }
        for memory in (1...7).reversed() { for level in levels.prefix(3) { add(level, memory, window) } }
        for strategy in 1...4 { for level in levels.prefix(3) { add(level, 8, window, strategy) } }
        if format != .zlib { for bits in (9...14).reversed() { for level in levels.prefix(3) { add(level, 8, bits) } } }
        self.all = list
    }

    /// FLEVEL as written by zlib for the default strategy.
    private static func zlibLevelGroup(_ level: Int) -> UInt8 {
        switch level {
        case ..<2: 0
        case ..<6: 1
        case 6: 2
        default: 3
        }
    }

    /// nginx reduces window and memory level by one bit each while the content fits into half the window minus 262 bytes.
    private static func shrunk(to contentSize: Int) -> (memory: Int, window: Int) {
        var memory = 8
        var window = 15
        while window > 9, contentSize < 1 << (window - 1) - 262 {
            window -= 1
            memory -= 1
        }
        return (max(memory, 1), window)
    }
}

extension Array {
    fileprivate mutating func moveToFront(where matches: (Element) -> Bool) {
        guard let index = self.firstIndex(where: matches) else { return }
        self.insert(self.remove(at: index), at: 0)
    }
}

/// Finds where a producer flushed its compressor. A flush leaves an empty stored block (RFC 1951, 3.2.4), which ends in 00 00 FF FF.
///
/// Takes a stream that is known to be complete; does not know its compressor.
enum FlushPoints {
    /// `0000ffff`: LEN and NLEN of an empty block.
    private static let mark: [UInt8] = [0x00, 0x00, 0xff, 0xff]

    /// The content bytes from each flush to the next, for `DeflateParameters.flushes`; nil if there are more than the limit.
    static func find(in wire: UnsafeRawBufferPointer, format: DeflateFormat) -> [Int]? {
        var flushes: [Int] = []
        guard var next = self.endOfMark(in: wire, from: 0) else { return flushes }
        // The limits were already checked when the body was first inflated.
        var inflater = Inflater(format: format, limits: InflateLimits(output: .max, ratio: .max))
        var position = 0
        var before = 0
        while inflater.push(UnsafeRawBufferPointer(rebasing: wire[position..<next]), deliver: { _ in }) == .needsMore {
            position = next
            // The four bytes can occur by chance.
            if inflater.isAfterBlock {
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
            // How far ahead the mark can begin, by the fourth byte: FF may be its third byte, 00 its second, and any other is not part of
            // it.
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
