internal import CZlib
public import CassetteModel

/// Decodes one coded stream: takes pieces of any size, and delivers pieces of decoded bytes.
///
/// Does not keep what it has delivered, and stops after the first stream or gzip member. No input traps: problems are reported as a result.
public struct Inflater: ~Copyable {
    private enum Stage { case header, blocks, trailer }

    /// The most decoded bytes delivered at once.
    public static let pieceSize = 32 << 10
    private static let gzipTrailerSize = 8

    public private(set) var format: DeflateFormat
    public private(set) var limits: InflateLimits
    public private(set) var status: InflateStatus = .needsMore
    /// The header of a gzip member, once it is complete.
    public private(set) var header: GzipHeader?
    /// How many bytes of input belong to the stream so far, including wrapping.
    public private(set) var consumed = 0
    /// Decoded bytes delivered so far.
    public private(set) var produced = 0

    /// Whether the input so far ends after a block, on a byte boundary, as after a compressor's flush.
    ///
    /// zlib.h: `data_type` has 128 after a block, 64 within the last one, and the number of bits left over.
    var isAfterBlock: Bool { self.stage == .blocks && self.status == .needsMore && self.stream.pointee.data_type & 0xff == 128 }

    /// zlib's state points back to this, so it must not move: it cannot be a plain stored property.
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutablePointer<UInt8>
    private let isOpen: Bool
    private var stage = Stage.blocks
    /// Header or trailer bytes that arrived in pieces.
    private var pending: [UInt8] = []
    private var checksum: UInt = 0

    public init(format: DeflateFormat, limits: InflateLimits = InflateLimits()) {
        self.format = format
        self.limits = limits
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        self.output = .allocate(capacity: Self.pieceSize)
        // Z_OK, Z_MEM_ERROR, Z_VERSION_ERROR, Z_STREAM_ERROR
        self.isOpen = wiretape_inflateInit2(self.stream, Self.windowBits(of: format)) == Z_OK
        self.start()
    }

    deinit {
        if self.isOpen { inflateEnd(self.stream) }
        self.output.deallocate()
        self.stream.deallocate()
    }

    /// Begins a new stream and reuses the memory of the old one.
    public mutating func restart(format: DeflateFormat, limits: InflateLimits = InflateLimits()) {
        self.format = format
        self.limits = limits
        if self.isOpen { inflateReset2(self.stream, Self.windowBits(of: format)) }
        self.start()
    }

    private mutating func start() {
        self.status = .needsMore
        self.header = nil
        self.consumed = 0
        self.produced = 0
        self.stage = self.format == .gzip ? .header : .blocks
        self.pending.removeAll(keepingCapacity: true)
        self.checksum = crc32(0, nil, 0)
        if !self.isOpen { self.fail(.outOfMemory, "out of memory for inflating") }
    }

    /// Negative means without wrapping. The gzip wrapping is parsed here, since zlib does not report its bytes.
    private static func windowBits(of format: DeflateFormat) -> Int32 { format == .zlib ? MAX_WBITS : -MAX_WBITS }

