extension BodyFacets {
    /// So many differences are listed; nobody reads more.
    public static let differenceLimit = 100

    /// In what a live body differs from a recorded one, in its order, up to a limit; empty where they are equal.
    ///
    /// Both should have their facets; `RecordedDetail.contents` tells most.
    public func differences(fromRecorded recorded: BodyFacets) -> [RequestDifference] {
        guard self != recorded else { return [] }
        guard self.kind == recorded.kind else {
            return [.bodyKind(here: self.kind.rawValue, recorded: recorded.kind.rawValue)]
        }
        let unequal = FacetDifference(live: self.facets, recorded: recorded.facets)
        var left = unequal.recorded
        var differences: [RequestDifference] = []
        for live in unequal.live where differences.count < Self.differenceLimit {
            let partner = FacetPairing.partner(of: live, among: left)
            differences += FacetPairing.differences(live, partner.map { left.remove(at: $0) })
        }
        for recorded in left where differences.count < Self.differenceLimit { differences += FacetPairing.differences(nil, recorded) }
        return differences.isEmpty ? [.bodyRemainder] : differences
    }
}
