extension BodyFacets {
    /// Whether these of a recorded request, which hold marks, fit those of a live one: where the live body has text, a mark stands for
    /// one octet or more of it.
    ///
    /// Asks for the facets themselves, and is false where a body has more than are kept, or a value with marks is longer than what is kept of
    /// it.
    public func fits(live: BodyFacets) -> Bool {
        guard self != live else { return true }
        guard self.hasMarks, self.kind == live.kind, self.count == live.count, self.isWhole, live.isWhole else { return false }
        var unmatched = FacetDifference(live: live.facets, recorded: self.facets)
        for recorded in unmatched.recorded {
            guard recorded.hasMarks, let index = unmatched.live.firstIndex(where: { recorded.fits($0) }) else { return false }
            unmatched.live.remove(at: index)
        }
        return true
    }

    /// Whether all facets were kept.
    var isWhole: Bool { self.facets.count == self.count }
}

extension BodyFacet {
    fileprivate func fits(_ live: BodyFacet) -> Bool {
        guard self.place == live.place, self.size == self.value.count, live.size == live.value.count else { return false }
        guard self.place == .json || self.type == live.type, (self.filename == nil) == (live.filename == nil) else { return false }
        return Self.fits(self.name, live.name) && Self.fits(self.value, live.value)
            && Self.fits(self.filename ?? [], live.filename ?? [])
    }

    private static func fits(_ recorded: [UInt8], _ live: [UInt8]) -> Bool {
        recorded.withUnsafeBytes { recorded in live.withUnsafeBytes { MatchMark.value(recorded, fits: $0) } }
    }
}
