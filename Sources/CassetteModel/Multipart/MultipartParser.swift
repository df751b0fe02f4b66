internal import TapeBytes

/// Splits a multipart body (RFC 2046, 5.1) into events as it arrives, in pieces of any size.
///
/// Accepts any bytes; the bytes of all events together are the body. Does not parse nested parts, which are data. Keeps no more than the
/// beginning of a delimiter or one header section.
public struct MultipartParser: ~Copyable {
    private enum State { case preamble, headers, data, epilogue, opaque(MultipartLimit) }

    public let boundary: MultipartBoundary
    private let limits: MultipartLimits
    private var state = State.preamble
    /// Bytes that cannot be classified before more of the body arrives.
    private var held: [UInt8] = []
    /// How many bytes of the body the events so far have covered.
    private var offset = 0
    /// True before the first byte of the preamble or of a part's data, where a boundary is at the start of a line.
    private var isSegmentStart = true
    private var parts = 0
    /// The line end after the last delimiter.
    private var lineEnd = LineEnd.carriageReturnLineFeed
    private var headers = PartHeaderScanner()
    /// Set if the state has changed without consuming a byte, so that the same bytes are processed again.
    private var hasChangedState = false

    /// How many bytes are appended to the held ones to classify them: more than the longest delimiter with the field that may follow it.
    static let window = 512

    public init(boundary: MultipartBoundary, limits: MultipartLimits = MultipartLimits()) {
        self.boundary = boundary
        self.limits = limits
    }

