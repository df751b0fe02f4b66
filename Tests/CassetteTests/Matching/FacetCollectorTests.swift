import Testing

@testable import CassettePlayback

struct FacetCollectorTests {
    private func add(_ hash: UInt64, _ value: String = "v", to collector: inout FacetCollector) {
        Array(value.utf8).withUnsafeBytes { collector.add(hash, .json, name: Array("n".utf8), value: $0) }
    }

    @Test func theDigestDoesNotDependOnOrder() {
        var first = FacetCollector()
        var second = FacetCollector()
        for hash in [1, 2, 3] as [UInt64] { self.add(hash, to: &first) }
        for hash in [3, 1, 2] as [UInt64] { self.add(hash, to: &second) }
        #expect(first.facets(.json) == second.facets(.json))
        #expect(first.facets(.json) != first.facets(.form))
        self.add(0, to: &second)
        #expect(first.facets(.json) != second.facets(.json))
    }

    @Test func keepsSoManyAndCountsAll() {
        var collector = FacetCollector()
        for hash in 0..<UInt64(BodyFacets.facetLimit + 10) { self.add(hash, to: &collector) }
        #expect(collector.facets.count == BodyFacets.facetLimit)
        #expect(collector.count == BodyFacets.facetLimit + 10)
        #expect(!collector.isKeeping)
    }

    @Test func keepsSoManyBytes() {
        var collector = FacetCollector()
        let long = String(repeating: "x", count: BodyFacets.valueLimit + 1)
        for hash in 0..<UInt64(100) { self.add(hash, long, to: &collector) }
        #expect(collector.facets.first?.value.count == BodyFacets.valueLimit)
        #expect(collector.facets.first?.size == BodyFacets.valueLimit + 1)
        #expect(collector.facets.reduce(0) { $0 + $1.value.count } <= BodyFacets.keptLimit)
        #expect(collector.count == 100)
    }

    @Test func oneCanBeAddedToAnother() {
        var first = FacetCollector()
        var second = FacetCollector()
        var both = FacetCollector()
        self.add(1, to: &first)
        self.add(2, to: &second)
        for hash in [1, 2] as [UInt64] { self.add(hash, to: &both) }
        first.add(second)
        #expect(first.facets(.json) == both.facets(.json))
        #expect(first.facets == both.facets)
    }
}
