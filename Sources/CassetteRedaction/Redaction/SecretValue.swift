/// A secret that is known by its value before the run, as an environment variable's.
///
/// Never written anywhere.
public struct SecretValue: Sendable, Hashable {
    /// Becomes the placeholder's kind, behind `env-`.
    public var name: String
    public var octets: [UInt8]

    public init(name: String, octets: [UInt8]) {
        self.name = name
        self.octets = octets
    }
}
