/// Follows the structure of a cassette's document, piece by piece: its outer members, and where each interaction begins and ends.
///
/// Checks braces, strings and the bytes that may stand in and between them, not the whole grammar: the decoder does that when an
/// interaction is used. Reads no file and never goes back.
struct CassetteStructure {
    enum Trouble: Equatable {
        case unexpected(UInt8)
        /// A byte that cannot stand in a string as it is.
        case inString(UInt8)
        case tooDeep
        case unsupportedVersion(String)
    }

    enum Phase {
        case start, firstKey, key, keyText, colon, value, valueText, scalar, nested, valueEnd
        case firstElement, element, elementEnd, nextElement
        case end
    }

    /// Deeper than any decoder of ours goes.
    static let depthLimit = 4096

    var interactions: [Range<Int>] = []
    private(set) var headEnd: Int?
    private(set) var arrayEnd: Int?
    private(set) var documentEnd: Int?
    /// Whether a version was seen that we can read.
    private(set) var hasVersion = false
    /// Inside an interaction its first byte; elsewhere the end of the last token.
    var mark = 0
    var trouble: Trouble?
    /// Where the trouble is.
    private(set) var troubleOffset = 0
    var isInString = false

    var phase = Phase.start
    var isEscaped = false
    var text = TextCheck()
    /// Of the outer member at hand.
    private var name: [UInt8] = []
    private var scalar: [UInt8] = []
    /// One bit a level below the outer member or the interaction, set for an array.
    var kinds: [UInt64] = Array(repeating: 0, count: Self.depthLimit / 64)
    var depth = 0

    var isComplete: Bool { self.phase == .end }
    var isInsideInteraction: Bool { self.phase == .element }

    /// Goes on with the white space before an interaction, behind a stretch that is left out.
    mutating func resume(at offset: Int) {
        self.trouble = nil
        self.phase = .nextElement
        self.mark = offset
        self.isInString = false
        self.isEscaped = false
        self.text = TextCheck()
        self.depth = 0
        self.arrayEnd = nil
        self.documentEnd = nil
    }

    /// Takes the next bytes, which lie at `base` in the file, up to the first trouble.
    mutating func consume(_ bytes: UnsafeRawBufferPointer, at base: Int) {
        var offset = 0
        while offset < bytes.count, self.trouble == nil {
            switch self.phase {
            case .element, .nested: offset = self.nested(bytes, from: offset, at: base)
            case .keyText, .valueText: offset = self.outerString(bytes, from: offset, at: base)
            default:
                self.token(bytes[offset], at: base &+ offset)
                offset &+= 1
            }
        }
    }

    mutating func fail(_ trouble: Trouble, at offset: Int) {
        self.trouble = trouble
        self.troubleOffset = offset
    }

    /// One byte between strings and nested values.
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
        guard self.scalar.elementsEqual(String(CassetteIndex.version).utf8) else {
            self.fail(.unsupportedVersion(String(decoding: self.scalar, as: UTF8.self)), at: offset)
            return false
        }
        self.hasVersion = true
        return true
    }

    /// A name or a string of the document itself: short and few, so byte by byte.
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
    static func isScalar(_ byte: UInt8) -> Bool {
        (byte >= 48 && byte <= 57) || (byte >= 97 && byte <= 122) || byte == 43 || byte == 45 || byte == 46 || byte == 69
    }
}
