/// A pet of the shop.
public struct Pet: Codable, Sendable, Hashable {
    public var id: Int
    public var name: String
    public var kind: String
    /// In kilograms, where it has been on the scales.
    public var weight: Double?

    public init(id: Int, name: String, kind: String, weight: Double? = nil) {
        self.id = id
        self.name = name
        self.kind = kind
        self.weight = weight
    }
}

/// A pet that the shop does not know yet.
public struct NewPet: Codable, Sendable, Hashable {
    public var name: String
    public var kind: String
    public var weight: Double?

    public init(name: String, kind: String, weight: Double? = nil) {
        self.name = name
        self.kind = kind
        self.weight = weight
    }
}
