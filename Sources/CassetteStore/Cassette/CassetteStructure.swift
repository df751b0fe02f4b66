internal import CJSONScan

/// Follows the structure of a cassette's document, piece by piece: its outer members, and the beginning and end of each interaction.
///
/// Checks braces, strings and the bytes allowed in and between them, but not the whole grammar: the decoder does that when an interaction
/// is used. Reads no file and never goes back.
struct CassetteStructure {
    enum Problem: Equatable {
        case unexpected(UInt8)
        /// A byte that must be escaped in a string.
        case inString(UInt8)
        case tooDeep
        case unsupportedVersion(String)
    }

    private enum Phase {
        case start, firstKey, key, keyText, colon, value, valueText, scalar, nested, valueEnd
        case firstElement, element, elementEnd, nextElement
        case end
    }

    /// Deeper than any decoder supports.
    static let depthLimit = 4096

    private(set) var interactions: [Range<Int>] = []
    private(set) var headEnd: Int?
    private(set) var arrayEnd: Int?
    private(set) var documentEnd: Int?
    /// Whether a supported version was seen.
    private(set) var hasVersion = false
    /// The offset of an older version's digit.
    private(set) var oldVersion: Int?
    /// Inside an interaction, the offset of its first byte; elsewhere, the end of the last token.
    private(set) var mark = 0
    private(set) var problem: Problem?
    /// The offset of the problem.
    private(set) var problemOffset = 0
    private(set) var isInString = false

    private var phase = Phase.start
    private var isEscaped = false
    private var text = TextCheck()
    /// The name of the current outer member.
    private var name: [UInt8] = []
    private var scalar: [UInt8] = []
    /// One bit for each level below the outer member or the interaction; set for an array.
    private var kinds: [UInt64] = Array(repeating: 0, count: Self.depthLimit / 64)
    private var depth = 0

    var isComplete: Bool { self.phase == .end }
    var isInsideInteraction: Bool { self.phase == .element }
    /// Whether it is after a comma that follows an interaction.
    var isBeforeInteraction: Bool { self.phase == .nextElement }

    /// Continues with the white space before an interaction, after a range that is left out.
    mutating func resume(at offset: Int) {
        self.problem = nil
        self.phase = .nextElement
        self.mark = offset
        self.isInString = false
        self.isEscaped = false
        self.text = TextCheck()
        self.depth = 0
        self.arrayEnd = nil
        self.documentEnd = nil
    }

    /// The structure of a document that is known up to an offset: after an interaction, or after the `[` before the first one.
    static func following(afterFirst: Bool) -> CassetteStructure {
        var structure = CassetteStructure()
        structure.hasVersion = true
        structure.phase = afterFirst ? .elementEnd : .firstElement
        return structure
    }

    /// Takes the next bytes, which are at `base` in the file, up to the first problem.
    mutating func consume(_ bytes: UnsafeRawBufferPointer, at base: Int) {
        var offset = 0
        while offset < bytes.count, self.problem == nil {
            switch self.phase {
            case .element, .nested: offset = self.nested(bytes, from: offset, at: base)
            case .keyText, .valueText: offset = self.outerString(bytes, from: offset, at: base)
            default:
                self.token(bytes[offset], at: base &+ offset)
                offset &+= 1
            }
        }
    }

    private mutating func fail(_ problem: Problem, at offset: Int) {
        self.problem = problem
        self.problemOffset = offset
    }

    /// Handles one byte between strings and nested values.
    private mutating func token(_ byte: UInt8, at offset: Int) {
        if self.phase == .scalar {
            if Self.isScalar(byte) {
                if self.scalar.count < 64 { self.scalar.append(byte) }
                self.mark = offset &+ 1
                return
            }
            guard self.endScalar(at: offset) else { return }
        }
        if byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { return }
        switch (self.phase, byte) {
        case (.start, UInt8(ascii: "{")): self.phase = .firstKey
        case (.firstKey, UInt8(ascii: "\"")), (.key, UInt8(ascii: "\"")):
            self.name.removeAll(keepingCapacity: true)
            self.phase = .keyText
        case (.colon, UInt8(ascii: ":")): self.phase = .value
        case (.value, _): guard self.beginValue(byte, at: offset) else { return self.fail(.unexpected(byte), at: offset) }
        case (.valueEnd, UInt8(ascii: ",")): self.phase = .key
        case (.valueEnd, UInt8(ascii: "}")), (.firstKey, UInt8(ascii: "}")):
            self.phase = .end
            self.documentEnd = offset &+ 1
        case (.firstElement, UInt8(ascii: "{")), (.nextElement, UInt8(ascii: "{")):
            self.phase = .element
            self.depth = 1
            self.setKind(isArray: false)
            self.mark = offset
            return
        case (.firstElement, UInt8(ascii: "]")), (.elementEnd, UInt8(ascii: "]")):
            self.arrayEnd = offset
            self.phase = .valueEnd
        case (.elementEnd, UInt8(ascii: ",")): self.phase = .nextElement
        default: return self.fail(.unexpected(byte), at: offset)
        }
        self.mark = offset &+ 1
    }

