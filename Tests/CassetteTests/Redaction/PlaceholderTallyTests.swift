import Testing
@testable import CassetteRedaction

@Suite struct PlaceholderTallyTests {
    private func tally(_ text: String) -> PlaceholderTally {
        var tally = PlaceholderTally()
        Array(text.utf8).withUnsafeBytes { tally.add($0) }
        return tally
    }

    @Test func placeholdersAreCountedByKind() {
        let tally = self.tally("Bearer {{authorization:2}} {{jwt:1}}{{jwt:7}} {{{jwt:3}}} { {{ {{:1}} {{no}} %7B%7Bcookie%3A4%7D%7D")
        #expect(tally.counts == ["authorization": 1, "jwt": 3, "cookie": 1])
        #expect(tally.highest == ["authorization": 2, "jwt": 7, "cookie": 4])
    }

    @Test func whatWasThereBeforeIsTakenAway() {
        var tally = self.tally("{{jwt:1}} {{jwt:2}} {{cookie:1}}")
        Array("{{jwt:1}} {{cookie:1}}".utf8).withUnsafeBytes { tally.remove($0) }
        #expect(tally.counts.filter { $0.value > 0 } == ["jwt": 1])
    }

    @Test func aNumberOutOfReasonIsNotCountedOnFrom() {
        #expect(self.tally("{{jwt:999999999}} {{jwt:4}}").highest == ["jwt": 4])
    }
}
