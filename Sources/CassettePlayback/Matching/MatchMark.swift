internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// The mark that replaces every placeholder of a redacted value before requests are compared.
///
/// `{{authorization:1}}` becomes `{{*}}`. Placeholders are numbered per run, so those of a cassette differ from those of a live request. A
/// JSON Web Token or a UUID that replaces another one becomes a mark too, whatever the token's times are. Placeholders in base64 and hex
/// become marks as well, see `CodedMarks`.
public enum MatchMark {
    /// `{{*}}`
    public static let bytes: [UInt8] = Array("{{*}}".utf8)
    /// The longest kind of a placeholder, in bytes.
    static let kindLimit = 64
    /// The longest placeholder in bytes: a token.
    static let longest = Placeholder.lengthLimit

    /// Whether the bytes contain a mark, either literally or in base64 or hex.
    public static func isIn(_ bytes: UnsafeRawBufferPointer) -> Bool { self.first(in: bytes, from: 0) != nil || CodedMarks.areIn(bytes) }

    /// The offset of the first mark from `start`.
    static func first(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var offset = start
        while bytes.count - offset >= 5 {
            offset = ByteScan.index(of: UInt8(ascii: "{"), in: bytes, from: offset)
            if bytes.count - offset >= 5, self.bytes.elementsEqual(bytes[offset..<offset + 5]) { return offset }
            offset += 1
        }
        return nil
    }

    /// Replaces placeholders by marks in place; a mark is shorter than any placeholder. Returns the number of bytes that remain.
    static func replacePlaceholders(in buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = self.replacePlain(in: buffer)
        let rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        guard let coded = CodedMarks.replaced(in: rest) else { return count }
        // Marks are shorter than placeholders in base64 and hex as well.
        precondition(coded.count <= count)
        buffer.copyBytes(from: coded)
        return coded.count
    }

    private static func replacePlain(in buffer: UnsafeMutableRawBufferPointer) -> Int {
        var candidates = MarkCandidates(UnsafeRawBufferPointer(buffer), isFinal: true)
        guard var found = self.placeholder(among: &candidates, from: 0) else { return buffer.count }
        var written = 0
        var read = 0
        while true {
            self.move(read..<found.lowerBound, to: written, in: buffer)
            written += found.lowerBound - read
            for (index, byte) in Self.bytes.enumerated() { buffer[written + index] = byte }
            written += Self.bytes.count
            read = found.upperBound
            guard let next = self.placeholder(among: &candidates, from: read) else { break }
            found = next
        }
        self.move(read..<buffer.count, to: written, in: buffer)
        return written + buffer.count - read
    }

