import Testing

@testable import CassettePlayback

struct OctetDifferenceTests {
    @Test(
        arguments: [
            ([1, 2], [1, 3], 2, 2, "differs at octet 1 of 2"), ([1, 2], [1], 2, 1, "differs at octet 1: 2 octets, recorded 1"),
            ([1, 2], [1, 2], 9, 9, "differs behind what was kept of its 9 octets"),
            ([1, 2], [1, 2], 9, 8, "differs: 9 octets, recorded 8"), ([], [1], 0, 1, "differs at octet 0: 0 octets, recorded 1"),
            ([1, 2], [1, 2, 3], 5, 3, "differs: 5 octets, recorded 3"),
        ] as [([UInt8], [UInt8], Int, Int, String)]) func namesTheFirstOffset(
            live: [UInt8], recorded: [UInt8], here: Int, size: Int, expected: String
        )
    {
        #expect(OctetDifference(live, recorded, here: here, recorded: size).description == expected)
    }
}
