internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// Placeholders in base64 or hex within a text, as redaction writes them if a secret was encoded.
///
/// A run that contains a placeholder is decoded, its placeholders become marks, and it is encoded again: in the URL-safe alphabet with
/// padding, or in lower-case hex digits. Equal contents thus become equal bytes, whatever the numbers of their placeholders. Text without
/// placeholders is not changed.
enum CodedMarks {
    /// A shorter text has no room for a mark in base64.
    static let leastLength = 8

    /// A copy in which the runs that contain a placeholder are canonical; nil if there are none.
    ///
    /// - Parameter limit: the longest word in bytes; a run in a longer word is left as it is.
    static func replaced(in bytes: UnsafeRawBufferPointer, limit: Int = .max) -> [UInt8]? {
        guard bytes.count >= self.leastLength else { return nil }
        let further = CodedPlaceholders.replaced(in: bytes, limit: limit, plain: MatchMark.replacedPlain) { self.replaced(in: $0) }
        guard let further else { return self.replacedOnce(in: bytes, limit: limit) }
        return further.withUnsafeBytes { self.replacedOnce(in: $0, limit: limit) } ?? further
    }

    /// The same without placeholders behind a further coding.
    private static func replacedOnce(in bytes: UnsafeRawBufferPointer, limit: Int) -> [UInt8]? {
        var result: [UInt8] = []
        var copied = 0
        var scan = CodedRunScan(bytes, of: .placeholders)
        while let run = scan.next() {
            guard limit == .max || !self.isWord(around: run.range, in: bytes, longerThan: limit) else { continue }
            result += bytes[copied..<run.range.lowerBound]
            let marked = run.content.withUnsafeBytes { MatchMark.replacedPlain(in: $0) } ?? run.content
            result += run.form.text(of: marked)
            copied = run.range.upperBound
        }
        guard copied > 0 else { return nil }
        return result + bytes[copied...]
    }

    /// Whether a byte may be part of a run, in any of its spellings.
    @inline(__always)
    static func mayStandInRun(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\")
    }

    private static func isWord(around run: Range<Int>, in bytes: UnsafeRawBufferPointer, longerThan limit: Int) -> Bool {
        var (start, end) = (run.lowerBound, run.upperBound)
        while start > 0, run.upperBound - start <= limit, self.mayStandInRun(bytes[start - 1]) { start -= 1 }
        while end < bytes.count, end - start <= limit, self.mayStandInRun(bytes[end]) { end += 1 }
        return end - start > limit
    }

    /// The runs of a canonical text that contain marks, in ascending order.
    static func runs(in bytes: UnsafeRawBufferPointer) -> [CodedRun] {
        var runs: [CodedRun] = []
        var scan = CodedRunScan(bytes, of: .marks)
        while let run = scan.next() { runs.append(run) }
        return runs
    }

    /// Whether a text has a run that contains a mark.
    static func areIn(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var scan = CodedRunScan(bytes, of: .marks)
        return scan.next() != nil
    }
}

/// Makes the runs that contain placeholders canonical, in bytes that arrive in pieces split anywhere.
///
/// Holds back the word at the end of a piece. A word longer than the limit is left as it is.
struct CodedMarkFilter {
    static let wordLimit = 64 << 10

    private var held: [UInt8] = []
    /// Whether the bytes so far end in a word that is too long.
    private var isInLongWord = false
    private(set) var hasMarks = false

    mutating func push(_ bytes: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) -> Void) {
        var bytes = bytes
        if self.isInLongWord {
            let end = bytes.firstIndex { !CodedMarks.mayStandInRun($0) } ?? bytes.count
            if end > 0 { deliver(UnsafeRawBufferPointer(rebasing: bytes[..<end])) }
            bytes = UnsafeRawBufferPointer(rebasing: bytes[end...])
            guard !bytes.isEmpty else { return }
            self.isInLongWord = false
        }
        guard !self.held.isEmpty else { return self.process(bytes, deliver) }
        let joined = self.held + bytes
        self.held = []
        joined.withUnsafeBytes { self.process($0, deliver) }
    }

    mutating func finish(deliver: (UnsafeRawBufferPointer) -> Void) {
        let held = self.held
        self.held = []
        held.withUnsafeBytes { self.hand(over: $0, deliver) }
    }

    private mutating func process(_ bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Void) {
        var word = bytes.count
        while word > 0, bytes.count - word <= Self.wordLimit, CodedMarks.mayStandInRun(bytes[word - 1]) { word -= 1 }
        guard bytes.count - word <= Self.wordLimit else {
            while word > 0, CodedMarks.mayStandInRun(bytes[word - 1]) { word -= 1 }
            self.hand(over: UnsafeRawBufferPointer(rebasing: bytes[..<word]), deliver)
            deliver(UnsafeRawBufferPointer(rebasing: bytes[word...]))
            self.isInLongWord = true
            return
        }
        self.hand(over: UnsafeRawBufferPointer(rebasing: bytes[..<word]), deliver)
        self.held = Array(bytes[word...])
    }

    private mutating func hand(over bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Void) {
        guard !bytes.isEmpty else { return }
        guard let marked = CodedMarks.replaced(in: bytes, limit: Self.wordLimit) else { return deliver(bytes) }
        self.hasMarks = true
        marked.withUnsafeBytes(deliver)
    }
}