    private static func move(_ range: Range<Int>, to target: Int, in bytes: UnsafeMutableRawBufferPointer) {
        guard !range.isEmpty, target != range.lowerBound else { return }
        UnsafeMutableRawBufferPointer(rebasing: bytes[target..<target + range.count])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    /// A copy with marks for placeholders, including those in base64 and hex; nil if there are none.
    static func replaced(in bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let marked = self.replacedPlain(in: bytes) else { return CodedMarks.replaced(in: bytes) }
        return marked.withUnsafeBytes { CodedMarks.replaced(in: $0) } ?? marked
    }

    /// A copy with marks for literal placeholders; nil if there are none.
    static func replacedPlain(in bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard self.placeholder(in: bytes, from: 0) != nil else { return nil }
        var copy = Array(bytes)
        let count = copy.withUnsafeMutableBytes { self.replacePlain(in: $0) }
        copy.removeLast(copy.count - count)
        return copy
    }

    // MARK: Placeholders

    enum Finding: Equatable {
        case none
        case placeholder(end: Int)
        /// The bytes end within a possible placeholder.
        case needsMore
    }

    /// The first placeholder from `start` on that is not within another one.
    static func placeholder(in bytes: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
        var candidates = MarkCandidates(bytes, isFinal: true)
        return self.placeholder(among: &candidates, from: start)
    }

    private static func placeholder(among candidates: inout MarkCandidates, from start: Int) -> Range<Int>? {
        var offset = start
        while let candidate = candidates.next(from: offset) {
            if case .placeholder(let end) = candidates.classify(candidate) { return candidate..<end }
            offset = candidate + 1
        }
        return nil
    }

    /// Looks for `{{KIND:NUMBER}}` at an offset; braces and colon may be percent-encoded, as in a URL.
    static func classify(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Finding {
        var reader = PlaceholderReader(bytes, at: start)
        return reader.read()
    }

    // MARK: Fitting

    /// Whether a recorded head key with marks fits a live one. A mark matches one byte or more, but no separator of the key (`/` and `@`
    /// before the query, `&` in it, a line feed). A mark in base64 or hex matches the decoded content.
    public static func headKey(_ recorded: UnsafeRawBufferPointer, fits live: UnsafeRawBufferPointer) -> Bool {
        MarkFitting(recorded, live, isHeadKey: true).fits()
    }

    /// Whether a value with marks fits another one. A mark matches any bytes.
    static func value(_ recorded: UnsafeRawBufferPointer, fits live: UnsafeRawBufferPointer) -> Bool {
        MarkFitting(recorded, live, isHeadKey: false).fits()
    }
}

/// The offsets at which placeholders may begin in some bytes.
///
/// Looks at each byte once for each of the two kinds, however many candidates there are.
struct MarkCandidates {
    private let bytes: UnsafeRawBufferPointer
    /// The byte before the first one; nil at the beginning of a text.
    private let before: UInt8?
    /// Whether the bytes end a text.
    private let isFinal: Bool
    /// The first candidate of each kind at or after the offset last asked for; nil before the first search.
    private var brace: Int?
    private var shape: Int?

    init(_ bytes: UnsafeRawBufferPointer, after before: UInt8? = nil, isFinal: Bool) {
        self.bytes = bytes
        self.before = before
        self.isFinal = isFinal
    }

    /// The first offset of a brace (literal or percent-encoded), a token or a UUID, or of bytes that may become one once more arrive.
    /// `start` must never decrease.
    mutating func next(from start: Int) -> Int? {
        if self.brace.map({ $0 < start }) ?? true { self.brace = self.nextBrace(from: start) }
        if self.shape.map({ $0 < start }) ?? true { self.shape = self.nextShape(from: start) }
        let first = min(self.brace ?? self.bytes.count, self.shape ?? self.bytes.count)
        return first < self.bytes.count ? first : nil
    }

    private func nextBrace(from start: Int) -> Int {
        var offset = start
        while true {
            offset = ByteScan.index(of: UInt8(ascii: "{"), or: UInt8(ascii: "%"), in: self.bytes, from: offset)
            guard offset < self.bytes.count else { return offset }
            if self.bytes[offset] == UInt8(ascii: "{") { return offset }
            if offset + 1 == self.bytes.count || self.bytes[offset + 1] == UInt8(ascii: "7") { return offset }
            offset += 1
        }
    }

    /// A token is found by its third letter and a UUID by its first hyphen, as these are the rarest in texts.
    private func nextShape(from start: Int) -> Int {
        var offset = start
        while true {
            offset = ByteScan.index(of: UInt8(ascii: "J"), or: UInt8(ascii: "-"), in: self.bytes, from: offset)
            guard offset < self.bytes.count else { break }
            if self.bytes[offset] == UInt8(ascii: "-") {
                if let uuid = Placeholder.uuid(before: offset, in: self.bytes), uuid >= start { return uuid }
            } else if offset - start >= 2, self.bytes[offset - 1] == UInt8(ascii: "y"), self.bytes[offset - 2] == UInt8(ascii: "e") {
                return offset - 2
            }
            offset += 1
        }
        guard !self.isFinal else { return self.bytes.count }
        return min(self.cutToken(from: start), Placeholder.cutUUID(in: self.bytes, from: start) ?? self.bytes.count)
    }

    private func cutToken(from start: Int) -> Int {
        let rest = self.bytes.count - start
        if rest >= 2, self.bytes[self.bytes.count - 2] == UInt8(ascii: "e"), self.bytes[self.bytes.count - 1] == UInt8(ascii: "y") {
            return self.bytes.count - 2
        }
        return rest >= 1 && self.bytes[self.bytes.count - 1] == UInt8(ascii: "e") ? self.bytes.count - 1 : self.bytes.count
    }

    func classify(_ candidate: Int) -> MatchMark.Finding {
        guard self.bytes[candidate] == UInt8(ascii: "e") || self.bytes[candidate] == UInt8(ascii: "5") else {
            return MatchMark.classify(self.bytes, at: candidate)
        }
        let before = candidate > 0 ? self.bytes[candidate - 1] : self.before
        return switch Placeholder.shaped(in: self.bytes, at: candidate, after: before, isFinal: self.isFinal) {
        case .none: .none
        case .placeholder(let end): .placeholder(end: end)
        case .needsMore: .needsMore
        }
    }
}

/// Reads one placeholder, `{{KIND:NUMBER}}`, from bytes that may end within it.
struct PlaceholderReader {
    private enum Step { case matched, failed, needsMore }

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        self.bytes = bytes
        self.offset = start
    }

    mutating func read() -> MatchMark.Finding {
        for _ in 0..<2 {
            if let finding = self.ends(self.take(UInt8(ascii: "{"), "%7B")) { return finding }
        }
        if let finding = self.ends(self.takeRun(limit: MatchMark.kindLimit, Self.isKind)) { return finding }
        if let finding = self.ends(self.take(UInt8(ascii: ":"), "%3A")) { return finding }
        if let finding = self.ends(self.takeNumber()) { return finding }
        for _ in 0..<2 {
            if let finding = self.ends(self.take(UInt8(ascii: "}"), "%7D")) { return finding }
        }
        return .placeholder(end: self.offset)
    }

    private func ends(_ step: Step) -> MatchMark.Finding? {
        switch step {
        case .matched: nil
        case .failed: MatchMark.Finding.none
        case .needsMore: .needsMore
        }
    }

    /// Reads a byte, either literal or percent-encoded in hex of either case.
    private mutating func take(_ byte: UInt8, _ escape: StaticString) -> Step {
        guard self.offset < self.bytes.count else { return .needsMore }
        if self.bytes[self.offset] == byte {
            self.offset += 1
            return .matched
        }
        for index in 0..<3 {
            guard self.offset + index < self.bytes.count else { return .needsMore }
            let expected = escape.utf8Start[index]
            let found = self.bytes[self.offset + index]
            guard found == expected || (expected >= 65 && found == expected | 32) else { return .failed }
        }
        self.offset += 3
        return .matched
    }

    /// Reads at least one byte and at most `limit`. The next byte shows whether the run was too long.
    private mutating func takeRun(limit: Int, _ isPart: (UInt8) -> Bool) -> Step {
        let start = self.offset
        while self.offset < self.bytes.count, self.offset - start < limit, isPart(self.bytes[self.offset]) { self.offset += 1 }
        if self.offset == self.bytes.count, self.offset - start < limit { return .needsMore }
        return self.offset > start ? .matched : .failed
    }

    /// Reads digits after any number of zeros.
    private mutating func takeNumber() -> Step {
        let start = self.offset
        while self.offset < self.bytes.count, self.offset - start < Placeholder.zerosLimit, self.bytes[self.offset] == 48 {
            self.offset += 1
        }
        let hasZeros = self.offset > start
        let step = self.takeRun(limit: Placeholder.digitLimit) { $0 >= 48 && $0 <= 57 }
        return step == .failed && hasZeros ? .matched : step
    }

    private static func isKind(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
}

/// Replaces placeholders by marks in bytes that arrive in pieces split anywhere.
///
/// In binary content, a placeholder has as many bytes as the secret that it replaces: asterisks after it belong to it. Holds back no more
/// than the beginning of a placeholder.
struct MarkFilter {
    private var held: [UInt8] = []
    /// The byte before the held ones, or before the next ones.
    private var before: UInt8?
    /// Whether asterisks at the beginning of the next bytes belong to a placeholder.
    private var isPadded = false
    private(set) var hasMarks = false

    mutating func push(_ bytes: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) -> Void) {
        guard !self.held.isEmpty else { return self.process(bytes, isFinal: false, deliver) }
        // Enough to decide on the held bytes; the rest is processed in place.
        let count = min(bytes.count, MatchMark.longest)
        var joined = self.held
        joined += bytes[..<count]
        self.held = []
        let isAll = count == bytes.count
        let rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
        joined.withUnsafeBytes { self.process($0, isFinal: false, deliver) }
        guard !isAll else { return }
        if self.held.isEmpty { return self.process(rest, isFinal: false, deliver) }
        self.push(rest, deliver: deliver)
    }

    mutating func finish(deliver: (UnsafeRawBufferPointer) -> Void) {
        let held = self.held
        self.held = []
        held.withUnsafeBytes { self.process($0, isFinal: true, deliver) }
    }

    private mutating func process(_ bytes: UnsafeRawBufferPointer, isFinal: Bool, _ deliver: (UnsafeRawBufferPointer) -> Void) {
        guard !bytes.isEmpty else { return }
        var candidates = MarkCandidates(bytes, after: self.before, isFinal: isFinal)
        var start = self.isPadded ? self.endOfPadding(bytes, from: 0) : 0
        var offset = start
        func hand(over end: Int) {
            if start < end { deliver(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) }
        }
        while let candidate = candidates.next(from: offset) {
            switch candidates.classify(candidate) {
            case .none: offset = candidate + 1
            case .placeholder(let end):
                hand(over: candidate)
                MatchMark.bytes.withUnsafeBytes(deliver)
                self.hasMarks = true
                start = self.endOfPadding(bytes, from: end)
                offset = start
            case .needsMore where isFinal: offset = candidate + 1
            case .needsMore:
                hand(over: candidate)
                if candidate > 0 { self.before = bytes[candidate - 1] }
                self.held = Array(bytes[candidate...])
                return
            }
        }
        hand(over: bytes.count)
        self.before = bytes[bytes.count - 1]
    }

    private mutating func endOfPadding(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] == UInt8(ascii: "*") { end += 1 }
        self.isPadded = end == bytes.count
        return end
    }
}
