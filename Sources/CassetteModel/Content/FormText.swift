internal import TapeBytes

/// A form (application/x-www-form-urlencoded, `a=1&b=2`) as its fields in order, with the spelling that restores its bytes.
public struct FormText: Sendable, Hashable {
    public struct Field: Sendable, Hashable {
        public var name: String
        /// Nil if there is no equals sign.
        public var value: String?

        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    public var fields: [Field]
    public var spelling: FormSpelling

    public init(fields: [Field], spelling: FormSpelling = .usual) {
        self.fields = fields
        self.spelling = spelling
    }

    /// Nil if no single spelling restores all bytes, a name or value is not UTF-8, or `bytes` is empty.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return nil }
        var survey = Survey()
        var fields: [Field] = []
        var start = 0
        while true {
            let end = ByteScan.index(of: UInt8(ascii: "&"), in: bytes, from: start)
            let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            let equals = ByteScan.index(of: UInt8(ascii: "="), in: part, from: 0)
            guard let name = survey.decode(UnsafeRawBufferPointer(rebasing: part[..<equals])) else { return nil }
            var value: String?
            if equals < part.count {
                guard let text = survey.decode(UnsafeRawBufferPointer(rebasing: part[(equals + 1)...])) else { return nil }
                value = text
            }
            fields.append(Field(name: name, value: value))
            guard end < bytes.count else { break }
            start = end + 1
        }
        guard let spelling = survey.spelling else { return nil }
        self.init(fields: fields, spelling: spelling)
        guard self.bytes.withUnsafeBytes({ $0.elementsEqualFast(bytes) }) else { return nil }
    }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for (index, field) in self.fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            self.spelling.write(field.name.utf8, isName: true, into: &bytes)
            guard let value = field.value else { continue }
            bytes.append(UInt8(ascii: "="))
            self.spelling.write(value.utf8, isName: false, into: &bytes)
        }
        return bytes
    }

    /// Collects how single bytes are spelled, to find one rule for all of them.
    private struct Survey {
        private var plain = Array(repeating: false, count: 128)
        private var escaped = Array(repeating: false, count: 128)
        private var hasPlus = false
        private var hasUpper = false
        private var hasLower = false

        mutating func decode(_ text: UnsafeRawBufferPointer) -> String? {
            var decoded: [UInt8] = []
            decoded.reserveCapacity(text.count)
            var offset = 0
            while offset < text.count {
                let byte = text[offset]
                if byte == UInt8(ascii: "%") {
                    guard text.count - offset > 2, let upper = Hex.value(text[offset + 1]), let lower = Hex.value(text[offset + 2]) else {
                        return nil
                    }
                    self.note(text[offset + 1])
                    self.note(text[offset + 2])
                    let value = upper << 4 | lower
                    if value < 128 { self.escaped[Int(value)] = true }
                    decoded.append(value)
                    offset += 3
                    continue
                }
                if byte == UInt8(ascii: "+") {
                    self.hasPlus = true
                    decoded.append(32)
                } else {
                    guard FormSpelling.mayBePlain(byte) else { return nil }
                    self.plain[Int(byte)] = true
                    decoded.append(byte)
                }
                offset += 1
            }
            return UTF8Validator.isValid(decoded) ? String(decoding: decoded, as: UTF8.self) : nil
        }

        private mutating func note(_ digit: UInt8) {
            if digit >= 97 { self.hasLower = true } else if digit >= 65 { self.hasUpper = true }
        }

        var spelling: FormSpelling? {
            guard !(self.hasPlus && self.escaped[32]), !(self.hasUpper && self.hasLower) else { return nil }
            var spelling = FormSpelling(escapesSpace: self.escaped[32], usesLowerCaseHex: self.hasLower)
            for byte in UInt8(33)..<127 {
                let (isPlain, isEscaped) = (self.plain[Int(byte)], self.escaped[Int(byte)])
                if isPlain, isEscaped { return nil }
                if FormSpelling.isUsuallyPlain(byte) {
                    if isEscaped { spelling.escaped.append(byte) }
                } else if isPlain {
                    spelling.plain.append(byte)
                }
            }
            return spelling.escaped.contains(where: FormSpelling.isAlphanumeric) ? nil : spelling
        }
    }
}

/// How a form's names and values are spelled: which bytes are escaped, and how.
///
/// One rule for the whole form. The default is that of browsers (WHATWG URL, 5.2): a plus for a space, upper-case hex, and letters, digits
/// and `*-._` unescaped.
public struct FormSpelling: Sendable, Hashable {
    /// `%20` for a space.
    public var escapesSpace: Bool
    public var usesLowerCaseHex: Bool
    /// Further bytes that are not escaped, in order.
    public var plain: [UInt8]
    /// Bytes of `*-._` that are escaped, in order.
    public var escaped: [UInt8]

    public init(escapesSpace: Bool = false, usesLowerCaseHex: Bool = false, plain: [UInt8] = [], escaped: [UInt8] = []) {
        self.escapesSpace = escapesSpace
        self.usesLowerCaseHex = usesLowerCaseHex
        self.plain = plain
        self.escaped = escaped
    }

    public static let usual = FormSpelling()

    package static func isAlphanumeric(_ byte: UInt8) -> Bool {
        byte >= 48 && byte <= 57 || (byte | 32) >= 97 && (byte | 32) <= 122 && byte < 128
    }

    fileprivate static func isUsuallyPlain(_ byte: UInt8) -> Bool {
        self.isAlphanumeric(byte) || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "_")
    }

    /// Bytes that some spelling leaves unescaped: visible ones that neither separate nor escape.
    package static func mayBePlain(_ byte: UInt8) -> Bool {
        byte > 32 && byte < 127 && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "+")
    }

    /// Appends a name or value in this spelling.
    func write(_ text: some Sequence<UInt8>, isName: Bool, into bytes: inout [UInt8]) {
        for byte in text {
            if byte == 32, !self.escapesSpace {
                bytes.append(UInt8(ascii: "+"))
            } else if self.isPlain(byte), !isName || byte != UInt8(ascii: "=") {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                for digit in [Hex.digit(byte >> 4), Hex.digit(byte & 15)] {
                    bytes.append(digit >= 97 && !self.usesLowerCaseHex ? digit & ~32 : digit)
                }
            }
        }
    }

    private func isPlain(_ byte: UInt8) -> Bool {
        if Self.isUsuallyPlain(byte) { return !self.escaped.contains(byte) }
        return self.plain.contains(byte)
    }
}