    /// Takes the next piece. The parser must not be used after `deliver` has thrown.
    public mutating func push(_ bytes: UnsafeRawBufferPointer, deliver: (MultipartEvent) throws -> Void) rethrows {
        var position = 0
        while !self.held.isEmpty {
            guard position < bytes.count else { return }
            let before = self.held.count
            let next = min(bytes.count, position + Self.window)
            self.held.append(contentsOf: bytes[position..<next])
            let consumed = try self.processHeld(isFinal: false, deliver: deliver)
            if consumed >= before {
                position += consumed - before
                self.held.removeAll(keepingCapacity: true)
            } else {
                position = next
                self.held.removeFirst(consumed)
            }
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
        let consumed = try self.process(rest, isFinal: false, deliver: deliver)
        if consumed < rest.count { self.held.append(contentsOf: rest[consumed...]) }
    }

    /// Ends the body and delivers the held bytes.
    public mutating func finish(deliver: (MultipartEvent) throws -> Void) rethrows {
        _ = try self.processHeld(isFinal: true, deliver: deliver)
        self.held = []
    }

    private mutating func processHeld(isFinal: Bool, deliver: (MultipartEvent) throws -> Void) rethrows -> Int {
        var bytes: [UInt8] = []
        swap(&bytes, &self.held)
        defer { swap(&bytes, &self.held) }
        return try bytes.withUnsafeBytes { try self.process($0, isFinal: isFinal, deliver: deliver) }
    }

    /// Returns how many bytes were delivered. The caller passes the rest again, together with the following ones.
    private mutating func process(
        _ bytes: UnsafeRawBufferPointer, isFinal: Bool, deliver: (MultipartEvent) throws -> Void
    ) rethrows -> Int {
        var position = 0
        while position < bytes.count {
            let before = position
            switch self.state {
            case .preamble: try self.search(bytes, &position, isFinal: isFinal, kind: .preamble, deliver: deliver)
            case .data:
                try self.search(bytes, &position, isFinal: isFinal, kind: .data(resemblesDelimiter: false), deliver: deliver)
            case .headers: try self.scanHeaders(bytes, &position, isFinal: isFinal, deliver: deliver)
            case .epilogue: try self.report(.epilogue, bytes, &position, to: bytes.count, deliver)
            case .opaque(let limit): try self.report(.opaque(limit), bytes, &position, to: bytes.count, deliver)
            }
            if position == before, !self.hasChangedState { break }
            self.hasChangedState = false
        }
        return position
    }

    private mutating func report(
        _ kind: MultipartEvent.Kind, _ bytes: UnsafeRawBufferPointer, _ position: inout Int, to end: Int,
        _ deliver: (MultipartEvent) throws -> Void
    ) rethrows {
        guard position < end else { return }
        let event = MultipartEvent(kind: kind, offset: self.offset, bytes: UnsafeRawBufferPointer(rebasing: bytes[position..<end]))
        self.offset += end - position
        position = end
        self.isSegmentStart = false
        try deliver(event)
    }

    /// Finds the delimiter that ends the preamble or a part's data.
    private mutating func search(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int, isFinal: Bool, kind: MultipartEvent.Kind,
        deliver: (MultipartEvent) throws -> Void
    ) rethrows {
        guard let found = self.boundary.find(in: bytes, from: position) else {
            guard isFinal else {
                return try self.report(kind, bytes, &position, to: self.boundary.beginning(atEndOf: bytes, from: position), deliver)
            }
            let lineEnd = self.lastLineEnd(bytes, from: position)
            try self.report(kind, bytes, &position, to: bytes.count - lineEnd.count, deliver)
            return try self.report(.epilogue, bytes, &position, to: bytes.count, deliver)
        }
        let end = found + self.boundary.dashed.count
        let lineEnd = LineEnd.before(found, from: position, in: bytes)
        let isLineStart = lineEnd != .none || (found == position && self.isSegmentStart)
        switch DelimiterTail.judge(bytes, at: end, lineEndBefore: isLineStart ? lineEnd : nil, isFinal: isFinal) {
        case .delimiter(let delimiter, let end):
            try self.report(kind, bytes, &position, to: found - lineEnd.count, deliver)
            try self.delimit(delimiter, bytes, &position, to: end, deliver)
        case .data:
            try self.report(kind, bytes, &position, to: found, deliver)
            let resembling: MultipartEvent.Kind = kind == .preamble ? .preamble : .data(resemblesDelimiter: true)
            try self.report(resembling, bytes, &position, to: end, deliver)
        case .needsMore:
            try self.report(kind, bytes, &position, to: found - lineEnd.count, deliver)
        }
    }

    /// The line end after the last part of a body without a closing delimiter. Senders of endless streams write it with each part, but it
    /// belongs to the delimiter that would follow (RFC 2046, 5.1.1).
    private func lastLineEnd(_ bytes: UnsafeRawBufferPointer, from position: Int) -> LineEnd {
        guard case .data = self.state else { return .none }
        let found = LineEnd.before(bytes.count, from: position, in: bytes)
        // If lines end in CRLF, a lone line feed is data.
        return self.lineEnd == .carriageReturnLineFeed && found == .lineFeed ? .none : found
    }

    private mutating func scanHeaders(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int, isFinal: Bool, deliver: (MultipartEvent) throws -> Void
    ) rethrows {
        switch self.headers.scan(bytes, from: position, isFinal: isFinal, boundary: self.boundary, limits: self.limits) {
        case .needsMore: break
        case .data(let start):
            try self.report(.headers, bytes, &position, to: start, deliver)
            self.change(to: .data)
            self.isSegmentStart = true
        case .delimiter(let delimiter, let start, let end):
            try self.report(.headers, bytes, &position, to: start, deliver)
            try self.delimit(delimiter, bytes, &position, to: end, deliver)
        case .bodyEnd: try self.report(.headers, bytes, &position, to: bytes.count, deliver)
        case .tooMuch(let limit): self.change(to: .opaque(limit))
        }
    }

    private mutating func delimit(
        _ delimiter: MultipartDelimiter, _ bytes: UnsafeRawBufferPointer, _ position: inout Int, to end: Int,
        _ deliver: (MultipartEvent) throws -> Void
    ) rethrows {
        guard delimiter.isClosing || self.parts < self.limits.parts else { return self.change(to: .opaque(.parts)) }
        try self.report(.delimiter(delimiter), bytes, &position, to: end, deliver)
        guard !delimiter.isClosing else { return self.change(to: .epilogue) }
        self.parts += 1
        self.lineEnd = delimiter.lineEndAfter
        self.headers = PartHeaderScanner()
        self.change(to: .headers)
    }

    private mutating func change(to state: State) {
        self.state = state
        self.hasChangedState = true
    }
}

/// A classified range of a multipart body. The ranges of all events together make up the body.
public struct MultipartEvent {
    public enum Kind: Sendable, Hashable {
        /// Bytes before the first delimiter, without its line end.
        case preamble
        case delimiter(MultipartDelimiter)
        /// A part's whole header section, including the empty line that ends it, if there is one.
        case headers
        /// Data of the part. `resemblesDelimiter` is true for bytes that contain the boundary but are not a delimiter.
        case data(resemblesDelimiter: Bool)
        /// Bytes after the closing delimiter; in a body without one, the line end after the last part.
        case epilogue
        /// The rest of a body that exceeded a limit.
        case opaque(MultipartLimit)
    }

