import CassetteModel
@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct BodyLintTests {
    @Test func aDefectHasTheBytesAroundIt() throws {
        let lint = try #require(try BodyLint(BodyContents([13, 10] + FormFixtures.pets), headers: FormFixtures.headers))
        // A part of the form has a Content-Transfer-Encoding.
        #expect(lint.findings.map(\.kind) == ["lineEndBeforeFirst", "transferEncoding"])
        #expect(lint.findings.first?.excerpt?.lines.first?.hasPrefix("00000000  0d 0a 2d 2d ") == true)
    }

    @Test func aDefectOfTheFieldsHasNone() throws {
        let lint = try #require(
            try BodyLint(BodyContents(FormFixtures.pets), headers: HeaderFields(FormFixtures.headers.lines + FormFixtures.headers.lines)))
        #expect(lint.findings.first?.kind == "contentTypeTwice")
        #expect(lint.findings.first?.excerpt?.lines == nil)
    }

    @Test func onlyMultipartBodiesAreLookedAt() throws {
        #expect(try BodyLint(BodyContents([1]), headers: HeaderFields(["Content-Type: text/plain"]))?.findings.count == nil)
    }
}

@Suite struct LintExcerptTests {
    private func lines(_ offset: Int, of bytes: [UInt8], pieces: Int = 7) -> [String] {
        var excerpt = LintExcerpt(offset, size: bytes.count)
        bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                excerpt.take(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + pieces, bytes.count)]), at: start)
            }
        }
        return excerpt.lines
    }

    private let text = Array("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ!?abcdefghijklmnop".utf8)

    @Test func theByteIsMarkedBelowBothColumns() {
        #expect(
            self.lines(41, of: self.text) == [
                "00000010  71 72 73 74 75 76 77 78  79 7a 30 31 32 33 34 35  qrstuvwxyz012345",
                "00000020  36 37 38 39 41 42 43 44  45 46 47 48 49 4a 4b 4c  6789ABCDEFGHIJKL",
                "                                      ^^                             ^",
                "00000030  4d 4e 4f 50 51 52 53 54  55 56 57 58 59 5a 21 3f  MNOPQRSTUVWXYZ!?",
            ])
    }

    @Test func theFirstByteHasNothingInFront() {
        #expect(self.lines(0, of: self.text).count == 3)
        #expect(self.lines(0, of: self.text)[1].hasPrefix("          ^^   "))
    }

    @Test func thePositionAfterTheLastByteIsMarked() {
        let lines = self.lines(20, of: Array(self.text.prefix(20)))
        #expect(lines.count == 3)
        #expect(lines[2].hasPrefix("                      ^^  "))
        #expect(self.lines(16, of: Array(self.text.prefix(16))).count == 1)
        #expect(self.lines(0, of: []) == [])
    }

    @Test(arguments: [1, 16, 1000]) func piecesMakeNoDifference(pieces: Int) {
        #expect(self.lines(41, of: self.text, pieces: pieces) == self.lines(41, of: self.text))
    }
}
