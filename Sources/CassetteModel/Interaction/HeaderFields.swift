/// The field lines of one header or trailer section, in order, exactly as received.
///
/// Keeps the exact bytes: case, duplicates, spaces around values and invalid UTF-8. Knows nothing about framing or hop-by-hop fields.
public struct HeaderFields: Sendable {
    /// A single buffer, so that a copy costs one reference: an index with room for `room` lines, followed by the lines.
    private var buffer: [UInt8]
    public private(set) var count: Int
    private var room: Int
    /// A Bloom filter: no field has a name whose bit is clear.
    private var names: UInt64

    /// Offsets from the first line. 32 bits are enough, since the size of a section is limited to far less.
    private struct Entry {
        var nameEnd: Int32
        var valueStart: Int32
        var valueEnd: Int32
        var lineEnd: Int32
    }

    public init() {
        self.buffer = []
        self.count = 0
        self.room = 0
        self.names = 0
    }

    public init(_ lines: [String]) {
        self.init()
        for line in lines { self.append(line: Array(line.utf8)) }
    }

    public var isEmpty: Bool { self.count == 0 }

    /// Every line followed by CRLF, without the empty line that ends the section. Its indices do not begin at 0; ranges of lines, names and
    /// values are relative to the buffer of `withBytes`.
    public var bytes: ArraySlice<UInt8> { self.buffer[self.base...] }

    /// The number of `bytes`.
    public var size: Int { self.buffer.count - self.base }

    /// The offset of the first line in the buffer.
    private var base: Int { self.room * MemoryLayout<Entry>.size }

    public mutating func reserve(bytes: Int, fields: Int) {
        guard fields > self.room else { return self.buffer.reserveCapacity(self.base + bytes) }
        self.makeRoom(for: fields, bytes: bytes)
    }

    /// Moves the lines to a new buffer whose index has more room.
    private mutating func makeRoom(for fields: Int, bytes: Int = 0) {
        let index = fields * MemoryLayout<Entry>.size
        let (old, size) = (self.base, self.size)
        self.buffer = [UInt8](unsafeUninitializedCapacity: index + max(bytes, size * 2, 64)) { room, count in
            let new = UnsafeMutableRawBufferPointer(room)
            self.buffer.withUnsafeBytes { lines in
                UnsafeMutableRawBufferPointer(rebasing: new[..<index]).initializeMemory(as: UInt8.self, repeating: 0)
                UnsafeMutableRawBufferPointer(rebasing: new[..<old]).copyMemory(from: UnsafeRawBufferPointer(rebasing: lines[..<old]))
                UnsafeMutableRawBufferPointer(rebasing: new[index...]).copyMemory(from: UnsafeRawBufferPointer(rebasing: lines[old...]))
            }
            count = index + size
        }
        self.room = fields
    }

    /// Appends one field line without its CRLF. A line without a colon becomes a field with an empty value.
    public mutating func append(line: some Collection<UInt8>) {
        let start = self.size
        self.buffer.append(contentsOf: line)
        let nameEnd = self.withBytes { bytes in (start..<bytes.count).first { bytes[$0] == UInt8(ascii: ":") } ?? bytes.count }
        self.endLine(start: start, nameEnd: nameEnd)
    }

    public mutating func append(name: String, value: String) {
        self.append(line: Array("\(name): \(value)".utf8))
    }

    /// Appends `name: value` of bytes that a parser has already checked.
    public mutating func append(checkedName name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let start = self.size
        self.buffer.append(contentsOf: name)
        self.buffer.append(UInt8(ascii: ":"))
        self.buffer.append(UInt8(ascii: " "))
        self.buffer.append(contentsOf: value)
        self.endLine(start: start, nameEnd: start + name.count)
    }

    /// Appends a line that a parser has already checked; `nameLength` is the distance to its colon.
    public mutating func append(checkedLine line: UnsafeRawBufferPointer, nameLength: Int) {
        let start = self.size
        self.buffer.append(contentsOf: line)
        self.endLine(start: start, nameEnd: start + nameLength)
    }

