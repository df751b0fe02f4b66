import Testing

@testable import WiretapeCLI

@Suite struct ProgressLineTests {
    @Test func theLineIsRewrittenWhenThePercentageChanges() throws {
        let pair = try TerminalPair()
        let line = ProgressLine(label: "decoding", terminal: Terminal(pair.descriptor))
        line.show(0, of: 400)
        #expect(pair.written() == "\r\u{1B}[Kdecoding 0 of 400 (0 %)")
        line.show(3, of: 400)
        #expect(pair.written() == "")
        line.show(4, of: 400)
        #expect(pair.written() == "\r\u{1B}[Kdecoding 4 of 400 (1 %)")
        line.end()
        #expect(pair.written() == "\r\u{1B}[K")
    }

    @Test func nothingToDoShowsNothing() throws {
        let pair = try TerminalPair()
        let line = ProgressLine(label: "decoding", terminal: Terminal(pair.descriptor))
        line.show(0, of: 0)
        line.end()
        #expect(pair.written() == "")
    }

    @Test func aFileGetsNothing() throws {
        let file = try WrittenFile()
        let line = ProgressLine(label: "decoding", terminal: Terminal(file.descriptor))
        line.show(1, of: 2)
        line.end()
        #expect(try file.text() == "")
    }
}
