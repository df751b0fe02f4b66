internal import CassetteModel
internal import TapeBytes

/// Reads and writes the fields of a Protocol Buffers message: an array of `["NUMBER:NAME", VALUE]`, in their order.
///
/// A value is a number (varint), a string (text), an array (a message), or an object that names its kind. Names, and the third element of a
/// field, are for people: readers use the digits and the value.
enum ProtoCoder {
    /// A message is written on one line if it takes no more than this.
    private static let lineLimit = 100
    /// Whole numbers up to this one are exact in every JSON reader.
    private static let largest = UInt64(1) << 53

    // MARK: Writing

    static func write(_ message: ProtoMessage, into writer: inout JSONWriter) {
        var room = self.lineLimit
        self.measure(message, &room)
        writer.beginArray(room >= 0 ? .inline : .lines)
        for field in message.fields {
            writer.element()
            // The name and an opening bracket are on one line, with the fields of an inner message below.
            writer.beginArray(.hanging)
            writer.element()
            writer.string(self.key(field))
            writer.element()
            self.value(field.value, &writer)
            if let label = field.label {
                writer.element()
                writer.string(label)
            }
            writer.endArray()
        }
        writer.endArray()
    }

    private static func key(_ field: ProtoField) -> String { field.name.map { "\(field.number):\($0)" } ?? "\(field.number)" }

    private static func value(_ value: ProtoValue, _ writer: inout JSONWriter) {
        switch value {
        case .text(let text) where UTF8Validator.isValid(text): text.withUnsafeBytes { writer.string(utf8: $0) }
        case .message(let message): self.write(message, into: &writer)
        case .varint(let value): self.varint(value, &writer)
        case .fixed32(let value, let isFloat):
            let float = Float(bitPattern: value)
            writer.beginObject(.inline)
            if isFloat, float.isFinite {
                writer.member("float")
                writer.raw(Array("\(float)".utf8))
            } else {
                writer.member("i32")
                writer.hex(value)
            }
            writer.endObject()
        case .fixed64(let value, let isDouble):
            let double = Double(bitPattern: value)
            writer.beginObject(.inline)
            if isDouble, double.isFinite {
                writer.member("double")
                writer.raw(Array("\(double)".utf8))
            } else {
                writer.member("i64")
                writer.string(Hex.encode((0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }))
            }
            writer.endObject()
        case .bytes(let bytes), .text(let bytes):
            writer.beginObject(.inline)
            writer.member("base64")
            bytes.withUnsafeBytes { writer.base64($0) }
            writer.endObject()
        case .group(let message):
            writer.beginObject(.hanging)
            writer.member("group")
            self.write(message, into: &writer)
            writer.endObject()
        case .entry(let message):
            writer.beginObject(.hanging)
            writer.member("entry")
            self.write(message, into: &writer)
            writer.endObject()
        case .packed(let values):
            writer.beginObject(.inline)
            writer.member("packed")
            writer.beginArray(.inline)
            for value in values {
                writer.element()
                self.value(value, &writer)
            }
            writer.endArray()
            writer.endObject()
        }
    }

    /// Negative numbers are varints of ten bytes. Numbers that some JSON readers would round are written as strings.
    private static func varint(_ value: UInt64, _ writer: inout JSONWriter) {
        let signed = Int64(bitPattern: value)
        if signed.magnitude <= self.largest { return writer.integer(Int(clamping: signed)) }
        writer.beginObject(.inline)
        writer.member("varint")
        writer.string("\(value)")
        writer.endObject()
    }

    /// Subtracts the approximate width of a message on one line from `room`, and stops below zero.
    static func measure(_ message: ProtoMessage, _ room: inout Int) {
        for field in message.fields {
            guard room >= 0 else { return }
            room -= 8 + (field.name?.utf8.count ?? 0) + (field.label?.utf8.count ?? -4) + 4
            self.measure(field.value, &room)
        }
    }

    private static func measure(_ value: ProtoValue, _ room: inout Int) {
        switch value {
        case .varint(let value): room -= value < 1000 ? 3 : 20
        case .fixed32: room -= 21
        case .fixed64: room -= 29
        case .text(let text): room -= text.count
        case .bytes(let bytes): room -= 16 + Base64.length(of: bytes.count)
        case .message(let message): self.measure(message, &room)
        case .entry(let message), .group(let message):
            room -= 13
            self.measure(message, &room)
        case .packed(let values):
            room -= 14
            for value in values where room >= 0 { self.measure(value, &room) }
        }
    }

    // MARK: Reading

    static func decode(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> ProtoMessage {
        try ProtoDecoder(reader: reader).message(value, level: 0)
    }
}

/// Reads the fields of one message of a body.
private struct ProtoDecoder {
    /// For places in errors.
    let reader: ObjectReader

    private func error(_ value: JSONValue, _ problem: String, code: CassetteError.Code = .damaged) -> CassetteError {
        self.reader.error(value, "proto", problem, code: code)
    }

