import TapeTestSupport
import Testing

@testable import TapeBytes

@Suite struct JSONDocumentTests {
    @Test func theTextIsKeptAsReceived() throws {
        let text = Array(" {\"b\" : 1.50, \"a\":[ ], \"b\":\"\\u0061\"} ".utf8)
        let document = try JSONDocument(text)
        #expect(document.bytes == text)
        #expect(document.root.members.map { $0.name.string } == ["b", "a", "b"])
        #expect(document.root.members.map { String(decoding: $0.value.raw, as: UTF8.self) } == ["1.50", "[ ]", "\"\\u0061\""])
    }

    @Test func textOutsideUTF8IsRefusedWithItsPlace() {
        #expect(throws: JSONSyntaxError(reason: "expected UTF-8", offset: 4, line: 2)) {
            try JSONDocument([0x5B, 0x0A, 0x22, 0x61, 0xFF, 0x22, 0x5D])
        }
        #expect(throws: JSONSyntaxError.self) { try JSONDocument([0x22, 0xE2, 0x82]) }
        #expect(throws: JSONSyntaxError.self) { try JSONDocument([]) }
    }

    @Test func noRandomTextTraps() {
        var generator = SeededGenerator(seed: 9)
        let alphabet = Array("{}[]\",:\\u0123-.eEtruefalsn \n".utf8) + [0xC3, 0xA9, 0x00]
        for _ in 0..<rounds(20_000) {
            let text = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            guard let root = try? JSONDocument(text).root else { continue }
            _ = (root.int, root.double, root.utf8, root.members.map { $0.value.string }, root.elements.map(\.line))
        }
    }
}
