internal import CZlib
public import CassetteModel

/// Encodes gzip or deflate: takes pieces of content, and delivers pieces of the coded stream.
///
/// Gives the same bytes for the same content, parameters and zlib, however the content is split into pieces (except at level 0).
public struct Deflater: ~Copyable {
    /// The most coded bytes delivered at once.
    public static let pieceSize = 32 << 10

    public private(set) var parameters: DeflateParameters
    public let format: DeflateFormat

    /// zlib's state points back to this, so it must not move: it cannot be a plain stored property.
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutablePointer<UInt8>
    private var header: GzipHeader?
    private var checksum: UInt
    private var length: UInt32 = 0
    /// The index of the next flush, and the number of content bytes before it.
    private var nextFlush = 0
    private var beforeFlush = 0

    /// Nil for parameters that zlib does not accept, and if memory cannot be allocated.
    public init?(_ parameters: DeflateParameters, format: DeflateFormat, header: GzipHeader = .plain) {
        guard Self.accepts(parameters) else { return nil }
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let bits = Int32(parameters.windowBits)
        // Z_OK, Z_MEM_ERROR, Z_VERSION_ERROR, Z_STREAM_ERROR
        let code = wiretape_deflateInit2(
            stream, Int32(parameters.level), format == .zlib ? bits : -bits, Int32(parameters.memoryLevel), Int32(parameters.strategy))
        guard code == Z_OK else {
            stream.deallocate()
            return nil
        }
        self.parameters = parameters
        self.format = format
        self.stream = stream
        self.output = .allocate(capacity: Self.pieceSize)
        self.header = format == .gzip ? header : nil
        self.checksum = crc32(0, nil, 0)
        self.beforeFlush = parameters.flushes.first ?? .max
    }

    deinit {
        deflateEnd(self.stream)
        self.output.deallocate()
        self.stream.deallocate()
    }

    /// The ranges of zlib's deflateInit2. zlib changes a window of 8 bits, and rejects it for raw streams.
    public static func accepts(_ parameters: DeflateParameters) -> Bool {
        (0...9).contains(parameters.level) && (1...9).contains(parameters.memoryLevel) && (9...15).contains(parameters.windowBits)
            && (0...4).contains(parameters.strategy) && parameters.flushes.allSatisfy { $0 >= 0 }
    }

    /// Encodes one whole content in memory; nil as for `init`.
    public static func encode(
        _ content: UnsafeRawBufferPointer, _ parameters: DeflateParameters, format: DeflateFormat, header: GzipHeader = .plain
    ) -> [UInt8]? {
        guard var deflater = Deflater(parameters, format: format, header: header) else { return nil }
        var coded: [UInt8] = []
        deflater.push(content, isLast: true) { piece in
            coded.append(contentsOf: piece)
            return true
        }
        return coded
    }

    /// Begins a new stream with its own flushes, and reuses the memory of the old one.
    public mutating func restart(header: GzipHeader = .plain, flushes: [Int] = []) {
        deflateReset(self.stream)
        self.parameters.flushes = flushes
        self.nextFlush = 0
        self.beforeFlush = flushes.first ?? .max
        self.header = self.format == .gzip ? header : nil
        self.checksum = crc32(0, nil, 0)
        self.length = 0
    }

