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
