/// The messages and methods in a FileDescriptorSet (google/protobuf/descriptor.proto), as written by `protoc --descriptor_set_out`.
///
/// Reads no files. Knows types by number and name, and only the options that affect the encoding.
public final class ProtoSchema: Sendable {
    /// How the value of a field is encoded.
    enum Kind: Sendable, Hashable {
        case double, float, int64, uint64, int32, fixed64, fixed32, bool, string, group, message, bytes, uint32, `enum`, sfixed32, sfixed64,
            sint32, sint64

        /// Indexed by the number in `FieldDescriptorProto.Type`, from 1.
        static let all: [Kind] = [
            .double, .float, .int64, .uint64, .int32, .fixed64, .fixed32, .bool, .string, .group, .message, .bytes, .uint32, .enum,
            .sfixed32, .sfixed64, .sint32, .sint64,
        ]
    }

    struct Field: Sendable {
        var name: String
        var kind: Kind
        var isRepeated: Bool
        /// The type of a message, group or enum, with a dot before the package.
        var typeName: String
    }

    struct Message: Sendable {
        var fields: [Int: Field] = [:]
        var isMapEntry = false
    }

    private struct Method: Sendable {
        var request: String
        var response: String
    }

    /// By full name with a dot before the package: `.pets.v1.Pet`.
    private let messages: [String: Message]
    private let enums: [String: [Int64: String]]
    /// By path: `/pets.v1.Pets/Watch`.
    private let methods: [String: Method]

    /// The problem with a file that should be a FileDescriptorSet.
    public struct Problem: Error, Hashable {
        /// A clause for people.
        public var reason: String
    }

    /// The most fields in all files together: far more than any service has.
    static let fieldLimit = 1_000_000

    /// Types of later files replace those of the same name.
    public init(files: [[UInt8]]) throws(Problem) {
        var reader = SchemaReader()
        for file in files {
            let isRead = file.withUnsafeBytes { reader.set($0) }
            guard isRead else { throw Problem(reason: reader.reason) }
        }
        self.messages = reader.messages
        self.enums = reader.enums
        self.methods = reader.methods.mapValues { Method(request: $0.request, response: $0.response) }
    }

    /// The numbers of methods and messages.
    public var counts: (methods: Int, messages: Int) { (self.methods.count, self.messages.count) }

    /// The types of a method's messages, by the path of its URL; nil if the files have no such method.
    public func types(ofPath path: some StringProtocol) -> (request: ProtoType, response: ProtoType)? {
        guard let method = self.methods[String(path)] else { return nil }
        return (ProtoType(schema: self, name: method.request), ProtoType(schema: self, name: method.response))
    }

    /// The same for an absolute URL.
    public func types(ofURL url: String) -> (request: ProtoType, response: ProtoType)? {
        guard let scheme = url.range(of: "://") else { return nil }
        guard let slash = url[scheme.upperBound...].firstIndex(of: "/") else { return nil }
        return self.types(ofPath: url[slash...].prefix { $0 != "?" && $0 != "#" })
    }

    func message(_ name: String) -> Message? { self.messages[name] }

    func enumName(_ name: String, _ number: Int64) -> String? { self.enums[name]?[number] }
}

/// Equal only to itself.
extension ProtoSchema: Hashable {
    public static func == (left: ProtoSchema, right: ProtoSchema) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// One message type in a schema.
public struct ProtoType: Sendable {
    let schema: ProtoSchema
    let name: String

    /// Nil for a number that the schema does not have.
    func field(_ number: Int) -> ProtoSchema.Field? { self.schema.message(self.name)?.fields[number] }

    func type(of field: ProtoSchema.Field) -> ProtoType { ProtoType(schema: self.schema, name: field.typeName) }

    var isMapEntry: Bool { self.schema.message(self.name)?.isMapEntry == true }
}

extension String {
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = self.startIndex
        while start < self.endIndex {
            if self[start...].hasPrefix(text) { return start..<self.index(start, offsetBy: text.count) }
            start = self.index(after: start)
        }
        return nil
    }
}

/// Reads descriptors, which are Protocol Buffers messages themselves.
private struct SchemaReader {
    var messages: [String: ProtoSchema.Message] = [:]
    var enums: [String: [Int64: String]] = [:]
    var methods: [String: (request: String, response: String)] = [:]
    var reason = ""
    private var fieldCount = 0

    /// How deeply types may be nested; no real schema goes deeper.
    private static let depthLimit = 64

    enum Value {
        case number(UInt64)
        case bytes(UnsafeRawBufferPointer)

        var text: String { if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { "" } }
        var number: UInt64 { if case .number(let number) = self { number } else { 0 } }
        var bytes: UnsafeRawBufferPointer {
            if case .bytes(let bytes) = self { bytes } else { UnsafeRawBufferPointer(start: nil, count: 0) }
        }
    }

    /// Passes each field to `take`. False if the bytes are not a message, or if `take` returns false.
    private func each(_ bytes: UnsafeRawBufferPointer, _ take: (Int, Value) -> Bool) -> Bool {
        var reader = ProtoReader(bytes)
        while !reader.isAtEnd {
            guard let (number, type) = reader.tag() else { return false }
            let value: Value?
            switch type {
            case .varint: value = reader.varint().map { .number($0) }
            case .fixed32: value = reader.fixed(4).map { .number($0) }
            case .fixed64: value = reader.fixed(8).map { .number($0) }
            case .length: value = reader.delimited().map { .bytes($0) }
            case .beginGroup, .endGroup: value = nil
            }
            guard let value, take(number, value) else { return false }
        }
        return true
    }

