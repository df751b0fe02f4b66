import Testing

@testable import CassettePlayback
@testable import TapeBytes

/// Numbers that replace secret numbers, in base64 and hex.
@Suite struct CodedNumbersTests {
    private func contents(_ text: String) -> [String] {
        Array(text.utf8).withUnsafeBytes { CodedNumbers.runs(in: $0).map { String(decoding: $0.content, as: UTF8.self) } }
    }

    private func base64(_ text: String) -> String { CodedSecretsTests.Spelling.base64.text(text) }

    @Test func aRunBeginsInTheGroupOfItsNumber() {
        #expect(self.contents("v=" + self.base64("2002900001")) == ["2002900001"])
        #expect(self.contents("v=" + self.base64("a:2002900001:b")) == ["a:2002900001:b"])
        #expect(self.contents("v=" + self.base64("user:2002900001")) == ["r:2002900001"])
        #expect(self.contents("v=" + Hex.encode(Array("user:2002900001".utf8))) == ["2002900001"])
    }

    @Test func aRunHasAllItsNumbers() {
        #expect(self.contents(self.base64("2002900001, 2002900002")) == ["2002900001, 2002900002"])
        let two = self.base64("2002900001") + " " + Hex.encode(Array("2002900002".utf8))
        #expect(self.contents(two) == ["2002900001", "2002900002"])
    }

    @Test(arguments: ["20029", "20029000012", "2002900001a", "a2002900001", "12002900001", "2003900001"])
    func otherNumbersAreNone(text: String) {
        #expect(self.contents(self.base64("," + text + ",")).isEmpty)
    }
}
