/// The facets of two bodies that the other does not have, each as often as it is there, in the order of the bodies.
struct FacetDifference {
    var live: [BodyFacet]
    var recorded: [BodyFacet]

    init(live: [BodyFacet], recorded: [BodyFacet]) {
        var counts: [UInt64: Int] = [:]
        for facet in recorded { counts[facet.hash, default: 0] += 1 }
        self.live = live.filter { facet in
            guard let count = counts[facet.hash], count > 0 else { return true }
            counts[facet.hash] = count - 1
            return false
        }
        // Of equal ones the last are left over.
        var left: [BodyFacet] = []
        for facet in recorded.reversed() {
            guard let count = counts[facet.hash], count > 0 else { continue }
            counts[facet.hash] = count - 1
            left.append(facet)
        }
        self.recorded = left.reversed()
    }
}
