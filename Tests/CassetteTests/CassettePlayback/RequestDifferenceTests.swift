@testable import CassettePlayback
import Testing

@Suite struct RequestDifferenceTests {
    @Test(arguments: [
        (RequestDifference.method(here: "PUT", recorded: "GET"), "method is \"PUT\", recorded is \"GET\""),
        (.scheme(here: "http", recorded: "https"), "scheme is \"http\", recorded is \"https\""),
        (.userInformation, "user information differs"),
        (.host(here: "a", recorded: "b"), "host is \"a\", recorded is \"b\""),
        (.port(here: "", recorded: "81"), "port is the default, recorded is 81"),
        (.path(here: "/a", recorded: "/b", edits: 1), "path is \"/a\", recorded is \"/b\" (1 segment differs)"),
        (.path(here: "/a/b", recorded: "/", edits: 2), "path is \"/a/b\", recorded is \"/\" (2 segments differ)"),
        (.queryItemAdded("a=1"), "query item \"a=1\" was not recorded"),
        (.queryItemRemoved("a=1"), "recorded query item \"a=1\" is missing"),
        (.queryItemChanged(here: "a=1", recorded: "a=2"), "query item is \"a=1\", recorded is \"a=2\""),
        (.queryOrder, "query items are in another order"),
        (.header(name: "a", here: "1", recorded: "2"), "header \"a\" is \"1\", recorded is \"2\""),
        (.header(name: "a", here: "1", recorded: nil), "header \"a\" is \"1\", and was not recorded"),
        (.header(name: "a", here: nil, recorded: "2"), "recorded header \"a: 2\" is missing"),
        (.bodyKind(here: "none", recorded: "json"), "body is empty, recorded is json"),
        (.json(pointer: "/a", here: "1", recorded: nil), "JSON \"/a\", which is 1, was not recorded"),
        (.json(pointer: "", here: "1", recorded: "\"1\""), "JSON is 1, recorded is \"1\""),
        (.formField(name: "a", here: nil, recorded: "1"), "form field \"a\", recorded as \"1\", is missing"),
        (.part(name: "a", .place), "part \"a\" is at another position among the parts"),
        (.closingDelimiter(isHere: true), "the recorded body has no closing delimiter"),
        (.closingDelimiter(isHere: false), "body has no closing delimiter"),
        (.text(line: 3, here: "a", recorded: "b"), "text line 3 is \"a\", recorded is \"b\""),
        (.bytes(ByteDifference(offset: 0, here: 1, recorded: 1)), "body differs at byte 0 of 1"),
        (.innerQueryItem(name: "query", here: "a", recorded: "b"), "query item \"query\" is \"a\", recorded is \"b\""),
        (.bodyRemainder, "the bodies differ after the part that was stored"),
        (.custom(name: "x", reason: "why"), "rule \"x\": why"),
        (.remainder, "they differ after the first 8192 bytes"),
    ])
    func readsAsASentence(difference: RequestDifference, text: String) {
        #expect(difference.description == text)
    }
}

struct ByteDifferenceTests {
    @Test(
        arguments: [
            ([1, 2], [1, 3], 2, 2, "differs at byte 1 of 2"), ([1, 2], [1], 2, 1, "differs at byte 1: 2 bytes, recorded 1"),
            ([1, 2], [1, 2], 9, 9, "differs after the stored part of its 9 bytes"),
            ([1, 2], [1, 2], 9, 8, "differs: 9 bytes, recorded 8"), ([], [1], 0, 1, "differs at byte 0: 0 bytes, recorded 1"),
            ([1, 2], [1, 2, 3], 5, 3, "differs: 5 bytes, recorded 3"),
        ] as [([UInt8], [UInt8], Int, Int, String)]) func namesTheFirstOffset(
            live: [UInt8], recorded: [UInt8], here: Int, size: Int, expected: String
        )
    {
        #expect(ByteDifference(live, recorded, here: here, recorded: size).description == expected)
    }
}

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
