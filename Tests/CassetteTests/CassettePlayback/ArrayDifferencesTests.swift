@testable import CassettePlayback
import Testing

/// How misses explain arrays and long values.
struct ArrayDifferencesTests {
    private func differences(_ live: String, _ recorded: String) -> [String] { MatchFixture.differences(live, recorded, MatchFixture.json) }

    @Test func elementsInAnotherOrder() {
        #expect(
            self.differences(#"{"t":[{"n":2},{"n":1},{"n":3}]}"#, #"{"t":[{"n":1},{"n":2},{"n":3}]}"#)
                == [#"2 elements of JSON "/t" are in another order"#])
    }

    @Test func newAndMissingElements() {
        let (two, three) = (#"{"m":[{"r":"u"},{"r":"a","c":[1]}]}"#, #"{"m":[{"r":"s","c":0},{"r":"u"},{"r":"a","c":[1]}]}"#)
        #expect(self.differences(three, two) == [#"element 1 of JSON "/m" is new"#])
        #expect(self.differences(two, three) == [#"recorded element 1 of JSON "/m" is missing"#])
    }

    @Test func otherArraysAreComparedByPosition() {
        #expect(
            self.differences(#"{"t":[{"n":2,"m":1},{"n":1}]}"#, #"{"t":[{"n":1,"m":1},{"n":1}]}"#) == [
                #"JSON "/t/0/n" is 2, recorded is 1"#
            ])
    }

    @Test func missingObjectsAreShownOnce() {
        #expect(self.differences(#"{"a":{"b":1,"c":{"d":2}}}"#, "{}") == [#"JSON "/a", which is {…}, was not recorded"#])
    }

    @Test func longValuesAreShownWhereTheyPart() {
        let same = String(repeating: "You are an agent. ", count: 20)
        let differences = self.differences("{\"p\":\"\(same)Monday\"}", "{\"p\":\"\(same)Friday\"}")
        #expect(differences.count == 1)
        let text = differences.first ?? ""
        #expect(text.contains("Monday\", recorded is \"…") && text.contains("Friday\""))
        #expect(text.hasSuffix(", from byte \(same.utf8.count)"))
    }

    @Test func orderIsMendedBySorting() throws {
        let near = NearRequest(
            index: 0, request: "POST http://a.test/", isUsedUp: false, differences: [.order(pointer: "/tools", moved: 2)])
        let miss = MissReport(request: "POST http://a.test/", mode: .none, reason: .notRecorded, nearest: [near], cassette: "a.json")
        #expect(miss.nextStep.hasPrefix("to match it with exchange 1, run with: --sort json:/tools; "))
    }
}
