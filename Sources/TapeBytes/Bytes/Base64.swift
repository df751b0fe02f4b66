/// Base64 with the standard alphabet and padding (RFC 4648, 4).
public enum Base64 {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    /// The number of characters for `count` bytes.
    public static func length(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Appends the base64 of `bytes`, with padding.
    public static func encode(_ bytes: UnsafeRawBufferPointer, into text: inout [UInt8]) {
        let length = self.length(of: bytes.count)
        // SAFETY: the inner `encode` initializes as many bytes as it returns.
        text.append(
            contentsOf: [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
                count = self.encode(bytes, into: UnsafeMutableRawBufferPointer(buffer))
            })
    }

    /// Fills `text`, which must have room for `length(of:)`, and returns the number of bytes written.
    static func encode(_ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer) -> Int {
        precondition(text.count >= self.length(of: bytes.count))
        let alphabet = self.alphabet.utf8Start
        let whole = bytes.count / 3 * 3
        var offset = 0
        var end = 0
        while offset < whole {
            let first = Int(bytes[offset])
            let second = Int(bytes[offset + 1])
            let third = Int(bytes[offset + 2])
            text[end] = alphabet[first >> 2]
            text[end + 1] = alphabet[(first & 3) << 4 | second >> 4]
            text[end + 2] = alphabet[(second & 15) << 2 | third >> 6]
            text[end + 3] = alphabet[third & 63]
            offset += 3
            end += 4
        }
        guard offset < bytes.count else { return end }
        let first = Int(bytes[offset])
        let second = offset + 1 < bytes.count ? Int(bytes[offset + 1]) : nil
        text[end] = alphabet[first >> 2]
        text[end + 1] = alphabet[(first & 3) << 4 | (second ?? 0) >> 4]
        text[end + 2] = second.map { alphabet[($0 & 15) << 2] } ?? UInt8(ascii: "=")
        text[end + 3] = UInt8(ascii: "=")
        return end + 4
    }

    /// Nil if the text is not exactly what `encode` writes: no white space, padding required, unused bits zero.
    public static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var end = text.count
        while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        var bits: UInt32 = 0
        var held = 0
        for character in text[..<end] {
            guard let value = self.value(character) else { return nil }
            bits = bits << 6 | UInt32(value)
            held += 6
            guard held >= 8 else { continue }
            held -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
        }
        guard bits & (1 << UInt32(held) - 1) == 0 else { return nil }
        return bytes
    }

    @inline(__always)
    package static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

/// Decodes a run of base64 within another text, character by character, and detects its end.
///
/// Each alphabet has characters that also occur in the text around it: `/` separates path segments, `-` and `_` separate words. Base64 of
/// ASCII text contains them only as the last character of a group of four. So if all content so far is ASCII, such a character at another
/// position ends the run. The first group is accepted as it is, because the run may not encode text.
package struct Base64Characters {
    /// The number of characters taken.
    package private(set) var count = 0
    private var bits: UInt32 = 0
    private var isASCII = true
    private let isInPath: Bool

    /// - Parameter isInPath: whether the run is part of a URL's path, where a slash after text separates segments at any position.
    package init(isInPath: Bool) { self.isInPath = isInPath }

    /// Whether the last characters have leftover bits that belong to no byte. Encoders never leave such bits set.
    package var hasLooseBits: Bool {
        switch self.count % 4 {
        case 2: self.bits & 0b1111 != 0
        case 3: self.bits & 0b11 != 0
        default: false
        }
    }

    /// How far back from the run the start of its URL is searched for.
    private static let pathLimit = 2048

    /// Whether an offset is in the path of a URL, or in a bare path, judged by the word around it.
    package static func isInPath(_ offset: Int, of text: UnsafeRawBufferPointer) -> Bool {
        var start = offset
        while start > 0, offset - start < self.pathLimit {
            let byte = text[start - 1]
            if byte <= 32 || "\"'<>,;=&?()[]{}|".utf8.contains(byte) { break }
            if byte == UInt8(ascii: "/"), start > 2, text[start - 2] == UInt8(ascii: "/"), text[start - 3] == UInt8(ascii: ":") {
                return true
            }
            start -= 1
        }
        return start < offset && text[start] == UInt8(ascii: "/") && (start == 0 || text[start - 1] != UInt8(ascii: "="))
    }

    /// Takes the value of the next character, and appends a byte once it is complete. False if the run ends before this character.
    @inline(__always)
    package mutating func take(_ value: UInt8, _ content: inout [UInt8]) -> Bool {
        guard value < 62 || !self.isASCII || self.count < 4 || self.count % 4 == 3 && !(value == 63 && self.isInPath) else { return false }
        self.bits = self.bits << 6 | UInt32(value)
        let position = self.count % 4
        self.count += 1
        guard position > 0 else { return true }
        let byte = UInt8(truncatingIfNeeded: self.bits >> UInt32(6 - 2 * position))
        if byte >= 0x80 { self.isASCII = false }
        content.append(byte)
        return true
    }
}

/// Encodes bytes as base64 that arrive in pieces of any size.
package struct Base64Stream {
    /// Up to two bytes that do not fill a group of three yet.
    private var held: [UInt8] = []

    package init() {}

    package mutating func append(_ piece: UnsafeRawBufferPointer, to writer: inout JSONWriter) {
        var start = 0
        if !self.held.isEmpty {
            while self.held.count < 3, start < piece.count {
                self.held.append(piece[start])
                start += 1
            }
            guard self.held.count == 3 else { return }
            self.finish(&writer)
        }
        let whole = (piece.count - start) / 3 * 3
        let groups = UnsafeRawBufferPointer(rebasing: piece[start..<start + whole])
        writer.append(atMost: Base64.length(of: whole)) { Base64.encode(groups, into: $0) }
        self.held.append(contentsOf: piece[(start + whole)...])
    }

    /// Writes the held bytes with padding.
    package mutating func finish(_ writer: inout JSONWriter) {
        guard !self.held.isEmpty else { return }
        self.held.withUnsafeBytes { held in
            writer.append(atMost: 4) { Base64.encode(held, into: $0) }
        }
        self.held.removeAll(keepingCapacity: true)
    }
}
