@testable import CassettePlayback
import Testing

struct WordReplacementTests {
    private func rules(_ pairs: [(String, String)]) -> [String]? {
        WordReplacement.rules(for: pairs.map { (Array($0.0.utf8), Array($0.1.utf8)) }, at: "json:/p", limit: 4)
    }

    @Test func wordsWithAFormAreReplacedAfterTheirContext() {
        #expect(
            self.rules([("Today is 2027-02-03.", "Today is 2026-11-29.")])
                == [#"json:/p=#(Today is )(?:[0-9]{4}-[0-9]{2}-[0-9]{2})#$1…#"#])
        #expect(self.rules([("run 5 of 2027-02-03", "run 7 of 2026-11-29")])?.count == 2)
    }

    @Test func otherWordsGetNoRule() {
        #expect(self.rules([("It rains in Tokyo", "It rains in Seoul")]) == nil)
        #expect(self.rules([("5", "7")]) == nil)
        #expect(self.rules([("run 5 in Tokyo", "run 7 in Seoul")]) == nil)
    }
}
