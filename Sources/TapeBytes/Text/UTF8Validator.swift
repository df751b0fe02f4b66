/// Validates UTF-8 that arrives in pieces (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing beyond U+10FFFF.
public struct UTF8Validator: Sendable {
    /// The number of continuation bytes still expected, and the range of the next one.
    private var due = 0
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xBF

    public init() {}

    /// False if the bytes so far end within a character.
    public var isAtCharacterEnd: Bool { self.due == 0 }

    public static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var validator = UTF8Validator()
        return validator.firstInvalid(in: bytes) == nil && validator.isAtCharacterEnd
    }

    public static func isValid(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { self.isValid($0) }
    }

    /// The offset of the first byte that makes the text invalid; nil if there is none.
    public mutating func firstInvalid(in bytes: UnsafeRawBufferPointer) -> Int? {
        var offset = 0
        let end = bytes.count
        while offset < end {
            if self.due == 0 {
                offset = ByteScan.endOfASCII(bytes, from: offset)
                guard offset < end else { return nil }
                guard self.lead(bytes[offset]) else { return offset }
            } else {
                let byte = bytes[offset]
                guard byte >= self.low, byte <= self.high else { return offset }
                self.low = 0x80
                self.high = 0xBF
                self.due -= 1
            }
            offset += 1
        }
        return nil
    }

    private mutating func lead(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: self.due = 1
        case 0xE0: (self.due, self.low) = (2, 0xA0)
        case 0xED: (self.due, self.high) = (2, 0x9F)
        case 0xE1...0xEF: self.due = 2
        case 0xF0: (self.due, self.low) = (3, 0x90)
        case 0xF1...0xF3: self.due = 3
        case 0xF4: (self.due, self.high) = (3, 0x8F)
        default: return false
        }
        return true
    }
}

/// Decodes bytes without a declared charset.
package enum Latin1 {
    /// Decodes as UTF-8 if valid, otherwise as ISO 8859-1.
    package static func text(_ bytes: [UInt8]) -> String {
        UTF8Validator.isValid(bytes) ? String(decoding: bytes, as: UTF8.self) : self.decode(bytes)
    }

    package static func decode(_ bytes: [UInt8]) -> String {
        var text = ""
        for byte in bytes { text.unicodeScalars.append(UnicodeScalar(byte)) }
        return text
    }
}

extension String {
    /// Nil if the bytes are not UTF-8. `String(validating:as:)` needs a newer system than this package does.
    package init?(validUTF8 bytes: some Collection<UInt8>) {
        let isValid =
            bytes.withContiguousStorageIfAvailable { UTF8Validator.isValid(UnsafeRawBufferPointer($0)) }
            ?? UTF8Validator.isValid(Array(bytes))
        guard isValid else { return nil }
        self.init(decoding: bytes, as: UTF8.self)
    }
}