    private mutating func beginValue(_ byte: UInt8, at offset: Int) -> Bool {
        let isInteractions = self.name.elementsEqual("interactions".utf8)
        switch byte {
        case UInt8(ascii: "["):
            if isInteractions {
                guard self.headEnd == nil else { return false }
                self.headEnd = offset &+ 1
                self.phase = .firstElement
                return true
            }
            self.depth = 1
            self.setKind(isArray: true)
            self.phase = .nested
        case UInt8(ascii: "{"):
            self.depth = 1
            self.setKind(isArray: false)
            self.phase = .nested
        case UInt8(ascii: "\""): self.phase = .valueText
        default:
            guard Self.isScalar(byte) else { return false }
            self.scalar = [byte]
            self.phase = .scalar
        }
        return !isInteractions
    }

    private mutating func endScalar(at offset: Int) -> Bool {
        self.phase = .valueEnd
        guard self.name.elementsEqual("wiretape".utf8) else { return true }
        let version = self.scalar.count == 1 ? Int(self.scalar[0]) - 48 : 0
        guard CassetteIndex.readable.contains(version) else {
            self.fail(.unsupportedVersion(String(decoding: self.scalar, as: UTF8.self)), at: offset)
            return false
        }
        self.hasVersion = true
        // The scalar has one byte, and the mark is after it.
        if version < CassetteIndex.version { self.oldVersion = self.mark - 1 }
        return true
    }

    /// Handles a name or string of the document itself. These are short and few, so it goes byte by byte.
    private mutating func outerString(_ bytes: UnsafeRawBufferPointer, from start: Int, at base: Int) -> Int {
        var offset = start
        while offset < bytes.count {
            let byte = bytes[offset]
            guard byte >= 0x20, self.text.accept(byte) else {
                self.fail(.inString(byte), at: base &+ offset)
                return offset
            }
            offset &+= 1
            if self.isEscaped {
                self.isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                self.phase = self.phase == .keyText ? .colon : .valueEnd
                self.mark = base &+ offset
                return offset
            } else if byte == UInt8(ascii: "\\") {
                self.isEscaped = true
            }
            if self.phase == .keyText, self.name.count < 64 { self.name.append(byte) }
        }
        return offset
    }

    @inline(__always)
    private static func isScalar(_ byte: UInt8) -> Bool {
        (byte >= 48 && byte <= 57) || (byte >= 97 && byte <= 122) || byte == 43 || byte == 45 || byte == 46 || byte == 69
    }

    // MARK: Inside interactions and nested values

    /// How many bytes are examined one by one if a block requires it.
    private static let closeLook = 256

    /// Handles the inside of an interaction, or of an outer member's object or array.
    private mutating func nested(_ bytes: UnsafeRawBufferPointer, from start: Int, at base: Int) -> Int {
        Self.isPlain.withUnsafeBufferPointer { isPlain in
            guard let pointer = bytes.baseAddress, let isPlain = isPlain.baseAddress else { return bytes.count }
            var offset = start
            while offset < bytes.count, self.depth > 0, self.problem == nil {
                offset = self.blocks(pointer, from: offset, to: bytes.count, at: base)
                guard self.depth > 0, offset < bytes.count else { break }
                offset = self.nested(pointer, from: offset, to: min(bytes.count, offset &+ Self.closeLook), at: base, isPlain)
            }
            return offset
        }
    }

    /// Advances block by block as far as possible. SAFETY: reads from `pointer` up to `count`.
    private mutating func blocks(_ pointer: UnsafeRawPointer, from start: Int, to count: Int, at base: Int) -> Int {
        guard count &- start >= 64, self.depth <= 64, !self.text.isInsideCharacter else { return start }
        var scan = JSONScan(kinds: self.kinds[0], depth: UInt32(self.depth), in_string: self.isInString, is_escaped: self.isEscaped)
        let offset = start &+ json_scan(&scan, pointer.assumingMemoryBound(to: UInt8.self) + start, count &- start)
        self.kinds[0] = scan.kinds
        self.depth = Int(scan.depth)
        self.isInString = scan.in_string
        self.isEscaped = scan.is_escaped
        if self.depth == 0 { self.endNested(at: base &+ offset) }
        return offset
    }

