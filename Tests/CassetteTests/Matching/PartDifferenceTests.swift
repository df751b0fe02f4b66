import Testing

@testable import CassettePlayback

struct PartDifferenceTests {
    @Test(
        arguments: [
            (.added(size: 1), "(1 byte) was not recorded"), (.removed(size: 2), "(2 bytes recorded) is missing"),
            (.filename(here: nil, recorded: "a"), "has no filename, recorded is \"a\""),
            (.filename(here: "a", recorded: nil), "has the filename \"a\", recorded is none"),
            (.type(here: "", recorded: "a/b"), "has no type, recorded is \"a/b\""),
            (.text(here: "a", recorded: "b"), "is \"a\", recorded is \"b\""),
            (.bytes(ByteDifference(offset: 1, here: 2, recorded: 2)), "differs at byte 1 of 2"),
            (.place, "is at another position among the parts"),
        ] as [(PartDifference, String)]) func isASentence(difference: PartDifference, expected: String)
    {
        #expect("\(difference)" == expected)
    }
}