    /// Ends the line whose bytes were just appended, and adds it to the index.
    private mutating func endLine(start: Int, nameEnd: Int) {
        let end = self.size
        self.buffer.append(13)
        self.buffer.append(10)
        if self.count == self.room { self.makeRoom(for: max(8, self.room * 2)) }
        let base = self.base
        self.buffer.withUnsafeMutableBytes { buffer in
            var valueStart = min(nameEnd + 1, end)
            var valueEnd = end
            while valueStart < valueEnd, Self.isSpace(buffer[base + valueStart]) { valueStart += 1 }
            while valueEnd > valueStart, Self.isSpace(buffer[base + valueEnd - 1]) { valueEnd -= 1 }
            buffer.storeBytes(
                of: Entry(nameEnd: Int32(nameEnd), valueStart: Int32(valueStart), valueEnd: Int32(valueEnd), lineEnd: Int32(end)),
                toByteOffset: self.count * MemoryLayout<Entry>.size, as: Entry.self)
            self.names |= Self.bit(length: nameEnd - start, first: nameEnd > start ? buffer[base + start] : 0)
        }
        self.count += 1
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    private func entry(at index: Int) -> Entry {
        precondition(index >= 0 && index < self.count, "there is no such field line")
        return self.buffer.withUnsafeBytes { Self.entry($0, index) }
    }

    @inline(__always)
    private static func entry(_ buffer: UnsafeRawBufferPointer, _ index: Int) -> Entry {
        buffer.loadUnaligned(fromByteOffset: index * MemoryLayout<Entry>.size, as: Entry.self)
    }

    /// The beginning of the line at an index.
    private func start(of index: Int) -> Int { index == 0 ? 0 : Int(self.entry(at: index - 1).lineEnd) + 2 }

    /// A slice of `bytes`, without copying.
    private func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        self.buffer[self.base + range.lowerBound..<self.base + range.upperBound]
    }

    /// The field line at an index, without its CRLF.
    public func line(at index: Int) -> ArraySlice<UInt8> { self.slice(self.lineRange(at: index)) }

    /// Passes the field line with its CRLF, without copying.
    public func withLine(at index: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
        let line = self.lineRange(at: index)
        self.withBytes { body(UnsafeRawBufferPointer(rebasing: $0[line.lowerBound..<line.upperBound + 2])) }
    }

