/// Splits a JSON text (RFC 8259) into tokens and checks its grammar at the same time.
///
/// Strict: rejects comments, trailing commas, leading zeros and raw control characters. Does not check UTF-8 (see `UTF8Validator`) and
/// decodes nothing. Copies are cheap, so a caller can look ahead with one.
package struct JSONTokenizer {
    private enum Expectation { case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd, end }

    let bytes: UnsafeRawBufferPointer
    private var offset: Int
    /// Why there is no next token; set when `next()` returns nil.
    private var failure: StaticString?
    package private(set) var depth = 0
    private let depthLimit: Int
    private var expectation = Expectation.value
    /// One bit per open container, set for an object; the innermost is the lowest bit of `open`.
    private var open: UInt64 = 0
    private var outer: UInt64 = 0
    /// The kinds of the containers around those, the innermost last. Empty unless the limit is higher than usual.
    private var outermost: [Bool] = []

    /// Two words record the kinds of the open containers.
    package static let depthLimit = 128

    package init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0, depthLimit: Int = Self.depthLimit) {
        self.bytes = bytes
        self.offset = offset
        self.depthLimit = depthLimit
    }

    /// Whether there is no next token because the text ends within a value or string.
    package var endsEarly: Bool { self.failure != nil && self.offset >= self.bytes.count }

    var error: JSONSyntaxError {
        let line = ByteScan.count(of: 10, in: self.bytes, upTo: self.offset) + 1
        return JSONSyntaxError(reason: "\(self.failure ?? "expected JSON")", offset: self.offset, line: line)
    }

    /// The next token, or `.end` after the last; nil if the text is not JSON.
    @inline(__always)
    package mutating func next() -> JSONToken? {
        let gap = self.offset
        self.skipSpace()
        let start = self.offset
        guard start < self.bytes.count else {
            guard self.expectation == .end else { return self.fail("expected more text: it ends early") }
            return JSONToken(kind: .end, gap: gap, start: start, end: start)
        }
        var isEscaped = false
        let kind: JSONToken.Kind
        switch self.bytes[start] {
        case UInt8(ascii: "\""):
            if self.expectation == .name || self.expectation == .nameOrEnd {
                kind = .name
                self.expectation = .colon
            } else {
                guard self.takeValue() else { return nil }
                kind = .string
            }
            guard self.skipString(&isEscaped) else { return nil }
        case UInt8(ascii: ","):
            guard self.expectation == .commaOrEnd else { return self.unexpected() }
            self.expectation = self.open & 1 == 1 ? .name : .value
            self.offset = start + 1
            kind = .comma
        case UInt8(ascii: ":"):
            guard self.expectation == .colon else { return self.unexpected() }
            self.expectation = .value
            self.offset = start + 1
            kind = .colon
        case UInt8(ascii: "{"):
            guard self.begin(isObject: true) else { return nil }
            kind = .beginObject
        case UInt8(ascii: "["):
            guard self.begin(isObject: false) else { return nil }
            kind = .beginArray
        case UInt8(ascii: "}"):
            guard self.open & 1 == 1, self.expectation == .commaOrEnd || self.expectation == .nameOrEnd else { return self.unexpected() }
            self.close()
            kind = .endObject
        case UInt8(ascii: "]"):
            let fits = self.expectation == .commaOrEnd || self.expectation == .valueOrEnd
            guard self.depth > 0, self.open & 1 == 0, fits else { return self.unexpected() }
            self.close()
            kind = .endArray
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            guard self.takeValue(), self.skipNumber() else { return nil }
            kind = .number
        case UInt8(ascii: "t"):
            guard self.takeValue(), self.skipWord("true") else { return nil }
            kind = .yes
        case UInt8(ascii: "f"):
            guard self.takeValue(), self.skipWord("false") else { return nil }
            kind = .no
        case UInt8(ascii: "n"):
            guard self.takeValue(), self.skipWord("null") else { return nil }
            kind = .null
        default:
            return self.unexpected()
        }
        return JSONToken(kind: kind, gap: gap, start: start, end: self.offset, isEscaped: isEscaped)
    }

    // MARK: Grammar

    private mutating func fail(_ reason: StaticString) -> JSONToken? {
        self.failure = reason
        return nil
    }

    private mutating func unexpected() -> JSONToken? {
        switch self.expectation {
        case .value: self.fail("expected a value")
        case .valueOrEnd: self.fail("expected a value or ']'")
        case .name: self.fail("expected a member's name in quotes")
        case .nameOrEnd: self.fail("expected a member's name in quotes or '}'")
        case .colon: self.fail("expected ':'")
        case .commaOrEnd: self.fail(self.open & 1 == 1 ? "expected ',' or '}'" : "expected ',' or ']'")
        case .end: self.fail("expected nothing more after the value")
        }
    }

    @inline(__always)
    private mutating func takeValue() -> Bool {
        guard self.expectation == .value || self.expectation == .valueOrEnd else {
            _ = self.unexpected()
            return false
        }
        self.expectation = self.depth == 0 ? .end : .commaOrEnd
        return true
    }

    @inline(__always)
    private mutating func begin(isObject: Bool) -> Bool {
        guard self.takeValue() else { return false }
        guard self.depth < self.depthLimit else {
            self.failure = "nested too deeply"
            return false
        }
        if self.depth >= Self.depthLimit { self.outermost.append(self.outer >> 63 == 1) }
        self.depth += 1
        self.outer = self.outer << 1 | self.open >> 63
        self.open = self.open << 1 | (isObject ? 1 : 0)
        self.expectation = isObject ? .nameOrEnd : .valueOrEnd
        self.offset += 1
        return true
    }

    @inline(__always)
    private mutating func close() {
        self.depth -= 1
        self.open = self.open >> 1 | self.outer << 63
        self.outer >>= 1
        if self.depth >= Self.depthLimit, self.outermost.popLast() == true { self.outer |= 1 << 63 }
        self.expectation = self.depth == 0 ? .end : .commaOrEnd
        self.offset += 1
    }

    // MARK: Lexemes

    @inline(__always)
    private mutating func skipSpace() {
        let end = self.bytes.count
        var offset = self.offset
        while offset < end {
            let byte = self.bytes[offset]
            guard byte <= 32, byte == 32 || byte == 10 || byte == 13 || byte == 9 else { break }
            offset += 1
        }
        self.offset = offset
    }

    @inline(__always)
    private mutating func skipString(_ isEscaped: inout Bool) -> Bool {
        let end = self.bytes.count
        var offset = self.offset + 1
        while true {
            offset = ByteScan.endOfPlain(self.bytes, from: offset, stopAtDelete: false)
            guard offset < end else { return self.reject("expected '\"': the text ends within a string", at: end) }
            switch self.bytes[offset] {
            case UInt8(ascii: "\""):
                self.offset = offset + 1
                return true
            case UInt8(ascii: "\\"):
                isEscaped = true
                guard let length = self.escapeLength(at: offset) else {
                    return self.reject("expected an escape that JSON knows", at: offset)
                }
                offset += length
            default:
                return self.reject("expected an escape in place of a raw control character", at: offset)
            }
        }
    }

    private func escapeLength(at offset: Int) -> Int? {
        guard offset + 1 < self.bytes.count else { return nil }
        switch self.bytes[offset + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        case UInt8(ascii: "u"):
            guard offset + 5 < self.bytes.count else { return nil }
            for digit in offset + 2...offset + 5 where Hex.value(self.bytes[digit]) == nil { return nil }
            return 6
        default:
            return nil
        }
    }

    private mutating func reject(_ reason: StaticString, at offset: Int) -> Bool {
        self.offset = offset
        self.failure = reason
        return false
    }

    @inline(__always)
    private func isDigit(at offset: Int) -> Bool {
        offset < self.bytes.count && self.bytes[offset] >= 48 && self.bytes[offset] <= 57
    }

    private mutating func skipNumber() -> Bool {
        var offset = self.offset
        if self.bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        guard self.isDigit(at: offset) else { return self.reject("expected a digit", at: offset) }
        if self.bytes[offset] == 48 {
            offset += 1
            guard !self.isDigit(at: offset) else { return self.reject("expected a number without leading zeros", at: offset) }
        } else {
            while self.isDigit(at: offset) { offset += 1 }
        }
        if offset < self.bytes.count, self.bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            guard self.isDigit(at: offset) else { return self.reject("expected a digit after the point", at: offset) }
            while self.isDigit(at: offset) { offset += 1 }
        }
        if offset < self.bytes.count, self.bytes[offset] | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if offset < self.bytes.count, self.bytes[offset] == UInt8(ascii: "+") || self.bytes[offset] == UInt8(ascii: "-") { offset += 1 }
            guard self.isDigit(at: offset) else { return self.reject("expected a digit in the exponent", at: offset) }
            while self.isDigit(at: offset) { offset += 1 }
        }
        self.offset = offset
        return true
    }

    private mutating func skipWord(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard self.bytes.count - self.offset >= length else { return self.reject("expected a value", at: self.offset) }
        for index in 0..<length where self.bytes[self.offset + index] != word.utf8Start[index] {
            return self.reject("expected a value", at: self.offset)
        }
        self.offset += length
        return true
    }
}

/// One token of a JSON text, as offsets into it.
package struct JSONToken {
    package enum Kind: UInt8 {
        case beginObject, endObject, beginArray, endArray, colon, comma
        /// The name of a member, and any other string.
        case name, string
        case number, yes, no, null
        /// The end of the text.
        case end
    }

    package var kind: Kind
    /// The start of the white space before the token.
    var gap: Int
    package var start: Int
    package var end: Int
    /// True for a name or string with at least one escape.
    package var isEscaped = false
}

/// Where and why a text is not JSON.
public struct JSONSyntaxError: Error, Hashable, Sendable {
    /// What was expected, in plain words, lower case.
    public var reason: String
    /// Bytes from the start of the text.
    public var offset: Int
    /// Counts from 1.
    public var line: Int

    public init(reason: String, offset: Int, line: Int) {
        self.reason = reason
        self.offset = offset
        self.line = line
    }
}
