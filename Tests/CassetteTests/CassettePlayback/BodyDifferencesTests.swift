@testable import CassettePlayback
import Testing

struct FacetDifferenceTests {
    private func facet(_ hash: UInt64) -> BodyFacet {
        BodyFacet(place: .json, name: [], value: [], size: 0, filename: nil, type: [], hasMarks: false, hash: hash)
    }

    @Test(
        arguments: [
            ([1, 2, 3], [3, 2, 1], [], []), ([1, 1], [1], [1], []), ([1], [1, 1, 2], [], [1, 2]), ([4, 1], [2, 1, 3], [4], [2, 3]),
            ([], [], [], []),
        ] as [([UInt64], [UInt64], [UInt64], [UInt64])]) func fieldsMissingInTheOtherStay(
            live: [UInt64], recorded: [UInt64], liveRest: [UInt64], recordedRest: [UInt64]
        )
    {
        let difference = FacetDifference(live: live.map(self.facet), recorded: recorded.map(self.facet))
        #expect(difference.live.map(\.hash) == liveRest)
        #expect(difference.recorded.map(\.hash) == recordedRest)
    }
}

struct FacetPairingTests {
    private func facet(
        _ place: BodyFacet.Place, _ name: String, _ value: String, size: Int? = nil, filename: String? = nil, type: String = ""
    ) -> BodyFacet {
        BodyFacet(
            place: place, name: Array(name.utf8), value: Array(value.utf8), size: size ?? value.utf8.count,
            filename: filename.map { Array($0.utf8) }, type: Array(type.utf8), hasMarks: false, hash: 0)
    }

    @Test func theLikestOfANameIsThePartner() {
        let live = self.facet(.part, "a", "x", filename: "2", type: "t")
        let recorded = [
            self.facet(.part, "b", "x", filename: "2", type: "t"), self.facet(.part, "a", "y"), self.facet(.part, "a", "y", filename: "2"),
            self.facet(.part, "a", "y", type: "t"), self.facet(.formField, "a", "x", filename: "2", type: "t"),
        ]
        #expect(FacetPairing.partner(of: live, among: recorded) == 2)
        #expect(FacetPairing.partner(of: self.facet(.part, "c", ""), among: recorded) == nil)
    }

    @Test func longPartsDifferByBytes() {
        let live = self.facet(.part, "p", String(repeating: "x", count: 200))
        let recorded = self.facet(.part, "p", String(repeating: "x", count: 150) + "y", size: 151)
        #expect(
            FacetPairing(hidesCodes: false).differences(live, recorded).map(\.description) == [
                "part \"p\" differs at byte 150: 200 bytes, recorded 151"
            ])
        let kept = self.facet(.part, "p", "xxx", size: 9000)
        #expect(
            FacetPairing(hidesCodes: false).differences(kept, kept).map(\.description) == [
                "part \"p\" differs after the stored part of its 9000 bytes"
            ])
        #expect(FacetPairing(hidesCodes: false).differences(live, live) == [.part(name: "p", .place)])
    }

    @Test func longLinesAreShownNearTheDifference() {
        let line = String(repeating: "x", count: 300)
        let differences = FacetPairing(hidesCodes: false).differences(
            self.facet(.whole, "", line + "a", type: "text"), self.facet(.whole, "", line + "b", type: "text"))
        let near = "…" + String(repeating: "x", count: 40)
        #expect(differences == [.text(line: 1, here: near + "a", recorded: near + "b")])
    }

    @Test func nothingComparedIsNoDifference() {
        #expect(FacetPairing(hidesCodes: false).differences(nil, nil) == [])
    }
}
