internal import TapeBytes

/// Parses Protocol Buffers messages that encode to the same bytes again.
///
/// Rejects anything that a canonical encoder does not write (overlong varints, unknown wire types), since the bytes could not be restored.
/// Without a schema, the content of a length-delimited field is a guess: text if it is readable, otherwise a message if possible, otherwise
/// bytes.
public struct ProtoParser {
    /// The most levels of JSON that the fields of a message may take in a cassette. With the enclosing levels, an interaction stays within
    /// the indentation limit of `JSONWriter`. A nested message takes two levels, so the 29th is not parsed.
    package static let levelLimit = 56
    package static let levelsOfMessage = 2
    package static let levelsOfGroup = 3

    /// How many more fields may be parsed. Each takes about 60 bytes of memory, for as few as two bytes on the wire.
    public private(set) var fieldsLeft: Int

    public init(fields: Int) {
        self.fieldsLeft = fields
    }

    /// Nil if the bytes are not a message, or have more fields than are left.
    ///
    /// - Parameter type: the message's type; ignored if it does not fit.
    public mutating func parse(_ bytes: [UInt8], as type: ProtoType? = nil) -> ProtoMessage? {
        bytes.withUnsafeBytes { self.message($0, type, level: 0) }
    }

    /// Does not use up any of the remaining fields if it fails.
    private mutating func message(_ bytes: UnsafeRawBufferPointer, _ type: ProtoType?, level: Int) -> ProtoMessage? {
        let before = self.fieldsLeft
        var reader = ProtoReader(bytes)
        if let message = self.fields(&reader, group: nil, type, level: level) { return message }
        self.fieldsLeft = before
        guard type != nil else { return nil }
        return self.message(bytes, nil, level: level)
    }

    /// - Parameter group: the number of the group whose end tag ends the fields; nil for the end of the bytes.
    private mutating func fields(_ reader: inout ProtoReader, group: Int?, _ type: ProtoType?, level: Int) -> ProtoMessage? {
        guard level <= Self.levelLimit else { return nil }
        var fields: [ProtoField] = []
        while !reader.isAtEnd {
            guard let (number, wire) = reader.tag() else { return nil }
            if wire == .endGroup { return number == group ? ProtoMessage(fields: fields) : nil }
            guard self.fieldsLeft > 0 else { return nil }
            self.fieldsLeft -= 1
            if let type, let declared = type.field(number) {
                guard let field = self.declared(&reader, number, wire, declared, type, level) else { return nil }
                fields.append(field)
            } else {
                guard let value = self.value(&reader, number, wire, level) else { return nil }
                fields.append(ProtoField(number, value))
            }
        }
        return group == nil ? ProtoMessage(fields: fields) : nil
    }

    // MARK: Without a schema

    private mutating func value(_ reader: inout ProtoReader, _ number: Int, _ wire: ProtoWireType, _ level: Int) -> ProtoValue? {
        switch wire {
        case .varint: return reader.varint().map { .varint($0) }
        case .fixed32: return reader.fixed(4).map { .fixed32(UInt32(truncatingIfNeeded: $0)) }
        case .fixed64: return reader.fixed(8).map { .fixed64($0) }
        case .length: return reader.delimited().map { self.delimited($0, level) }
        case .beginGroup: return self.fields(&reader, group: number, nil, level: level + Self.levelsOfGroup).map { .group($0) }
        case .endGroup: return nil
        }
    }

    private mutating func delimited(_ bytes: UnsafeRawBufferPointer, _ level: Int) -> ProtoValue {
        let isText = ProtoText.isReadable(bytes)
        // A message with a string of 32 bytes or more in field 1 looks like text with a line feed in it, and one with a string of 13 bytes
        // like text with a carriage return. Redaction placeholders may have these lengths, and must not change how a field is interpreted.
        if isText, !bytes.contains(where: { $0 < 32 }) { return .text(Array(bytes)) }
        if let message = self.message(bytes, nil, level: level + Self.levelsOfMessage) { return .message(message) }
        return isText ? .text(Array(bytes)) : .bytes(Array(bytes))
    }

    // MARK: With a schema

    /// Nil if the value is not of the declared kind.
    private mutating func declared(
        _ reader: inout ProtoReader, _ number: Int, _ wire: ProtoWireType, _ field: ProtoSchema.Field, _ type: ProtoType, _ level: Int
    ) -> ProtoField? {
        switch (field.kind, wire) {
        case (.string, .length):
            guard let bytes = reader.delimited(), UTF8Validator.isValid(bytes) else { return nil }
            return ProtoField(number, name: field.name, .text(Array(bytes)))
        case (.bytes, .length): return reader.delimited().map { ProtoField(number, name: field.name, .bytes(Array($0))) }
        case (.message, .length):
            guard let bytes = reader.delimited() else { return nil }
            let inner = type.type(of: field)
            let levels = inner.isMapEntry ? Self.levelsOfGroup : Self.levelsOfMessage
            guard level + levels <= Self.levelLimit else { return ProtoField(number, name: field.name, .bytes(Array(bytes))) }
            guard let message = self.message(bytes, inner, level: level + levels) else { return nil }
            return ProtoField(number, name: field.name, inner.isMapEntry ? .entry(message) : .message(message))
        case (.group, .beginGroup):
            return self.fields(&reader, group: number, type.type(of: field), level: level + Self.levelsOfGroup)
                .map { ProtoField(number, name: field.name, .group($0)) }
        case (_, .length) where field.isRepeated: return self.packed(&reader, number, field)
        case (_, _):
            guard let value = Self.scalar(&reader, wire, field.kind) else { return nil }
            return ProtoField(number, name: field.name, value, label: type.label(of: value, field))
        }
    }

