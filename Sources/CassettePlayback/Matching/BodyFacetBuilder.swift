internal import CassetteFormat
public import CassetteModel
public import TapeBytes

/// Makes the facets of a live body as it comes in.
///
/// Takes content codings off; a body whose codings cannot be taken off, or that grows past 64 MiB under them, is compared as it was sent.
/// Holds JSON, forms and text in memory up to a limit and parts never: those are digested as they pass.
public struct BodyFacetBuilder: ~Copyable {
    private let plan: BodyPlan
    private let url: String
    private let content: ContentFacets
    /// Nil without codings.
    private let decoder: DecoderChain?
    /// The octets as sent, where there is a decoder that may fail.
    private var wire: OctetFacet
    private var hasOctets = false
    private var hasFailed = false

    /// - Parameters:
    ///   - headers: of the request: what the body says to be.
    ///   - url: of the request, for GraphQL in a query.
    ///   - digest: makes a SHA-256.
    public init(
        rules: MatchRules, headers: HeaderFields, url: String, digest: @escaping () -> any ContentDigest = { PortableSHA256() }
    ) {
        self.plan = rules.body
        self.url = url
        self.content = ContentFacets(rules.body, headers: headers, digest: digest)
        if rules.looksAtBody, case .coded(let names) = ContentEncoding(headers) {
            self.decoder = DecoderChain(names, limits: Self.limits)
        } else {
            self.decoder = nil
        }
        self.wire = OctetFacet(digest: digest(), keeping: rules.body.valueLimit)
    }

    /// Recorded bodies are held to the same ones.
    static let limits = InflateLimits()

    /// The next wire octets, behind transfer decoding.
    public mutating func push(_ octets: UnsafeRawBufferPointer) {
        guard !octets.isEmpty else { return }
        self.hasOctets = true
        guard let decoder = self.decoder else { return self.content.push(octets) }
        self.wire.push(octets)
        guard !self.hasFailed else { return }
        let content = self.content
        let takesMore = try? decoder.push(octets) { content.push($0) }
        self.hasFailed = takesMore != true
    }

    /// The body has ended.
    public consuming func finish() -> BodyFacets {
        guard let decoder = self.decoder, self.hasOctets, self.hasFailed || !decoder.finish() else {
            return BodyFacets.make(self.content.finish(), url: self.url, self.plan)
        }
        return BodyFacets.make(ContentFacets.octets(self.wire, self.plan), url: self.url, self.plan)
    }
}

extension BodyFacets {
    /// With those of the URL, for GraphQL.
    static func make(_ content: (kind: Kind, facets: FacetCollector), url: String, _ plan: BodyPlan) -> BodyFacets {
        var facets = content.facets
        if plan.isGraphQL { GraphQLFacets.read(url: url, plan, into: &facets) }
        return facets.facets(content.kind)
    }
}
