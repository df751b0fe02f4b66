internal import CassetteModel

/// Parses the field lines of one header or trailer section up to its empty line.
///
/// Remembers how far it has read, so a section that arrives byte by byte costs no more than one that arrives at once. Knows the grammar and
/// the limits, but not what a field means.
struct FieldSectionParser: Sendable {
    private let side: MessageSide
    private let maximumBytes: Int
    private let maximumFields: Int
    private let section: StaticString
    private(set) var fields = HeaderFields()
    /// Offsets from the section's first byte.
    private var lineStart = 0
    private var scanned = 0
    private var nameLength: Int?

    init(side: MessageSide, section: StaticString, maximumBytes: Int, maximumFields: Int) {
        self.side = side
        self.section = section
        self.maximumBytes = maximumBytes
        self.maximumFields = maximumFields
    }

    /// Continues in a buffer that holds the section from `start`. Returns the offset after the empty line, or nil while that is missing.
    mutating func parse(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(MessageError) -> Int? {
        let available = bytes.count - start
        guard available >= self.scanned else { return nil }
        // 992 bytes with the array's header and an index of 16 lines. glibc caches blocks of up to 1,032 bytes for each thread. Longer
        // sections grow once.
        if self.lineStart == 0, self.scanned == 0, available > 2 { self.fields.reserve(bytes: min(available, 704), fields: 16) }
        let end = start + min(available, self.maximumBytes)
        while true {
            let line = start + self.lineStart
            if self.nameLength == nil {
                guard line < end else { break }
                if bytes[line] == ASCII.carriageReturn {
                    guard line + 1 < end else { break }
                    guard bytes[line + 1] == ASCII.lineFeed else { throw self.stray(bytes[line], in: bytes[line..<line]) }
                    return line + 2
                }
                guard try self.readName(bytes, line: line, end: end) else { break }
            }
            guard let nameLength = self.nameLength else { break }
            let valueEnd = ASCII.firstControl(in: bytes, from: start + self.scanned, to: end)
            self.scanned = valueEnd - start
            guard valueEnd + 1 < end else {
                if valueEnd < end, bytes[valueEnd] != ASCII.carriageReturn {
                    throw self.stray(bytes[valueEnd], in: bytes[line..<line + nameLength])
                }
                break
            }
            guard bytes[valueEnd] == ASCII.carriageReturn, bytes[valueEnd + 1] == ASCII.lineFeed else {
                throw self.stray(bytes[valueEnd], in: bytes[line..<line + nameLength])
            }
            guard self.fields.count < self.maximumFields else {
                throw self.side.fault(
                    .tooManyFields, status: 431, "\(self.section) has more than \(self.maximumFields) field lines; send fewer")
            }
            self.fields.append(checkedLine: UnsafeRawBufferPointer(rebasing: bytes[line..<valueEnd]), nameLength: nameLength)
            self.lineStart = valueEnd + 2 - start
            self.scanned = self.lineStart
            self.nameLength = nil
        }
        guard available < self.maximumBytes else {
            throw self.side.fault(
                .tooLong, status: 431, "\(self.section) is longer than \(self.maximumBytes) bytes; send fewer or shorter fields")
        }
        return nil
    }

    /// Reads up to the colon. Returns false while it is missing.
    private mutating func readName(_ bytes: UnsafeRawBufferPointer, line: Int, end: Int) throws(MessageError) -> Bool {
        var index = line + (self.scanned - self.lineStart)
        while index < end, ASCII.isToken(bytes[index]) { index += 1 }
        self.scanned = self.lineStart + (index - line)
        guard index < end else { return false }
        guard bytes[index] == UInt8(ascii: ":"), index > line else {
            throw self.badName(bytes[index], name: bytes[line..<index])
        }
        self.nameLength = index - line
        self.scanned += 1
        return true
    }

    private func badName(_ byte: UInt8, name: Slice<UnsafeRawBufferPointer>) -> MessageError {
        let section = self.section
        switch (byte, name.isEmpty) {
        case (ASCII.lineFeed, _), (ASCII.carriageReturn, _), (0, _):
            return self.stray(byte, in: name)
        case (ASCII.space, true), (ASCII.tab, true):
            // RFC 9112, 5.2: different parsers interpret a folded line differently.
            return self.side.fault(.field, "\(section) has a line that begins with white space; put each field on one line")
        case (UInt8(ascii: ":"), true):
            return self.side.fault(.field, "\(section) has a field without a name; name it or leave it out")
        case (ASCII.space, false), (ASCII.tab, false):
            // RFC 9112, 5.1: white space before the colon has led to request smuggling.
            return self.side.fault(.field, "\(section) has white space in or after the name \(ASCII.quoted(name)); remove it")
        default:
            return self.side.fault(
                .field,
                "\(section) has the byte \(ASCII.escaped(byte)) in a field name after \(ASCII.quoted(name)); use token characters")
        }
    }

    private func stray(_ byte: UInt8, in name: Slice<UnsafeRawBufferPointer>) -> MessageError {
        switch byte {
        case ASCII.carriageReturn, ASCII.lineFeed:
            let what = byte == ASCII.lineFeed ? "line feed" : "carriage return"
            return self.side.fault(.lineEnd, "\(self.section) has a bare \(what) after \(ASCII.quoted(name)); end lines with CRLF")
        default:
            return self.side.fault(
                .field, "field \(ASCII.quoted(name)) has the control byte \(ASCII.escaped(byte)) in its value; remove it")
        }
    }
}
