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
