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
    func colorNeedsATerminalThatHasItAndNobodyWhoForbidsIt(kind: String?, noColor: String?, usesColor: Bool) throws {
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

    @Test func textThatNobodyTakesIsDropped() {
        Terminal(-1).write("lost")
        #expect(!Terminal(-1).isTerminal)
    }
}

@Suite struct OutputFileTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func write(_ bytes: [UInt8], to file: OutputFile) throws { try bytes.withUnsafeBytes { try file.write($0) } }

    private func error(_ body: () throws -> Void) -> CassetteError? {
        do {
            try body()
            return nil
        } catch { return error as? CassetteError }
    }

    @Test func whatWasWrittenIsThereInOrderAfterTheEnd() throws {
        let file = try OutputFile(path: self.folder.file("x"))
        var wanted: [UInt8] = []
        for number in 0..<100 {
            let piece = [UInt8](repeating: UInt8(number), count: number * 100)
            wanted += piece
            try self.write(piece, to: file)
        }
        try file.finish()
        #expect(try self.folder.read("x") == wanted)
    }

    @Test func aFullBlockGoesOutBeforeTheEnd() throws {
        let file = try OutputFile(path: self.folder.file("x"))
        try self.write([1], to: file)
        #expect(try self.folder.read("x") == [])
        try self.write([UInt8](repeating: 2, count: 256 << 10), to: file)
        #expect(try self.folder.read("x").count == 1 + (256 << 10))
    }

    @Test func anOlderLongerFileIsReplaced() throws {
        try self.folder.write([1, 2, 3], to: "x")
        let file = try OutputFile(path: self.folder.file("x"))
        try self.write([4], to: file)
        try file.finish()
        #expect(try self.folder.read("x") == [4])
    }

    @Test func aFileThatCannotBeMadeIsNamed() {
        let path = self.folder.file("none/x.har")
        let error = self.error { _ = try OutputFile(path: path) }
        #expect(error?.code == .unwritable)
        #expect(error?.message == "\"\(path)\" cannot be written (No such file or directory): choose another --output.")
    }

    @Test func theCassetteItselfIsNotOverwrittenUnderAnyName() throws {
        let cassette = try self.folder.write([1, 2, 3], to: "pets.json")
        for path in [cassette, "\(self.folder.path)/./pets.json"] {
            let error = self.error { _ = try OutputFile(path: path, from: cassette) }
            #expect(error?.message == "\"\(path)\" is the cassette itself: choose another --output.")
        }
        #expect(try self.folder.read("pets.json") == [1, 2, 3])
        _ = try OutputFile(path: self.folder.file("pets.har"), from: cassette)
        #expect(self.folder.exists("pets.har"))
    }

    #if os(Linux)
    @Test func aFullDiskIsNamed() throws {
        let file = try OutputFile(path: "/dev/full")
        try self.write([1], to: file)
        #expect(self.error { try file.finish() }?.message == "\"/dev/full\" cannot be written (No space left on device): is its disk full?")
    }
    #endif
}
