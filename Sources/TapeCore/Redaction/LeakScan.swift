/// Looks for the secrets of a vault in the octets of files, in any spelling.
public struct LeakScan {
    private let vault: SecretVault

    /// Leaks told of one file: the first ones are enough to find the others.
    public static let limit = 100

    public init(_ vault: SecretVault) {
        self.vault = vault
    }

    /// - Parameter source: a cassette, or a file beside it; codings are told by their magic numbers.
    public func leaks(in source: OctetSource) throws -> [Leak] { [] }
}