    private func text(_ field: Int, of bytes: UnsafeRawBufferPointer) -> String {
        var text = ""
        _ = self.each(bytes) { number, value in
            if number == field { text = value.text }
            return true
        }
        return text
    }

    /// A FileDescriptorSet.
    mutating func set(_ bytes: UnsafeRawBufferPointer) -> Bool {
        self.reason = "it is no FileDescriptorSet"
        var files: [UnsafeRawBufferPointer] = []
        let isSet = self.each(bytes) { number, value in
            guard number == 1, case .bytes(let file) = value else { return false }
            files.append(file)
            return true
        }
        guard isSet, !files.isEmpty else { return false }
        for file in files {
            guard self.file(file) else { return false }
        }
        return true
    }

    private mutating func file(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let package = self.text(2, of: bytes)
        let prefix = package.isEmpty ? "" : ".\(package)"
        var parts: [(Int, UnsafeRawBufferPointer)] = []
        guard
            self.each(
                bytes,
                { number, value in
                    if [4, 5, 6, 7].contains(number) { parts.append((number, value.bytes)) }
                    return true
                })
        else { return false }
        for (number, part) in parts {
            let isRead =
                switch number {
                case 4: self.message(part, in: prefix, depth: 0)
                case 5: self.enumeration(part, in: prefix)
                case 6: self.service(part, in: package)
                default: self.field(part, of: nil, in: prefix)
                }
            guard isRead else { return false }
        }
        return true
    }

    private mutating func message(_ bytes: UnsafeRawBufferPointer, in prefix: String, depth: Int) -> Bool {
        guard depth < Self.depthLimit else { return false }
        let name = "\(prefix).\(self.text(1, of: bytes))"
        var parts: [(Int, UnsafeRawBufferPointer)] = []
        var isMapEntry = false
        guard
            self.each(
                bytes,
                { number, value in
                    switch number {
                    case 2, 3, 4, 6: parts.append((number, value.bytes))
                    case 7:
                        _ = self.each(value.bytes) { number, value in
                            if number == 7 { isMapEntry = value.number != 0 }
                            return true
                        }
                    default: break
                    }
                    return true
                })
        else { return false }
        self.messages[name] = ProtoSchema.Message(isMapEntry: isMapEntry)
        for (number, part) in parts {
            let isRead =
                switch number {
                case 2: self.field(part, of: name, in: name)
                case 3: self.message(part, in: name, depth: depth + 1)
                case 4: self.enumeration(part, in: name)
                default: self.field(part, of: nil, in: name)
                }
            guard isRead else { return false }
        }
        return true
    }

    /// - Parameter owner: nil for an extension, which names the type that it extends.
    private mutating func field(_ bytes: UnsafeRawBufferPointer, of owner: String?, in scope: String) -> Bool {
        var (name, extended, type) = ("", "", "")
        var (number, kind, label): (UInt64, UInt64, UInt64) = (0, 0, 0)
        guard
            self.each(
                bytes,
                { field, value in
                    switch field {
                    case 1: name = value.text
                    case 2: extended = value.text
                    case 3: number = value.number
                    case 4: label = value.number
                    case 5: kind = value.number
                    case 6: type = value.text
                    default: break
                    }
                    return true
                })
        else { return false }
        // Newer kinds than these are unknown; their values are shown without a kind.
        guard kind >= 1, kind <= UInt64(ProtoSchema.Kind.all.count), let number = Int(exactly: number),
            ProtoMessage.numbers.contains(number)
        else { return true }
        self.fieldCount += 1
        guard self.fieldCount <= ProtoSchema.fieldLimit else {
            self.reason = "it has more than \(ProtoSchema.fieldLimit) fields"
            return false
        }
        let shown = owner == nil ? "[\(scope.dropFirst()).\(name)]" : name
        self.messages[owner ?? extended, default: ProtoSchema.Message()].fields[number] = ProtoSchema.Field(
            name: shown, kind: ProtoSchema.Kind.all[Int(kind) - 1], isRepeated: label == 3, typeName: type)
        return true
    }

    private mutating func enumeration(_ bytes: UnsafeRawBufferPointer, in prefix: String) -> Bool {
        var names: [Int64: String] = [:]
        guard
            self.each(
                bytes,
                { number, value in
                    guard number == 2 else { return true }
                    var (name, own) = ("", UInt64(0))
                    let isRead = self.each(value.bytes) { number, value in
                        if number == 1 { name = value.text }
                        if number == 2 { own = value.number }
                        return true
                    }
                    // The first name counts if a number has several.
                    if names[Int64(bitPattern: own)] == nil { names[Int64(bitPattern: own)] = name }
                    return isRead
                })
        else { return false }
        self.enums["\(prefix).\(self.text(1, of: bytes))"] = names
        return true
    }

    private mutating func service(_ bytes: UnsafeRawBufferPointer, in package: String) -> Bool {
        let name = self.text(1, of: bytes)
        let service = package.isEmpty ? name : "\(package).\(name)"
        var methods: [UnsafeRawBufferPointer] = []
        guard
            self.each(
                bytes,
                { number, value in
                    if number == 2 { methods.append(value.bytes) }
                    return true
                })
        else { return false }
        for method in methods {
            self.methods["/\(service)/\(self.text(1, of: method))"] = (self.text(2, of: method), self.text(3, of: method))
        }
        return true
    }
}