    /// Takes the next piece of content. The last one, which may be empty, ends the stream.
    ///
    /// `deliver` returns whether to continue. After false or an error, the deflater must be restarted before it is used again.
    @discardableResult
    public mutating func push(
        _ content: UnsafeRawBufferPointer, isLast: Bool, deliver: (UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Bool {
        if let header = self.header {
            self.header = nil
            guard try header.bytes.withUnsafeBytes(deliver) else { return false }
        }
        var position = 0
        repeat {
            // zlib counts in 32 bits.
            let end = position + min(content.count - position, self.beforeFlush, 1 << 30)
            let piece = UnsafeRawBufferPointer(rebasing: content[position..<end])
            let isFlush = end - position == self.beforeFlush
            let flush = isFlush ? Z_SYNC_FLUSH : isLast && end == content.count ? Z_FINISH : Z_NO_FLUSH
            guard try self.code(piece, flush, deliver) else { return false }
            if isFlush { self.takeNextFlush() } else { self.beforeFlush -= end - position }
            position = end
            if isFlush, isLast, end == content.count, self.beforeFlush > 0 {
                guard try self.code(UnsafeRawBufferPointer(start: nil, count: 0), Z_FINISH, deliver) else { return false }
            }
        } while position < content.count || self.beforeFlush == 0
        guard isLast, self.format == .gzip else { return true }
        var trailer = (UInt64(self.length) << 32 | UInt64(self.checksum)).littleEndian
        return try withUnsafeBytes(of: &trailer, deliver)
    }

    private mutating func takeNextFlush() {
        self.nextFlush += 1
        let flushes = self.parameters.flushes
        self.beforeFlush = self.nextFlush < flushes.count ? flushes[self.nextFlush] : .max
    }

    private mutating func code(
        _ content: UnsafeRawBufferPointer, _ flush: Int32, _ deliver: (UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Bool {
        let bytes = content.bindMemory(to: UInt8.self).baseAddress
        if self.format == .gzip, content.count > 0 {
            self.checksum = crc32(self.checksum, bytes, UInt32(content.count))
            self.length &+= UInt32(content.count)
        }
        self.stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes)
        self.stream.pointee.avail_in = UInt32(content.count)
        repeat {
            self.stream.pointee.next_out = self.output
            self.stream.pointee.avail_out = UInt32(Self.pieceSize)
            // Z_OK, Z_STREAM_END, Z_BUF_ERROR (nothing left to do). Z_STREAM_ERROR is impossible for an open stream.
            let code = deflate(self.stream, flush)
            let count = Self.pieceSize - Int(self.stream.pointee.avail_out)
            if count > 0, try !deliver(UnsafeRawBufferPointer(start: self.output, count: count)) { return false }
            guard code == Z_OK else { break }
        } while self.stream.pointee.avail_out == 0 || flush == Z_FINISH
        return true
    }
}

/// Encodes gzip as a stream of several members, each with its part of the content.
///
/// Edited content is split at the recorded places. The last member takes the rest, which may be empty.
struct MembersDeflater: ~Copyable {
    private let members: [GzipMember]
    private var index = 0
    /// How many more content bytes the current member takes; the last member takes all.
    private var room: Int
    private var deflater: Deflater

    /// Nil for parameters that zlib does not accept, for an empty list of members, and if memory cannot be allocated.
    init?(_ members: [GzipMember]) {
        guard members.allSatisfy({ Deflater.accepts($0.parameters) && ($0.size ?? 0) >= 0 }), let first = members.first,
            let deflater = Deflater(first.parameters, format: .gzip, header: first.header)
        else { return nil }
        self.members = members
        self.room = first.size ?? .max
        self.deflater = deflater
    }

    /// Takes the next piece of content. The last one, which may be empty, ends the stream. Returns false if memory cannot be allocated.
    mutating func push(
        _ content: UnsafeRawBufferPointer, isLast: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        var position = 0
        while content.count - position >= self.room, self.index + 1 < self.members.count {
            let end = position + self.room
            try self.put(content[position..<end], isLast: true, deliver)
            position = end
            guard self.begin(self.index + 1) else { return false }
        }
        if self.index + 1 < self.members.count { self.room -= content.count - position }
        try self.put(content[position...], isLast: isLast, deliver)
        guard isLast else { return true }
        while self.index + 1 < self.members.count {
            guard self.begin(self.index + 1) else { return false }
            try self.put(content[content.endIndex...], isLast: true, deliver)
        }
        return true
    }

    private mutating func begin(_ index: Int) -> Bool {
        let member = self.members[index]
        guard let deflater = Deflater(member.parameters, format: .gzip, header: member.header) else { return false }
        self.deflater = deflater
        self.index = index
        self.room = member.size ?? .max
        return true
    }

    private mutating func put(
        _ content: Slice<UnsafeRawBufferPointer>, isLast: Bool, _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        try self.deflater.push(UnsafeRawBufferPointer(rebasing: content), isLast: isLast) { piece in
            try deliver(piece)
            return true
        }
    }
}
