/// A Protocol Buffers message as the fields it was received with, in their order.
///
/// Exact: `bytes` are those that it was parsed from. Names and labels come from a schema, are only for display, and do not change any byte.
public struct ProtoMessage: Sendable, Hashable {
    public var fields: [ProtoField]

    public init(fields: [ProtoField] = []) {
        self.fields = fields
    }

    /// The same message with the names from its type, if it fits.
    public func named(_ type: ProtoType) -> ProtoMessage {
        let bytes = self.bytes
        var parser = ProtoParser(fields: bytes.count)
        return parser.parse(bytes, as: type) ?? self
    }

    /// The field numbers that the encoding allows.
    public static let numbers = 1...0x1FFF_FFFF
}

/// One field of a message. A repeated field occurs once for each of its values, unless it is packed.
public struct ProtoField: Sendable, Hashable {
    public var number: Int
    /// The name in the schema.
    public var name: String?
    public var value: ProtoValue
    /// The meaning of the value in the schema: the name of an enum value, or a negative number in zigzag coding.
    public var label: String?

    public init(_ number: Int, name: String? = nil, _ value: ProtoValue, label: String? = nil) {
        self.number = number
        self.name = name
        self.value = value
        self.label = label
    }
}

/// The value of a field, by its wire type and the interpretation of its bytes.
public enum ProtoValue: Sendable, Hashable {
    case varint(UInt64)
    /// Four bytes, shown as a decimal number if the schema says `float`.
    case fixed32(UInt32, isFloat: Bool = false)
    /// Eight bytes, shown as a decimal number if the schema says `double`.
    case fixed64(UInt64, isDouble: Bool = false)
    /// UTF-8
    case text([UInt8])
    case message(ProtoMessage)
    /// A message that is a map entry according to the schema.
    case entry(ProtoMessage)
    /// Consecutive numbers of one kind, according to the schema.
    case packed([ProtoValue])
    case bytes([UInt8])
    /// Delimited by two tags instead of a length (proto2).
    case group(ProtoMessage)
}

// MARK: The wire

extension ProtoMessage {
    /// The size of the encoded message in bytes.
    public var size: Int { self.fields.reduce(0) { $0 + $1.size } }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.size)
        self.write(into: &bytes)
        return bytes
    }

    func write(into bytes: inout [UInt8]) {
        for field in self.fields { field.write(into: &bytes) }
    }
}

/// The wire types (Protocol Buffers Encoding, "Message Structure").
enum ProtoWireType: UInt64 {
    case varint = 0
    case fixed64 = 1
    case length = 2
    case beginGroup = 3
    case endGroup = 4
    case fixed32 = 5
}

enum ProtoVarint {
    static func size(_ value: UInt64) -> Int { max(1, (70 - value.leadingZeroBitCount) / 7) }

    static func write(_ value: UInt64, into bytes: inout [UInt8]) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}

extension ProtoField {
    private func tag(_ type: ProtoWireType) -> UInt64 { UInt64(truncatingIfNeeded: self.number) << 3 | type.rawValue }

    var size: Int {
        let tag = ProtoVarint.size(self.tag(.varint))
        // Computed once, since doing it twice at each level would take exponential time.
        let size = self.value.size
        return switch self.value {
        case .group: 2 * tag + size
        case .varint, .fixed32, .fixed64: tag + size
        case .text, .message, .entry, .packed, .bytes: tag + ProtoVarint.size(UInt64(size)) + size
        }
    }

    func write(into bytes: inout [UInt8]) {
        switch self.value {
        case .varint: ProtoVarint.write(self.tag(.varint), into: &bytes)
        case .fixed32: ProtoVarint.write(self.tag(.fixed32), into: &bytes)
        case .fixed64: ProtoVarint.write(self.tag(.fixed64), into: &bytes)
        case .text, .message, .entry, .packed, .bytes:
            ProtoVarint.write(self.tag(.length), into: &bytes)
            ProtoVarint.write(UInt64(self.value.size), into: &bytes)
        case .group(let message):
            ProtoVarint.write(self.tag(.beginGroup), into: &bytes)
            message.write(into: &bytes)
            return ProtoVarint.write(self.tag(.endGroup), into: &bytes)
        }
        self.value.write(into: &bytes)
    }
}

extension ProtoValue {
    /// The size without tag and length.
    var size: Int {
        switch self {
        case .varint(let value): ProtoVarint.size(value)
        case .fixed32: 4
        case .fixed64: 8
        case .text(let bytes), .bytes(let bytes): bytes.count
        case .message(let message), .entry(let message), .group(let message): message.size
        case .packed(let values): values.reduce(0) { $0 + $1.size }
        }
    }

    func write(into bytes: inout [UInt8]) {
        switch self {
        case .varint(let value): ProtoVarint.write(value, into: &bytes)
        case .fixed32(let value, _):
            for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
        case .fixed64(let value, _):
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
        case .text(let text), .bytes(let text): bytes += text
        case .message(let message), .entry(let message), .group(let message): message.write(into: &bytes)
        case .packed(let values): for value in values { value.write(into: &bytes) }
        }
    }
}