    func message(_ value: JSONValue, level: Int) throws(CassetteError) -> ProtoMessage {
        guard value.kind == .array else { throw self.error(value, "expected an array of fields") }
        guard level <= ProtoParser.levelLimit else {
            throw self.error(value, "expected fewer messages within messages; give the inner ones as base64", code: .tooLarge)
        }
        var fields: [ProtoField] = []
        for element in value.elements { fields.append(try self.field(element, level)) }
        return ProtoMessage(fields: fields)
    }

    private func field(_ value: JSONValue, _ level: Int) throws(CassetteError) -> ProtoField {
        var elements = value.elements
        guard let key = elements.next()?.utf8, let content = elements.next() else {
            throw self.error(value, "expected fields as [\"NUMBER:NAME\", VALUE]")
        }
        let digits = key.prefix { $0 != UInt8(ascii: ":") }
        guard let number = JSONNumber.int(digits[...]), ProtoMessage.numbers.contains(number) else {
            throw self.error(value, "expected a field number from 1 to \(ProtoMessage.numbers.upperBound), as \"1\" or \"1:name\"")
        }
        var field = ProtoField(number, try self.value(content, level))
        if digits.count < key.count { field.name = String(decoding: key[(digits.count + 1)...], as: UTF8.self) }
        if let label = elements.next() {
            guard let text = label.string, elements.next() == nil else { throw self.error(value, "expected a string as the last element") }
            field.label = text
        }
        return field
    }

    private func value(_ value: JSONValue, _ level: Int) throws(CassetteError) -> ProtoValue {
        switch value.kind {
        case .number: return .varint(try self.varint(value))
        case .string:
            guard let text = value.utf8 else { throw self.error(value, "expected whole characters, not half a surrogate pair") }
            return .text(text)
        case .array: return .message(try self.message(value, level: level + ProtoParser.levelsOfMessage))
        case .object: return try self.named(value, level)
        case .true, .false, .null: throw self.error(value, "expected a number, a string, an array or an object; a bool is 0 or 1")
        }
    }

    private func varint(_ value: JSONValue) throws(CassetteError) -> UInt64 {
        if let number = value.int { return UInt64(bitPattern: Int64(number)) }
        guard let number = UInt64(String(decoding: value.raw, as: UTF8.self)) else {
            throw self.error(value, "expected a whole number of 64 bits; others are \"float\", \"double\", \"i32\" or \"i64\"")
        }
        return number
    }

    /// `{ "i64": "400921fb54442d18" }`
    private func named(_ value: JSONValue, _ level: Int) throws(CassetteError) -> ProtoValue {
        var members = value.members
        guard let member = members.next(), members.next() == nil, let name = member.name.string else {
            throw self.error(value, "expected objects with one member")
        }
        switch name {
        case "varint":
            guard let text = member.value.string, let number = UInt64(text) else {
                throw self.error(member.value, "expected a whole number of 64 bits, as a string")
            }
            return .varint(number)
        case "i32": return .fixed32(UInt32(truncatingIfNeeded: try self.hex(member.value, 4)))
        case "i64": return .fixed64(try self.hex(member.value, 8))
        case "float":
            guard member.value.kind == .number, let number = Float(String(decoding: member.value.raw, as: UTF8.self)), number.isFinite
            else {
                throw self.error(member.value, "expected a finite number; any other value is \"i32\"")
            }
            return .fixed32(number.bitPattern, isFloat: true)
        case "double":
            guard let number = member.value.double else {
                throw self.error(member.value, "expected a finite number; any other value is \"i64\"")
            }
            // JSONNumber has no negative zero.
            let isNegative = member.value.raw.first == UInt8(ascii: "-")
            return .fixed64((isNegative ? -number.magnitude : number).bitPattern, isDouble: true)
        case "base64":
            guard let text = member.value.utf8, let bytes = Base64.decode(text) else {
                throw self.error(member.value, "expected base64 with its padding and no line ends")
            }
            return .bytes(bytes)
        case "group": return .group(try self.message(member.value, level: level + ProtoParser.levelsOfGroup))
        case "entry": return .entry(try self.message(member.value, level: level + ProtoParser.levelsOfGroup))
        case "packed":
            guard member.value.kind == .array else { throw self.error(member.value, "expected an array of numbers") }
            var values: [ProtoValue] = []
            for element in member.value.elements { values.append(try self.number(element, level)) }
            return .packed(values)
        default:
            throw self.error(value, "the kind of value \"\(PlainText.escape(name.utf8, limit: 40))\" is unknown", code: .unsupportedVersion)
        }
    }

    private func number(_ value: JSONValue, _ level: Int) throws(CassetteError) -> ProtoValue {
        switch try self.value(value, level) {
        case .varint(let number): return .varint(number)
        case .fixed32(let number, let isFloat): return .fixed32(number, isFloat: isFloat)
        case .fixed64(let number, let isDouble): return .fixed64(number, isDouble: isDouble)
        case .text, .message, .entry, .packed, .bytes, .group: throw self.error(value, "expected an array of numbers")
        }
    }

    private func hex(_ value: JSONValue, _ count: Int) throws(CassetteError) -> UInt64 {
        guard let text = value.utf8, let bytes = Hex.decode(text), bytes.count == count else {
            throw self.error(value, "expected \(2 * count) hex digits")
        }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
