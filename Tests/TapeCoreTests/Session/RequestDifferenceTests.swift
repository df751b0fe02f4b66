import Testing

@testable import TapeCore

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
        (.remainder, "they differ past the first 8192 octets"),
    ])
    func readsAsASentence(difference: RequestDifference, text: String) {
        #expect(difference.description == text)
    }
}
