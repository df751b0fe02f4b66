/// What a request body is compared by: its kind and the multiset of its facets, as a digest of bounded size.
///
/// Bodies are equal when `==` says so. The facets themselves are kept up to a limit, to explain a difference; a digest sees them all.
public struct BodyFacets: Sendable {
    /// How a body was understood.
    public enum Kind: String, Sendable, Hashable {
        /// Absent, empty, or not looked at.
        case none
        case bytes, text, json, form, multipart
        case graphQL = "graphql"
    }

    /// So many facets are kept: more are not read by anyone, and a body of 16 MiB has millions.
    public static let facetLimit = 4096
    /// Where values are kept whole, so many are: a marked one far behind still has to find its partner.
    public static let wholeFacetLimit = 1 << 16
    /// Octets kept of a facet's name; pointers and names of forms are far shorter.
    public static let nameLimit = 512
    /// Octets kept of a value, unless it is kept whole for marks in it.
    public static let valueLimit = 64 << 10
    /// Octets kept of all names and values of a body.
    public static let keptLimit = 1 << 20
    /// A longer body of JSON, a form or text is compared octet by octet: it is held in memory while it comes in.
    public static let memoryLimit = 16 << 20

    public internal(set) var kind: Kind
    /// Facets in the order of the body, as far as they were kept.
    public internal(set) var facets: [BodyFacet]
    /// How many facets there are.
    public internal(set) var count: Int
    /// Whether a facet holds a mark.
    public internal(set) var hasMarks: Bool
    var sum: UInt64

    /// No body.
    public static let none = BodyFacets(kind: .none, facets: [], count: 0, hasMarks: false, sum: 0)

    /// The same without the facets: some ten octets, for comparing alone.
    public var digestOnly: BodyFacets {
        var facets = self
        facets.facets = []
        return facets
    }
}

extension BodyFacets: Hashable {
    public static func == (left: BodyFacets, right: BodyFacets) -> Bool {
        left.sum == right.sum && left.count == right.count && left.kind == right.kind
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.sum)
    }
}
