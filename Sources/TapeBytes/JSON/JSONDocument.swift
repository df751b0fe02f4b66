/// A parsed JSON text (RFC 8259): the text itself, and the position of each value in it.
///
/// Exact: keeps the order, duplicates and spelling of the text. Decodes a value only on demand.
public final class JSONDocument: Sendable {
    fileprivate struct Node {
        var start: UInt32
        var end: UInt32
        /// The index of the first node after this one and its descendants.
        var next: UInt32
        var kind: JSONValue.Kind
        var isEscaped: Bool
    }

    public let bytes: [UInt8]
    fileprivate let nodes: [Node]

    public var root: JSONValue { JSONValue(document: self, index: 0) }

    /// A more deeply nested text is rejected.
    public static let depthLimit = JSONTokenizer.depthLimit
    /// Offsets have 32 bits.
    public static let sizeLimit = Int(Int32.max)

    public init(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        switch bytes.withUnsafeBytes(Self.parse) {
        case .success(let nodes): self.nodes = nodes
        case .failure(let error): throw error
        }
        self.bytes = bytes
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer) -> Result<[Node], JSONSyntaxError> {
        guard bytes.count <= self.sizeLimit else {
            return .failure(JSONSyntaxError(reason: "longer than 2 GiB", offset: self.sizeLimit, line: 1))
        }
        var validator = UTF8Validator()
        let invalid = validator.firstInvalid(in: bytes)
        if let offset = invalid ?? (validator.isAtCharacterEnd ? nil : bytes.count) {
            let line = ByteScan.count(of: 10, in: bytes, upTo: offset) + 1
            return .failure(JSONSyntaxError(reason: "expected UTF-8", offset: offset, line: line))
        }

        var nodes: [Node] = []
        nodes.reserveCapacity(min(bytes.count / 16, 4096) + 8)
        // While a container is open, its `next` is the index of the container around it.
        var parent = UInt32.max
        var tokenizer = JSONTokenizer(bytes)
        while let token = tokenizer.next() {
            let kind: JSONValue.Kind
            switch token.kind {
            case .end: return .success(nodes)
            case .colon, .comma: continue
            case .beginObject, .beginArray:
                let index = UInt32(nodes.count)
                let kind: JSONValue.Kind = token.kind == .beginObject ? .object : .array
                nodes.append(Node(start: UInt32(token.start), end: 0, next: parent, kind: kind, isEscaped: false))
                parent = index
                continue
            case .endObject, .endArray:
                let index = Int(parent)
                parent = nodes[index].next
                nodes[index].end = UInt32(token.end)
                nodes[index].next = UInt32(nodes.count)
                continue
            case .name, .string: kind = .string
            case .number: kind = .number
            case .yes: kind = .true
            case .no: kind = .false
            case .null: kind = .null
            }
            nodes.append(
                Node(
                    start: UInt32(token.start), end: UInt32(token.end), next: UInt32(nodes.count + 1), kind: kind,
                    isEscaped: token.isEscaped))
        }
        return .failure(tokenizer.error)
    }
}

/// One value of a JSON document: its text as received, decoded on demand.
public struct JSONValue: Sendable {
    public enum Kind: UInt8, Sendable {
        case object, array, string, number, `true`, `false`, null
    }

    fileprivate let document: JSONDocument
    fileprivate let index: Int

    private var node: JSONDocument.Node { self.document.nodes[self.index] }

    public var kind: Kind { self.node.kind }

    /// The value's text as received, with quotes and inner white space.
    public var raw: ArraySlice<UInt8> { self.document.bytes[self.range] }
    public var range: Range<Int> { Int(self.node.start)..<Int(self.node.end) }

    /// The line on which the value starts, counted from 1.
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

    /// Nil for anything but a number without fraction and exponent that fits into `Int`.
    public var int: Int? {
        guard self.kind == .number else { return nil }
        return JSONNumber.int(self.raw)
    }

