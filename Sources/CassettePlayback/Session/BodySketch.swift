/// A few words about a body, enough to guess how much it has in common with another.
///
/// Facets are a set of 64 bits: what two bodies share cancels out.
package struct BodySketch: Sendable, Hashable {
    private var bits: UInt64 = 0

    package init(_ facets: BodyFacets) {
        for facet in facets.facets { self.bits |= 1 << (facet.hash >> 58) }
    }

    package func distance(to other: BodySketch) -> Int { (self.bits ^ other.bits).nonzeroBitCount }
}
