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
