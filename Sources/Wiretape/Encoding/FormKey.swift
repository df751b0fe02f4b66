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
