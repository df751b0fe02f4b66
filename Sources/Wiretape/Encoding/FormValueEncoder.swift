internal import Foundation
internal import TapeBytes

/// Takes an `Encodable` value apart into a tree.
struct FormValueEncoder: Encoder {
    /// Objects within objects: far more than any form has, and far fewer than a stack holds.
    static let depthLimit = 128

    let leaves: FormLeaves
    let node: FormNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// - Throws: `ParameterEncodingError`.
    static func value(of value: some Encodable, _ leaves: FormLeaves) throws(ParameterEncodingError) -> FormValue {
        let encoder = FormValueEncoder(leaves: leaves, node: FormNode(), codingPath: [])
        do {
            try encoder.write(value)
        } catch let error as ParameterEncodingError {
            throw error
        } catch {
            throw ParameterEncodingError(
                .notEncodable, "the parameters of type \"\(type(of: value))\" could not be encoded: \(error)", underlying: error)
        }
        return encoder.node.value ?? .object([])
    }

    func write<Value: Encodable>(_ value: Value) throws {
        switch value {
        case let value as Bool: self.node.set(.text(self.leaves.bool(value)))
        case let value as String: self.node.set(.text(value))
        // All of them, since one of no known width would ask this encoder for itself again.
        case let value as any BinaryInteger & Encodable: self.node.set(.text("\(value)"))
        case let value as any BinaryFloatingPoint & Encodable: self.node.set(.text("\(value)"))
        // Encodes itself as mantissa and exponent.
        case let value as Decimal: self.node.set(.text("\(value)"))
        // Encodes itself as base and relative.
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
                .tooDeep, "\"\(path)\" has more than \(Self.depthLimit) values within values: send it as JSON, or a value that ends")
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

/// Writes one value in the place of its encoder.
struct FormSingleValueContainer: SingleValueEncodingContainer {
    let encoder: FormValueEncoder

    var codingPath: [any CodingKey] { self.encoder.codingPath }

    func encodeNil() { self.encoder.writeNil() }

    func encode<Value: Encodable>(_ value: Value) throws { try self.encoder.write(value) }
}

/// Writes the elements of a list, in order.
struct FormUnkeyedContainer: UnkeyedEncodingContainer {
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

/// Writes the members of an object, in the order in which they come.
struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
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

    // MARK: Optionals, which leave nil out where nothing else is said

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

/// A place in a tree that an `Encodable` value is writing into.
///
/// A class, since containers of one value share it; it never leaves the call that encodes.
final class FormNode {
    private enum Content {
        /// Nothing written, or nil that is left out.
        case nothing
        case leaf(FormLeaf)
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

    func set(_ leaf: FormLeaf?) { self.content = leaf.map { .leaf($0) } ?? .nothing }

    /// Members that are there stay: a class and its superclass may write one object.
    func becomeObject() {
        guard case .object = self.content else { return self.content = .object(members: [], index: [:]) }
    }

    func becomeArray() {
        guard case .array = self.content else { return self.content = .array([]) }
    }

    /// The node of that name: the one that is there, or a new one at the end.
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
