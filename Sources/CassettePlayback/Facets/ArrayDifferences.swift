internal import TapeBytes

/// Explains arrays whose elements are the recorded ones in another order, or with others between them.
///
/// By position, an element that is new at the beginning would make all others differ. Leaves every array alone that differs in another
/// way.
struct ArrayDifferences {
    /// More arrays are not looked at: the first ones explain a miss.
    private static let limit = 16

    private(set) var differences: [RequestDifference] = []
    /// The facets that are not explained.
    private(set) var rest: FacetDifference

    /// - Parameters:
    ///   - live: all facets, as well as those of the recorded body.
    ///   - unequal: the facets that only one of the two has.
    init(live: [BodyFacet], recorded: [BodyFacet], unequal: FacetDifference) {
        self.rest = unequal
        for array in Self.arrays(of: unequal, live, recorded).prefix(Self.limit) {
            let (here, there) = (Self.elements(of: array, in: live), Self.elements(of: array, in: recorded))
            guard let found = Self.difference(at: String(decoding: array.name, as: UTF8.self), here, there) else { continue }
            self.rest.live.removeAll { Self.isInside($0, array) }
            self.rest.recorded.removeAll { Self.isInside($0, array) }
            let container = String(decoding: array.within.dropLast(), as: UTF8.self)
            self.differences += container.isEmpty ? found : found.map { .within(container, $0) }
        }
    }

    /// The arrays of both bodies in which there is a difference, the outermost first.
    private static func arrays(of unequal: FacetDifference, _ live: [BodyFacet], _ recorded: [BodyFacet]) -> [BodyFacet] {
        let known = Set(recorded.filter(self.isArray).map(self.key))
        let arrays = live.filter { self.isArray($0) && known.contains(self.key($0)) && $0.name.count < BodyFacets.nameLimit / 2 }
        guard !arrays.isEmpty else { return [] }
        let changed = (unequal.live + unequal.recorded).filter { $0.place == .json }
        return arrays.filter { array in changed.count { self.isInside($0, array) } > 1 }.sorted { $0.name.count < $1.name.count }
    }

    private static func isArray(_ facet: BodyFacet) -> Bool { facet.place == .json && facet.type.elementsEqual("array".utf8) }

    private static func key(_ facet: BodyFacet) -> [UInt8] { facet.within + [0] + facet.name }

    private static func isInside(_ facet: BodyFacet, _ array: BodyFacet) -> Bool {
        facet.place == .json && facet.within == array.within && facet.name.count > array.name.count
            && facet.name[array.name.count] == UInt8(ascii: "/") && facet.name.starts(with: array.name)
    }

    /// A digest of each element's values; nil if the elements have no numbers, since the order of the array does not count.
    private static func elements(of array: BodyFacet, in facets: [BodyFacet]) -> [Int]? {
        var digests: [Int] = []
        for facet in facets where self.isInside(facet, array) {
            let rest = facet.name[(array.name.count + 1)...]
            let digits = rest.prefix { $0 != UInt8(ascii: "/") }
            guard let index = Int(String(decoding: digits, as: UTF8.self)), index <= digests.count else { return nil }
            if index == digests.count { digests.append(0) }
            var hasher = Hasher()
            hasher.combine(Array(rest[digits.endIndex...]))
            hasher.combine(facet.type)
            hasher.combine(facet.value)
            hasher.combine(facet.size)
            digests[index] = digests[index] &+ hasher.finalize()
        }
        return digests
    }

    private static func difference(at pointer: String, _ live: [Int]?, _ recorded: [Int]?) -> [RequestDifference]? {
        guard let live, let recorded, live != recorded else { return nil }
        if live.count == recorded.count {
            guard live.sorted() == recorded.sorted() else { return nil }
            return [.order(pointer: pointer, moved: zip(live, recorded).count { $0 != $1 })]
        }
        let (longer, shorter) = live.count > recorded.count ? (live, recorded) : (recorded, live)
        var left = shorter[...]
        let others = longer.indices.filter { index in
            guard left.first == longer[index] else { return true }
            left.removeFirst()
            return false
        }
        guard left.isEmpty else { return nil }
        return others.map { .element(array: pointer, index: $0, isNew: live.count > recorded.count) }
    }
}
