/// The size line of a chunk (RFC 9112, 7.1): hex digits and perhaps extensions.
struct ChunkLine {
    var size: Int
    /// The line itself where it is not the size in lower-case hex.
    var text: String?
    var extensionBytes: Int

    /// Takes a line without its CRLF and without control bytes other than HTAB.
    static func parse(_ line: UnsafeRawBufferPointer, side: MessageSide) throws(MessageError) -> ChunkLine {
        var size = 0
        var digits = 0
        var isCanonical = true
        while digits < line.count, let digit = Octets.hexDigit(line[digits]) {
            // Sixteen digits hold any size; more are padding that a narrower parser might cut.
            guard digits < 16, size <= Int.max >> 4 else {
                throw side.fault(.chunk, "\(side.name) has the chunk size \(Octets.quoted(line)); send at most 7fffffffffffffff")
            }
            size = size << 4 | Int(digit)
            if line[digits] >= 65 && line[digits] <= 70 { isCanonical = false }
            digits += 1
        }
        guard digits > 0, self.isExtension(line, from: digits) else {
            throw side.fault(.chunk, "\(side.name) has the chunk-size line \(Octets.quoted(line)); send hex digits only")
        }
        if digits < line.count || (digits > 1 && line[0] == UInt8(ascii: "0")) { isCanonical = false }
        guard !isCanonical else { return ChunkLine(size: size, text: nil, extensionBytes: 0) }
        let text = String(decoding: line, as: UTF8.self)
        // A recorded line is text: octets it could not give back are refused.
        guard text.utf8.elementsEqual(line) else {
            throw side.fault(.chunk, "\(side.name) has a chunk extension that is not UTF-8: \(Octets.quoted(line)); send none")
        }
        return ChunkLine(size: size, text: text, extensionBytes: line.count - digits)
    }

    /// `*( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )` up to the end of the line.
    private static func isExtension(_ line: UnsafeRawBufferPointer, from start: Int) -> Bool {
        var index = start
        func skipSpace() {
            while index < line.count, line[index] == Octets.space || line[index] == Octets.tab { index += 1 }
        }
        func token() -> Bool {
            let start = index
            while index < line.count, Octets.isToken(line[index]) { index += 1 }
            return index > start
        }
        func quotedString() -> Bool {
            index += 1
            while index < line.count {
                if line[index] == UInt8(ascii: "\"") {
                    index += 1
                    return true
                }
                index += line[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            return false
        }
        while index < line.count {
            skipSpace()
            guard index < line.count, line[index] == UInt8(ascii: ";") else { return false }
            index += 1
            skipSpace()
            guard token() else { return false }
            let nameEnd = index
            skipSpace()
            guard index < line.count, line[index] == UInt8(ascii: "=") else {
                // White space here belongs before the next ";": leave it to the next round, which refuses it at the end of the line.
                index = nameEnd
                continue
            }
            index += 1
            skipSpace()
            guard index < line.count, line[index] == UInt8(ascii: "\"") ? quotedString() : token() else { return false }
        }
        return true
    }
}
