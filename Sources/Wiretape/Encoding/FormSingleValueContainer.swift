/// Writes one value in the place of its encoder.
struct FormSingleValueContainer: SingleValueEncodingContainer {
    let encoder: FormValueEncoder

    var codingPath: [any CodingKey] { self.encoder.codingPath }

    func encodeNil() { self.encoder.writeNil() }

    func encode<Value: Encodable>(_ value: Value) throws { try self.encoder.write(value) }
}
