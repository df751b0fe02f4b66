import Testing

@testable import CassettePlayback

struct MarkFilterTests {
    private func filtered(_ pieces: [[UInt8]]) -> (text: String, hasMarks: Bool) {
        var filter = MarkFilter()
        var output: [UInt8] = []
        for piece in pieces { piece.withUnsafeBytes { filter.push($0) { output += $0 } } }
        filter.finish { output += $0 }
        return (String(decoding: output, as: UTF8.self), filter.hasMarks)
    }

    @Test func marksDoNotDependOnCuts() {
        let text = Array("a{{b:1}}{{{c:2}}%7B%7Bd%3A3%7D%7D 5%7 {{".utf8)
        for first in 0...text.count {
            for second in first...text.count {
                let filtered = self.filtered([Array(text[..<first]), Array(text[first..<second]), Array(text[second...])])
                #expect(filtered.text == "a{{*}}{{{*}}{{*}} 5%7 {{")
                #expect(filtered.hasMarks)
            }
        }
        #expect(self.filtered(text.map { [$0] }).text == "a{{*}}{{{*}}{{*}} 5%7 {{")
    }

    @Test func otherBytesPassAsTheyAre() {
        #expect(self.filtered([]) == ("", false))
        #expect(self.filtered([Array("{{a}}{{{%".utf8)]) == ("{{a}}{{{%", false))
    }

    /// Each brace is looked at once, whatever follows.
    @Test func bracesWithoutEndTakeLinearTime() {
        let braces = [UInt8](repeating: UInt8(ascii: "{"), count: 1 << 18)
        #expect(self.filtered(Array(repeating: braces, count: 4)).text.utf8.count == 1 << 20)
        #expect(self.filtered([Array(String(repeating: "%70", count: 100_000).utf8)]).hasMarks == false)
    }
}
