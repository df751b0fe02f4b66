import TapeTestSupport
import Testing

@testable import CassetteModel

struct Base64SpellingTests {
    private func find(_ text: String) -> (spelling: Base64Spelling, bytes: [UInt8])? { Base64Spelling.find(Array(text.utf8)) }

    @Test(arguments: [
        ("YWJj", Base64Spelling()), ("YWJj\r\n", Base64Spelling(isEnded: true)),
        ("YWJj\n", Base64Spelling(lineEnd: .lineFeed, isEnded: true)),
        ("YWJj\r\nYQ==", Base64Spelling(line: 4)), ("YWJj\nYWJj\nYQ==\n", Base64Spelling(line: 4, lineEnd: .lineFeed, isEnded: true)),
        (String(repeating: "YWJj", count: 20), Base64Spelling(line: 0)),
        (String(repeating: "YWJj", count: 20) + "\r\n", Base64Spelling(line: 0, isEnded: true)),
        (String(repeating: "YWJj", count: 19) + "\r\nYWJj", Base64Spelling()), ("YWJjY\r\nQ==", Base64Spelling(line: 5)),
    ]) func spellingsAreFound(_ text: String, _ spelling: Base64Spelling) throws {
        let found = try #require(self.find(text))
        #expect(found.spelling == spelling)
        #expect(spelling.write(found.bytes) == Array(text.utf8))
    }

    @Test(arguments: [
        "YWJj\r\nYW\r\nYWJj", "YWJj\nYWJj\r\nYWJj", "YQ", "YR==", "YW Jj", "a-_b", "YWJj\r\n\r\n", "\r\nYWJj", "YWJj\r", "YQ==YQ==",
    ])
    func otherTextIsNotSpelled(_ text: String) {
        #expect(self.find(text) == nil)
    }

    @Test func whatIsWrittenIsFound() throws {
        var generator = SeededGenerator(seed: 21)
        for _ in 0..<rounds(2_000) {
            let bytes = (0..<Int.random(in: 1...200, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let spelling = Base64Spelling(
                line: Int.random(in: 0...100, using: &generator),
                lineEnd: Bool.random(using: &generator) ? .lineFeed : .carriageReturnLineFeed,
                isEnded: Bool.random(using: &generator))
            let text = spelling.write(bytes)
            let found = try #require(Base64Spelling.find(text))
            #expect(found.bytes == bytes && found.spelling.write(bytes) == text)
        }
    }
}
