/// Whoever is logged in.
public struct Member: Codable, Sendable, Hashable {
    public var email: String
    public var name: String
    /// Numbers of pets.
    public var pets: [Int]
}
