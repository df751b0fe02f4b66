internal import CassetteModel

/// What differs between two header sections: names without regard to case, the values of one name in order.
enum HeaderComparison {
    static func changes(_ old: HeaderFields, _ new: HeaderFields, showsAll: Bool) -> [FieldChange] {
        NamedValues.changes(self.pairs(old, showsAll), self.pairs(new, showsAll), kind: "header:", showsAll: showsAll)
    }

    private static func pairs(_ fields: HeaderFields, _ showsAll: Bool) -> [(name: String, value: String)] {
        (0..<fields.count).compactMap { index in
            let name = fields.name(at: index).lowercased()
            guard showsAll || !VolatileFields.contains(name) else { return nil }
            let value = fields.value(at: index)
            return (name, name == "content-type" && !showsAll ? self.withoutBoundary(value) : value)
        }
    }

    /// A boundary is another with each request, and says nothing.
    private static func withoutBoundary(_ value: String) -> String {
        guard value.lowercased().hasPrefix("multipart/") else { return value }
        let parameters = value.split(separator: ";").filter { !$0.drop { $0 == " " }.lowercased().hasPrefix("boundary=") }
        return parameters.joined(separator: ";")
    }
}
