/// Puts facets together: the digest sees all of them, and the first ones are kept to be shown.
struct FacetCollector {
    private(set) var facets: [BodyFacet] = []
    private(set) var count = 0
    private(set) var hasMarks = false
    private var sum: UInt64 = 0
    private let keepsWholeValues: Bool
    private var room: Int

    /// - Parameter keepsWholeValues: up to the size of a body that is understood at all, for marks in them.
    init(keepsWholeValues: Bool = false) {
        self.keepsWholeValues = keepsWholeValues
        self.room = keepsWholeValues ? 2 * BodyFacets.memoryLimit : BodyFacets.keptLimit
    }

    /// An empty one that keeps as much.
    var empty: FacetCollector { FacetCollector(keepsWholeValues: self.keepsWholeValues) }

    /// Whether one more facet would be kept.
    var isKeeping: Bool {
        self.room > 0 && self.facets.count < (self.keepsWholeValues ? BodyFacets.wholeFacetLimit : BodyFacets.facetLimit)
    }

    /// `size` is that of the whole value where `value` is its beginning.
    mutating func add(
        _ hash: UInt64, _ place: BodyFacet.Place, name: some Collection<UInt8>, value: UnsafeRawBufferPointer, size: Int? = nil,
        filename: [UInt8]? = nil, type: [UInt8] = [], hasMarks: Bool = false
    ) {
        self.count += 1
        // A sum does not depend on order; what is in it cannot be chosen, as the hashes are secret.
        self.sum &+= hash
        if hasMarks { self.hasMarks = true }
        guard self.isKeeping else { return }
        let name = Array(name.prefix(BodyFacets.nameLimit))
        let whole = size ?? value.count
        let value = Array(value.prefix(min(self.keepsWholeValues ? BodyFacets.memoryLimit : BodyFacets.valueLimit, self.room)))
        self.room -= name.count + value.count + (filename?.count ?? 0) + type.count
        self.facets.append(
            BodyFacet(
                place: place, name: name, value: value, size: whole, filename: filename, type: type, hasMarks: hasMarks,
                hash: hash))
    }

    /// Adds all of another one.
    mutating func add(_ other: FacetCollector) {
        self.count += other.count
        self.sum &+= other.sum
        self.hasMarks = self.hasMarks || other.hasMarks
        for facet in other.facets where self.isKeeping {
            self.facets.append(facet)
            self.room -= facet.name.count + facet.value.count + (facet.filename?.count ?? 0) + facet.type.count
        }
    }

    func facets(_ kind: BodyFacets.Kind) -> BodyFacets {
        BodyFacets(kind: kind, facets: self.facets, count: self.count, hasMarks: self.hasMarks, sum: self.sum)
    }
}
