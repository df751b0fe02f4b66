/// Gives each leaf of a tree its full name.
struct FormFields: Sendable {
    struct Pair: Sendable, Equatable {
        var name: String
        var value: FormLeaf
    }

    let array: URLEncodedFormEncoder.ArrayEncoding
    let key: URLEncodedFormEncoder.KeyEncoding
    let keyPath: URLEncodedFormEncoder.KeyPathEncoding
    let isSorted: Bool

    func pairs(of value: FormValue) throws(ParameterEncodingError) -> [Pair] {
        guard case .object(let members) = value else {
            throw ParameterEncodingError(
                .notAnObject, "the parameters are no object, and a form needs names: encode a struct or a dictionary with texts for keys")
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
