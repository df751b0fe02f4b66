@testable import CassetteModel
import TapeTestSupport
import Testing

struct TransferSpellingTests {
    private func find(_ text: String, _ encoding: String) -> (spelling: TransferSpelling, bytes: [UInt8])? {
        TransferSpelling.find(Array(text.utf8), HeaderFields(["Content-Transfer-Encoding: \(encoding)"]))
    }

    @Test func theFieldsSayWhichEncodingItIs() throws {
        let base64 = try #require(self.find("YWJj", "BASE64"))
        #expect(base64.spelling == .base64(Base64Spelling()) && base64.bytes == Array("abc".utf8))
        #expect(base64.spelling.write(base64.bytes) == Array("YWJj".utf8))
        let quoted = try #require(self.find("=3D", "quoted-printable"))
        #expect(quoted.spelling == .quotedPrintable(QuotedPrintableSpelling()) && quoted.bytes == [61])
        #expect(quoted.spelling.write(quoted.bytes) == Array("=3D".utf8))
        #expect(self.find("YWJj", "8bit") == nil && self.find("YWJj", "uuencode") == nil && self.find("Y", "base64") == nil)
    }
}

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

    @Test func spellingOfWrittenBase64IsFound() throws {
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

    @Test func spellingOfWrittenQuotedPrintableIsFound() throws {
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
