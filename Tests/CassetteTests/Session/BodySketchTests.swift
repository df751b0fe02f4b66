import Testing

@testable import CassettePlayback

@Suite struct BodySketchTests {
    private func facets(_ hashes: [UInt64]) -> BodyFacets {
        var facets = BodyFacets.none
        facets.facets = hashes.map {
            BodyFacet(place: .json, name: [], value: [], size: 0, filename: nil, type: [], hasMarks: false, hash: $0 << 58)
        }
        return facets
    }

    @Test func whatBodiesShareCancelsOut() {
        let sketch = BodySketch(self.facets([1, 2, 3]))
        #expect(sketch.distance(to: sketch) == 0)
        #expect(sketch.distance(to: BodySketch(self.facets([3, 2, 4]))) == 2)
        #expect(sketch.distance(to: BodySketch(.none)) == 3)
    }
}