    private mutating func packed(_ reader: inout ProtoReader, _ number: Int, _ field: ProtoSchema.Field) -> ProtoField? {
        guard let wire = field.kind.wire, let bytes = reader.delimited() else { return nil }
        var inner = ProtoReader(bytes)
        var values: [ProtoValue] = []
        while !inner.isAtEnd {
            guard self.fieldsLeft > 0, let value = Self.scalar(&inner, wire, field.kind) else { return nil }
            self.fieldsLeft -= 1
            values.append(value)
        }
        return ProtoField(number, name: field.name, .packed(values))
    }

    private static func scalar(_ reader: inout ProtoReader, _ wire: ProtoWireType, _ kind: ProtoSchema.Kind) -> ProtoValue? {
        guard wire == kind.wire else { return nil }
        switch wire {
        case .varint: return reader.varint().map { .varint($0) }
        case .fixed32: return reader.fixed(4).map { .fixed32(UInt32(truncatingIfNeeded: $0), isFloat: kind == .float) }
        case .fixed64: return reader.fixed(8).map { .fixed64($0, isDouble: kind == .double) }
        case .length, .beginGroup, .endGroup: return nil
        }
    }
}

extension ProtoSchema.Kind {
    /// The wire type of a number of this kind; nil for other kinds.
    fileprivate var wire: ProtoWireType? {
        switch self {
        case .int64, .uint64, .int32, .bool, .uint32, .enum, .sint32, .sint64: .varint
        case .float, .fixed32, .sfixed32: .fixed32
        case .double, .fixed64, .sfixed64: .fixed64
        case .string, .group, .message, .bytes: nil
        }
    }
}

extension ProtoType {
    /// The meaning of a number, if it is displayed differently.
    fileprivate func label(of value: ProtoValue, _ field: ProtoSchema.Field) -> String? {
        switch (field.kind, value) {
        case (.bool, .varint(let number)) where number <= 1: number == 1 ? "true" : "false"
        case (.enum, .varint(let number)): self.schema.enumName(field.typeName, Int64(bitPattern: number))
        case (.sint32, .varint(let number)), (.sint64, .varint(let number)):
            number > 0 ? "\(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))" : nil
        case (.uint64, .varint(let number)) where number > UInt64(Int64.max): "\(number)"
        case (.fixed32, .fixed32(let number, _)): "\(number)"
        case (.sfixed32, .fixed32(let number, _)): "\(Int32(bitPattern: number))"
        case (.fixed64, .fixed64(let number, _)): "\(number)"
        case (.sfixed64, .fixed64(let number, _)): "\(Int64(bitPattern: number))"
        case (_, _): nil
        }
    }
}

enum ProtoText {
    /// UTF-8 without control characters other than tab, line feed and carriage return.
    static func isReadable(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes where byte < 32 && byte != 9 && byte != 10 && byte != 13 || byte == 127 { return false }
        return UTF8Validator.isValid(bytes)
    }
}

/// Reads the parts of an encoded message; nil for anything that a canonical encoder does not write.
struct ProtoReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { self.offset == self.bytes.count }

    mutating func tag() -> (number: Int, type: ProtoWireType)? {
        guard let tag = self.varint(), tag <= UInt32.max, let type = ProtoWireType(rawValue: tag & 7) else { return nil }
        let number = Int(tag >> 3)
        return number > 0 ? (number, type) : nil
    }

    mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while self.offset < self.bytes.count {
            let byte = self.bytes[self.offset]
            self.offset += 1
            // The tenth byte has room for only one bit.
            guard shift < 63 || byte <= 1 else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return byte == 0 && shift > 0 ? nil : value }
            shift += 7
        }
        return nil
    }

    /// The lowest byte comes first.
    mutating func fixed(_ count: Int) -> UInt64? {
        guard self.bytes.count - self.offset >= count else { return nil }
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(self.bytes[self.offset + index]) << UInt64(8 * index) }
        self.offset += count
        return value
    }

    mutating func delimited() -> UnsafeRawBufferPointer? {
        guard let count = self.varint(), count <= UInt64(self.bytes.count - self.offset) else { return nil }
        let start = self.offset
        self.offset += Int(count)
        return UnsafeRawBufferPointer(rebasing: self.bytes[start..<self.offset])
    }
}