    public let kind: Kind
    /// The offset of these bytes in the body.
    public let offset: Int
    /// Valid until `deliver` returns.
    public let bytes: UnsafeRawBufferPointer
}

/// Limits how much of a multipart body is parsed; the rest is passed on as opaque bytes.
///
/// Does not limit the size of parts, whose data is never kept.
public struct MultipartLimits: Sendable, Hashable {
    /// The parts of one body. Go (`multipartmaxparts`) and Werkzeug (`max_form_parts`) stop at 1,000, but a recorder must also show what
    /// they refuse.
    public var parts = 100_000
    /// The size of one part's header section including all line ends, in bytes: as much as a message's header section may have.
    /// python-multipart allows 4 KiB per field.
    public var headerSection = 64 * 1024
    /// The lines of one part's header section: as many as a message may have. python-multipart allows 8, Go 10,000.
    public var headerLines = 128
    /// The size of all header sections of one body in bytes, if they are collected: 160 for each of 100,000 parts.
    public var allHeaderSections = 16 << 20
    /// The bytes before the first delimiter and after the closing one, if they are collected. Mail programs put a sentence there.
    public var surroundings = 64 * 1024
    /// Levels of nested multiparts. Mail has three (mixed, related, alternative); forms have at most two (RFC 7578, 4.3).
    public var depth = 8

    /// White space after a boundary, in bytes. Composers must not write any (RFC 2046, 5.1.1), and a line of a relay stays within 78
    /// characters (RFC 5322, 2.1.1).
    static let padding = 78

    public init() {}
}

/// The limit that a multipart body exceeded.
public enum MultipartLimit: Sendable, Hashable {
    case parts, headerSection, headerLines
}

/// Finds the end of one part's header section: an empty line, a delimiter, or bytes that cannot occur in a field line.
///
/// Remembers how far it has searched, so that the time remains linear if a section arrives byte by byte.
struct PartHeaderScanner {
    enum Result {
        case needsMore
        /// The part's data begins at `start`.
        case data(start: Int)
        /// The section ends at `start` with a delimiter, without an empty line.
        case delimiter(MultipartDelimiter, start: Int, end: Int)
        /// The body ends within the section.
        case bodyEnd
        case tooMuch(MultipartLimit)
    }

    private var lines = 0
    /// The size of these lines in bytes.
    private var lineStart = 0
    /// How many bytes of the next line were searched without finding a line feed.
    private var searched = 0

    /// `start` is the beginning of the section. Each call must pass the same bytes, followed by more.
    mutating func scan(
        _ bytes: UnsafeRawBufferPointer, from start: Int, isFinal: Bool, boundary: MultipartBoundary, limits: MultipartLimits
    ) -> Result {
        while start + self.lineStart < bytes.count {
            let line = start + self.lineStart
            let feed = ByteScan.index(of: 10, in: bytes, from: line + self.searched)
            let isWhole = feed < bytes.count
            self.searched = feed - line
            // This condition does not depend on how the body is split into pieces.
            let isTooLong = feed - start > limits.headerSection + MultipartParser.window
            guard isWhole || isFinal || isTooLong else { return .needsMore }

            if boundary.occurs(at: line, in: bytes),
                case .delimiter(let delimiter, let end) = DelimiterTail.judge(
                    bytes, at: line + boundary.dashed.count, lineEndBefore: LineEnd.none, isFinal: isFinal)
            {
                return .delimiter(delimiter, start: line, end: end)
            }
            let content = isWhole && feed > line && bytes[feed - 1] == 13 ? feed - 1 : feed
            if isWhole, content == line { return .data(start: feed + 1) }
            guard Self.mayBeField(UnsafeRawBufferPointer(rebasing: bytes[line..<content])) else { return .data(start: line) }
            guard !isTooLong, self.lineStart <= limits.headerSection else { return .tooMuch(.headerSection) }
            guard self.lines < limits.headerLines else { return .tooMuch(.headerLines) }
            guard isWhole else { return .bodyEnd }
            self.lines += 1
            self.lineStart = feed + 1 - start
            self.searched = 0
        }
        return isFinal ? .bodyEnd : .needsMore
    }

    /// False if a control character or non-ASCII byte occurs in place of a field's name: the empty line is missing.
    private static func mayBeField(_ line: UnsafeRawBufferPointer) -> Bool {
        for byte in line.prefix(MultipartParser.window) {
            if byte == UInt8(ascii: ":") { return true }
            if byte < 32 && byte != 9 || byte >= 127 { return false }
        }
        return true
    }
}