    /// Takes the next piece. After `deliver` has thrown, the inflater must be restarted before it is used again.
    @discardableResult
    public mutating func push(
        _ input: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> InflateStatus {
        var position = 0
        while self.status == .needsMore, position < input.count {
            let rest = UnsafeRawBufferPointer(rebasing: input[position...])
            let taken =
                switch self.stage {
                case .header: self.takeHeader(rest)
                case .blocks: try self.takeBlocks(rest, deliver)
                case .trailer: self.takeTrailer(rest)
                }
            guard taken > 0 else { break }
            position += taken
        }
        return self.status
    }

    /// Ends the input. A stream that has not ended is truncated.
    @discardableResult
    public mutating func finish() -> InflateStatus {
        if self.status == .needsMore {
            let offset = self.consumed + self.pending.count
            self.status = .failed(InflateProblem(.truncated, offset: offset, reason: "\(self.format) stream cut short"))
        }
        return self.status
    }

    private mutating func fail(_ kind: InflateProblem.Kind, _ reason: String, offset: Int? = nil) {
        self.status = .failed(InflateProblem(kind, offset: offset ?? self.consumed, reason: reason))
    }

    private mutating func takeHeader(_ input: UnsafeRawBufferPointer) -> Int {
        let known = self.pending.count
        self.pending.append(contentsOf: input.prefix(GzipHeader.sizeLimit - known))
        switch self.pending.withUnsafeBytes(GzipHeader.parse) {
        case .needsMore:
            return self.pending.count - known
        case .invalid(let problem):
            self.status = .failed(problem)
            return 0
        case .complete(let length):
            self.pending.removeSubrange(length...)
            self.header = GzipHeader(bytes: self.pending)
            self.pending.removeAll(keepingCapacity: true)
            self.consumed = length
            self.stage = .blocks
            return length - known
        }
    }

    private mutating func takeBlocks(
        _ input: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Int {
        // zlib counts in 32 bits; longer input is left for the next round.
        let length = min(input.count, 1 << 30)
        self.stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        self.stream.pointee.avail_in = UInt32(length)
        repeat {
            self.stream.pointee.next_out = self.output
            self.stream.pointee.avail_out = UInt32(Self.pieceSize)
            let before = self.stream.pointee.avail_in
            let code = inflate(self.stream, Z_NO_FLUSH)
            self.consumed += Int(before - self.stream.pointee.avail_in)
            try self.hand(over: Self.pieceSize - Int(self.stream.pointee.avail_out), deliver)
            guard self.status == .needsMore else { break }
            switch code {
            case Z_OK, Z_BUF_ERROR:  // Z_BUF_ERROR: nothing to do without more input
                continue
            case Z_STREAM_END:
                if self.format == .gzip { self.stage = .trailer } else { self.status = .ended }
                return length - Int(self.stream.pointee.avail_in)
            case Z_NEED_DICT:
                self.fail(.unsupported, "preset dictionary required")
            case Z_MEM_ERROR:
                self.fail(.outOfMemory, "out of memory for inflating")
            default:  // Z_DATA_ERROR, Z_STREAM_ERROR
                self.fail(.corrupt, self.stream.pointee.msg.map { String(cString: $0) } ?? "corrupt deflate stream")
            }
        } while self.status == .needsMore && (self.stream.pointee.avail_in > 0 || self.stream.pointee.avail_out == 0)
        return length - Int(self.stream.pointee.avail_in)
    }

    private mutating func hand(over count: Int, _ deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        guard count > 0 else { return }
        let total = self.produced + count
        if let problem = self.limits.problem(produced: total, consumed: self.consumed) {
            self.status = .failed(problem)
            return
        }
        if self.format == .gzip { self.checksum = crc32(self.checksum, self.output, UInt32(count)) }
        self.produced = total
        try deliver(UnsafeRawBufferPointer(start: self.output, count: count))
    }

    private mutating func takeTrailer(_ input: UnsafeRawBufferPointer) -> Int {
        let taken = min(input.count, Self.gzipTrailerSize - self.pending.count)
        self.pending.append(contentsOf: input.prefix(taken))
        guard self.pending.count == Self.gzipTrailerSize else { return taken }
        let trailer = self.pending.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
        self.pending.removeAll(keepingCapacity: true)
        if UInt32(truncatingIfNeeded: trailer) != UInt32(truncatingIfNeeded: self.checksum) {
            self.fail(.wrongChecksum, "wrong gzip checksum")
        } else if UInt32(truncatingIfNeeded: trailer >> 32) != UInt32(truncatingIfNeeded: self.produced) {
            self.fail(.wrongLength, "wrong gzip length", offset: self.consumed + 4)
        } else {
            self.status = .ended
        }
        self.consumed += Self.gzipTrailerSize
        return taken
    }
}

/// The progress of an inflater.
public enum InflateStatus: Sendable, Hashable {
    case needsMore
    /// The stream is complete and its checks are correct. Input after it was not touched.
    case ended
    case failed(InflateProblem)
}

/// Why a coded body could not be decoded, and where.
public struct InflateProblem: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The bytes violate the format.
        case corrupt
        /// The input ended before the stream did.
        case truncated
        /// The decoded bytes do not match the trailer.
        case wrongChecksum, wrongLength
        /// More decoded bytes than a limit allows.
        case tooLong, tooDense
        /// A part of the format that HTTP does not use, such as a preset dictionary, or an endless header.
        case unsupported
        case outOfMemory
    }

    public var kind: Kind
    /// How many bytes of input precede the problem.
    public var offset: Int
    /// In plain words, without the offset.
    public var reason: String

    public init(_ kind: Kind, offset: Int, reason: String) {
        self.kind = kind
        self.offset = offset
        self.reason = reason
    }

    public var description: String { "\(self.reason) at offset \(self.offset)" }
}

/// Limits on inflating, so that a small body cannot become a huge one.
public struct InflateLimits: Sendable, Hashable {
    /// The most decoded bytes if they are collected in memory: a quarter of the 256 MiB that the proxy may use at its peak.
    public static let memoryOutput = 64 << 20
    /// The most decoded bytes per coded byte. Deflate cannot exceed 1032 (258 bytes for two bits); text stays below 100.
    public static let ratio = 1000
    /// Up to this many decoded bytes, the ratio is ignored: a small page of blanks is not a bomb.
    public static let ratioFloor = 1 << 20

    public var output: Int
    public var ratio: Int

    public init(output: Int = Self.memoryOutput, ratio: Int = Self.ratio) {
        self.output = output
        self.ratio = ratio
    }

    /// For decoded bytes that go to a file: 64 MiB or 100 times the coded size, the most that a body may cost beyond the bytes sent.
    public static func file(codedSize: Int) -> InflateLimits {
        let (product, overflow) = codedSize.multipliedReportingOverflow(by: 100)
        return InflateLimits(output: overflow ? .max : max(Self.memoryOutput, product))
    }

    /// For decoded bytes that are only searched: 1 GiB, which takes a few seconds, or 100 times the coded size. Content is searched even if
    /// it is denser than any text.
    package static func search(codedSize: Int) -> InflateLimits {
        InflateLimits(output: max(1 << 30, self.file(codedSize: codedSize).output), ratio: .max)
    }

    /// The problem with `produced` bytes from `consumed` bytes, if there is one.
    func problem(produced: Int, consumed: Int) -> InflateProblem? {
        guard produced <= self.output else {
            return InflateProblem(.tooLong, offset: consumed, reason: "decoded body longer than \(self.output) bytes")
        }
        guard produced <= Self.ratioFloor || produced / max(consumed, 1) <= self.ratio else {
            return InflateProblem(
                .tooDense, offset: consumed, reason: "decoded body more than \(self.ratio) times as long as the coded one")
        }
        return nil
    }
}

/// The wrapping of a deflate stream.
public enum DeflateFormat: Sendable, Hashable, CaseIterable {
    /// RFC 1952: header, stream, CRC-32 and length.
    case gzip
    /// RFC 1950: two bytes, stream, Adler-32.
    case zlib
    /// RFC 1951: only the stream.
    case raw

    /// The file extension that tools use for the format.
    public var fileExtension: String {
        switch self {
        case .gzip: "gz"
        case .zlib: "zz"
        case .raw: "deflate"
        }
    }
}
