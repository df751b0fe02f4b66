import Testing

@testable import CassettePlayback

@Suite struct IgnorablePlaceTests {
    @Test(arguments: [
        (RequestDifference.queryItemAdded("ts=1"), "query:ts"), (.queryItemRemoved("ts"), "query:ts"),
        (.queryItemChanged(here: "a.b=1", recorded: "a.b=2"), "query:a.b"),
        (.header(name: "accept", here: "a", recorded: nil), "header:accept"),
        (.json(pointer: "/items/0/created~1at", here: "1", recorded: nil), "json:/items/0/created~1at"),
        (.formField(name: "nonce", here: "1", recorded: "2"), "form:nonce"),
        (.graphQLItem(name: "id", here: "1", recorded: "2"), "query:id"), (.scheme(here: "http", recorded: "https"), "scheme"),
        (.port(here: "", recorded: "81"), "port"), (.queryItemAdded("$(rm)=1"), "query:$(rm)"), (.queryItemAdded("a%20b+c"), "query:a b c"),
        (.part(name: "outer/inner", .place), "part:outer/inner"),
    ])
    func placesAreNamedAsRulesNameThem(difference: RequestDifference, place: String) {
        #expect(IgnorablePlace.text(difference) == place)
    }

    @Test(arguments: [
        RequestDifference.method(here: "GET", recorded: "PUT"), .host(here: "a", recorded: "b"), .path(here: "/", recorded: "/x", edits: 1),
        .queryItemAdded(""), .queryItemAdded("a'b"), .queryItemAdded("a%0A"), .queryItemAdded("a\\u{7f}"), .queryItemAdded("x…"),
        .queryItemChanged(here: "a=1", recorded: "b=1"), .formField(name: "{{*}}", here: nil, recorded: "x"), .queryOrder, .remainder,
        .json(pointer: "", here: "1", recorded: "2"), .bodyRemainder, .bodyKind(here: "json", recorded: "none"),
        .custom(name: "a", reason: "b"),
    ])
    func whatCannotBeTypedIsNotOffered(difference: RequestDifference) {
        #expect(IgnorablePlace.text(difference) == nil)
    }

    @Test(arguments: [("json:/a/b", "json:/a/b"), ("query:a b", "'query:a b'"), ("form:$(rm)", "'form:$(rm)'"), ("a~1_.-", "a~1_.-")])
    func aShellTakesItAsOneWord(place: String, word: String) {
        #expect(IgnorablePlace.word(place) == word)
    }
}
