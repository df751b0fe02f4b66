import TapeTestSupport
import Testing

@testable import CassetteModel

struct QuotedPrintableSpellingTests {
    private func find(_ text: String) -> (spelling: QuotedPrintableSpelling, bytes: [UInt8])? {
        QuotedPrintableSpelling.find(Array(text.utf8))
    }

    private static let long = String(repeating: "abcdefgh ", count: 12)

    @Test(arguments: [
        ("plain", "plain", QuotedPrintableSpelling()),
        ("=EC=9D=8C=20\r\n=3D =09", "음 \r\n= \t", QuotedPrintableSpelling()),
        ("=ec=9d=8c\n", "음\n", QuotedPrintableSpelling(lineEnd: .lineFeed, usesLowerCaseHex: true)),
        ("=41=20b=2E", "A b.", QuotedPrintableSpelling(escaped: [32, 46, 65])),
        ("abcdefg=\r\nhijk\r\nl", "abcdefghijk\r\nl", QuotedPrintableSpelling(line: 8)),
        ("abcde=\n=EC=9D=\n=8C", "abcde음", QuotedPrintableSpelling(line: 7, lineEnd: .lineFeed)),
        ("a=0Db\r\n=0A", "a\rb\r\n\n", QuotedPrintableSpelling()),
        (Self.long, Self.long.dropLast() + " ", QuotedPrintableSpelling(line: 0)),
    ]) func spellingsAreFound(_ text: String, _ plain: String, _ spelling: QuotedPrintableSpelling) throws {
        let text = text == Self.long ? text.dropLast() + "=20" : text
        let found = try #require(self.find(String(text)))
        #expect(String(decoding: found.bytes, as: UTF8.self) == plain)
        #expect(found.spelling == spelling)
        #expect(spelling.write(Array(plain.utf8)) == Array(text.utf8))
    }

    @Test(arguments: [
        "음", "=", "=4", "=zz", "a \r\nb", "=41A", "=EC=ec", "a\r\nb\nc", "ab=\r\ncdefgh=\r\nij", "a=\r\n", "=0D=0A", "a\rb",
        "=20a b",
    ]) func otherTextIsNotSpelled(_ text: String) {
        if let found = self.find(text) { Issue.record("\(text.debugDescription) is spelled as \(found)") }
    }

    @Test func aLineIsFilledToItsEnd() {
        let spelling = QuotedPrintableSpelling(line: 8)
        func written(_ text: String) -> String { String(decoding: spelling.write(Array(text.utf8)), as: UTF8.self) }
        #expect(written("abcdefgh\r\n") == "abcdefgh\r\n")
        #expect(written("abcdefghi") == "abcdefg=\r\nhi")
        #expect(written("abcde=") == "abcde=3D" && written("abcde=f") == "abcde=\r\n=3Df" && written("abcdef=") == "abcdef=\r\n=3D")
    }

    @Test func whatIsWrittenIsFound() throws {
        var generator = SeededGenerator(seed: 22)
        let alphabet: [UInt8] = [65, 66, 32, 32, 9, 61, 46, 0xEC, 0x9D, 13, 10, 0]
        for _ in 0..<rounds(2_000) {
            let bytes = (0..<Int.random(in: 1...300, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let spelling = QuotedPrintableSpelling(
                line: [0, 4, 60, 76, 78].randomElement(using: &generator) ?? 0,
                lineEnd: Bool.random(using: &generator) ? .lineFeed : .carriageReturnLineFeed,
                usesLowerCaseHex: Bool.random(using: &generator), escaped: Bool.random(using: &generator) ? [46] : [])
            let text = spelling.write(bytes)
            #expect(ContentTransferEncoding.quotedPrintable.decode(text) == bytes)
            #expect(text.split(separator: 10).allSatisfy { spelling.line == 0 || $0.count <= spelling.line + 1 })
            if let found = QuotedPrintableSpelling.find(text) { #expect(found.bytes == bytes && found.spelling.write(bytes) == text) }
        }
    }
}
