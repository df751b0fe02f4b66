/// The secrets of a run and their placeholders: the same secret, the same placeholder.
///
/// Lives in memory only. Any thread may use it.
public final class SecretVault: Sendable {
    public init() {}

    /// Secrets held.
    public var count: Int { 0 }

    /// The placeholder of a secret, which is a new one for one not seen yet.
    public func placeholder(for secret: UnsafeRawBufferPointer, kind: String) -> Placeholder {
        Placeholder(kind: kind, number: 1)
    }

    /// Counts up with each secret that is searched for: octets looked at with this number need no second look while it stays.
    public var generation: Int { 0 }
}
