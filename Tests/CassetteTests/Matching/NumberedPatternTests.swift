import Testing

@testable import CassettePlayback

struct NumberedPatternTests {
    @Test func theFirstThatMatchesTheWholeValueStandsForIt() throws {
        let patterns = try NumberedPattern.all([PlacePattern("path=a+"), PlacePattern("path=[ab]+")]).map(\.0)
        func stand(_ value: String) -> String? {
            Array(value.utf8).withUnsafeBytes { NumberedPattern.substitute(for: $0, among: patterns) }.map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        #expect(stand("aa") == "{{=1}}")
        #expect(stand("ab") == "{{=2}}")
        #expect(stand("abc") == nil)
    }
}
