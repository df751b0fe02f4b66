internal import CassetteModel
internal import TapeBytes

/// The content of a live body, without its codings, for stubs that compare it as a kind of their own.
final class HeldContent: Sendable {
    private let bytes: [UInt8]
    private let headers: HeaderFields
    private let url: String
    private let rules: MatchRules
    private let made = Guarded<[BodyMatch: BodyFacets]>([:])

    init(_ bytes: [UInt8], headers: HeaderFields, url: String, rules: MatchRules) {
        self.bytes = bytes
        self.headers = headers
        self.url = url
        self.rules = rules
    }

    /// The facets of the content as this kind, whatever its type. Made once.
    func facets(as match: BodyMatch) -> BodyFacets {
        if let facets = self.made.withLock({ $0[match] }) { return facets }
        let plan = self.rules.comparingBodies(as: match).body
        let content = ContentFacets(plan, headers: self.headers, digest: { PortableSHA256() })
        self.bytes.withUnsafeBytes { content.push($0) }
        let facets = BodyFacets.make(content.finish(), url: self.url, plan)
        self.made.withLock { $0[match] = facets }
        return facets
    }
}
