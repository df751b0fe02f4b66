/// One value of a JSON document: spelled as received, decoded on demand.
public struct JSONValue: Sendable {
    public enum Kind: UInt8, Sendable {
        case object, array, string, number, `true`, `false`, null
    }

    let document: JSONDocument
    let index: Int

    private var node: JSONDocument.Node { self.document.nodes[self.index] }

    public var kind: Kind { self.node.kind }

    /// The value's text as it stands, quotes and white space within it included.
    public var raw: ArraySlice<UInt8> { self.document.bytes[self.range] }
    public var range: Range<Int> { Int(self.node.start)..<Int(self.node.end) }

    /// The line the value starts on, from 1.
    public var line: Int {
        self.document.bytes.withUnsafeBytes { ByteScan.count(of: 10, in: $0, upTo: Int(self.node.start)) } + 1
    }

    public var bool: Bool? {
        switch self.kind {
        case .true: true
        case .false: false
        case .object, .array, .string, .number, .null: nil
        }
    }

    // MARK: Numbers

    /// Nil for anything but a whole number without fraction and exponent that fits.
    public var int: Int? {
        guard self.kind == .number else { return nil }
        return JSONNumber.int(self.raw)
    }

    /// Nil for anything but a number, and for one past the range of `Double`.
    public var double: Double? {
        guard self.kind == .number else { return nil }
        return JSONNumber.double(self.raw)
    }

    // MARK: Strings

    /// The string's UTF-8; nil for other kinds, and for a string with half a surrogate pair, which no UTF-8 can say.
    public var utf8: [UInt8]? {
        guard self.kind == .string else { return nil }
        let inner = self.document.bytes[Int(self.node.start) + 1..<Int(self.node.end) - 1]
        return self.node.isEscaped ? JSONStringDecoder.decode(inner) : Array(inner)
    }

    public var string: String? {
        guard self.kind == .string else { return nil }
        guard self.node.isEscaped else {
            let inner = Int(self.node.start) + 1..<Int(self.node.end) - 1
            return self.document.bytes.withUnsafeBufferPointer { String(decoding: UnsafeBufferPointer(rebasing: $0[inner]), as: UTF8.self) }
        }
        return self.utf8.map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: Containers

    /// The members of an object in order, duplicates included; none for other kinds.
    public var members: JSONMembers {
        JSONMembers(document: self.document, index: self.index + 1, end: self.kind == .object ? Int(self.node.next) : self.index + 1)
    }

    /// The elements of an array; none for other kinds.
    public var elements: JSONElements {
        JSONElements(document: self.document, index: self.index + 1, end: self.kind == .array ? Int(self.node.next) : self.index + 1)
    }

    /// The first member of that name.
    public subscript(name: String) -> JSONValue? {
        for member in self.members where member.name.string == name { return member.value }
        return nil
    }
}
