import Testing

@testable import TapeCore

@Suite struct IgnorablePlaceTests {
    @Test(arguments: [
        (RequestDifference.queryItemAdded("ts=1"), "query:ts"), (.queryItemRemoved("ts"), "query:ts"),
        (.queryItemChanged(here: "a.b=1", recorded: "a.b=2"), "query:a.b"),
        (.header(name: "accept", here: "a", recorded: nil), "header:accept"),
        (.json(pointer: "/items/0/created~1at", here: "1", recorded: nil), "json:/items/0/created~1at"),
        (.formField(name: "nonce", here: "1", recorded: "2"), "form:nonce"),
        (.graphQLItem(name: "id", here: "1", recorded: "2"), "query:id"),
    ])
    func placesAreNamedAsRulesNameThem(difference: RequestDifference, place: String) {
        #expect(IgnorablePlace.text(difference) == place)
    }

    @Test(arguments: [
        RequestDifference.method(here: "GET", recorded: "PUT"), .host(here: "a", recorded: "b"), .path(here: "/", recorded: "/x", edits: 1),
        .queryItemAdded(""), .queryItemAdded("$(rm)=1"), .queryItemAdded("a b"), .queryItemAdded("a%20"), .queryItemAdded("x…"),
        .queryItemChanged(here: "a=1", recorded: "b=1"), .header(name: "`id`", here: nil, recorded: "x"), .queryOrder, .remainder,
        .json(pointer: "", here: "1", recorded: "2"), .bodyRemainder, .bodyKind(here: "json", recorded: "none"),
        .custom(name: "a", reason: "b"),
    ])
    func whatCannotBeTypedIsNotOffered(difference: RequestDifference) {
        #expect(IgnorablePlace.text(difference) == nil)
    }
}
