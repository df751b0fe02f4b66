import Testing

@testable import CassettePlayback

struct PlacePointerTests {
    @Test func readsSegmentsAndEscapes() throws {
        #expect(try PlacePointer("").segments == [])
        #expect(try PlacePointer("/").segments == [.name([])])
        #expect(try PlacePointer("/items/*/a~1b~0c").segments == [.name(Array("items".utf8)), .any, .name(Array("a/b~c".utf8))])
    }

    @Test func isWrittenAsItWasRead() throws {
        for text in ["", "/", "/a/*/0", "/a~1b~0c", "/음식"] { #expect(try PlacePointer(text).description == text) }
    }

    @Test func refusesWhatIsNoPointer() {
        #expect(throws: MatchRuleError.self) { try PlacePointer("a") }
        #expect(throws: MatchRuleError.self) { try PlacePointer("/a~2") }
        #expect(throws: MatchRuleError.self) { try PlacePointer("/a~") }
        #expect(throws: MatchRuleError.self) { try PlacePointer(String(repeating: "/a", count: 129)) }
    }
}
