/// The field lines of one header or trailer section, in order, exactly as received.
///
/// Keeps bytes: case, duplicates, spaces around values and invalid UTF-8 survive. Knows nothing of framing or hop-by-hop fields.
public struct HeaderFields: Sendable, Hashable {
    /// Every line followed by CRLF, without the empty line that ends the section.
    public private(set) var bytes: [UInt8]
    private var entries: [Entry]

    /// Offsets into `bytes`: 32 bits, since a section is limited to far less.
    private struct Entry: Sendable, Hashable {
        var start: Int32
        var nameEnd: Int32
        var valueStart: Int32
        var valueEnd: Int32
        var lineEnd: Int32
    }

    public init() {
        self.bytes = []
        self.entries = []
    }

    public init(_ lines: [String]) {
        self.init()
        for line in lines { self.append(line: Array(line.utf8)) }
    }

    public var count: Int { self.entries.count }
    public var isEmpty: Bool { self.entries.isEmpty }

    public mutating func reserve(bytes: Int, fields: Int) {
        self.bytes.reserveCapacity(bytes)
        self.entries.reserveCapacity(fields)
    }

    /// Appends one field line without its CRLF. A line without a colon becomes a field with an empty value.
    public mutating func append(line: some Collection<UInt8>) {
        let start = self.bytes.count
        self.bytes.append(contentsOf: line)
        let end = self.bytes.count
        self.bytes.append(13)
        self.bytes.append(10)
        let nameEnd = self.bytes[start..<end].firstIndex(of: UInt8(ascii: ":")) ?? end
        self.appendEntry(start: start, nameEnd: nameEnd, end: end)
    }

    public mutating func append(name: String, value: String) {
        self.append(line: Array("\(name): \(value)".utf8))
    }

    /// Appends `name: value` of bytes that a parser has already checked.
    public mutating func append(checkedName name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let start = self.bytes.count
        self.bytes.append(contentsOf: name)
        let nameEnd = self.bytes.count
        self.bytes.append(UInt8(ascii: ":"))
        self.bytes.append(UInt8(ascii: " "))
        self.bytes.append(contentsOf: value)
        let end = self.bytes.count
        self.bytes.append(13)
        self.bytes.append(10)
        self.appendEntry(start: start, nameEnd: nameEnd, end: end)
    }

    /// Appends a line that a parser has already checked; `nameLength` is the distance to its colon.
    public mutating func append(checkedLine line: UnsafeRawBufferPointer, nameLength: Int) {
        let start = self.bytes.count
        self.bytes.append(contentsOf: line)
        let end = self.bytes.count
        self.bytes.append(13)
        self.bytes.append(10)
        self.appendEntry(start: start, nameEnd: start + nameLength, end: end)
    }

