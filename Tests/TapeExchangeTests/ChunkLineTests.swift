internal import Testing

@testable internal import TapeExchange

@Suite struct ChunkLineTests {
    private func parse(_ bytes: [UInt8]) throws -> ChunkLine {
        try bytes.withUnsafeBytes { try ChunkLine.parse($0, side: .request) }
    }

    @Test(arguments: [("0", 0), ("1", 1), ("ff", 255), ("7fffffffffffffff", Int.max), ("000000000000000A", 10)])
    func sizesAreHex(_ text: String, _ size: Int) throws {
        #expect(try self.parse(Array(text.utf8)).size == size)
    }

    @Test(arguments: [
        "", " ", "g", "0x1", "0_2e", "+1", "-1", "1 ", " 1", "1\t", "1;", "1; ", "1;=", "1;a=", "1;a=b ", "1;a =", "1;a=\"", "1;a=\"\\\"",
        "1;a=\"b\"c",
        "1;a b", "1;;a", "1,2", "1a;(", "8000000000000000", "ffffffffffffffff", "00000000000000001", "1;a=b=c", "1 2",
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(throws: MessageError.self) { try self.parse(Array(text.utf8)) }
    }

    @Test(arguments: ["1;a", "1;a=b", "1 ;\ta = b ;c", "1;a=\"\"", "1;a=\"\\\"\\\\\"", "1;a=\"\u{FC}\""])
    func extensionsAreKeptAsText(_ text: String) throws {
        let line = try self.parse(Array(text.utf8))
        #expect(line.text == text)
        #expect(line.extensionBytes == text.utf8.count - 1)
    }

    @Test func extensionThatTextCannotHoldIsRefused() {
        #expect(throws: MessageError.self) { try self.parse(Array("1;a=\"".utf8) + [0xFF, 34]) }
    }
}
