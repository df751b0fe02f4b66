internal import TapeBytes

/// Takes a multipart body apart as it comes in (RFC 2046, 5.1), however it is cut into pieces.
///
/// Judges nothing and refuses nothing: whatever the octets are, the events put together give them back. Parts within parts are data to it.
/// Keeps no more than the beginning of a delimiter or one header section.
public struct MultipartParser: ~Copyable {
    private enum State { case preamble, headers, data, epilogue, opaque(MultipartLimit) }

    public let boundary: MultipartBoundary
    private let limits: MultipartLimits
    private var state = State.preamble
    /// Octets that more of the body must decide about.
    private var held: [UInt8] = []
    /// Octets of the body that events have told of.
    private var offset = 0
    /// True until the preamble or a part's data has its first octet: a boundary there stands at the start of a line.
    private var isSegmentStart = true
    private var parts = 0
    private var headers = PartHeaderScanner()
    /// Set where the state has changed without an octet: the octets at hand are to be looked at again.
    private var hasTurned = false

    /// Octets put behind the held ones to decide about them: more than the longest delimiter with the field that may follow it.
    static let window = 512

    public init(boundary: MultipartBoundary, limits: MultipartLimits = MultipartLimits()) {
        self.boundary = boundary
        self.limits = limits
    }

    /// Takes the next piece. Unusable after `deliver` has thrown.
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

    /// The body has ended: tells of what was held back.
    public mutating func finish(deliver: (MultipartEvent) throws -> Void) rethrows {
        _ = try self.processHeld(isFinal: true, deliver: deliver)
        self.held = []
    }

    private mutating func processHeld(isFinal: Bool, deliver: (MultipartEvent) throws -> Void) rethrows -> Int {
        var octets: [UInt8] = []
        swap(&octets, &self.held)
        defer { swap(&octets, &self.held) }
        return try octets.withUnsafeBytes { try self.process($0, isFinal: isFinal, deliver: deliver) }
    }

    /// Returns how many octets were told of; the others must be shown again with more behind them.
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
            case .epilogue: try self.tell(.epilogue, bytes, &position, to: bytes.count, deliver)
            case .opaque(let limit): try self.tell(.opaque(limit), bytes, &position, to: bytes.count, deliver)
            }
            if position == before, !self.hasTurned { break }
            self.hasTurned = false
        }
        return position
    }

    private mutating func tell(
        _ kind: MultipartEvent.Kind, _ bytes: UnsafeRawBufferPointer, _ position: inout Int, to end: Int,
        _ deliver: (MultipartEvent) throws -> Void
    ) rethrows {
        guard position < end else { return }
        let event = MultipartEvent(kind: kind, offset: self.offset, octets: UnsafeRawBufferPointer(rebasing: bytes[position..<end]))
        self.offset += end - position
        position = end
        self.isSegmentStart = false
        try deliver(event)
    }

    /// Looks for the delimiter that ends a preamble or a part's data.
    private mutating func search(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int, isFinal: Bool, kind: MultipartEvent.Kind,
        deliver: (MultipartEvent) throws -> Void
    ) rethrows {
        guard let found = self.boundary.find(in: bytes, from: position) else {
            let end = isFinal ? bytes.count : self.boundary.beginning(atEndOf: bytes, from: position)
            return try self.tell(kind, bytes, &position, to: end, deliver)
        }
        let behind = found + self.boundary.dashed.count
        let lineEnd = LineEnd.before(found, from: position, in: bytes)
        let isLineStart = lineEnd != .none || (found == position && self.isSegmentStart)
        switch DelimiterTail.judge(bytes, at: behind, lineEndBefore: isLineStart ? lineEnd : nil, isFinal: isFinal) {
        case .delimiter(let delimiter, let end):
            try self.tell(kind, bytes, &position, to: found - lineEnd.count, deliver)
            try self.delimit(delimiter, bytes, &position, to: end, deliver)
        case .data:
            try self.tell(kind, bytes, &position, to: found, deliver)
            let resembling: MultipartEvent.Kind = kind == .preamble ? .preamble : .data(resemblesDelimiter: true)
            try self.tell(resembling, bytes, &position, to: behind, deliver)
        case .needsMore:
            try self.tell(kind, bytes, &position, to: found - lineEnd.count, deliver)
        }
    }

    private mutating func scanHeaders(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int, isFinal: Bool, deliver: (MultipartEvent) throws -> Void
    ) rethrows {
        switch self.headers.scan(bytes, from: position, isFinal: isFinal, boundary: self.boundary, limits: self.limits) {
        case .needsMore: break
        case .data(let start):
            try self.tell(.headers, bytes, &position, to: start, deliver)
            self.turn(to: .data)
            self.isSegmentStart = true
        case .delimiter(let delimiter, let start, let end):
            try self.tell(.headers, bytes, &position, to: start, deliver)
            try self.delimit(delimiter, bytes, &position, to: end, deliver)
        case .bodyEnd: try self.tell(.headers, bytes, &position, to: bytes.count, deliver)
        case .tooMuch(let limit): self.turn(to: .opaque(limit))
        }
    }

    private mutating func delimit(
        _ delimiter: MultipartDelimiter, _ bytes: UnsafeRawBufferPointer, _ position: inout Int, to end: Int,
        _ deliver: (MultipartEvent) throws -> Void
    ) rethrows {
        guard delimiter.isClosing || self.parts < self.limits.parts else { return self.turn(to: .opaque(.parts)) }
        try self.tell(.delimiter(delimiter), bytes, &position, to: end, deliver)
        guard !delimiter.isClosing else { return self.turn(to: .epilogue) }
        self.parts += 1
        self.headers = PartHeaderScanner()
        self.turn(to: .headers)
    }

    private mutating func turn(to state: State) {
        self.state = state
        self.hasTurned = true
    }
}

