import CassetteModel
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct TerminalTests {
    @Test func aFileIsNoTerminalAndHasNoColor() throws {
        let file = try WrittenFile()
        let terminal = Terminal(file.descriptor, kind: "xterm", noColor: nil)
        #expect(!terminal.isTerminal)
        #expect(!terminal.usesColor)
        #expect(terminal.width == 80)
    }

    @Test(
        arguments: [
            ("xterm", nil, true), ("xterm", "", true), ("xterm", "1", false), ("xterm", "0", false), ("dumb", nil, false),
            (nil, nil, false),
        ] as [(String?, String?, Bool)])
    func colorNeedsACapableTerminalAndMustNotBeForbidden(kind: String?, noColor: String?, usesColor: Bool) throws {
        let pair = try TerminalPair()
        let terminal = Terminal(pair.descriptor, kind: kind, noColor: noColor)
        #expect(terminal.isTerminal)
        #expect(terminal.usesColor == usesColor)
    }

    @Test func theWidthIsTheTerminals() throws {
        let pair = try TerminalPair(columns: 133)
        #expect(Terminal(pair.descriptor).width == 133)
    }

    @Test func aTerminalThatDoesNotKnowItsWidthHas80Columns() throws {
        let pair = try TerminalPair(columns: 0)
        #expect(Terminal(pair.descriptor).width == 80)
    }

    @Test func textIsWrittenWhole() throws {
        let file = try WrittenFile()
        let text = String(repeating: "wire täpe ", count: 20_000)
        Terminal(file.descriptor).write(text)
        Terminal(file.descriptor).line("end")
        #expect(try file.text() == text + "end\n")
    }

    @Test func complaintsSpellOutControlCharacters() throws {
        let file = try WrittenFile()
        Terminal(file.descriptor).complain("no \"\u{1B}[2J\" here.")
        let text = try file.text()
        #expect(text.hasPrefix("wiretape: no \""))
        #expect(text.hasSuffix("[2J\" here.\n"))
        #expect(!text.contains("\u{1B}"))
    }

    @Test func unreadTextIsDropped() {
        Terminal(-1).write("lost")
        #expect(!Terminal(-1).isTerminal)
    }
}
