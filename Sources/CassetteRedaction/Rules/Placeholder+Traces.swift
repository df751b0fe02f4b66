internal import TapeBytes

/// Recognises placeholders that were fitted to a length, and so are filled with `*`, cut, or adjacent. None of these is a secret.
extension Placeholder {
    /// How many bytes before a position a placeholder around it may begin. A kind has at most 64 bytes and a number ten.
    private static let reach = 128

    /// Whether the bytes are nothing but placeholders. `*` after a placeholder fills up to the length of a longer secret.
    ///
    /// - Parameter mayBeCut: whether the last one may end early, as in bytes whose length does not change.
    static func isAll(_ bytes: UnsafeRawBufferPointer, mayBeCut: Bool = false) -> Bool {
        guard let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "%") || first == UInt8(ascii: "e") || first == 53
        else { return false }
        var offset = 0
        while offset < bytes.count {
            if let length = self.length(in: bytes, at: offset) {
                offset += length
                while offset < bytes.count, bytes[offset] == UInt8(ascii: "*") { offset += 1 }
            } else {
                return mayBeCut && self.isCut(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            }
        }
        return true
    }

    static func isAll(_ bytes: [UInt8], mayBeCut: Bool = false) -> Bool {
        bytes.withUnsafeBytes { self.isAll($0, mayBeCut: mayBeCut) }
    }

    /// Kinds that a cut placeholder may have. Others could be the beginnings of passwords.
    private static let kinds: Set<[UInt8]> = Set(
        RedactionRules.kinds.flatMap { kind in
            (1...kind.utf8.count).map { Array(kind.utf8.prefix($0)) }
        })

    /// Whether the bytes are the beginning of a placeholder.
    private static func isCut(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < 2, index < bytes.count {
            guard bytes[index] == UInt8(ascii: "{") else { return false }
            index += 1
        }
        let kind = index
        while index < bytes.count, self.mayStandInKind(bytes[index]) { index += 1 }
        guard index == kind || self.kinds.contains(Array(bytes[kind..<index])) else { return false }
        if index < bytes.count, bytes[index] == UInt8(ascii: ":"), index > 2 { index += 1 }
        while index < bytes.count, bytes[index] >= 48, bytes[index] <= 57 { index += 1 }
        if index < bytes.count, bytes[index] == UInt8(ascii: "}") { index += 1 }
        return index == bytes.count
    }

    /// Whether a range is within a placeholder. A word in it, such as its kind, is then not a secret. The placeholder may be cut.
    static func covers(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Bool {
        var start = range.lowerBound
        let least = max(0, start - Self.reach)
        while true {
            switch bytes[start] {
            case UInt8(ascii: "{"), UInt8(ascii: "%"), UInt8(ascii: "e"), UInt8(ascii: "5"):
                if let length = self.length(in: bytes, at: start), start + length >= range.upperBound { return true }
                if bytes[start] == UInt8(ascii: "{"), start + 1 <= range.lowerBound, start + 1 < bytes.count,
                    bytes[start + 1] == bytes[start],
                    self.isCut(UnsafeRawBufferPointer(rebasing: bytes[start..<range.upperBound]))
                {
                    return true
                }
            default: break
            }
            guard start > least, self.mayStandInPlaceholder(bytes[start - 1]) else { return false }
            start -= 1
        }
    }

    private static func mayStandInPlaceholder(_ byte: UInt8) -> Bool {
        self.mayStandInKind(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "%")
            || byte == UInt8(ascii: "}")
    }
}