    private mutating func appendEntry(start: Int, nameEnd: Int, end: Int) {
        var valueStart = min(nameEnd + 1, end)
        var valueEnd = end
        while valueStart < valueEnd, Self.isSpace(self.bytes[valueStart]) { valueStart += 1 }
        while valueEnd > valueStart, Self.isSpace(self.bytes[valueEnd - 1]) { valueEnd -= 1 }
        self.entries.append(
            Entry(
                start: Int32(start), nameEnd: Int32(nameEnd), valueStart: Int32(valueStart), valueEnd: Int32(valueEnd),
                lineEnd: Int32(end)))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    /// The field line at an index, without its CRLF.
    public func line(at index: Int) -> ArraySlice<UInt8> {
        let entry = self.entries[index]
        return self.bytes[Int(entry.start)..<Int(entry.lineEnd)]
    }

    /// The field line with its CRLF, in place.
    public func withLine(at index: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
        let entry = self.entries[index]
        self.bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[Int(entry.start)..<Int(entry.lineEnd) + 2])) }
    }

    public func name(at index: Int) -> String {
        let entry = self.entries[index]
        return String(decoding: self.bytes[Int(entry.start)..<Int(entry.nameEnd)], as: UTF8.self)
    }

    public func nameBytes(at index: Int) -> ArraySlice<UInt8> {
        let entry = self.entries[index]
        return self.bytes[Int(entry.start)..<Int(entry.nameEnd)]
    }

    /// Where a field line is in `bytes`, without its CRLF.
    public func lineRange(at index: Int) -> Range<Int> {
        Int(self.entries[index].start)..<Int(self.entries[index].lineEnd)
    }

    /// Where a field's name is in `bytes`.
    public func nameRange(at index: Int) -> Range<Int> {
        Int(self.entries[index].start)..<Int(self.entries[index].nameEnd)
    }

    /// Where a field's value is in `bytes`, without the white space around it.
    public func valueRange(at index: Int) -> Range<Int> {
        Int(self.entries[index].valueStart)..<Int(self.entries[index].valueEnd)
    }

    /// The value without the white space around it; invalid UTF-8 shows as replacement characters.
    public func value(at index: Int) -> String {
        String(decoding: self.valueBytes(at: index), as: UTF8.self)
    }

    public func valueBytes(at index: Int) -> ArraySlice<UInt8> {
        let entry = self.entries[index]
        return self.bytes[Int(entry.valueStart)..<Int(entry.valueEnd)]
    }

    /// Compares a field's name with a lower-case ASCII name, ignoring case (RFC 9110, 5.1).
    public func isNamed(_ lowercase: StaticString, at index: Int) -> Bool {
        let entry = self.entries[index]
        return self.bytes.withUnsafeBufferPointer { Self.isNamed(lowercase, entry, $0) }
    }

    @inline(__always)
    private static func isNamed(_ lowercase: StaticString, _ entry: Entry, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let length = Int(entry.nameEnd - entry.start)
        guard length == lowercase.utf8CodeUnitCount else { return false }
        for offset in 0..<length where Self.lower(bytes[Int(entry.start) + offset]) != lowercase.utf8Start[offset] { return false }
        return true
    }

    @inline(__always)
    private static func lower(_ byte: UInt8) -> UInt8 {
        byte >= 65 && byte <= 90 ? byte | 32 : byte
    }

    public func contains(_ lowercase: StaticString) -> Bool {
        self.firstIndex(of: lowercase) != nil
    }

    public func firstIndex(of lowercase: StaticString) -> Int? {
        self.bytes.withUnsafeBufferPointer { bytes in
            self.entries.withUnsafeBufferPointer { entries in entries.firstIndex { Self.isNamed(lowercase, $0, bytes) } }
        }
    }

    /// The first value of a field; `lowercase` matches names of any case.
    public func first(_ lowercase: StaticString) -> String? {
        self.firstIndex(of: lowercase).map { self.value(at: $0) }
    }

    public func values(_ lowercase: StaticString) -> [String] {
        self.entries.indices.filter { self.isNamed(lowercase, at: $0) }.map { self.value(at: $0) }
    }

    /// The same fields with the value of every field of that name replaced; names keep their spelling.
    public func replacing(_ lowercase: StaticString, with value: String) -> HeaderFields {
        var fields = HeaderFields()
        for index in self.entries.indices {
            guard self.isNamed(lowercase, at: index) else {
                fields.append(line: self.line(at: index))
                continue
            }
            fields.append(name: self.name(at: index), value: value)
        }
        return fields
    }

    /// The fields at these indices, which ascend.
    package func picking(_ indices: [Int]) -> HeaderFields {
        var fields = HeaderFields()
        for index in indices { fields.append(self, at: index) }
        return fields
    }

    /// The same fields with others at these indices, which ascend.
    package func replacing(_ indices: [Int], with others: HeaderFields) -> HeaderFields {
        var fields = HeaderFields()
        fields.reserve(bytes: self.bytes.count + others.bytes.count, fields: self.count)
        var next = 0
        for index in self.entries.indices {
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
        let entry = other.entries[index]
        other.bytes.withUnsafeBytes { bytes in
            self.append(
                checkedLine: UnsafeRawBufferPointer(rebasing: bytes[Int(entry.start)..<Int(entry.lineEnd)]),
                nameLength: Int(entry.nameEnd - entry.start))
        }
    }

    /// The same fields without those of that name.
    public func removing(_ lowercase: StaticString) -> HeaderFields {
        var fields = HeaderFields()
        for index in self.entries.indices where !self.isNamed(lowercase, at: index) { fields.append(line: self.line(at: index)) }
        return fields
    }

    /// The lines as text, for people and tests; not exact if a line is not UTF-8.
    public var lines: [String] {
        self.entries.indices.map { String(decoding: self.line(at: $0), as: UTF8.self) }
    }
}