    /// Passes all `bytes`, without copying.
    @inline(__always)
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let base = self.base
        return try self.buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[base...])) }
    }

    public func name(at index: Int) -> String { String(decoding: self.nameBytes(at: index), as: UTF8.self) }

    public func nameBytes(at index: Int) -> ArraySlice<UInt8> { self.slice(self.nameRange(at: index)) }

    /// The range of a field line in `bytes`, relative to their first byte, without its CRLF.
    public func lineRange(at index: Int) -> Range<Int> {
        let end = Int(self.entry(at: index).lineEnd)
        return self.start(of: index)..<end
    }

    /// The range of a field's name in `bytes`, relative to their first byte.
    public func nameRange(at index: Int) -> Range<Int> {
        let end = Int(self.entry(at: index).nameEnd)
        return self.start(of: index)..<end
    }

    /// The range of a field's value in `bytes`, relative to their first byte, without surrounding white space.
    public func valueRange(at index: Int) -> Range<Int> {
        let entry = self.entry(at: index)
        return Int(entry.valueStart)..<Int(entry.valueEnd)
    }

    /// The value without surrounding white space; invalid UTF-8 becomes replacement characters.
    public func value(at index: Int) -> String {
        String(decoding: self.valueBytes(at: index), as: UTF8.self)
    }

    public func valueBytes(at index: Int) -> ArraySlice<UInt8> { self.slice(self.valueRange(at: index)) }

    /// A name's bit in the Bloom filter, from its length and first letter.
    @inline(__always)
    private static func bit(length: Int, first: UInt8) -> UInt64 {
        1 << (UInt64(truncatingIfNeeded: length &* 5 &+ Int(first | 32) &* 3) & 63)
    }

    /// Compares a field's name with a lower-case ASCII name, ignoring case (RFC 9110, 5.1).
    public func isNamed(_ lowercase: StaticString, at index: Int) -> Bool {
        let name = self.nameRange(at: index)
        return self.withBytes { Self.isNamed(lowercase, name, $0) }
    }

    @inline(__always)
    private static func isNamed(_ lowercase: StaticString, _ name: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = name.count
        guard count == lowercase.utf8CodeUnitCount else { return false }
        let expected = UnsafeRawBufferPointer(start: lowercase.utf8Start, count: count)
        var offset = 0
        // Eight bytes at a time; the last step overlaps the previous one.
        while count - offset >= 8 || (offset > 0 && offset < count) {
            offset = min(offset, count - 8)
            let word = Self.lower(bytes.loadUnaligned(fromByteOffset: name.lowerBound + offset, as: UInt64.self))
            guard word == expected.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
            offset += 8
        }
        for offset in offset..<max(offset, count) where Self.lower(bytes[name.lowerBound + offset]) != expected[offset] { return false }
        return true
    }

    /// Converts letters from A to Z to lower case in eight bytes at once ("SWAR").
    @inline(__always)
    private static func lower(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let low = word & (ones &* 0x7F)
        let fromA = low &+ ones &* (0x80 - 0x41)
        let overZ = low &+ ones &* (0x80 - 0x5B)
        return word | ((fromA & ~overZ & ~word & (ones &* 0x80)) >> 2)
    }

    @inline(__always)
    private static func lower(_ byte: UInt8) -> UInt8 {
        byte >= 65 && byte <= 90 ? byte | 32 : byte
    }

    public func contains(_ lowercase: StaticString) -> Bool {
        self.firstIndex(of: lowercase) != nil
    }

    /// The index of the first field with this name, searching from an index on.
    public func firstIndex(of lowercase: StaticString, from first: Int = 0) -> Int? {
        precondition(first >= 0 && first <= self.count, "there is no such field line")
        guard self.names & Self.bit(length: lowercase.utf8CodeUnitCount, first: lowercase.utf8Start[0]) != 0 else { return nil }
        let base = self.base
        return self.buffer.withUnsafeBytes { buffer in
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[base...])
            var start = first == 0 ? 0 : Int(Self.entry(buffer, first - 1).lineEnd) + 2
            for index in first..<self.count {
                let entry = Self.entry(buffer, index)
                if Self.isNamed(lowercase, start..<Int(entry.nameEnd), bytes) { return index }
                start = Int(entry.lineEnd) + 2
            }
            return nil
        }
    }

    /// The first value of a field; `lowercase` matches names in any case.
    public func first(_ lowercase: StaticString) -> String? {
        self.firstIndex(of: lowercase).map { self.value(at: $0) }
    }

    public func values(_ lowercase: StaticString) -> [String] {
        (0..<self.count).filter { self.isNamed(lowercase, at: $0) }.map { self.value(at: $0) }
    }

    /// A copy with the value of every field of this name replaced; names keep their spelling.
    public func replacing(_ lowercase: StaticString, with value: String) -> HeaderFields {
        var fields = HeaderFields()
        for index in 0..<self.count {
            guard self.isNamed(lowercase, at: index) else {
                fields.append(line: self.line(at: index))
                continue
            }
            fields.append(name: self.name(at: index), value: value)
        }
        return fields
    }

    /// The fields at these indices, which must ascend.
    package func picking(_ indices: [Int]) -> HeaderFields {
        var fields = HeaderFields()
        for index in indices { fields.append(self, at: index) }
        return fields
    }

    /// A copy with other fields at these indices, which must ascend.
    package func replacing(_ indices: [Int], with others: HeaderFields) -> HeaderFields {
        var fields = HeaderFields()
        fields.reserve(bytes: self.size + others.size, fields: self.count)
        var next = 0
        for index in 0..<self.count {
            if next < indices.count, indices[next] == index {
                fields.append(others, at: next)
                next += 1
            } else {
                fields.append(self, at: index)
            }
        }
        return fields
    }

    private mutating func append(_ other: HeaderFields, at index: Int) {
        let line = other.lineRange(at: index)
        let nameLength = other.nameRange(at: index).count
        other.withBytes { self.append(checkedLine: UnsafeRawBufferPointer(rebasing: $0[line]), nameLength: nameLength) }
    }

    /// A copy without the fields of this name.
    public func removing(_ lowercase: StaticString) -> HeaderFields {
        var fields = HeaderFields()
        for index in 0..<self.count where !self.isNamed(lowercase, at: index) { fields.append(line: self.line(at: index)) }
        return fields
    }

    /// The lines as text, for people and tests; not exact if a line is not UTF-8.
    public var lines: [String] {
        (0..<self.count).map { String(decoding: self.line(at: $0), as: UTF8.self) }
    }
}

/// Compares line by line: two lines do not equal one line that contains a line end.
extension HeaderFields: Hashable {
    public static func == (left: HeaderFields, right: HeaderFields) -> Bool {
        let index = left.count * MemoryLayout<Entry>.size
        return left.count == right.count && left.buffer[..<index] == right.buffer[..<index] && left.bytes == right.bytes
    }

    public func hash(into hasher: inout Hasher) { self.withBytes { hasher.combine(bytes: $0) } }
}
