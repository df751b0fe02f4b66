import Testing

@testable import CassettePlayback

struct ByteDifferenceTests {
    @Test(
        arguments: [
            ([1, 2], [1, 3], 2, 2, "differs at byte 1 of 2"), ([1, 2], [1], 2, 1, "differs at byte 1: 2 bytes, recorded 1"),
            ([1, 2], [1, 2], 9, 9, "differs after what was kept of its 9 bytes"),
            ([1, 2], [1, 2], 9, 8, "differs: 9 bytes, recorded 8"), ([], [1], 0, 1, "differs at byte 0: 0 bytes, recorded 1"),
            ([1, 2], [1, 2, 3], 5, 3, "differs: 5 bytes, recorded 3"),
        ] as [([UInt8], [UInt8], Int, Int, String)]) func namesTheFirstOffset(
            live: [UInt8], recorded: [UInt8], here: Int, size: Int, expected: String
        )
    {
        #expect(ByteDifference(live, recorded, here: here, recorded: size).description == expected)
    }
}
