import Testing

@testable import CassettePlayback

struct FacetDifferenceTests {
    private func facet(_ hash: UInt64) -> BodyFacet {
        BodyFacet(place: .json, name: [], value: [], size: 0, filename: nil, type: [], hasMarks: false, hash: hash)
    }

    @Test(
        arguments: [
            ([1, 2, 3], [3, 2, 1], [], []), ([1, 1], [1], [1], []), ([1], [1, 1, 2], [], [1, 2]), ([4, 1], [2, 1, 3], [4], [2, 3]),
            ([], [], [], []),
        ] as [([UInt64], [UInt64], [UInt64], [UInt64])]) func leavesWhatTheOtherDoesNotHave(
            live: [UInt64], recorded: [UInt64], liveRest: [UInt64], recordedRest: [UInt64]
        )
    {
        let difference = FacetDifference(live: live.map(self.facet), recorded: recorded.map(self.facet))
        #expect(difference.live.map(\.hash) == liveRest)
        #expect(difference.recorded.map(\.hash) == recordedRest)
    }
}