    /// SAFETY: every load from `pointer` is preceded by a comparison of its end with `count`; `isPlain` has an entry for every byte.
    @inline(__always)
    private mutating func nested(
        _ pointer: UnsafeRawPointer, from start: Int, to count: Int, at base: Int, _ isPlain: UnsafePointer<Bool>
    ) -> Int {
        var offset = start
        scan: while offset < count {
            if self.isInString {
                offset = self.string(pointer, from: offset, to: count, at: base)
                if self.problem != nil { return offset }
                continue
            }
            let byte = pointer.load(fromByteOffset: offset, as: UInt8.self)
            offset &+= 1
            if isPlain[Int(byte)] { continue }
            switch byte {
            case UInt8(ascii: "\""):
                // Most strings are short and plain, so they are skipped without leaving the loop.
                while offset &+ 8 <= count {
                    let flags = Self.special(UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                    if flags == 0 {
                        offset &+= 8
                        continue
                    }
                    offset &+= flags.trailingZeroBitCount &>> 3
                    guard pointer.load(fromByteOffset: offset, as: UInt8.self) == UInt8(ascii: "\"") else { break }
                    offset &+= 1
                    continue scan
                }
                self.isInString = true
            case 0x0a:
                // Indentation, eight bytes at a time.
                while offset &+ 8 <= count {
                    let word = UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    let spaces = (word ^ 0x2020_2020_2020_2020).trailingZeroBitCount &>> 3
                    offset &+= spaces
                    if spaces < 8 { break }
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard self.depth < Self.depthLimit else {
                    self.fail(.tooDeep, at: base &+ offset &- 1)
                    return offset
                }
                self.depth &+= 1
                self.setKind(isArray: byte == UInt8(ascii: "["))
            case UInt8(ascii: "}") where !self.isArray, UInt8(ascii: "]") where self.isArray:
                self.depth &-= 1
                if self.depth == 0 {
                    self.endNested(at: base &+ offset)
                    return offset
                }
            default:
                self.fail(.unexpected(byte), at: base &+ offset &- 1)
                return offset
            }
        }
        return offset
    }

    /// Bytes between strings and brackets that need no handling: white space except line feeds, separators, numbers and literals.
    private static let isPlain: [Bool] = (0..<256).map { code in
        let byte = UInt8(code)
        return [0x20, 0x0d, 0x09, UInt8(ascii: ","), UInt8(ascii: ":")].contains(byte) || Self.isScalar(byte)
    }

    private mutating func endNested(at end: Int) {
        if self.phase == .element {
            self.interactions.append(self.mark..<end)
            self.phase = .elementEnd
        } else {
            self.phase = .valueEnd
        }
        self.mark = end
    }

    /// Handles the inside of a string up to its closing quote, eight bytes at a time.
    private mutating func string(_ pointer: UnsafeRawPointer, from start: Int, to count: Int, at base: Int) -> Int {
        var offset = start
        if self.isEscaped {
            self.isEscaped = false
            let byte = pointer.load(fromByteOffset: offset, as: UInt8.self)
            guard byte >= 0x20, byte < 0x80 else {
                self.fail(.inString(byte), at: base &+ offset)
                return offset
            }
            offset &+= 1
        }
        while offset < count {
            if !self.text.isInsideCharacter {
                while offset &+ 8 <= count {
                    let word = pointer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    let flags = Self.special(UInt64(littleEndian: word))
                    if flags != 0 {
                        offset &+= flags.trailingZeroBitCount &>> 3
                        break
                    }
                    offset &+= 8
                }
                guard offset < count else { return offset }
            }
            let byte = pointer.load(fromByteOffset: offset, as: UInt8.self)
            if byte >= 0x80 || byte < 0x20 || self.text.isInsideCharacter {
                guard byte >= 0x20, self.text.accept(byte) else {
                    self.fail(.inString(byte), at: base &+ offset)
                    return offset
                }
            } else if byte == UInt8(ascii: "\"") {
                self.isInString = false
                return offset &+ 1
            } else if byte == UInt8(ascii: "\\") {
                offset &+= 1
                guard offset < count else {
                    self.isEscaped = true
                    return offset
                }
                let escaped = pointer.load(fromByteOffset: offset, as: UInt8.self)
                guard escaped >= 0x20, escaped < 0x80 else {
                    self.fail(.inString(escaped), at: base &+ offset)
                    return offset
                }
            }
            offset &+= 1
        }
        return offset
    }

    /// Sets the top bit of each byte that is a quote, a backslash, below 0x20 or above 0x7f; exact up to the first such byte.
    @inline(__always)
    private static func special(_ word: UInt64) -> UInt64 {
        // With the second bit flipped, a quote is 0x20 and a space is not, so one subtraction finds quotes and control characters.
        let found =
            ((word ^ 0x0202_0202_0202_0202) &- 0x2121_2121_2121_2121)
            | ((word ^ 0x5c5c_5c5c_5c5c_5c5c) &- 0x0101_0101_0101_0101)
            | word
        return found & 0x8080_8080_8080_8080
    }

    private mutating func setKind(isArray: Bool) {
        let level = self.depth &- 1
        let bit = UInt64(1) &<< UInt64(level & 63)
        if isArray { self.kinds[level / 64] |= bit } else { self.kinds[level / 64] &= ~bit }
    }

    private var isArray: Bool {
        let level = self.depth &- 1
        return self.kinds[level / 64] & (UInt64(1) &<< UInt64(level & 63)) != 0
    }
}