/// A run of base64 or hex, starting with the group or byte in which its first placeholder begins.
struct CodedRun {
    enum Form: Hashable {
        case base64, hex

        func text(of content: [UInt8]) -> [UInt8] {
            guard self == .base64 else { return Array(Hex.encode(content).utf8) }
            var text: [UInt8] = []
            content.withUnsafeBytes { Base64.encode($0, into: &text) }
            return text.map {
                $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
            }
        }
    }

    var form: Form
    /// The run's range in the text, including padding.
    var range: Range<Int>
    var content: [UInt8]

    /// The run that begins at an offset; nil if nothing can be decoded there.
    ///
    /// - Parameters:
    ///   - limit: decodes at most this many bytes, so the run may end early.
    ///   - isCanonical: whether `text(of:)` made the run.
    init?(_ form: Form, in bytes: UnsafeRawBufferPointer, at start: Int, limit: Int = .max, isCanonical: Bool = false) {
        self.form = form
        self.content = []
        self.range = start..<start
        switch form {
        case .base64 where isCanonical: self.readCanonicalBase64(bytes, from: start)
        case .base64: self.readBase64(bytes, from: start, limit)
        case .hex: self.readHex(bytes, from: start, limit)
        }
        guard !self.content.isEmpty else { return nil }
    }

    private mutating func readHex(_ bytes: UnsafeRawBufferPointer, from start: Int, _ limit: Int) {
        var end = start
        while bytes.count - end >= 2, self.content.count < limit, let high = Hex.value(bytes[end]), let low = Hex.value(bytes[end + 1]) {
            self.content.append(high << 4 | low)
            end += 2
        }
        self.range = start..<end
    }

    /// Reads whole groups, the last of which may have padding.
    private mutating func readCanonicalBase64(_ bytes: UnsafeRawBufferPointer, from start: Int) {
        var characters = Base64Characters(isInPath: false)
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "+"), bytes[end] != UInt8(ascii: "/"),
            let (value, length) = CodedCharacter.read(bytes, at: end), length == 1, let value, characters.take(value, &self.content)
        {
            end += 1
        }
        while end < bytes.count, (end - start) % 4 > 1, bytes[end] == UInt8(ascii: "=") { end += 1 }
        self.content.removeLast(max(0, (end - start) % 4 - 1))
        self.range = start..<end - (end - start) % 4
    }

    private mutating func readBase64(_ bytes: UnsafeRawBufferPointer, from start: Int, _ limit: Int) {
        var run = Base64Characters(isInPath: Base64Characters.isInPath(start, of: bytes))
        var end = start
        var group = start
        while self.content.count < limit, let (value, length) = CodedCharacter.read(bytes, at: end) {
            let position = run.count % 4
            guard let value, run.take(value, &self.content) else { break }
            if position == 0 { group = end }
            end += length
        }
        // Characters that encode no bytes are left out: a single character of a group, or more if they have stray bits that canonical
        // base64 lacks.
        if run.count % 4 == 1 || run.hasLooseBits {
            self.content.removeLast(run.count % 4 - 1)
            self.range = start..<group
            return
        }
        for _ in 0..<(4 - run.count % 4) % 4 {
            guard let (value, length) = CodedCharacter.read(bytes, at: end), value == nil else { break }
            end += length
        }
        self.range = start..<end
    }
}

/// A base64 character as spelled in a text: literally, percent-encoded once or twice, or with a JSON escape.
enum CodedCharacter {
    /// Longest spelling: `\u002b`.
    private static let longest = 6

