extension PartContent {
    /// Octets it stands for.
    public var size: Int {
        if case .file(let sidecar) = self { return sidecar.size }
        return self.bodyContent.inlineOctets?.count ?? 0
    }
}

extension MultipartBody<PartContent> {
    /// Octets of the whole body; `Int.max` where a cassette claims more of its files.
    public var size: Int {
        var size = 0
        func add(_ count: Int) {
            let (sum, isTooLarge) = size.addingReportingOverflow(count)
            size = isTooLarge ? .max : sum
        }
        MultipartSerializer.write(self, to: { add($0.count) }, data: { add($0.size) })
        return size
    }

    /// The body with the octets of its parts, to be read piece by piece: those in files are not loaded.
    package func sources(file: (Sidecar) throws -> OctetSource) rethrows -> MultipartBody<OctetSource> {
        try self.mapData { content in
            if case .file(let sidecar) = content { return try file(sidecar) }
            return OctetSource(content.bodyContent.inlineOctets ?? [])
        }
    }

    public func source(file: (Sidecar) throws -> OctetSource) rethrows -> OctetSource {
        try self.sources(file: file).source
    }
}

extension MultipartBody<OctetSource> {
    /// All octets in order.
    package var source: OctetSource {
        var sources: [OctetSource] = []
        var octets: [UInt8] = []
        MultipartSerializer.write(
            self, to: { octets.append(contentsOf: $0) },
            data: { data in
                if let memory = data.memory {
                    octets.append(contentsOf: memory)
                } else {
                    sources.append(OctetSource(octets))
                    octets = []
                    sources.append(data)
                }
            })
        sources.append(OctetSource(octets))
        return OctetSource(joining: sources)
    }
}

/// Writes a multipart body's octets, piece by piece.
///
/// Does not know where the data of parts is: `data` writes it.
public enum MultipartSerializer {
    public static func write<Data>(
        _ body: MultipartBody<Data>, to output: (UnsafeRawBufferPointer) throws -> Void, data: (Data) throws -> Void
    ) rethrows {
        try body.preamble.withUnsafeBytes(output)
        for part in body.parts {
            try part.delimiter.octets(boundary: body.boundary).withUnsafeBytes(output)
            try part.headers.octets.withUnsafeBytes(output)
            switch part.content {
            case .data(let content): try data(content)
            case .multipart(let inner): try self.write(inner, to: output, data: data)
            }
        }
        if let closing = body.closing { try closing.octets(boundary: body.boundary).withUnsafeBytes(output) }
        try body.epilogue.withUnsafeBytes(output)
    }

    /// The octets of a body whose data are octets.
    public static func octets(_ body: MultipartBody<[UInt8]>) -> [UInt8] {
        var octets: [UInt8] = []
        self.write(body, to: { octets.append(contentsOf: $0) }, data: { octets.append(contentsOf: $0) })
        return octets
    }

    /// The octets of a body whose data are ranges of `source`; nil where they are not within it.
    public static func octets(_ body: MultipartBody<Range<Int>>, source: UnsafeRawBufferPointer) -> [UInt8]? {
        var octets: [UInt8] = []
        var isInside = true
        self.write(
            body, to: { octets.append(contentsOf: $0) },
            data: { range in
                if range.lowerBound >= 0, range.upperBound <= source.count {
                    octets.append(contentsOf: source[range])
                } else {
                    isInside = false
                }
            })
        return isInside ? octets : nil
    }
}

/// Octets that can be read again and again, a bounded piece at a time: memory, a file, a slice of the spool.
public struct OctetSource {
    /// Octets read at once at most.
    public static let pieceSize = 64 << 10

    public let size: Int
    /// The octets themselves, where the source is memory.
    package let memory: [UInt8]?
    private let readAt: (_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) throws -> Int
    private let rest: () -> Void

    /// - Parameters:
    ///   - rest: closes what reading has opened, until the next read; of many sources, as the parts of a form are, one is open at a time.
    ///   - readAt: fills the buffer from an offset and returns how many octets it put there: at least one before the end, as `pread` does.
    public init(
        size: Int, rest: @escaping () -> Void = {}, readAt: @escaping (_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) throws -> Int
    ) {
        self.size = max(size, 0)
        self.memory = nil
        self.readAt = readAt
        self.rest = rest
    }

    public init(_ octets: [UInt8]) {
        self.size = octets.count
        self.memory = octets
        self.rest = {}
        self.readAt = { offset, buffer in
            let end = min(octets.count, offset + buffer.count)
            guard offset < end else { return 0 }
            octets.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<end])) }
            return end - offset
        }
    }

    /// One source behind the other.
    public init(joining sources: [OctetSource]) {
        let sources = sources.filter { $0.size > 0 }
        guard sources.count > 1 else {
            self = sources.first ?? OctetSource([])
            return
        }
        var ends: [Int] = []
        for source in sources { ends.append((ends.last ?? 0) + source.size) }
        var current = 0
        self.init(size: ends.last ?? 0, rest: { sources[current].rest() }) { [ends] offset, buffer in
            // The first source that ends behind the offset.
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if ends[middle] > offset { high = middle } else { low = middle + 1 }
            }
            guard low < sources.count else { return 0 }
            if low != current { sources[current].rest() }
            current = low
            let start = ends[low] - sources[low].size
            return try sources[low].readAt(offset - start, UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(ends[low] - offset)))
        }
    }

    /// A range of the octets, which must lie within them.
    public subscript(range: Range<Int>) -> OctetSource {
        precondition(range.lowerBound >= 0 && range.upperBound <= self.size)
        if let memory = self.memory { return OctetSource(Array(memory[range])) }
        let readAt = self.readAt
        return OctetSource(size: range.count, rest: self.rest) { offset, buffer in
            try readAt(range.lowerBound + offset, UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(range.count - offset)))
        }
    }

    /// All octets; for sizes that the caller has checked.
    public func load() throws -> [UInt8] {
        if let memory = self.memory { return memory }
        var octets: [UInt8] = []
        octets.reserveCapacity(self.size)
        try self.forEachPiece { octets.append(contentsOf: $0) }
        return octets
    }

    /// The octets in order, in pieces that are valid during the call only.
    public func forEachPiece(from start: Int = 0, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.forEachPiece(
            from: start,
            while: { piece in
                try body(piece)
                return true
            })
    }

    /// As above until `body` answers no. Memory comes as one piece.
    public func forEachPiece(from start: Int = 0, while body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        guard start < self.size else { return }
        if let memory = self.memory {
            _ = try memory.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            return
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(Self.pieceSize, self.size), alignment: 16)
        defer {
            buffer.deallocate()
            self.rest()
        }
        var offset = start
        while offset < self.size {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(self.size - offset))
            try self.read(at: offset, into: piece)
            guard try body(UnsafeRawBufferPointer(piece)) else { return }
            offset += piece.count
        }
    }

    /// Fills the whole buffer, or throws.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws {
        var filled = 0
        while filled < buffer.count {
            let count = try self.readAt(offset + filled, UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            guard count > 0, count <= buffer.count - filled else {
                throw CassetteError(
                    .unreadable, "a body ends after \(offset + filled) of its \(self.size) octets: its file was cut since; record it again")
            }
            filled += count
        }
    }
}
