@testable import CassetteRedaction
import TapeTestSupport
import Testing

@Suite struct SurveyTableTests {
    private func anchors(_ text: String) -> [String] {
        var found: [String] = []
        Array(text.utf8).withUnsafeBytes { bytes in SurveyTable.shared.scan(bytes) { found.append("\($0)@\($1)") } }
        return found
    }

    @Test func findsAnchorsAtAnyOffset() {
        for lead in 0..<8 {
            let space = String(repeating: " ", count: lead)
            #expect(self.anchors(space + "eyJh").first == "webToken@\(lead)")
            #expect(self.anchors(space + "-----BEGIN").contains("armour@\(lead + 5)"))
            #expect(self.anchors(space + "password\"") == ["name@\(lead + 5)"])
            #expect(self.anchors(space + "ACCESS_TOKEN=") == ["name@\(lead + 9)"])
        }
    }

    @Test func proseHasNone() {
        #expect(self.anchors("the quick brown fox jumps over the lazy dog") == [])
    }

    @Test func everyNameIsFoundBeforeEveryMark() {
        for name in SecretNames.names.flatMap(\.names) {
            for mark in ["\"", "'", "=", ":", ">"] {
                for text in ["\"" + name + mark, "\"" + name.uppercased() + mark] {
                    #expect(self.anchors(text).contains("name@\(text.utf8.count - 4)"), "\(text)")
                }
            }
        }
    }

    /// A word in the wrong group turns every third byte into a candidate.
    @Test func fewBytesOfATextAreCandidates() {
        var random = SeededGenerator(seed: 7)
        let words = [
            "the", "order", "shipped", "machine", "region", "record", "value", "street", "number", "customer", "with", "and", "curl",
        ]
        var texts = ["", "", ""]
        while texts[0].utf8.count < 50_000 {
            texts[0] += "\(words.randomElement(using: &random) ?? "") "
            texts[1] += "{\"id\":\(random.next()),\"name\":\"\(words.randomElement(using: &random) ?? "")\"},"
            texts[2] += String(random.next(), radix: 36)
        }
        for text in texts {
            let candidates = Array(text.utf8).withUnsafeBytes { SurveyTable.shared.candidates(in: $0) }
            #expect(candidates * 1000 / text.utf8.count < 55, "\(candidates) in \(text.prefix(60))")
        }
    }

    @Test func everyShapeIsFound() {
        for (index, shape) in SecretShape.all.enumerated() {
            let found = self.anchors("\(shape.prefix)")
            let isFound = found.contains { $0.hasPrefix("shapes(") && $0.hasSuffix("@\(shape.anchor)") && $0.contains("\(index)") }
            #expect(isFound, "\(shape.prefix): \(found)")
        }
    }

    /// Four bytes are too few for vectors.
    @Test func vectorsFindTheSameAsBytes() {
        let words = ["token\"", "eyJh", "BEGIN", "ghp_", "xoxb-", "key=", "sk_live_", "\"", "a", "passwor", "\u{e9}", "1//0", "x"]
        var generator = SeededGenerator(seed: 56)
        for _ in 0..<rounds(1000) {
            var text = ""
            for _ in 0..<Int.random(in: 0...60, using: &generator) { text += words.randomElement(using: &generator) ?? "" }
            let bytes = Array(text.utf8)
            var alone: [String] = []
            for offset in 0..<max(0, bytes.count - 3) {
                bytes[offset..<offset + 4].withUnsafeBytes { four in
                    SurveyTable.shared.scan(four) { anchor, _ in alone.append("\(anchor)@\(offset)") }
                }
            }
            #expect(self.anchors(text) == alone, "\(text)")
        }
    }

    @Test func moreAnchorsThanAreAskedForAtOnceAreFoundInOrder() {
        let found = self.anchors(String(repeating: "key=", count: 1000))
        #expect(found == (0..<1000).map { "name@\($0 * 4)" })
    }
}