    /// The value and the number of bytes; the value of padding is nil. Nil if there is no such character at the offset.
    @inline(__always)
    static func read(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> (value: UInt8?, length: Int)? {
        guard offset < bytes.count else { return nil }
        let byte = bytes[offset]
        if let value = self.value(byte) { return (value, 1) }
        switch byte {
        case UInt8(ascii: "="): return (nil, 1)
        case UInt8(ascii: "%"), UInt8(ascii: "\\"): return self.readEscaped(bytes, at: offset)
        default: return nil
        }
    }

    @inline(__always)
    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: Base64.value(byte)
        }
    }

    private static func readEscaped(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> (value: UInt8?, length: Int)? {
        var digits = offset + 1
        if bytes[offset] == UInt8(ascii: "\\") {
            if digits < bytes.count, bytes[digits] == UInt8(ascii: "/") { return (63, 2) }
            guard bytes.count - offset >= self.longest, bytes[digits..<digits + 3].elementsEqual("u00".utf8) else { return nil }
            digits += 3
        } else if bytes.count - digits >= 4, bytes[digits] == UInt8(ascii: "2"), bytes[digits + 1] == UInt8(ascii: "5") {
            digits += 2
        }
        guard bytes.count - digits >= 2, let high = Hex.value(bytes[digits]), let low = Hex.value(bytes[digits + 1]) else { return nil }
        let byte = high << 4 | low
        let length = digits + 2 - offset
        if byte == UInt8(ascii: "=") { return (nil, length) }
        guard !FormSpelling.isAlphanumeric(byte), let value = self.value(byte) else { return nil }
        return (value, length)
    }

    /// The beginning of the character that ends before an offset; nil if there is none.
    static func start(before end: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        for length in stride(from: min(self.longest, end), through: 2, by: -1) {
            let start = end - length
            guard bytes[start] == UInt8(ascii: "%") || bytes[start] == UInt8(ascii: "\\") else { continue }
            if let (value, found) = self.readEscaped(bytes, at: start), value != nil, found == length { return start }
        }
        return end > 0 && self.value(bytes[end - 1]) != nil ? end - 1 : nil
    }
}

/// Finds the runs of a text that contain placeholders or marks.
///
/// Searches for the few characters by which these begin in each form and alignment, all at once (Shift-And), and decodes only where one is
/// found. So a text is read once, and each run twice.
struct CodedRunScan {
    enum Target { case placeholders, marks }

    private struct Anchor {
        /// The bytes allowed at each of its places.
        var classes: [[UInt8]]
        var form: CodedRun.Form
        /// Characters of the run before the anchor that belong to the group in which the placeholder begins.
        var lead: Int
        /// Bytes of the group's content before the placeholder.
        var alignment: Int
        /// Whether it is found at the end of a placeholder, which may begin anywhere before it.
        var isTrailing = false
    }

    /// How many bytes are decoded to check whether an anchor begins a placeholder.
    private static let trialLimit = 512
    /// How many trailing anchors are followed back to their tokens in one text. Each costs up to `Placeholder.lengthLimit` bytes.
    private static let trailingLimit = 64

    private static let anchors: [Anchor] = {
        /// The characters of a word's base64 that depend on nothing but its own bits, at an alignment within a group.
        func core(of word: String, alignment: Int) -> ArraySlice<UInt8> {
            let text = CodedRun.Form.base64.text(of: Array(repeating: 0, count: alignment) + Array(word.utf8))
            return text[((alignment * 8 + 5) / 6)..<((alignment + word.utf8.count) * 8 / 6)]
        }
        let specials = Array("+/-_%\\".utf8)
        func plain(_ text: some Sequence<UInt8>) -> [[UInt8]] { text.map { [$0] } }
        var anchors = [
            // "{{" after zero, one and two bytes of a group.
            Anchor(classes: [Array("e".utf8), Array("3".utf8), Array("stuv".utf8)], form: .base64, lead: 0, alignment: 0),
            Anchor(classes: [Array("HXn3".utf8), Array("t".utf8), Array("7".utf8)], form: .base64, lead: 1, alignment: 1),
            Anchor(
                classes: [Array("7".utf8), Array("e".utf8), Array("wxyz0123456789".utf8) + specials], form: .base64, lead: 3, alignment: 2),
            Anchor(classes: [[55], Array("bB".utf8), [55], Array("bB".utf8)], form: .hex, lead: 0, alignment: 0),
            Anchor(classes: [[51], [53], [52, 54], [53], [52, 54]], form: .hex, lead: 0, alignment: 0),
        ]
        for alignment in 0..<3 {
            let lead = (alignment * 8 + 5) / 6
            for uuid in ["5ec7e700-", "5EC7E700-"] {
                anchors.append(
                    Anchor(
                        classes: plain(core(of: uuid, alignment: alignment).prefix(4)), form: .base64, lead: lead, alignment: alignment))
            }
            // URL-encoded forms in base64 have percent-encoded braces.
            let braces = zip(core(of: "%7B%7B", alignment: alignment), core(of: "%7b%7b", alignment: alignment)).prefix(4)
            anchors.append(Anchor(classes: braces.map { $0 == $1 ? [$0] : [$0, $1] }, form: .base64, lead: lead, alignment: alignment))
            anchors.append(
                Anchor(
                    classes: plain(core(of: ".signature-removed-", alignment: alignment).prefix(3)), form: .base64, lead: lead,
                    alignment: alignment, isTrailing: true))
        }
        return anchors
    }()

