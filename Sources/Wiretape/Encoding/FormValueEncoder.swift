internal import Foundation
internal import TapeBytes

/// Encodes an `Encodable` value as a tree.
struct FormValueEncoder: Encoder {
    /// Levels of nesting: far more than a form has, and far fewer than fit on the stack.
    static let depthLimit = 128

    private let leaves: FormValue.LeafRule
    fileprivate let node: FormNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func value(of value: some Encodable, _ leaves: FormValue.LeafRule) throws(ParameterEncodingError) -> FormValue {
        let encoder = FormValueEncoder(leaves: leaves, node: FormNode(), codingPath: [])
        do {
            try encoder.write(value)
        } catch let error as ParameterEncodingError {
            throw error
        } catch {
            throw ParameterEncodingError(
                .notEncodable, "the parameters of type \"\(type(of: value))\" could not be encoded: \(error)", cause: error)
        }
        return encoder.node.value ?? .object([])
    }

    func write<Value: Encodable>(_ value: Value) throws {
        switch value {
        case let value as Bool: self.node.set(.text(self.leaves.bool(value)))
        case let value as String: self.node.set(.text(value))
        // Matched by protocol, not by type: an integer of another width would recurse into this encoder.
        case let value as any BinaryInteger & Encodable: self.node.set(.text("\(value)"))
        case let value as any BinaryFloatingPoint & Encodable: self.node.set(.text("\(value)"))
        // Its own `encode` writes mantissa and exponent.
        case let value as Decimal: self.node.set(.text("\(value)"))
        // Its own `encode` writes base and relative.
        case let value as URL: self.node.set(.text(value.absoluteString))
        case let value as Date:
            if let text = try self.leaves.date(value) { self.node.set(.text(text)) } else { try self.defer(to: value) }
        case let value as Data:
            if let leaf = try self.leaves.data(value) { self.node.set(leaf) } else { try self.defer(to: value) }
        default: try self.defer(to: value)
        }
    }

    func writeNil() { self.node.set(self.leaves.null().map { .text($0) }) }

    private func `defer`(to value: some Encodable) throws {
        guard self.codingPath.count < Self.depthLimit else {
            let path = PlainText.escape(FormKey.text(of: self.codingPath).utf8, limit: 200)
            throw ParameterEncodingError(
                .tooDeep, "\"\(path)\" is nested more than \(Self.depthLimit) levels deep: send it as JSON, or remove the cycle")
        }
        try value.encode(to: self)
    }

    func nested(_ node: FormNode, _ key: any CodingKey) -> FormValueEncoder {
        FormValueEncoder(leaves: self.leaves, node: node, codingPath: self.codingPath + [key])
    }

    // MARK: Encoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        self.node.becomeObject()
        return KeyedEncodingContainer(FormKeyedContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        self.node.becomeArray()
        return FormUnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { FormSingleValueContainer(encoder: self) }
}

/// Writes the members of an object, in the order of the calls.
private struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FormValueEncoder

    var codingPath: [any CodingKey] { self.encoder.codingPath }

    private func member(_ key: any CodingKey) -> FormValueEncoder {
        self.encoder.nested(self.encoder.node.member(key.stringValue), key)
    }

    func encodeNil(forKey key: Key) { self.member(key).writeNil() }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try self.member(key).write(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        self.member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { self.member(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { self.member(FormKey("super")) }

    func superEncoder(forKey key: Key) -> any Encoder { self.member(key) }

    // MARK: Optionals, since the default implementations skip nil

    private func optional<Value: Encodable>(_ value: Value?, _ key: Key) throws {
        if let value { try self.encode(value, forKey: key) } else { self.encodeNil(forKey: key) }
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try self.optional(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try self.optional(value, key) }
}

/// Writes the elements of a list, in order.
private struct FormUnkeyedContainer: UnkeyedEncodingContainer {
    let encoder: FormValueEncoder

    var codingPath: [any CodingKey] { self.encoder.codingPath }
    var count: Int { self.encoder.node.count }

    private func next() -> FormValueEncoder {
        let key = FormKey(index: self.count)
        return self.encoder.nested(self.encoder.node.appendElement(), key)
    }

    func encodeNil() { self.next().writeNil() }

    func encode<Value: Encodable>(_ value: Value) throws { try self.next().write(value) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> { self.next().container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self.next().unkeyedContainer() }

    func superEncoder() -> any Encoder { self.next() }
}

/// Writes one value at the encoder's node.
private struct FormSingleValueContainer: SingleValueEncodingContainer {
    let encoder: FormValueEncoder

    var codingPath: [any CodingKey] { self.encoder.codingPath }

    func encodeNil() { self.encoder.writeNil() }

    func encode<Value: Encodable>(_ value: Value) throws { try self.encoder.write(value) }
}

/// A node of the tree while an `Encodable` value writes into it.
///
/// A class, since the containers of one value share it; it never outlives the call that encodes.
final class FormNode {
    private enum Content {
        /// Nothing written, or a nil to be left out.
        case nothing
        case leaf(FormValue.Leaf)
        case array([FormNode])
        case object(members: [(name: String, node: FormNode)], index: [String: Int])
    }

    private var content = Content.nothing

    var value: FormValue? {
        switch self.content {
        case .nothing: nil
        case .leaf(let leaf): .leaf(leaf)
        case .array(let nodes): .array(nodes.compactMap(\.value))
        case .object(let members, _):
            .object(members.compactMap { member in member.node.value.map { FormValue.Member(name: member.name, value: $0) } })
        }
    }

    var count: Int {
        guard case .array(let nodes) = self.content else { return 0 }
        return nodes.count
    }

    func set(_ leaf: FormValue.Leaf?) { self.content = leaf.map { .leaf($0) } ?? .nothing }

    /// Keeps existing members: a class and its superclass may write one object.
    func becomeObject() {
        guard case .object = self.content else { return self.content = .object(members: [], index: [:]) }
    }

    func becomeArray() {
        guard case .array = self.content else { return self.content = .array([]) }
    }

    /// The existing node of that name, or a new one at the end.
    func member(_ name: String) -> FormNode {
        guard case .object(var members, var index) = self.content else { return FormNode() }
        if let known = index[name] { return members[known].node }
        self.content = .nothing
        let node = FormNode()
        index[name] = members.count
        members.append((name, node))
        self.content = .object(members: members, index: index)
        return node
    }

    func appendElement() -> FormNode {
        guard case .array(var nodes) = self.content else { return FormNode() }
        self.content = .nothing
        let node = FormNode()
        nodes.append(node)
        self.content = .array(nodes)
        return node
    }
}

/// A name or an index in a coding path.
struct FormKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        self.stringValue = name
        self.intValue = nil
    }

    init(index: Int) {
        self.stringValue = "\(index)"
        self.intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }

    /// `user[names][0]`, for people.
    static func text(of path: [any CodingKey]) -> String {
        guard let first = path.first else { return "" }
        return first.stringValue + path.dropFirst().map { "[\($0.stringValue)]" }.joined()
    }
}