    /// Nil for anything but a number, and for one beyond the range of `Double`.
    public var double: Double? {
        guard self.kind == .number else { return nil }
        return JSONNumber.double(self.raw)
    }

    // MARK: Strings

    /// The string's UTF-8; nil for other kinds, and for a string with half a surrogate pair, which UTF-8 cannot express.
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

    /// The members of an object in order, including duplicates; none for other kinds.
    public var members: JSONMembers {
        JSONMembers(document: self.document, index: self.index + 1, end: self.kind == .object ? Int(self.node.next) : self.index + 1)
    }

    /// The elements of an array; none for other kinds.
    public var elements: JSONElements {
        JSONElements(document: self.document, index: self.index + 1, end: self.kind == .array ? Int(self.node.next) : self.index + 1)
    }

    /// The value of the first member with that name.
    public subscript(name: String) -> JSONValue? {
        for member in self.members where member.name.string == name { return member.value }
        return nil
    }
}

/// The members of an object, in order.
public struct JSONMembers: Sequence, IteratorProtocol, Sendable {
    fileprivate let document: JSONDocument
    fileprivate var index: Int
    fileprivate let end: Int

    public mutating func next() -> (name: JSONValue, value: JSONValue)? {
        guard self.index < self.end else { return nil }
        let name = JSONValue(document: self.document, index: self.index)
        let value = JSONValue(document: self.document, index: self.index + 1)
        self.index = Int(self.document.nodes[self.index + 1].next)
        return (name, value)
    }
}

/// The elements of an array, in order.
public struct JSONElements: Sequence, IteratorProtocol, Sendable {
    fileprivate let document: JSONDocument
    fileprivate var index: Int
    fileprivate let end: Int

    public mutating func next() -> JSONValue? {
        guard self.index < self.end else { return nil }
        let value = JSONValue(document: self.document, index: self.index)
        self.index = Int(self.document.nodes[self.index].next)
        return value
    }
}

/// Decodes the escapes of a JSON string (RFC 8259, 7).
package enum JSONStringDecoder {
    /// The UTF-8 of a string, given the text between its quotes; nil for half a surrogate pair or an unknown escape.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var offset = text.startIndex
        while offset < text.endIndex {
            let byte = text[offset]
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                offset += 1
                continue
            }
            guard offset + 1 < text.endIndex else { return nil }
            switch text[offset + 1] {
            case UInt8(ascii: "\""): result.append(UInt8(ascii: "\""))
            case UInt8(ascii: "\\"): result.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "/"): result.append(UInt8(ascii: "/"))
            case UInt8(ascii: "b"): result.append(8)
            case UInt8(ascii: "f"): result.append(12)
            case UInt8(ascii: "n"): result.append(10)
            case UInt8(ascii: "r"): result.append(13)
            case UInt8(ascii: "t"): result.append(9)
            case UInt8(ascii: "u"):
                guard let (scalar, length) = self.scalar(in: text, at: offset) else { return nil }
                result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                offset += length
                continue
            default: return nil
            }
            offset += 2
        }
        return result
    }

    /// The character of `\uXXXX`, or of two such escapes that form a surrogate pair.
    private static func scalar(in text: ArraySlice<UInt8>, at offset: Int) -> (Unicode.Scalar, length: Int)? {
        guard let first = self.unit(in: text, at: offset) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        guard first < 0xDC00, let second = self.unit(in: text, at: offset + 6), second >= 0xDC00, second <= 0xDFFF else { return nil }
        guard let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) else { return nil }
        return (scalar, 12)
    }

    private static func unit(in text: ArraySlice<UInt8>, at offset: Int) -> UInt32? {
        guard text.endIndex - offset >= 6, text[offset] == UInt8(ascii: "\\"), text[offset + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt32 = 0
        for index in offset + 2..<offset + 6 {
            guard let digit = Hex.value(text[index]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}
