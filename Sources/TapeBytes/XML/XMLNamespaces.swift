/// The namespaces of a document, numbered, and the prefixes bound to them at the reader's position (Namespaces in XML 1.0).
package struct XMLNamespaces {
    /// By number. The first entry means no namespace.
    package private(set) var names: [[UInt8]] = [[], Self.xml]
    private var numbers: [[UInt8]: Int] = [[]: 0, Self.xml: 1]
    private var bound: [[UInt8]: Int] = [Self.xmlPrefix: 1]
    private var replaced: [(prefix: [UInt8], old: Int?)] = []

    /// Bound to `xml` in every document (3).
    package static let xml = Array("http://www.w3.org/XML/1998/namespace".utf8)
    private static let xmlPrefix = Array("xml".utf8)
    /// The namespace of the declarations themselves: bound to `xmlns`, and never declared (3).
    private static let declarations = Array("http://www.w3.org/2000/xmlns/".utf8)

    package init() {}

    /// The namespace of names without a prefix.
    package var ofDefault: Int { self.bound[[]] ?? 0 }

    /// Nil if the prefix is not bound. The empty prefix is that of names without one.
    package subscript(prefix: [UInt8]) -> Int? { self.bound[prefix] }

    /// Declares a prefix. False if the declaration is not allowed.
    ///
    /// - Parameters:
    ///   - prefix: empty for the default namespace.
    ///   - count: the number of earlier declarations of the same element.
    mutating func declare(_ prefix: [UInt8], _ name: [UInt8], amongLast count: Int) -> Bool {
        guard prefix != Array("xmlns".utf8), !prefix.contains(UInt8(ascii: ":")), name != Self.declarations else { return false }
        guard (prefix == Self.xmlPrefix) == (name == Self.xml), prefix.isEmpty || !name.isEmpty else { return false }
        // A prefix that is not a valid name is accepted and looked up as it is spelled.
        guard count < 16 ? !self.replaced.suffix(count).contains(where: { $0.prefix == prefix }) : self.isNew(prefix, amongLast: count)
        else {
            return false
        }
        let number: Int
        if let known = self.numbers[name] {
            number = known
        } else {
            number = self.names.count
            self.names.append(name)
            self.numbers[name] = number
        }
        self.replaced.append((prefix, self.bound[prefix]))
        self.bound[prefix] = number
        self.last[prefix] = self.replaced.count
        return true
    }

    /// The index of the last declaration of each prefix, counted from 1.
    private var last: [[UInt8]: Int] = [:]

    private func isNew(_ prefix: [UInt8], amongLast count: Int) -> Bool {
        guard let place = self.last[prefix], place <= self.replaced.count, self.replaced[place - 1].prefix == prefix else { return true }
        return place <= self.replaced.count - count
    }

    /// Undoes the last declarations, at the end of their element.
    mutating func forget(_ count: Int) {
        for _ in 0..<count {
            guard let (prefix, old) = self.replaced.popLast() else { return }
            self.bound[prefix] = old
        }
    }
}