    /// For each byte value, the places of all anchors at which it is allowed, one bit each.
    private static let masks: (places: [UInt64], starts: UInt64, ends: UInt64, anchorAt: [Int]) = {
        var places = [UInt64](repeating: 0, count: 256)
        var (starts, ends): (UInt64, UInt64) = (0, 0)
        var anchorAt = [Int](repeating: 0, count: 64)
        var bit = 0
        for (number, anchor) in Self.anchors.enumerated() {
            starts |= 1 << UInt64(bit)
            for bytes in anchor.classes {
                for byte in bytes { places[Int(byte)] |= 1 << UInt64(bit) }
                anchorAt[bit] = number
                bit += 1
            }
            ends |= 1 << UInt64(bit - 1)
        }
        precondition(bit <= 64, "the anchors have more places than a word has bits")
        return (places, starts, ends, anchorAt)
    }()

    private let bytes: UnsafeRawBufferPointer
    private let target: Target
    private var offset = 0
    private var state: UInt64 = 0
    /// No run begins before this offset.
    private var least = 0
    private var trailing = 0

    init(_ bytes: UnsafeRawBufferPointer, of target: Target) {
        self.bytes = bytes
        self.target = target
    }

    mutating func next() -> CodedRun? {
        guard self.bytes.count >= CodedMarks.leastLength else { return nil }
        let masks = Self.masks
        return masks.places.withUnsafeBufferPointer { places in
            while self.offset < self.bytes.count {
                self.state = (self.state << 1 | masks.starts) & places[Int(self.bytes[self.offset])]
                self.offset += 1
                var found = self.state & masks.ends
                while found != 0 {
                    let anchor = Self.anchors[masks.anchorAt[found.trailingZeroBitCount]]
                    found &= found - 1
                    guard let run = self.run(anchor, at: self.offset - anchor.classes.count) else { continue }
                    self.least = run.range.upperBound
                    self.offset = run.range.upperBound
                    self.state = 0
                    return run
                }
            }
            return nil
        }
    }

    private mutating func run(_ anchor: Anchor, at offset: Int) -> CodedRun? {
        var start = offset
        for _ in 0..<anchor.lead {
            guard let before = CodedCharacter.start(before: start, in: self.bytes) else { return nil }
            start = before
        }
        guard start >= self.least else { return nil }
        if anchor.isTrailing { return self.trailingRun(from: start) }
        if self.target == .marks {
            let run = CodedRun(anchor.form, in: self.bytes, at: start, isCanonical: true)
            return run.flatMap { $0.content.count > anchor.alignment && self.holds($0.content, at: anchor.alignment) ? $0 : nil }
        }
        guard let trial = CodedRun(anchor.form, in: self.bytes, at: start, limit: Self.trialLimit),
            trial.content.count > anchor.alignment, self.holds(trial.content, at: anchor.alignment)
        else { return nil }
        return CodedRun(anchor.form, in: self.bytes, at: start)
    }

    private func holds(_ content: [UInt8], at offset: Int) -> Bool {
        content.withUnsafeBytes { content in
            switch self.target {
            case .marks: MatchMark.first(in: UnsafeRawBufferPointer(rebasing: content[offset...]), from: 0) == 0
            case .placeholders: Placeholder.length(in: content, at: offset) != nil
            }
        }
    }

    /// The run that contains a token, found by an anchor within it. It begins in the group of the token's first byte.
    private mutating func trailingRun(from group: Int) -> CodedRun? {
        guard self.target == .placeholders, self.trailing < Self.trailingLimit else { return nil }
        self.trailing += 1
        var starts = [group]
        var start = group
        while starts.count < Placeholder.lengthLimit, start > self.least,
            let before = CodedCharacter.start(before: start, in: self.bytes), before >= self.least
        {
            start = before
            starts.append(start)
        }
        // Whole groups only.
        let groups = (starts.count - 1) / 4
        guard let run = CodedRun(.base64, in: self.bytes, at: starts[groups * 4]),
            let token = run.content.withUnsafeBytes({ MatchMark.placeholder(in: $0, from: 0) }),
            token.lowerBound / 3 <= groups
        else { return nil }
        return CodedRun(.base64, in: self.bytes, at: starts[(groups - token.lowerBound / 3) * 4])
    }
}
