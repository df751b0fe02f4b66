/// Makes the facets of a live body as it comes in.
///
/// Takes content codings off. Holds JSON, forms and text in memory up to a limit and parts never: those are digested as they pass.
public struct BodyFacetBuilder: ~Copyable {
    /// - Parameters:
    ///   - headers: of the request: what the body says to be.
    ///   - url: of the request, for GraphQL in a query.
    ///   - digest: makes a SHA-256.
    public init(
        rules: MatchRules, headers: HeaderFields, url: String, digest: @escaping () -> any ContentDigest = { PortableSHA256() }
    ) {}

    /// The next wire octets, behind transfer decoding.
    public mutating func push(_ octets: UnsafeRawBufferPointer) {}

    /// The body has ended.
    public consuming func finish() -> BodyFacets { .none }
}