/// Finds the end of one part's header section: an empty line, a delimiter, or octets that no field line can have.
///
/// Remembers how far it has looked, so that a section that comes octet by octet is not read again and again.
struct PartHeaderScanner {
    enum Result {
        case needsMore
        /// The part's data begins there.
        case data(start: Int)
        /// The section ends there with a delimiter, without an empty line.
        case delimiter(MultipartDelimiter, start: Int, end: Int)
        /// The body ends within the section.
        case bodyEnd
        case tooMuch(MultipartLimit)
    }

    private var lines = 0
    /// Octets of these lines, and of the line behind them that hold no line feed.
    private var lineStart = 0
    private var searched = 0

    /// `start` is where the section begins: the same octets at every call, with more behind them.
    mutating func scan(
        _ bytes: UnsafeRawBufferPointer, from start: Int, isFinal: Bool, boundary: MultipartBoundary, limits: MultipartLimits
    ) -> Result {
        while start + self.lineStart < bytes.count {
            let line = start + self.lineStart
            let feed = ByteScan.index(of: 10, in: bytes, from: line + self.searched)
            let isWhole = feed < bytes.count
            self.searched = feed - line
            // Judged by numbers that do not depend on how the body is cut: where the line starts, and a longest line.
            let isTooLong = feed - start > limits.headerSection + MultipartParser.window
            guard isWhole || isFinal || isTooLong else { return .needsMore }

            if boundary.stands(at: line, in: bytes),
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

    /// False for a line with a control octet or one outside ASCII where a field's name would be: the empty line was forgotten.
    private static func mayBeField(_ line: UnsafeRawBufferPointer) -> Bool {
        for octet in line.prefix(MultipartParser.window) {
            if octet == UInt8(ascii: ":") { return true }
            if octet < 32 && octet != 9 || octet >= 127 { return false }
        }
        return true
    }
}

/// Judges what stands behind two hyphens and a boundary: only some continuations make it a delimiter.
///
/// RFC 2046, 5.1.1 wants a delimiter on a line of its own. Two slips of hand-written clients are read as well: a delimiter with no line end
/// in front, where the body ends behind it or a part's first field follows, and one with no line end behind, where that field follows at once.
enum DelimiterTail {
    case delimiter(MultipartDelimiter, end: Int)
    /// Not a delimiter: another boundary that begins alike, or data.
    case data
    /// More octets decide.
    case needsMore

    /// What the first field of a part's header section begins with: all that RFC 7578 and RFC 2046 name.
    private static let field: StaticString = "content-"

    /// - Parameters:
    ///   - offset: behind the boundary.
    ///   - lineEndBefore: of the boundary's line; nil where it stands within a line.
    ///   - isFinal: whether the body ends with `bytes`.
    static func judge(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, lineEndBefore: LineEnd?, isFinal: Bool
    ) -> DelimiterTail {
        let end = bytes.count
        let undecided: DelimiterTail = isFinal ? .data : .needsMore
        var index = offset
        var delimiter = MultipartDelimiter(lineEndBefore: lineEndBefore ?? .none, lineEndAfter: .none)
        if index < end, bytes[index] == 45 {
            guard index + 1 < end else { return undecided }
            guard bytes[index + 1] == 45 else { return .data }
            delimiter.isClosing = true
            index += 2
        }
        let padding = index
        while index < end, bytes[index] == 32 || bytes[index] == 9 { index += 1 }
        guard index - padding <= MultipartLimits.padding else { return .data }
        if index > padding { delimiter.padding = Array(bytes[padding..<index]) }

        if index < end, bytes[index] == 10 {
            delimiter.lineEndAfter = .lineFeed
            index += 1
        } else if index < end, bytes[index] == 13 {
            if index + 1 < end {
                guard bytes[index + 1] == 10 else { return .data }
                delimiter.lineEndAfter = .carriageReturnLineFeed
                index += 2
            } else if !isFinal {
                return .needsMore
            } else {
                return delimiter.isClosing ? .delimiter(delimiter, end: index) : .data
            }
        }
        let hasEnded = index == end
        if lineEndBefore != nil, delimiter.lineEndAfter != .none { return .delimiter(delimiter, end: index) }
        if delimiter.isClosing {
            guard hasEnded else { return .data }
            return isFinal ? .delimiter(delimiter, end: index) : .needsMore
        }
        if hasEnded {
            guard isFinal else { return .needsMore }
            return lineEndBefore != nil ? .delimiter(delimiter, end: index) : .data
        }
        // One slip at a time.
        guard lineEndBefore != nil ? delimiter.padding.isEmpty : delimiter.lineEndAfter != .none else { return .data }
        for position in 0..<self.field.utf8CodeUnitCount {
            guard index + position < end else { return undecided }
            guard bytes[index + position] | 32 == self.field.utf8Start[position] else { return .data }
        }
        return .delimiter(delimiter, end: index)
    }
}
