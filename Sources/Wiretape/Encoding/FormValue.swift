internal import Foundation
internal import TapeBytes

/// The parameters of a form as a tree with names.
enum FormValue: Sendable, Equatable {
    case leaf(Leaf)
    case array([FormValue])
    /// In the order of encoding.
    case object([Member])

    /// A value that contains no other values.
    enum Leaf: Sendable, Equatable {
        case text(String)
        /// Sent unchanged if the form can hold them.
        case bytes(Data)
    }

    struct Member: Sendable, Equatable {
        var name: String
        var value: FormValue
    }

    /// How leaves are written. If `data` or `date` returns nil, the value encodes itself. If `null` returns nil, the value is left out.
    struct LeafRule: Sendable {
        let bool: @Sendable (Bool) -> String
        let data: @Sendable (Data) throws -> Leaf?
        let date: @Sendable (Date) throws -> String?
        let null: @Sendable () -> String?
    }
}

/// Gives each leaf of a tree its full name: `list[]`, `object[key]`.
struct FormFields: Sendable {
    struct Pair: Sendable, Equatable {
        var name: String
        var value: FormValue.Leaf
    }

    let array: HTTPSession.URLEncodedFormEncoder.ArrayEncoding
    let key: HTTPSession.URLEncodedFormEncoder.KeyEncoding
    let keyPath: HTTPSession.URLEncodedFormEncoder.KeyPathEncoding
    let isSorted: Bool

    func pairs(of value: FormValue) throws(ParameterEncodingError) -> [Pair] {
        guard case .object(let members) = value else {
            throw ParameterEncodingError(
                .notAnObject,
                "the parameters are not an object, and form fields need names: encode a struct or a dictionary with string keys")
        }
        var pairs: [Pair] = []
        for (name, value) in self.named(members) { self.append(value, name: name, to: &pairs) }
        return pairs
    }

    private func named(_ members: [FormValue.Member]) -> [(name: String, value: FormValue)] {
        let named = members.map { (name: self.key.encode($0.name), value: $0.value) }
        guard self.isSorted else { return named }
        return named.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
    }

    private func append(_ value: FormValue, name: String, to pairs: inout [Pair]) {
        switch value {
        case .leaf(let leaf): pairs.append(Pair(name: name, value: leaf))
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                self.append(element, name: self.array.encode(name, atIndex: index), to: &pairs)
            }
        case .object(let members):
            for (key, value) in self.named(members) { self.append(value, name: name + self.keyPath.encode(key), to: &pairs) }
        }
    }
}
